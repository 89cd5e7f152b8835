/* SPDX-License-Identifier: Apache-2.0 */
/*
 * straggler.c - cause: one GPU runs slower: throttled clocks.
 */
#include "sim/cause.h"

static void straggler_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	if (!fault->fixed)
		plan->slow_device = ss_sim_odd_rank_of(fault, 1000 + fault->permille);
}

const struct ss_sim_cause ss_sim_cause_straggler = {
	.name = "straggler",
	.summary = "the kernels of one rank are slower: its GPU is throttled",
	.fix = "check clocks, power cap and temperature of that GPU",
	.op = "kernels of one rank",
	.has_rank = true,
	.layouts = { "ddp", "fsdp", "tensor", "pipeline", "inference" },
	.plant = straggler_plant,
};
