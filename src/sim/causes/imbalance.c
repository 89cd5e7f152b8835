/* SPDX-License-Identifier: Apache-2.0 */
/*
 * imbalance.c - cause: a different rank has the most work in each step.
 */
#include "sim/cause.h"

static void imbalance_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	if (fault->fixed)
		return;
	plan->more_work = ss_sim_odd_rank_of(fault, 1000 + fault->permille);
	plan->more_work.rotates = true;
}

const struct ss_sim_cause ss_sim_cause_imbalance = {
	.name = "imbalance",
	.summary = "a different rank has the longest sequences in each step",
	.fix = "balance tokens, not samples, across ranks",
	.op = "kernels",
	.line = "dataset.py:22",
	.part = "work",
	.layouts = { "ddp", "fsdp" },
	.plant = imbalance_plant,
};
