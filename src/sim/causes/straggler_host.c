/* SPDX-License-Identifier: Apache-2.0 */
/*
 * straggler_host.c - cause: one rank's CPU is shared with something else, so
 * its launches come late.
 */
#include "sim/cause.h"

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
