/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unused_parameters.c - cause: DDP searches the graph for unused parameters in each step
 * (find_unused_parameters=True), although all are used.
 */
#include "sim/cause.h"

static void unused_parameters_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	if (!fault->fixed)
		plan->search_ns = ss_sim_slack_ns(fault) + ss_sim_part_of_step(fault);
}

const struct ss_sim_cause ss_sim_cause_unused_parameters = {
	.name = "unused-parameters",
	.summary =
		"find_unused_parameters=True: every step searches the graph and all-reduces a map",
	.fix = "DistributedDataParallel(find_unused_parameters=False), or static_graph=True",
	.op = "torch.distributed.ddp.reducer::search_unused_parameters",
	.line = "train.py:42",
	.layouts = { "ddp" },
	.plant = unused_parameters_plant,
};
