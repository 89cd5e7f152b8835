/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranks.c - causes: ranks that wait for one another.
 */
#include "sim/cause.h"

static void straggler_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	if (!fault->fixed)
		plan->slow_device = ss_sim_odd_rank_of(fault, 1000 + fault->permille);
}

const struct ss_sim_cause ss_sim_cause_straggler = {
	.name = "straggler",
	.summary = "the kernels of one rank are slower: its GPU is throttled",
	.fix = "check clocks, power cap and temperature of that GPU",
	.op = "kernels of one rank",
	.has_rank = true,
	.layouts = { "ddp", "fsdp", "tensor", "pipeline", "inference" },
	.plant = straggler_plant,
};

static void straggler_work_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	if (!fault->fixed)
		plan->more_work = ss_sim_odd_rank_of(fault, 1000 + fault->permille);
}

const struct ss_sim_cause ss_sim_cause_straggler_work = {
	.name = "straggler-work",
	.summary = "one rank gets longer sequences in every step",
	.fix = "sort or pack sequences so that all ranks get the same number of tokens",
	.op = "kernels of one rank",
	.line = "dataset.py:22",
	.has_rank = true,
	.part = "work",
	.layouts = { "ddp", "fsdp" },
	.plant = straggler_work_plant,
};

static void straggler_host_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	int64_t want_ns = fault->base->step_ns + ss_sim_part_of_step(fault);

	if (!fault->fixed)
		plan->slow_host = ss_sim_odd_rank_of(
			fault, (uint32_t)(1000 * (want_ns / (fault->base->host_ns / 100)) / 100));
}

const struct ss_sim_cause ss_sim_cause_straggler_host = {
	.name = "straggler-host",
	.summary = "one rank launches late: other processes compete for its CPU",
	.fix = "pin processes to cores and NUMA nodes; look for other processes on that host",
	.op = "cudaLaunchKernel",
	.has_rank = true,
	.layouts = { "ddp", "fsdp", "tensor", "pipeline" },
	.plant = straggler_host_plant,
};

/* The link slows down every group that the rank is in. */
static void straggler_link_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	int64_t hidden_ns = plan->tensor < 2 && plan->pipe < 2 ? fault->base->step_ns / 3 * 2 : 0;
	int64_t want_ns = hidden_ns + ss_sim_part_of_step(fault) + fault->base->comm_ns;

	if (!fault->fixed)
		plan->slow_link = ss_sim_odd_rank_of(
			fault,
			(uint32_t)(1000 * (want_ns / (fault->base->comm_ns / 100 + 1)) / 100));
}

const struct ss_sim_cause ss_sim_cause_straggler_link = {
	.name = "straggler-link",
	.summary = "collectives with one rank are slow: its link is degraded",
	.fix = "check that rank's NVLink and NIC (link errors, width, affinity)",
	.op = "ncclDevKernel",
	.has_rank = true,
	.layouts = { "ddp", "fsdp", "tensor", "pipeline" },
	.plant = straggler_link_plant,
};

static void imbalance_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	if (fault->fixed)
		return;
	plan->more_work = ss_sim_odd_rank_of(fault, 1000 + fault->permille);
	plan->more_work.rotates = true;
}

const struct ss_sim_cause ss_sim_cause_imbalance = {
	.name = "imbalance",
	.summary = "a different rank has the longest sequences in each step",
	.fix = "balance tokens, not samples, across ranks",
	.op = "kernels",
	.line = "dataset.py:22",
	.part = "work",
	.layouts = { "ddp", "fsdp" },
	.plant = imbalance_plant,
};

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
