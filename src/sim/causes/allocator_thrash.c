/* SPDX-License-Identifier: Apache-2.0 */
/*
 * allocator_thrash.c - cause: every step empties the allocator's cache and
 * allocates from the GPU again.
 */
#include "sim/cause.h"

#define ROUND_TRIP_NS 580000

static void allocator_thrash_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	if (!fault->fixed)
		plan->empty_cache_blocks = (uint32_t)(ss_sim_part_of_step(fault) / ROUND_TRIP_NS) +
					   2;
}

const struct ss_sim_cause ss_sim_cause_allocator_thrash = {
	.name = "allocator-thrash",
	.summary =
		"torch.cuda.empty_cache() in every step: cudaFree and cudaMalloc wait for the GPU",
	.fix = "remove torch.cuda.empty_cache() from the loop",
	.op = "cudaFree",
	.line = "train.py:75",
	.layouts = { "single", "ddp", "fsdp", "tensor", "pipeline" },
	.plant = allocator_thrash_plant,
};
