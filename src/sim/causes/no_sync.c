/* SPDX-License-Identifier: Apache-2.0 */
/*
 * no_sync.c - cause: gradients are accumulated over micro-batches, but all-reduced
 * in each of them.
 */
#include "sim/cause.h"
#include "sim/networks/model.h"

#define MICRO_STEPS 4u

/* Bytes a second at which all gradients are reduced in `reduce_ns`. */
static uint64_t no_sync_bus_rate(const struct ss_sim_plan *plan, int64_t reduce_ns)
{
	uint64_t bytes = ss_sim_stem_parameters(&plan->model) +
			 ss_sim_head_parameters(&plan->model);

	for (uint32_t i = 0; i < plan->model.layers; i++)
		bytes += ss_sim_block_parameters(&plan->model, i, plan->tensor);
	bytes *= ss_sim_dtype_bytes(plan->model.dtype);
	/* an all-reduce sends each byte nearly twice; microseconds, so that nothing overflows */
	return 2 * bytes * (plan->rank_count - 1) / plan->rank_count * 1000 /
	       (uint64_t)(reduce_ns / 1000 + 1) * 1000;
}

static void no_sync_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	int64_t micro_ns, hidden_ns;

	/* the same samples in smaller micro-batches, over a network that backward does not hide */
	if (plan->accumulate < MICRO_STEPS) {
		plan->accumulate = MICRO_STEPS;
		if (plan->model.batch > MICRO_STEPS)
			plan->model.batch /= MICRO_STEPS;
	}
	micro_ns = fault->base->step_ns / plan->accumulate;
	hidden_ns = micro_ns / 3 * 2;
	plan->link_rate = no_sync_bus_rate(plan, hidden_ns + ss_sim_part_of_step(fault) /
								     (plan->accumulate - 1));
	plan->sync_each = !fault->fixed;
}

const struct ss_sim_cause ss_sim_cause_no_sync = {
	.name = "no-sync",
	.summary = "gradient accumulation without no_sync(): every micro-batch is all-reduced",
	.fix = "use model.no_sync() for all micro-batches but the last",
	.op = "record_param_comms",
	.line = "train.py:46",
	.part = "accumulation",
	.layouts = { "ddp" },
	.plant = no_sync_plant,
};
