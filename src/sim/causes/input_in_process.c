/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_in_process.c - cause: the training process makes its batches itself
 * (num_workers=0), and the GPU waits meanwhile.
 */
#include "sim/cause.h"

static void input_without_workers_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	/* what the dataset costs is a circumstance; who pays for it is the fault */
	plan->fetch_ns = ss_sim_slack_ns(fault) + ss_sim_part_of_step(fault);
	plan->loader_workers = fault->fixed ? 8 : 0;
}

const struct ss_sim_cause ss_sim_cause_input_in_process = {
	.name = "input-in-process",
	.summary = "the training process makes its batches itself: num_workers=0",
	.fix = "DataLoader(num_workers=8, pin_memory=True, persistent_workers=True)",
	.op = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
	.line = "dataset.py:22",
	.part = "input",
	.layouts = { "single", "ddp", "fsdp", "tensor", "pipeline" },
	.plant = input_without_workers_plant,
};
