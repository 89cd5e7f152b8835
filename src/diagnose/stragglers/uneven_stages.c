/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uneven_stages.c - sums the passes of each stage, and distributes what can move.
 */
#include "diagnose/stragglers/uneven_stages.h"

#include <string.h>

#include "base/median.h"
#include "ranks/join.h"
#include "replay/pipelines.h"

/* What a rank computes in forward and backward passes, per step. */
static int64_t rank_passes(const struct ss_packed *graph)
{
	int64_t sum_ns = 0;

	for (uint32_t i = 0; i < graph->task_count; i++)
		if (ss_pipeline_passes(graph, i))
			ss_ns_add(&sum_ns, ss_packed_own(graph, i));
	return graph->step_count ? sum_ns / graph->step_count : 0;
}

/* Fills the stages; none if a stage between the first and the last has no rank. */
static bool measure_stages(struct ss_uneven_stages *out, const struct ss_judgement *judgement,
			   struct ss_arena *arena)
{
	const struct ss_joined *joined = judgement->joined;
	int64_t *values = SS_ARENA_NEW(arena, int64_t, (size_t)joined->rank_count + 1);
	int64_t most = -1;

	for (uint32_t r = 0; r < joined->rank_count; r++)
		most = joined->stages[r] > most ? joined->stages[r] : most;
	if (most >= (int64_t)joined->rank_count)
		return true;
	if (!SS_ALLOC(arena, out->items, (size_t)(most + 2)) || !values)
		return false;
	for (int64_t stage = 0; stage <= most; stage++) {
		struct ss_stage_work *work = &out->items[stage];

		for (uint32_t r = 0; r < joined->rank_count; r++) {
			if (joined->stages[r] != stage || !judgement->graphs[r].step_count)
				continue;
			work->first = work->ranks ? work->first : r;
			values[work->ranks++] = rank_passes(&judgement->graphs[r]);
		}
		if (!work->ranks)
			return true;
		work->own_ns = (double)ss_nth_smallest(values, work->ranks, (work->ranks - 1) / 2);
	}
	out->count = (uint32_t)(most + 1);
	return true;
}

/* The mean time of the kernel with this name on a rank; 0: it has none. */
static double kernel_mean(const struct ss_digest *rank, const struct ss_string *name)
{
	for (uint32_t i = 0; i < rank->kernel_count; i++) {
		const struct ss_string *own = &rank->texts.items[rank->kernels[i].name];

		if (own->length == name->length && memcmp(own->text, name->text, name->length) == 0)
			return (double)rank->kernels[i].total_ns / (double)rank->kernels[i].calls;
	}
	return 0;
}

/* The share of a stage's kernels that other stages run as well, as long as they take there. */
static double movable_share(const struct ss_uneven_stages *stages, const struct ss_joined *joined,
			    uint32_t stage)
{
	const struct ss_digest *rank = &joined->ranks[stages->items[stage].first];
	double all = 0, movable = 0;

	for (uint32_t i = 0; i < rank->kernel_count; i++) {
		const struct ss_rank_kernel *kernel = &rank->kernels[i];
		double own = (double)kernel->total_ns / (double)kernel->calls, other = 0;

		if (kernel->comm)
			continue;
		for (uint32_t k = 0; k < stages->count && other <= 0; k++)
			if (k != stage)
				other = kernel_mean(&joined->ranks[stages->items[k].first],
						    &rank->texts.items[kernel->name]);
		all += (double)kernel->total_ns;
		movable += (own < other ? own : other) * (double)kernel->calls;
	}
	return all > 0 ? movable / all : 0;
}

/*
 * All stages get the same, but those that cannot give away enough: what they keep is more, and what
 * the others share is less.
 */
static void level_stages(struct ss_uneven_stages *stages)
{
	double level = 0;

	/* each round finds at least one more stage that keeps what it has, or ends */
	for (uint32_t round = 0; round < stages->count; round++) {
		double shared = 0;
		uint32_t sharing = 0;

		for (uint32_t i = 0; i < stages->count; i++) {
			const struct ss_stage_work *work = &stages->items[i];
			bool keeps = round && work->fixed_ns > level;

			shared += keeps ? work->own_ns - work->fixed_ns : work->own_ns;
			sharing += !keeps;
		}
		if (!sharing)
			break;
		level = shared / sharing;
	}
	for (uint32_t i = 0; i < stages->count; i++) {
		struct ss_stage_work *work = &stages->items[i];

		work->even_ns = work->fixed_ns > level ? work->fixed_ns : level;
	}
}

bool ss_uneven_stages_find(struct ss_uneven_stages *out, const struct ss_judgement *judgement,
			   struct ss_arena *arena)
{
	*out = (struct ss_uneven_stages){ 0 };
	if (!measure_stages(out, judgement, arena))
		return false;
	for (uint32_t i = 0; i < out->count; i++) {
		out->items[i].fixed_ns = out->items[i].own_ns *
					 (1 - movable_share(out, judgement->joined, i));
		if (out->items[i].own_ns > out->items[out->busiest].own_ns)
			out->busiest = i;
	}
	for (uint32_t i = 0; i < out->count; i++) {
		double own = out->items[i].own_ns;

		if (i == out->busiest)
			continue;
		out->most = own > out->most ? own : out->most;
		out->least = out->least <= 0 || own < out->least ? own : out->least;
	}
	level_stages(out);
	return true;
}
