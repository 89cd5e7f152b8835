/* SPDX-License-Identifier: Apache-2.0 */
/*
 * oversubscribed.c - cause: more threads than cores: on all ranks, CPU work waits for a
 * core now and then.
 */
#include "sim/cause.h"

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
