/* SPDX-License-Identifier: Apache-2.0 */
/*
 * figures.c - what ranks are compared by: each figure of each rank, and what the others have.
 *
 * A rank is compared with its peers: those of its stage in a pipeline, else all others. The middle
 * of a figure is found once for each role; what it is without one rank follows from that.
 */
#include <stddef.h>

#include "base/median.h"
#include "base/search.h"
#include "diagnose/stragglers/judge.h"

int64_t ss_straggler_median(int64_t *values, uint32_t count)
{
	return count ? ss_nth_smallest(values, count, (count - 1) / 2) : 0;
}

/* --- of a rank ------------------------------------------------------------------------- */

/* Time per step that a rank spent on a part, without communication. */
static int64_t rank_part_time(const struct ss_digest *rank, int part)
{
	int64_t sum_ns = 0;

	/* without a device: own time of operators, which has no waiting in it */
	for (int i = 0; rank->device < 0 && part == SS_OWN_COMPUTE && i < SS_PHASE_COUNT; i++)
		sum_ns = ss_ns_sum(sum_ns, rank->phases[i].total_ns);
	for (uint32_t i = 0; i < rank->step_count; i++) {
		const struct ss_rank_step *step = &rank->steps[i];

		if (part == SS_OWN_COMPUTE && rank->device >= 0)
			ss_ns_add(&sum_ns, step->compute_ns);
		else if (part == SS_OWN_COPY)
			ss_ns_add(&sum_ns, step->exposed_copy_ns);
		else if (part == SS_OWN_IDLE_BY(SS_IDLE_LAUNCH) && rank->device < 0)
			ss_ns_add(&sum_ns, step->loose_ns);
		else if (part == SS_OWN_IDLE_BY(SS_IDLE_INPUT) && rank->device < 0)
			ss_ns_add(&sum_ns, step->input_ns);
		else if (part >= SS_OWN_IDLE)
			ss_ns_add(&sum_ns, step->idle_ns[part - SS_OWN_IDLE]);
	}
	return rank->step_count ? sum_ns / rank->step_count : 0;
}

static int64_t rank_exposed_time(const struct ss_digest *rank)
{
	int64_t sum_ns = 0;

	for (uint32_t i = 0; i < rank->step_count; i++)
		ss_ns_add(&sum_ns, rank->steps[i].exposed_comm_ns);
	return rank->step_count ? sum_ns / rank->step_count : 0;
}

/* How long its host takes for a step when it waits for nobody. */
static int64_t rank_host_pace(const struct ss_digest *rank)
{
	int64_t sum_ns = 0;

	for (uint32_t i = 0; i < rank->step_count; i++) {
		const struct ss_rank_step *step = &rank->steps[i];
		int64_t own_ns = step->host_end_ns - step->host_start_ns - step->held_ns;

		sum_ns = ss_ns_sum(sum_ns, own_ns > 0 ? own_ns : 0);
	}
	return rank->step_count ? sum_ns / rank->step_count : 0;
}

static int64_t rank_figure(const struct ss_digest *rank, uint32_t figure)
{
	if (figure < SS_FIGURE_EXPOSED)
		return rank_part_time(rank, (int)figure);
	if (figure == SS_FIGURE_EXPOSED)
		return rank_exposed_time(rank);
	if (figure == SS_FIGURE_PACE)
		return rank_host_pace(rank);
	if (!rank->step_count)
		return 0;
	if (figure == SS_FIGURE_TYPICAL)
		return (int64_t)(rank->typical_ns / rank->step_count);
	if (figure < SS_FIGURE_CALLS)
		return rank->phases[figure - SS_FIGURE_PHASE].total_ns / rank->step_count;
	return rank->phases[figure - SS_FIGURE_CALLS].calls * 1000 / rank->step_count;
}

/* --- of all ranks ---------------------------------------------------------------------- */

/* Whether a rank counts for a role; the last one is that of all ranks. */
static bool is_of_role(const struct ss_joined *joined, uint32_t r, uint32_t role)
{
	return role == joined->role_count || joined->roles[r] == role;
}

