/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_few_workers.c - cause: too few DataLoader workers: every step waits for
 * its batch.
 */
#include "sim/cause.h"

#define FEW 2

static void input_few_workers_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	plan->loader_workers = fault->fixed ? 12 : FEW;
	plan->fetch_ns = FEW * (fault->base->step_ns + ss_sim_part_of_step(fault)) /
			 plan->accumulate;
}

const struct ss_sim_cause ss_sim_cause_input_few_workers = {
	.name = "input-few-workers",
	.summary = "two DataLoader workers make batches more slowly than the GPU uses them",
	.fix = "DataLoader(num_workers=12)",
	.op = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
	.line = "train.py:33",
	.part = "input",
	.layouts = { "single", "ddp", "fsdp", "tensor", "pipeline" },
	.plant = input_few_workers_plant,
};
