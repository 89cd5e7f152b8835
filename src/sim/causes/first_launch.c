/* SPDX-License-Identifier: Apache-2.0 */
/*
 * first_launch.c - cause: kernels are loaded at their first launch, in the first
 * recorded step.
 */
#include "sim/cause.h"

#define KERNELS 32 /* different ones of a step, about */

static void first_launch_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	if (!fault->fixed)
		plan->load_ns = plan->step_count * ss_sim_part_of_step(fault) / KERNELS;
}

const struct ss_sim_cause ss_sim_cause_first_launch = {
	.name = "first-launch",
	.summary = "kernels are loaded at their first launch, in the first recorded step",
	.fix = "record after some warm-up steps; CUDA_MODULE_LOADING=EAGER loads at the start",
	.op = "cudaLaunchKernel",
	.layouts = { "single", "ddp", "fsdp", "tensor", "pipeline" },
	.plant = first_launch_plant,
};