static void fill_figure(struct ss_straggler_judge *judge, uint32_t figure)
{
	const struct ss_joined *joined = judge->joined;
	int64_t *own = judge->figures + (size_t)figure * joined->rank_count;

	for (uint32_t r = 0; r < joined->rank_count; r++)
		own[r] = rank_figure(&joined->ranks[r], figure);
	for (uint32_t role = 0; role <= joined->role_count; role++) {
		uint32_t count = 0;

		for (uint32_t r = 0; r < joined->rank_count; r++)
			if (joined->ranks[r].step_count && is_of_role(joined, r, role))
				judge->values[count++] = own[r];
		judge->role_ranks[role] = count;
		judge->middles[role * SS_FIGURES + figure] = ss_middle_of(judge->values, count);
	}
}

/* The two ranks of a role that are latest in a step, and the median. */
static void find_latest_in_step(struct ss_straggler_judge *judge, uint32_t s, uint32_t role)
{
	const struct ss_lateness *lateness = &judge->lateness;
	struct ss_straggler_step_lateness *late =
		&judge->late[(size_t)role * lateness->step_count + s];
	uint32_t count = 0;

	for (uint32_t r = 0; r < lateness->rank_count; r++) {
		int64_t late_ns = ss_late_step_own(ss_late_step_of(lateness, r, s));

		if (!is_of_role(judge->joined, r, role))
			continue;
		judge->values[count++] = late_ns;
		if (late_ns > late->worst_ns) {
			late->second_ns = late->worst_ns;
			late->worst_ns = late_ns;
		} else if (late_ns > late->second_ns) {
			late->second_ns = late_ns;
		}
	}
	late->middle = ss_middle_of(judge->values, count);
}

bool ss_straggler_measure(struct ss_straggler_judge *judge)
{
	const struct ss_joined *joined = judge->joined;
	size_t steps = 1, roles = (size_t)joined->role_count + 1;

	for (uint32_t r = 0; r < joined->rank_count; r++) {
		const struct ss_digest *rank = &joined->ranks[r];

		if (rank->step_count &&
		    rank->steps[rank->step_count - 1].number + (size_t)2 > steps)
			steps = rank->steps[rank->step_count - 1].number + (size_t)2;
	}
	judge->figures = SS_ARENA_NEW(judge->arena, int64_t,
				      (size_t)SS_FIGURES * joined->rank_count + 1);
	judge->late = SS_ARENA_NEW(judge->arena, struct ss_straggler_step_lateness,
				   roles * judge->lateness.step_count + 1);
	judge->middles = SS_ARENA_NEW(judge->arena, struct ss_middle, roles * SS_FIGURES);
	judge->role_ranks = SS_ARENA_NEW(judge->arena, uint32_t, roles);
	judge->steps = SS_ARENA_NEW(judge->arena, struct ss_straggler_step, roles * steps);
	judge->step_capacity = (uint32_t)steps;
	if (!judge->figures || !judge->late || !judge->steps || !judge->middles ||
	    !judge->role_ranks)
		return false;
	for (uint32_t figure = 0; figure < SS_FIGURES; figure++)
		fill_figure(judge, figure);
	for (uint32_t role = 0; role < roles; role++)
		for (uint32_t s = 0; s < judge->lateness.step_count; s++)
			find_latest_in_step(judge, s, role);
	return true;
}

int64_t ss_straggler_own_figure(const struct ss_straggler_judge *judge, uint32_t r, uint32_t figure)
{
	return judge->figures[(size_t)figure * judge->joined->rank_count + r];
}

int64_t ss_straggler_usual_figure(const struct ss_straggler_judge *judge, uint32_t r,
				  uint32_t figure)
{
	const struct ss_middle *middle =
		&judge->middles[judge->joined->roles[r] * SS_FIGURES + figure];

	return judge->joined->ranks[r].step_count
		       ? ss_middle_without(middle, ss_straggler_own_figure(judge, r, figure))
		       : ss_middle_median(middle);
}

/* --- of all ranks in a step ------------------------------------------------------------ */

/* The step of this number; NULL: the rank has none. */
static const struct ss_rank_step *find_rank_step(const struct ss_digest *rank, uint32_t number)
{
	uint32_t low = 0, high = rank->step_count;

	SS_SEARCH(low, high, at, rank->steps[at].number < number);
	return low < rank->step_count && rank->steps[low].number == number ? &rank->steps[low]
									   : NULL;
}

