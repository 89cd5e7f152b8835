/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels.c - causes: kernels that take longer than they must.
 */
#include "sim/cause.h"
#include "sim/networks/model.h"

static void fp32_matmul_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	if (!fault->fixed)
		plan->fp32_layers = plan->model.layers * fault->permille / 3000 + 1;
}

const struct ss_sim_cause ss_sim_cause_fp32_matmul = {
	.name = "fp32-matmul",
	.summary = "matmuls in FP32 do not use tensor cores",
	.fix = "torch.autocast(\"cuda\", dtype=torch.bfloat16), or "
	       "torch.set_float32_matmul_precision(\"high\")",
	.op = "aten::addmm",
	.layouts = { "single", "ddp", "fsdp", "tensor", "pipeline" },
	.plant = fp32_matmul_plant,
};

static void low_occupancy_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	if (fault->fixed)
		return;
	/* grids of decode are small as they are */
	plan->starved_permille = (1001 - fault->permille) / (plan->layout->training ? 12 : 4);
}

const struct ss_sim_cause ss_sim_cause_low_occupancy = {
	.name = "low-occupancy",
	.summary = "attention and norms run with grids that leave most of the GPU idle",
	.fix = "larger batches per launch, or kernels that split along the sequence",
	.op = "kernels with few blocks",
	.layouts = { "single", "ddp", "fsdp", "tensor", "pipeline", "inference" },
	.plant = low_occupancy_plant,
};

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

#define HALF_BYTES 4 /* of an element, read and written */

/* One kernel could do what they do: that one stays when it is fixed. */
static void unfused_chain_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	/* forward and backward */
	int64_t op_ns = (int64_t)(plan->model.layers * 2 * (double)ss_sim_wide_elements(plan) *
				  HALF_BYTES * 1e9 / plan->device->memory_rate);

	plan->chain_ops = 1;
	if (!fault->fixed)
		plan->chain_ops += (uint32_t)(ss_sim_part_of_step(fault) / (op_ns + 1)) + 1;
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

/* Forward is about a third of a step, so that much of it cannot be chosen: most of the blocks. */
static void recomputed_activations_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	if (!fault->fixed)
		plan->recomputed_layers = plan->model.layers * (fault->permille + 400) / 1000;
}

const struct ss_sim_cause ss_sim_cause_recomputed_activations = {
	.name = "recomputed-activations",
	.summary = "backward computes most blocks a second time, though memory is left",
	.fix = "torch.utils.checkpoint around fewer blocks",
	.op = "CheckpointFunctionBackward",
	.layouts = { "single", "ddp" },
	.plant = recomputed_activations_plant,
};

static void optimizer_loop_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	if (!fault->fixed)
		plan->loop_permille = fault->permille + (1000 - fault->permille) / 2;
}

const struct ss_sim_cause ss_sim_cause_optimizer_loop = {
	.name = "optimizer-loop",
	.summary = "the optimizer updates one tensor at a time",
	.fix = "AdamW(fused=True)",
	.op = "Optimizer.step#AdamW.step",
	.line = "train.py:50",
	.layouts = { "single", "ddp", "fsdp" },
	.plant = optimizer_loop_plant,
};
