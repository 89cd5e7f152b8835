/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker_restart.c - cause: the DataLoader restarts its workers in each epoch, and the
 * first batch waits for them.
 */
#include "sim/cause.h"

#define EVERY 3

static void worker_restart_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	/* short epochs of cheap batches are no fault */
	plan->epoch_steps = EVERY;
	plan->fetch_ns = fault->base->step_ns / 20;
	if (!fault->fixed)
		plan->restart_ns = ss_sim_slack_ns(fault) + EVERY * ss_sim_part_of_step(fault);
}

const struct ss_sim_cause ss_sim_cause_worker_restart = {
	.name = "worker-restart",
	.summary = "the DataLoader restarts its workers in every epoch",
	.fix = "DataLoader(persistent_workers=True)",
	.op = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
	.line = "train.py:33",
	.part = "input",
	.layouts = { "single", "ddp", "fsdp", "tensor", "pipeline" },
	.plant = worker_restart_plant,
};
