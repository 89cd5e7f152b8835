/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle_checkpoint.c - cause: every few steps all ranks stop to save a
 * checkpoint.
 */
#include "sim/cause.h"

#define EVERY 2

static void idle_checkpoint_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	if (fault->fixed)
		return;
	plan->pause_every = EVERY;
	plan->pause_kind = SS_SIM_PAUSE_CHECKPOINT;
	plan->pause_ns = EVERY * ss_sim_part_of_step(fault);
}

const struct ss_sim_cause ss_sim_cause_idle_checkpoint = {
	.name = "idle-checkpoint",
	.summary = "all ranks stop together to write a checkpoint",
	.fix = "save asynchronously (torch.distributed.checkpoint.async_save) or less often",
	.op = "aten::copy_",
	.line = "train.py:63",
	.part = "pause",
	.layouts = { "single", "ddp", "fsdp", "tensor", "pipeline" },
	.plant = idle_checkpoint_plant,
};
