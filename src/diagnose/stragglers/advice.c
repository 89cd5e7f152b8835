/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advice.c - the commands and code for each cause.
 */
#include "diagnose/stragglers/advice.h"

static const char device_fix[] =
	"nvidia-smi -q -d CLOCK,PERFORMANCE,TEMPERATURE,POWER   # or rocm-smi -a\n"
	"# compare with other GPUs: throttled by heat or power, or shared with\n"
	"# another process? Take the GPU out of the job until it is repaired";
static const char work_fix[] =
	"# give every rank the same amount of work: sort sequences by length and\n"
	"# deal them out in turn, or pack them to the same number of tokens;\n"
	"# shard embeddings by lookups, not rows";
static const char host_fix[] =
	"numactl --cpunodebind=N --membind=N python train.py   # N: NUMA node\n"
	"# other processes on its cores (mpstat -P ALL), or a lower CPU clock?\n"
	"# move work that only this rank does (logging, checkpoints) to a thread";
static const char python_fix[] =
	"# move work that only this rank does (logging, checkpoints) to a thread\n"
	"# or after the last collective, or split it among all ranks\n"
	"# with_stack=True names its functions";
static const char shared_fix[] =
	"nvidia-smi pmon -c 1   # processes on the GPU; AMD: rocm-smi --showpids\n"
	"# stop the other process or move this rank; to share: NVIDIA MPS or MIG";
static const char link_fix[] =
	"nvidia-smi nvlink -e; nvidia-smi topo -m; ibstat\n"
	"dmesg | grep -i -E 'xid|pcie'\n"
	"NCCL_DEBUG=INFO python train.py   # the links of the rank's channels\n"
	"# look for errors, a lane or port that is down, a NIC far from the GPU";
static const char copies_fix[] =
	"nvidia-smi -q | grep -A 14 'PCI$'   # link width and speed: compare";

const char *ss_straggler_advice(const struct ss_straggler *item, bool on_host)
{
	static const char *const fixes[][2] = {
		/* with a device, without */
		[SS_LATE_KERNELS] = { device_fix, host_fix },
		[SS_LATE_WORK] = { work_fix, work_fix },
		[SS_LATE_COPIES] = { copies_fix, copies_fix },
		[SS_LATE_HOST] = { host_fix, python_fix },
		[SS_LATE_SHARED] = { shared_fix, shared_fix },
		[SS_LATE_LINK] = { link_fix, link_fix },
	};

	return item->cause < SS_COUNT(fixes) ? fixes[item->cause][on_host] : NULL;
}