/* The peers of a rank in the step with this number; computed at the first call. */
static struct ss_straggler_step *figures_of_step(struct ss_straggler_judge *judge, uint32_t number,
						 uint32_t own)
{
	const struct ss_joined *joined = judge->joined;
	struct ss_straggler_step *steps =
		&judge->steps[(size_t)joined->roles[own] * judge->step_capacity +
			      (number < judge->step_capacity ? number : judge->step_capacity - 1)];
	int64_t *loose_ns = judge->values + joined->rank_count + 1;
	uint32_t computed = 0, count = 0;

	if (steps->is_known)
		return steps;
	for (uint32_t r = 0; r < joined->rank_count; r++) {
		const struct ss_rank_step *step = find_rank_step(&joined->ranks[r], number);

		if (!step || !ss_joined_are_peers(joined, own, r))
			continue;
		loose_ns[count++] = step->loose_ns;
		if (step->compute_ns >= 0)
			judge->values[computed++] = step->compute_ns;
	}
	steps->is_known = true;
	steps->compute = ss_middle_of(judge->values, computed);
	steps->loose = ss_middle_of(loose_ns, count);
	return steps;
}

bool ss_straggler_computes_more(struct ss_straggler_judge *judge, uint32_t r, uint32_t number,
				int percent)
{
	const struct ss_rank_step *step = find_rank_step(&judge->joined->ranks[r], number);
	const struct ss_middle *compute = &figures_of_step(judge, number, r)->compute;
	int64_t own_ns = step ? step->compute_ns : -1;
	bool is_in = own_ns >= 0;
	int64_t usual_ns = is_in ? ss_middle_without(compute, own_ns) : ss_middle_median(compute);

	return compute->count > is_in && own_ns - usual_ns >= judge->step_ns / 100 * percent;
}

int64_t ss_straggler_loose_margin(struct ss_straggler_judge *judge, uint32_t r, uint32_t number)
{
	const struct ss_rank_step *own = find_rank_step(&judge->joined->ranks[r], number);
	const struct ss_middle *loose = &figures_of_step(judge, number, r)->loose;

	return own && loose->count > 1 ? own->loose_ns - ss_middle_without(loose, own->loose_ns)
				       : 0;
}

/* --- hosts ------------------------------------------------------------------------------- */

int64_t ss_straggler_pace_excess(struct ss_straggler_judge *judge, uint32_t r)
{
	return ss_straggler_own_figure(judge, r, SS_FIGURE_PACE) -
	       ss_straggler_usual_figure(judge, r, SS_FIGURE_PACE);
}

/* Which rank begins the step first, of those whose clocks can be compared; computed once. */
static const struct ss_straggler_step *find_first_starter(struct ss_straggler_judge *judge,
							  uint32_t number, uint32_t component)
{
	const struct ss_joined *joined = judge->joined;
	struct ss_straggler_step *steps = &judge->steps[number];

	if (steps->has_first && steps->component == component)
		return steps;
	steps->has_first = true;
	steps->component = component;
	steps->first = SS_NO_ROW;
	steps->first_ns = steps->second_ns = INT64_MAX;
	for (uint32_t k = 0; k < joined->rank_count; k++) {
		const struct ss_rank_step *step = joined->clocks[k].component != component
							  ? NULL
							  : find_rank_step(&joined->ranks[k],
									   number);
		int64_t start_ns = step ? ss_joined_align(joined, k, step->host_start_ns)
					: INT64_MAX;

		if (start_ns < steps->first_ns) {
			steps->second_ns = steps->first_ns;
			steps->first_ns = start_ns;
			steps->first = k;
		} else if (start_ns < steps->second_ns) {
			steps->second_ns = start_ns;
		}
	}
	return steps;
}

int64_t ss_straggler_start_lag(struct ss_straggler_judge *judge, uint32_t r)
{
	const struct ss_joined *joined = judge->joined;
	const struct ss_digest *own = &joined->ranks[r];
	uint32_t steps = 0;

	for (uint32_t i = 0; i < own->step_count; i++) {
		const struct ss_straggler_step *all =
			find_first_starter(judge, own->steps[i].number,
					   joined->clocks[r].component);
		int64_t first_ns = all->first == r ? all->second_ns : all->first_ns;

		if (first_ns != INT64_MAX)
			judge->step_values[steps++] =
				ss_joined_align(joined, r, own->steps[i].host_start_ns) - first_ns;
	}
	return ss_straggler_median(judge->step_values, steps);
}
