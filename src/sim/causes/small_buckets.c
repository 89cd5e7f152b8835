/* SPDX-License-Identifier: Apache-2.0 */
/*
 * small_buckets.c - cause: gradients are all-reduced one by one: each collective pays the
 * latency of the network.
 */
#include "sim/cause.h"
#include "sim/networks/model.h"

static void small_buckets_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	uint32_t tensors = ss_sim_parameter_tensors(&plan->model);

	/* how far the hosts are apart is a circumstance; how often they meet is the fault */
	plan->link_latency_ns = (fault->base->step_ns / 2 + ss_sim_part_of_step(fault)) / tensors;
	if (!fault->fixed)
		plan->bucket_bytes = 1; /* less than any gradient */
}

const struct ss_sim_cause ss_sim_cause_small_buckets = {
	.name = "small-buckets",
	.summary = "DDP buckets are so small that each gradient is all-reduced separately",
	.fix = "DistributedDataParallel(bucket_cap_mb=25)",
	.op = "record_param_comms",
	.part = "buckets",
	.layouts = { "ddp" },
	.plant = small_buckets_plant,
};
