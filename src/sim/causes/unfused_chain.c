/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unfused_chain.c - cause: elementwise operators one after the other on a large tensor, which one
 * kernel could do.
 */
#include "sim/cause.h"
#include "sim/networks/model.h"

#define HALF_BYTES 4 /* of an element, read and written */

static void unfused_chain_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	/* forward and backward */
	int64_t op_ns = (int64_t)(plan->model.layers * 2 * (double)ss_sim_wide_elements(plan) *
				  HALF_BYTES * 1e9 / plan->device->memory_rate);

	if (!fault->fixed)
		plan->chain_ops = (uint32_t)(ss_sim_part_of_step(fault) / (op_ns + 1)) + 1;
}

const struct ss_sim_cause ss_sim_cause_unfused_chain = {
	.name = "unfused-chain",
	.summary = "elementwise operators read and write a large tensor one after the other",
	.fix = "torch.compile the function: one kernel for all of them",
	.op = "aten::div",
	.line = "model.py:88",
	.layouts = { "single", "ddp", "fsdp", "tensor", "pipeline" },
	.plant = unfused_chain_plant,
};
