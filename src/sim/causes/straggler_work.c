/* SPDX-License-Identifier: Apache-2.0 */
/*
 * straggler_work.c - cause: one rank has longer sequences than the others.
 */
#include "sim/cause.h"

static void straggler_work_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	if (!fault->fixed)
		plan->more_work = ss_sim_odd_rank_of(fault, 1000 + fault->permille);
}

const struct ss_sim_cause ss_sim_cause_straggler_work = {
	.name = "straggler-work",
	.summary = "one rank gets longer sequences in every step",
	.fix = "sort or pack sequences so that all ranks get the same number of tokens",
	.op = "kernels of one rank",
	.line = "dataset.py:22",
	.has_rank = true,
	.part = "work",
	.layouts = { "ddp", "fsdp" },
	.plant = straggler_work_plant,
};
