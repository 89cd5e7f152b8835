/* SPDX-License-Identifier: Apache-2.0 */
/*
 * straggler_link.c - cause: the link of one rank is slow, and with it every
 * group that it is in.
 */
#include "sim/cause.h"

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
