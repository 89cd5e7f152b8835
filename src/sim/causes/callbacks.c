/* SPDX-License-Identifier: Apache-2.0 */
/*
 * callbacks.c - cause: trainer callbacks run at the end of each step while the GPU has
 * nothing to do.
 */
#include "sim/cause.h"

static void callbacks_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	if (!fault->fixed)
		plan->callback_ns = ss_sim_slack_ns(fault) + ss_sim_part_of_step(fault);
}

const struct ss_sim_cause ss_sim_cause_callbacks = {
	.name = "callbacks",
	.summary = "a trainer callback runs on the host at the end of every step",
	.fix = "do less in on_step_end, or only every 100 steps",
	.op = "on_step_end",
	.line = "callbacks.py:12",
	.layouts = { "single", "ddp", "fsdp", "tensor", "pipeline" },
	.plant = callbacks_plant,
};
