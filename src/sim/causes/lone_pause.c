/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lone_pause.c - cause: one long pause in one step, visible only in a Python frame.
 */
#include "sim/cause.h"

/* How far the host may be ahead by then: it gains in each step, and its queue has an end. */
static int64_t lone_pause_lead_ns(const struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	int64_t gained_ns = ss_sim_slack_ns(fault) * (plan->step_count / 2 + 1);
	int64_t most_ns = 2 * fault->base->step_ns;

	return gained_ns < most_ns ? gained_ns : most_ns;
}

static void lone_pause_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	if (fault->fixed)
		return;
	plan->lone_step = SS_SIM_WARMUP_STEPS + plan->step_count / 2;
	plan->lone_ns = lone_pause_lead_ns(plan, fault) +
			plan->step_count * ss_sim_part_of_step(fault);
}

const struct ss_sim_cause ss_sim_cause_lone_pause = {
	.name = "lone-pause",
	.summary = "one step pauses for a long time; without stacks the reason is unknown",
	.fix = "record with with_stack=True, then look at what the host does in that step",
	.op = "refresh_schedule",
	.line = "train.py:83",
	.layouts = { "single", "ddp", "fsdp", "tensor", "pipeline" },
	.plant = lone_pause_plant,
};
