/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kinds.c - the kinds of causes: names, titles, and what to do.
 */
#include "hang/hang.h"

static const struct {
	const char *name, *title, *fix;
} kinds[SS_HANG_KINDS] = {
	[SS_HANG_DID_NOT_COME] = {
		.name = "did-not-come",
		.title = "A rank did not come to a collective",
		.fix = "# see where the rank is while it hangs, and look there: data\n"
		       "# loading, a checkpoint, a lock, an exception that is caught\n"
		       "py-spy dump --pid PID_OF_THE_RANK",
	},
	[SS_HANG_LEFT_NO_DUMP] = {
		.name = "left-no-dump",
		.title = "A rank left no dump",
		.fix = "# read the end of that rank's own log: it crashed, was killed\n"
		       "# (out of memory: dmesg), or could not write its dump. Then set\n"
		       "TORCH_FR_DUMP_TEMP_FILE=/shared/folder/rank_",
	},
	[SS_HANG_OTHER_OPERATION] = {
		.name = "other-operation",
		.title = "Ranks call different collectives in the same place",
		.fix = "# all ranks must take the same branch: a condition that depends\n"
		       "# on the rank or on its data must not lead to a collective",
	},
	[SS_HANG_OTHER_SIZE] = {
		.name = "other-size",
		.title = "Ranks call a collective with different sizes",
		.fix = "# pad or drop the last batch so that all ranks reduce the same\n"
		       "DataLoader(..., drop_last=True)",
	},
	[SS_HANG_OTHER_TYPE] = {
		.name = "other-type",
		.title = "Ranks call a collective with different types",
		.fix = "# convert before the collective: the type must not depend on the\n"
		       "# rank (autocast, a checkpoint that was loaded differently)\n"
		       "tensor = tensor.to(torch.float32)",
	},
	[SS_HANG_OTHER_ROOT] = {
		.name = "other-root",
		.title = "Ranks call a collective with different roots",
		.fix = "# pass the same src or dst on all ranks; it is the number in the\n"
		       "# job, or that in the group with group_src= and group_dst=",
	},
	[SS_HANG_ONE_MORE] = {
		.name = "one-more",
		.title = "A rank calls one collective more than the others",
		.fix = "# call it on all ranks, or replace it by what needs no others:\n"
		       "# `if rank == 0:` around a collective, a metric, a checkpoint",
	},
	[SS_HANG_ONE_FEWER] = {
		.name = "one-fewer",
		.title = "A rank calls one collective fewer than the others",
		.fix = "# the rank skips a collective: `continue`, an exception that is\n"
		       "# caught, a parameter that its batch does not use\n"
		       "DistributedDataParallel(model, find_unused_parameters=True)",
	},
	[SS_HANG_GROUP_ORDER] = {
		.name = "group-order",
		.title = "Ranks use their groups in different order",
		.fix = "# all ranks must call collectives of their groups in one order;\n"
		       "# order those that are started from hooks or other threads",
	},
	[SS_HANG_PAIR_CIRCLE] = {
		.name = "pair-circle",
		.title = "Ranks send and receive in a circle",
		.fix = "# let both directions be in flight before anyone waits\n"
		       "ops = [dist.P2POp(dist.isend, out, to),\n"
		       "       dist.P2POp(dist.irecv, into, source)]\n"
		       "for work in dist.batch_isend_irecv(ops): work.wait()",
	},
	[SS_HANG_NOT_STARTED] = {
		.name = "not-started",
		.title = "The GPU of a rank has not begun the collective",
		.fix = "# an earlier kernel of those GPUs does not end: find it\n"
		       "cuda-gdb -p PID_OF_THE_RANK -ex 'info cuda kernels'",
	},
	[SS_HANG_NOT_FINISHED] = {
		.name = "not-finished",
		.title = "All ranks came to a collective that does not finish",
		.fix = "# all ranks came: test network and GPUs of these hosts\n"
		       "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET\n"
		       "nvidia-smi -q | grep -i -e xid -e 'remap' -e 'ecc'",
	},
	[SS_HANG_UNEVEN_EXCHANGE] = {
		.name = "uneven-exchange",
		.title = "Ranks disagree on the sizes of an all-to-all",
		.fix = "# what rank i sends to j must be what j expects of i: exchange\n"
		       "# the split sizes first\n"
		       "dist.all_to_all_single(receive_splits, send_splits)",
	},
	[SS_HANG_LEFT_LOOP] = {
		.name = "left-loop",
		.title = "A rank has left the training loop",
		.fix = "# give all ranks the same number of batches\n"
		       "DistributedSampler(dataset, drop_last=True)\n"
		       "# or let the others go on without it\n"
		       "with torch.distributed.algorithms.join.Join([model]):",
	},
	[SS_HANG_TEARDOWN] = {
		.name = "teardown",
		.title = "A rank has ended",
		.fix = "# wait for all ranks before the job ends\n"
		       "dist.barrier(); dist.destroy_process_group()",
	},
	[SS_HANG_WATCHDOG] = {
		.name = "watchdog-stuck",
		.title = "The watchdog of a rank is stuck",
		.fix = "# something holds the GIL or a CUDA call does not return there\n"
		       "py-spy dump --native --pid PID_OF_THE_RANK",
	},
	[SS_HANG_NOT_KNOWN] = {
		.name = "not-known",
		.title = "Overwritten records hide who is missing",
		.fix = "# keep more records (the default is 2000)\n"
		       "TORCH_FR_BUFFER_SIZE=20000",
	},
};

const char *ss_hang_kind_name(enum ss_hang_kind kind)
{
	return kinds[kind].name;
}

const char *ss_hang_kind_title(enum ss_hang_kind kind)
{
	return kinds[kind].title;
}

const char *ss_hang_fix(enum ss_hang_kind kind)
{
	return kinds[kind].fix;
}
