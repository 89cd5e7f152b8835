/* SPDX-License-Identifier: Apache-2.0 */
/*
 * casts.c - cause: activations are converted to float and back in each block.
 */
#include "sim/cause.h"
#include "sim/networks/model.h"

#define CAST_BYTES 6 /* of an element, read and written */

static void casts_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	int64_t pair_ns = (int64_t)(plan->model.layers * 4 * (double)ss_sim_wide_elements(plan) *
				    CAST_BYTES * 1e9 / plan->device->memory_rate);

	if (!fault->fixed)
		plan->casts = (uint32_t)(ss_sim_part_of_step(fault) / (pair_ns + 1)) + 1;
}

const struct ss_sim_cause ss_sim_cause_casts = {
	.name = "casts",
	.summary = "activations are cast to float32 and back in every block",
	.fix = "keep one dtype throughout the block; torch.autocast chooses it per operator",
	.op = "aten::_to_copy",
	.line = "model.py:65",
	.layouts = { "single", "ddp", "fsdp", "tensor", "pipeline" },
	.plant = casts_plant,
};
