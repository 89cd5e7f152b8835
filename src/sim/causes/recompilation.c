/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recompilation.c - cause: torch.compile recompiles the model whenever the
 * shape of its input changes.
 */
#include "sim/cause.h"

#define EVERY 2

static void recompilation_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	plan->compiled = true;
	if (fault->fixed)
		return;
	plan->recompile_every = EVERY;
	plan->recompile_ns = ss_sim_slack_ns(fault) + EVERY * ss_sim_part_of_step(fault);
}

const struct ss_sim_cause ss_sim_cause_recompilation = {
	.name = "recompilation",
	.summary = "torch.compile compiles again when sizes change",
	.fix = "torch.compile(dynamic=True), or pad to a few sizes",
	.op = "_compile.compile_inner (dynamo_timed)",
	.line = "train.py:42",
	.layouts = { "single", "ddp" },
	.plant = recompilation_plant,
};
