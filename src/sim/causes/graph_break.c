/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_break.c - cause: graph breaks split a compiled model into many small
 * regions with Python between them.
 */
#include "sim/cause.h"

static void graph_break_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	plan->compiled = true;
	if (fault->fixed)
		return;
	plan->graph_breaks = plan->model.layers;
	plan->break_ns = (ss_sim_slack_ns(fault) + ss_sim_part_of_step(fault)) / plan->graph_breaks;
}

const struct ss_sim_cause ss_sim_cause_graph_break = {
	.name = "graph-break",
	.summary =
		"graph breaks split the compiled region; Python and guards run between the parts",
	.fix = "torch.compile(fullgraph=True) shows where; move print and .item() out of forward",
	.op = "TorchDynamo Cache Lookup",
	.line = "model.py:41",
	.layouts = { "single", "ddp" },
	.plant = graph_break_plant,
};
