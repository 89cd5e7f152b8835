/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.c - causes: memory that grows, or that the allocator gets anew in every step.
 */
#include "sim/cause.h"

static void memory_leak_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	if (!fault->fixed)
		plan->leak_bytes = (UINT64_C(1) << 20) * (32 + fault->permille);
}

const struct ss_sim_cause ss_sim_cause_memory_leak = {
	.name = "memory-leak",
	.summary = "tensors of every step are kept, so memory grows",
	.fix = "append loss.item() or loss.detach() instead of the loss",
	.op = "aten::clone",
	.line = "train.py:79",
	.layouts = { "single", "ddp", "fsdp", "tensor", "pipeline" },
	.plant = memory_leak_plant,
};

static void fragmentation_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	if (fault->fixed)
		return;
	plan->fragment_permille = 20 + fault->permille / 4;
	plan->fragment_min_bytes = (UINT64_C(1) << 20) * (fault->permille < 500 ? 48 : 1);
}

const struct ss_sim_cause ss_sim_cause_fragmentation = {
	.name = "fragmentation",
	.summary = "activations change size in every step and never fit the cached blocks",
	.fix = "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, or pad to fixed lengths",
	.op = "cudaMalloc",
	.line = "dataset.py:22",
	.layouts = { "single", "ddp", "fsdp" },
	.plant = fragmentation_plant,
};

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
