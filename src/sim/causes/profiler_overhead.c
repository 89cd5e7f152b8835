/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profiler_overhead.c - cause: the profiler itself costs time: it flushes its
 * buffers in the middle of steps, and recording makes each op slower.
 */
#include "sim/cause.h"

#define FLUSHES 3

static void profiler_overhead_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	if (fault->fixed)
		return;
	plan->host_permille = 1000 + fault->permille / 2;
	plan->flush_count = FLUSHES;
	plan->flush_ns = (ss_sim_slack_ns(fault) + ss_sim_part_of_step(fault)) / FLUSHES;
}

const struct ss_sim_cause ss_sim_cause_profiler_overhead = {
	.name = "profiler-overhead",
	.summary = "the profiler stops the host to flush its buffers",
	.fix = "record fewer steps and no stacks, or raise the buffer size",
	.op = "Buffer Flush",
	.layouts = { "single", "ddp", "fsdp", "tensor", "pipeline" },
	.plant = profiler_overhead_plant,
};
