/* SPDX-License-Identifier: Apache-2.0 */
/*
 * low_occupancy.c - cause: kernels whose grid is far too small for the GPU.
 */
#include "sim/cause.h"

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
