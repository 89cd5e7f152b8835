/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle_logging.c - cause: every few steps all ranks stop to log.
 */
#include "sim/cause.h"

#define EVERY 2

static void idle_logging_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	if (fault->fixed)
		return;
	plan->pause_every = EVERY;
	plan->pause_kind = SS_SIM_PAUSE_LOGGING;
	plan->pause_ns = EVERY * ss_sim_part_of_step(fault);
}

const struct ss_sim_cause ss_sim_cause_idle_logging = {
	.name = "idle-logging",
	.summary = "all ranks stop together to log metrics",
	.fix = "log from a background thread, and only on rank 0",
	.op = "aten::item",
	.line = "train.py:71",
	.part = "pause",
	.layouts = { "single", "ddp", "fsdp", "tensor", "pipeline" },
	.plant = idle_logging_plant,
};
