/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gradients.c - causes: gradients and parameters travel at the wrong moment, or in wrong sizes.
 */
#include "sim/cause.h"
#include "sim/networks/model.h"

/* One bucket for all gradients (DDP), or parameters gathered only when they are needed (FSDP). */
static void exposed_comm_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	uint64_t parameters = 0;

	if (fault->fixed)
		return;
	if (plan->prefetch_layers) {
		plan->prefetch_layers = plan->model.layers * (1000 - fault->permille) / 1000;
		return;
	}
	for (uint32_t i = 0; i < plan->model.layers; i++)
		parameters += ss_sim_block_parameters(&plan->model, i, plan->tensor);
	plan->bucket_bytes = fault->permille >= 500
				     ? UINT64_C(1) << 40
				     : parameters * ss_sim_dtype_bytes(plan->model.dtype) *
					       (fault->permille + 500) / 1000;
}

const struct ss_sim_cause ss_sim_cause_exposed_comm = {
	.name = "exposed-comm",
	.summary = "communication waits for the end of backward, or compute waits for it",
	.fix = "DDP: bucket_cap_mb=25; FSDP: forward_prefetch=True, BackwardPrefetch.BACKWARD_PRE",
	.op = "record_param_comms",
	.part = "buckets",
	.layouts = { "ddp", "fsdp" },
	.plant = exposed_comm_plant,
};

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

/* Each collective pays the latency of the network. */
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

/* All parameters are used: the search finds none. */
static void unused_parameters_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	if (!fault->fixed)
		plan->search_ns = ss_sim_slack_ns(fault) + ss_sim_part_of_step(fault);
}

const struct ss_sim_cause ss_sim_cause_unused_parameters = {
	.name = "unused-parameters",
	.summary =
		"find_unused_parameters=True: every step searches the graph and all-reduces a map",
	.fix = "DistributedDataParallel(find_unused_parameters=False), or static_graph=True",
	.op = "torch.distributed.ddp.reducer::search_unused_parameters",
	.line = "train.py:42",
	.layouts = { "ddp" },
	.plant = unused_parameters_plant,
};
