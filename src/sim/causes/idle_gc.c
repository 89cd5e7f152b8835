/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle_gc.c - cause: every few steps all ranks stop for the garbage collector.
 */
#include "sim/cause.h"

#define EVERY 2

static void idle_gc_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	if (fault->fixed)
		return;
	plan->pause_every = EVERY;
	plan->pause_kind = SS_SIM_PAUSE_GC;
	plan->pause_ns = ss_sim_slack_ns(fault) + EVERY * ss_sim_part_of_step(fault);
}

const struct ss_sim_cause ss_sim_cause_idle_gc = {
	.name = "idle-gc",
	.summary = "all ranks stop together for Python's garbage collector",
	.fix = "gc.disable(), gc.collect() at chosen steps, gc.freeze() after startup",
	.op = "gc.collect",
	.line = "train.py:67",
	.part = "pause",
	.layouts = { "single", "ddp", "fsdp", "tensor", "pipeline" },
	.plant = idle_gc_plant,
};
