/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline_bubble.c - cause: too few micro-batches for the number of stages:
 * stages are idle at the beginning and the end of each step.
 */
#include "sim/cause.h"

/* The batch stays as it is: only numbers of micro-batches that divide it will do. */
static void pipeline_bubble_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	uint32_t batches = plan->micro_batches * plan->model.batch;
	uint32_t micro = fault->permille < 500 ? 2 * plan->pipe : plan->pipe;

	if (fault->fixed)
		return;
	while (micro >= plan->pipe && (batches % micro || micro > plan->micro_batches))
		micro--;
	if (micro < plan->pipe)
		return;
	plan->model.batch = batches / micro;
	plan->micro_batches = micro;
}

const struct ss_sim_cause ss_sim_cause_pipeline_bubble = {
	.name = "pipeline-bubble",
	.summary = "too few micro-batches: stages wait while the pipeline fills and drains",
	.fix = "split the batch into more micro-batches, or use interleaved stages",
	.op = "c10d::recv_",
	.layouts = { "pipeline" },
	.plant = pipeline_bubble_plant,
};
