/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sync_nonzero.c - cause: nonzero() in the forward pass: only the GPU knows the
 * size of its result, so the host waits in the middle of the step.
 */
#include "sim/cause.h"

#define CALLS 4

static void sync_nonzero_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	if (fault->fixed)
		return;
	plan->nonzeros = CALLS;
	plan->nonzero_work_ns = ss_sim_part_of_step(fault) / CALLS;
}

const struct ss_sim_cause ss_sim_cause_sync_nonzero = {
	.name = "sync-nonzero",
	.summary = "nonzero() in forward makes the host wait for the GPU to learn a size",
	.fix = "use torch.where with three arguments, or a mask of fixed size",
	.op = "aten::nonzero",
	.line = "model.py:73",
	.layouts = { "single", "ddp", "fsdp", "tensor", "pipeline", "inference" },
	.plant = sync_nonzero_plant,
};
