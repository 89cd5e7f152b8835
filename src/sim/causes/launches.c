/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launches.c - causes: kernels come too late: many are tiny, or the host is slow.
 */
#include "sim/cause.h"

/* CPU time of a tiny op, forward and backward together */
#define TINY_OP_NS 26000

/* of a block: more say nothing new and make files of gigabytes */
#define TINY_OPS_MAX 4000

/* The GPU finishes each kernel before the next comes. In serving, decode without CUDA graphs. */
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

#define EVERY 2

static void recompilation_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	plan->compiled = true;
	if (fault->fixed)
		return;
	plan->recompile_every = EVERY;
	plan->recompile_ns = ss_sim_slack_ns(fault) + EVERY * ss_sim_part_of_step(fault);
}

const struct ss_sim_cause ss_sim_cause_recompilation = {
	.name = "recompilation",
	.summary = "torch.compile compiles again when sizes change",
	.fix = "torch.compile(dynamic=True), or pad to a few sizes",
	.op = "_compile.compile_inner (dynamo_timed)",
	.line = "train.py:42",
	.layouts = { "single", "ddp" },
	.plant = recompilation_plant,
};

static void graph_break_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	plan->compiled = true;
	if (fault->fixed)
		return;
	plan->graph_breaks = plan->model.layers;
	plan->break_ns = (ss_sim_slack_ns(fault) + ss_sim_part_of_step(fault)) / plan->graph_breaks;
}

const struct ss_sim_cause ss_sim_cause_graph_break = {
	.name = "graph-break",
	.summary =
		"graph breaks split the compiled region; Python and guards run between the parts",
	.fix = "torch.compile(fullgraph=True) shows where; move print and .item() out of forward",
	.op = "TorchDynamo Cache Lookup",
	.line = "model.py:41",
	.layouts = { "single", "ddp" },
	.plant = graph_break_plant,
};

static void oversubscribed_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	int64_t want_ns = ss_sim_slack_ns(fault) + ss_sim_part_of_step(fault);

	if (!fault->fixed)
		plan->stretch_permille =
			(uint32_t)(1000 * (want_ns / (fault->base->host_ns / 100 + 1)) / 100);
}

const struct ss_sim_cause ss_sim_cause_oversubscribed = {
	.name = "oversubscribed",
	.summary = "more threads than cores: operators wait for a core now and then",
	.fix = "OMP_NUM_THREADS = cores / processes per host, and fewer DataLoader workers",
	.op = "operators on the host",
	.layouts = { "single", "ddp", "fsdp", "tensor", "pipeline" },
	.plant = oversubscribed_plant,
};

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
