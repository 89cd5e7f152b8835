/* SPDX-License-Identifier: Apache-2.0 */
/*
 * validation.c - cause: every few steps the loop stops training to validate.
 */
#include "sim/cause.h"

#define EVERY 2
#define FORWARDS 3 /* that take as long as a step */

static void validation_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	if (fault->fixed)
		return;
	plan->validate_every = EVERY;
	plan->validate_passes = EVERY * fault->permille * FORWARDS / 1000 + 1;
}

const struct ss_sim_cause ss_sim_cause_validation = {
	.name = "validation",
	.summary = "validation inside the training loop: extra forward passes in every second step",
	.fix = "validate once per epoch, on fewer batches, or in a separate job",
	.op = "validate",
	.line = "train.py:87",
	.layouts = { "single", "ddp", "fsdp", "tensor" },
	.plant = validation_plant,
};
