/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch_bound.c - cause: many tiny kernels: the GPU finishes each one before
 * the host has launched the next. In serving, decode without CUDA graphs.
 */
#include "sim/cause.h"

/* CPU time of a tiny op, forward and backward together */
#define TINY_OP_NS 26000

/* of a block: more say nothing new and make files of gigabytes */
#define TINY_OPS_MAX 4000

static void launch_bound_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	int64_t want_ns = ss_sim_slack_ns(fault) + ss_sim_part_of_step(fault);

	if (fault->fixed)
		return;
	if (!plan->layout->training) {
		plan->graphs = false;
		plan->host_permille += fault->permille / 2;
		return;
	}
	want_ns /= TINY_OP_NS * plan->model.layers;
	plan->tiny_ops = want_ns < TINY_OPS_MAX ? (uint32_t)want_ns + 1 : TINY_OPS_MAX;
}

const struct ss_sim_cause ss_sim_cause_launch_bound = {
	.name = "launch-bound",
	.summary = "many tiny operators: launching them takes longer than running them",
	.fix = "torch.compile(model), or CUDA graphs",
	.op = "cudaLaunchKernel",
	.line = "model.py:57",
	.layouts = { "single", "ddp", "fsdp", "tensor", "pipeline", "inference" },
	.plant = launch_bound_plant,
};
