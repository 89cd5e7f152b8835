/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.c - the healthy job that every plan starts from, the layouts by name, and the clocks of the
 * hosts, drawn from the seed.
 */
#include <string.h>

#include "sim/noise.h"
#include "sim/plan.h"

#define SS_SIM_LAYOUT(name) extern const struct ss_sim_layout ss_sim_layout_##name;
#include "layouts.inc"
#undef SS_SIM_LAYOUT

#define SS_SIM_LAYOUT(name) &ss_sim_layout_##name,
const struct ss_sim_layout *const ss_sim_layouts[] = {
#include "layouts.inc"
};
#undef SS_SIM_LAYOUT

const size_t ss_sim_layout_count = SS_COUNT(ss_sim_layouts);

#define HOST_RANKS 8u

const struct ss_sim_layout *ss_sim_layout_find(const char *name)
{
	for (size_t i = 0; i < ss_sim_layout_count; i++)
		if (strcmp(ss_sim_layouts[i]->name, name) == 0)
			return ss_sim_layouts[i];
	return NULL;
}

/* A size that keeps each device busy: the larger the device, the more samples. */
static struct ss_sim_model model_for_device(const struct ss_sim_device *device)
{
	bool small = device->arch == SS_SIM_VOLTA || device->arch == SS_SIM_AMPERE;

	return (struct ss_sim_model){
		.network = SS_SIM_TRANSFORMER,
		.layers = 12,
		.hidden = small ? 1536 : 2048,
		.heads = small ? 12 : 16,
		.vocabulary = 32000,
		.sequence = 2048,
		.batch = small ? 2 : 4,
		.dtype = SS_SIM_HALF,
	};
}

void ss_sim_plan_init(struct ss_sim_plan *plan, const struct ss_sim_layout *layout,
		      const struct ss_sim_device *device, uint32_t ranks)
{
	*plan = (struct ss_sim_plan){
		.layout = layout,
		.device = device,
		.seed = 1,
		.rank_count = ranks,
		.host_ranks = HOST_RANKS,
		.step_count = 5,
		.model = model_for_device(device),
		.tensor = 1,
		.pipe = 1,
		.with_stack = true,
		.with_shapes = true,
		.with_memory = true,
		.host_permille = 1000,
		.loader_workers = 8,
		.fetch_ns = 60000000,
		.accumulate = 1,
		.micro_batches = 1,
		.slow_device = { .rank = -1 },
		.slow_host = { .rank = -1 },
		.slow_link = { .rank = -1 },
		.more_work = { .rank = -1 },
	};
	layout->defaults(plan);
	plan->input_bytes = UINT64_C(16) * plan->model.batch * plan->model.sequence;
}

void ss_sim_plan_make_small(struct ss_sim_plan *plan)
{
	plan->model.hidden = 1024;
	plan->model.heads = 16;
	plan->model.sequence = plan->device->arch == SS_SIM_BLACKWELL ? 2048
			       : plan->device->arch >= SS_SIM_HOPPER  ? 1024
								      : 512;
	plan->model.batch = 4;
	plan->input_bytes = UINT64_C(16) * plan->model.batch * plan->model.sequence;
}

void ss_sim_plan_make_cnn(struct ss_sim_plan *plan)
{
	plan->model = (struct ss_sim_model){
		.network = SS_SIM_CNN,
		.layers = 16,
		.hidden = 64,
		.heads = 1,
		.vocabulary = 1000,
		.sequence = 224,
		.batch = 96,
		.dtype = SS_SIM_HALF,
	};
	plan->input_bytes = UINT64_C(3) * 2 * plan->model.batch * plan->model.sequence *
			    plan->model.sequence;
}

enum ss_status ss_sim_plan_check(const struct ss_sim_plan *plan, struct ss_error *err)
{
	const struct ss_sim_odd_rank *const odd[] = { &plan->slow_device, &plan->slow_host,
						      &plan->slow_link, &plan->more_work };

	if (!plan->rank_count || plan->rank_count > SS_SIM_RANKS_MAX)
		return ss_fail(err, SS_ERR_USAGE, "a job can have 1 to %u ranks, not %u",
			       SS_SIM_RANKS_MAX, plan->rank_count);
	if (!plan->step_count || plan->step_count > SS_SIM_STEPS_MAX)
		return ss_fail(err, SS_ERR_USAGE, "a job can record 1 to %u steps, not %u",
			       SS_SIM_STEPS_MAX, plan->step_count);
	if ((plan->tensor > 1 && !plan->layout->splits_matrices) ||
	    (plan->pipe > 1 && !plan->layout->splits_stages))
		return ss_fail(err, SS_ERR_USAGE, "the layout '%s' cannot split the network",
			       plan->layout->name);
	if (plan->rank_count % (plan->tensor * plan->pipe))
		return ss_fail(
			err, SS_ERR_USAGE,
			"%u ranks are not a multiple of %u (tensor parallel) times %u (stages)",
			plan->rank_count, plan->tensor, plan->pipe);
	for (size_t i = 0; i < SS_COUNT(odd); i++)
		if (odd[i]->permille && odd[i]->rank >= 0 &&
		    (uint32_t)odd[i]->rank >= plan->rank_count)
			return ss_fail(err, SS_ERR_USAGE, "no rank %d: the job has %u ranks",
				       odd[i]->rank, plan->rank_count);
	return plan->layout->check(plan, err);
}

/* --- clocks of hosts ----------------------------------------------------------------- */

/* A number from -limit to limit, the same for all ranks of the host. */
static int64_t clock_draw(const struct ss_sim_plan *plan, uint32_t host, uint32_t key,
			  int64_t limit)
{
	uint64_t random = ss_sim_random(plan->seed, host, 0, key, SS_SIM_NOISE_CLOCK);

	return limit <= 0 ? 0 : (int64_t)(random % (2 * (uint64_t)limit + 1)) - limit;
}

struct ss_sim_clock ss_sim_clock_of(const struct ss_sim_plan *plan, uint32_t rank)
{
	uint32_t host = rank / plan->host_ranks;

	if (!host)
		return (struct ss_sim_clock){ 0 };
	return (struct ss_sim_clock){
		.offset_ns = clock_draw(plan, host, 1, plan->clock_offset_ns),
		.drift_ppb = clock_draw(plan, host, 2, plan->drift_ppb),
	};
}

int64_t ss_sim_clock_show(const struct ss_sim_clock *clock, int64_t true_ns)
{
	/* in two parts, so that a day of nanoseconds times the drift does not overflow */
	int64_t drift_ns = true_ns / 1000000 * clock->drift_ppb / 1000 +
			   true_ns % 1000000 * clock->drift_ppb / 1000000000;

	return SS_SIM_EPOCH_NS + true_ns + clock->offset_ns + drift_ns;
}
