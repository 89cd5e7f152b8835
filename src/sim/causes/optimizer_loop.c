/* SPDX-License-Identifier: Apache-2.0 */
/*
 * optimizer_loop.c - cause: the optimizer updates one tensor at a time, one
 * tiny kernel after the other.
 */
#include "sim/cause.h"

static void optimizer_loop_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	if (!fault->fixed)
		plan->loop_permille = fault->permille + (1000 - fault->permille) / 2;
}

const struct ss_sim_cause ss_sim_cause_optimizer_loop = {
	.name = "optimizer-loop",
	.summary = "the optimizer updates one tensor at a time",
	.fix = "AdamW(fused=True)",
	.op = "Optimizer.step#AdamW.step",
	.line = "train.py:50",
	.layouts = { "single", "ddp", "fsdp" },
	.plant = optimizer_loop_plant,
};
