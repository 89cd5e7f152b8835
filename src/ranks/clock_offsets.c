/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_offsets.c - aligns the clocks of all ranks.
 *
 * All ranks leave a symmetric collective together: its end is the median of their ends,
 * and a rank's offset is the median of its differences. Each is computed from the other in
 * turn, which is an L1 fit: a few collectives that end raggedly do not move it. Ranks on
 * one host share its clock and one offset, unless their collectives contradict that. Ranks of
 * one file have one clock, whatever they share.
 */
#include <stdlib.h>
#include <string.h>

#include "base/median.h"
#include "base/search.h"
#include "base/sort.h"
#include "ranks/join.h"

/* Ends converge in two or three rounds; groups that only one rank connects need more. */
#define ROUNDS_MAX 8

/* A rank that is further off than this from its host's clock does not share it. */
#define SAME_CLOCK_NS 200000

/* Fewer anchors, or a shorter time, do not show a drift. */
#define DRIFT_ANCHORS_MIN 12
#define DRIFT_SPAN_MIN 100000000

struct clock_solver {
	struct ss_joined *joined;
	struct ss_arena *scratch;
	uint32_t *node_of; /* per rank: the clock that it shares */
	uint32_t node_count;
	struct ss_class_lists node_ranks; /* of each clock */
	int64_t *ends;                    /* per collective, on the common clock */
	int64_t *values;
	int64_t *moments;
	uint32_t *queue;
	uint8_t *is_visited;     /* per collective */
	struct ss_clock *firsts; /* per component */
};

int64_t ss_joined_align(const struct ss_joined *joined, uint32_t rank, int64_t moment_ns)
{
	const struct ss_clock *clock = &joined->clocks[rank];

	return ss_moment_add(moment_ns, ss_moment_add(clock->offset_ns,
						      ss_drift_after(moment_ns - clock->middle_ns,
								     clock->drift_ppb)));
}

static bool is_anchor(const struct ss_joined *joined, uint32_t number)
{
	const struct ss_collective *collective;

	if (number == SS_NO_COLLECTIVE)
		return false;
	collective = &joined->collectives[number];
	return collective->is_symmetric ||
	       (joined->by_pairs && collective->kind >= SS_COLLECTIVE_SEND_RECV);
}

/* Whether it is the next process of the same file as rank r - 1. */
static bool shares_file(const struct ss_joined *joined, uint32_t r)
{
	const struct ss_digest *rank = &joined->ranks[r];

	return r && r < joined->rank_count && rank->part > 1 && rank[-1].part == rank->part - 1 &&
	       strcmp(rank->path, rank[-1].path) == 0;
}

/* --- a first guess ---------------------------------------------------------------- */

/* By the median difference of the ends in the collectives of both ranks. False: they share none. */
static bool guess_offset_from(struct clock_solver *solver, uint32_t known, uint32_t r)
{
	struct ss_joined *joined = solver->joined;
	uint32_t count = 0;

	for (uint32_t i = 0; i < joined->ranks[r].arrival_count; i++) {
		uint32_t number = joined->collective_of[r][i];
		const struct ss_collective *collective;
		uint32_t low, high;

		if (!is_anchor(joined, number))
			continue;
		collective = &joined->collectives[number];
		low = collective->first;
		high = low + collective->count;
		SS_SEARCH(low, high, at, joined->members[at].rank < known);
		if (low == collective->first + collective->count ||
		    joined->members[low].rank != known)
			continue;
		solver->values[count++] =
			ss_joined_align(joined, known,
					ss_joined_arrival(joined, &joined->members[low])->end_ns) -
			joined->ranks[r].arrivals[i].end_ns;
	}
	if (!count)
		return false;
	joined->clocks[r].offset_ns = ss_moment_cut(ss_median(solver->values, count));
	return true;
}

/*
 * Guesses the offsets of all ranks that share a collective with a known one. Each collective is
 * visited once. Returns the new end of the queue.
 */
static uint32_t guess_offsets_around(struct clock_solver *solver, uint32_t known, uint32_t to)
{
	struct ss_joined *joined = solver->joined;

	for (uint32_t i = 0; i < joined->ranks[known].arrival_count; i++) {
		uint32_t number = joined->collective_of[known][i];
		const struct ss_collective *collective;

		if (!is_anchor(joined, number) || solver->is_visited[number])
			continue;
		solver->is_visited[number] = 1;
		collective = &joined->collectives[number];
		for (uint32_t m = 0; m < collective->count; m++) {
			uint32_t r = joined->members[collective->first + m].rank;

			if (joined->clocks[r].component != SS_NO_ROW ||
			    !guess_offset_from(solver, known, r))
				continue;
			joined->clocks[r].component = joined->clocks[known].component;
			solver->queue[to++] = r;
		}
	}
	return to;
}

/* The same for a rank of the same file. */
static uint32_t guess_offset_beside(struct clock_solver *solver, uint32_t known, uint32_t r,
				    uint32_t to)
{
	struct ss_clock *clocks = solver->joined->clocks;

	if (!shares_file(solver->joined, r > known ? r : known) || clocks[r].component != SS_NO_ROW)
		return to;
	clocks[r] = clocks[known];
	solver->queue[to++] = r;
	return to;
}

/*
 * Goes from rank to rank through their collectives: connected ranks are a component. Returns how
 * many there are; a rank without a collective counts as one.
 */
static uint32_t guess_offsets(struct clock_solver *solver)
{
	struct ss_joined *joined = solver->joined;
	uint32_t component = 0, islands = 0;

	memset(solver->is_visited, 0, joined->collective_count);
	for (uint32_t r = 0; r < joined->rank_count; r++)
		joined->clocks[r] = (struct ss_clock){ .component = SS_NO_ROW };
	for (uint32_t root = 0; root < joined->rank_count; root++) {
		uint32_t to = 0;

		if (joined->clocks[root].component != SS_NO_ROW)
			continue;
		joined->clocks[root].component = component;
		solver->queue[to++] = root;
		for (uint32_t from = 0; from < to; from++) {
			uint32_t known = solver->queue[from];

			to = guess_offset_beside(solver, known, known - 1, to);
			to = guess_offset_beside(solver, known, known + 1, to);
			to = guess_offsets_around(solver, known, to);
		}
		islands++;
		/* a rank that shares no collective cannot be compared */
		if (to == 1 && joined->rank_count > 1)
			joined->clocks[root].component = SS_NO_ROW;
		else
			component++;
	}
	return islands;
}

/*
 * Only sends and receives connect the stages of a pipeline. Both ends leave such a pair almost
 * together, but the sender may leave earlier: pairs count only if nothing better connects the
 * ranks.
 */
static void guess_all_offsets(struct clock_solver *solver)
{
	if (guess_offsets(solver) <= 1)
		return;
	solver->joined->by_pairs = true;
	guess_offsets(solver);
}

/* --- fit ---------------------------------------------------------------------------- */

/* The end of each anchor on the common clock: the median of its members. */
static void find_collective_ends(struct clock_solver *solver)
{
	struct ss_joined *joined = solver->joined;

	for (uint32_t i = 0; i < joined->collective_count; i++) {
		const struct ss_collective *collective = &joined->collectives[i];

		if (!is_anchor(joined, i))
			continue;
		for (uint32_t k = 0; k < collective->count; k++) {
			const struct ss_member *member = &joined->members[collective->first + k];

			solver->values[k] =
				ss_joined_align(joined, member->rank,
						ss_joined_arrival(joined, member)->end_ns);
		}
		solver->ends[i] = ss_median(solver->values, collective->count);
	}
}

/*
 * Appends to `values` how far a rank is off in each of its collectives, and to `moments` when, in
 * its own time. Returns the new count.
 */
static uint32_t add_clock_differences(struct clock_solver *solver, uint32_t r, uint32_t count)
{
	struct ss_joined *joined = solver->joined;

	for (uint32_t i = 0; i < joined->ranks[r].arrival_count; i++) {
		int64_t end_ns = joined->ranks[r].arrivals[i].end_ns;
		uint32_t collective = joined->collective_of[r][i];

		if (!is_anchor(joined, collective))
			continue;
		solver->moments[count] = end_ns;
		solver->values[count++] = solver->ends[collective] -
					  ss_joined_align(joined, r, end_ns);
	}
	return count;
}

/* The same for all ranks that share a clock. */
static uint32_t node_differences(struct clock_solver *solver, uint32_t node)
{
	const struct ss_class_lists *ranks = &solver->node_ranks;
	uint32_t count = 0;

	for (uint32_t i = ranks->from[node]; i < ranks->from[node + 1]; i++)
		count = add_clock_differences(solver, ranks->items[i], count);
	return count;
}

static void move_clock(struct clock_solver *solver, uint32_t node, int64_t by_ns)
{
	const struct ss_class_lists *ranks = &solver->node_ranks;

	for (uint32_t i = ranks->from[node]; i < ranks->from[node + 1]; i++) {
		struct ss_clock *clock = &solver->joined->clocks[ranks->items[i]];

		clock->offset_ns = ss_moment_add(clock->offset_ns, by_ns);
	}
}

/* Makes a clock relative to `first`: aligned times are then times of that clock. */
static void rebase_clock(struct ss_clock *clock, const struct ss_clock *first)
{
	int64_t offset_ns = ss_moment_add(clock->offset_ns, -first->offset_ns);
	/* from the middle of the first clock to its own */
	int64_t after_ns = ss_moment_add(clock->middle_ns - first->middle_ns, offset_ns);

	clock->offset_ns = ss_moment_add(offset_ns, -ss_drift_after(after_ns, first->drift_ppb));
	clock->drift_ppb -= first->drift_ppb;
	clock->error_ns = ss_ns_sum(clock->error_ns, first->error_ns);
}

/* Makes the clock of the first rank of each component the reference. */
static void rebase_components(struct clock_solver *solver)
{
	struct ss_joined *joined = solver->joined;

	for (uint32_t r = 0; r < joined->rank_count; r++)
		solver->queue[r] = SS_NO_ROW; /* per component: its first */
	for (uint32_t r = 0; r < joined->rank_count; r++) {
		struct ss_clock *clock = &joined->clocks[r];

		if (clock->component == SS_NO_ROW)
			continue;
		if (solver->queue[clock->component] == SS_NO_ROW) {
			solver->queue[clock->component] = r;
			solver->firsts[clock->component] = *clock;
		}
		rebase_clock(clock, &solver->firsts[clock->component]);
		/* it shares the clock of the first rank: no error */
		if (solver->node_of[r] == solver->node_of[solver->queue[clock->component]])
			clock->error_ns = 0;
	}
}

/* Finds ends from offsets and offsets from ends in turn, until nothing moves. */
static void fit_offsets(struct clock_solver *solver)
{
	for (int round = 0; round < ROUNDS_MAX; round++) {
		bool moved = false;

		find_collective_ends(solver);
		for (uint32_t node = 0; node < solver->node_count; node++) {
			uint32_t count = node_differences(solver, node);
			int64_t by_ns = count ? ss_median(solver->values, count) : 0;

			moved |= by_ns != 0;
			move_clock(solver, node, by_ns);
		}
		if (!moved)
			break;
	}
}

/* --- ranks that share a clock ---------------------------------------------------------- */

/* Collectives on the host end too raggedly to show different clocks on one machine. */
static bool has_own_clock(const struct ss_joined *joined, uint32_t r, int64_t apart_ns)
{
	return joined->ranks[r].device >= 0 &&
	       (apart_ns > SAME_CLOCK_NS || apart_ns < -SAME_CLOCK_NS);
}

/* A rank before this one with the same file, or host and component; SS_NO_ROW: none. */
static uint32_t first_rank_on_host(const struct ss_joined *joined, uint32_t r)
{
	const struct ss_class_lists *ranks = &joined->host_ranks;
	uint32_t host = joined->hosts[r];

	if (shares_file(joined, r))
		return r - 1;
	if (!host || !joined->ranks[r].has_clock)
		return SS_NO_ROW;
	for (uint32_t i = ranks->from[host]; ranks->items[i] < r; i++) {
		uint32_t k = ranks->items[i];

		if (joined->clocks[k].component == joined->clocks[r].component &&
		    joined->ranks[k].has_clock)
			return k;
	}
	return SS_NO_ROW;
}

/*
 * Ranks of one host and component share a clock. Without a host name or a wall clock, a rank has
 * its own.
 */
static bool share_clocks(struct clock_solver *solver)
{
	struct ss_joined *joined = solver->joined;

	for (uint32_t r = 0; r < joined->rank_count; r++) {
		uint32_t first = first_rank_on_host(joined, r);
		int64_t apart_ns;

		if (first == SS_NO_ROW) {
			solver->node_of[r] = solver->node_count++;
			continue;
		}
		/* one offset for all of them: that of the first */
		apart_ns = joined->clocks[r].offset_ns - joined->clocks[first].offset_ns;
		if (has_own_clock(joined, r, apart_ns) && !shares_file(joined, r)) {
			solver->node_of[r] = solver->node_count++;
			continue;
		}
		solver->node_of[r] = solver->node_of[first];
		joined->clocks[r].offset_ns = joined->clocks[first].offset_ns;
	}
	return ss_class_lists_make(&solver->node_ranks, solver->node_of, joined->rank_count,
				   solver->node_count, solver->scratch);
}

/* --- drift ------------------------------------------------------------------------------- */

struct drift_point {
	int64_t moment_ns, value_ns;
};

SS_COMPARATOR(drift_point_compare, struct drift_point,
	      SS_ASCENDING(moment_ns) SS_ASCENDING(value_ns))

static int64_t median_point_value(struct clock_solver *solver, const struct drift_point *points,
				  uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		solver->values[i] = points[i].value_ns;
	return ss_median(solver->values, count);
}

/* Median distance of the points from the line through their middle. */
static double drift_noise(struct clock_solver *solver, const struct drift_point *points,
			  uint32_t count, double slope)
{
	int64_t all_ns = median_point_value(solver, points, count);

	for (uint32_t i = 0; i < count; i++) {
		double on_line = (double)all_ns + slope * (double)(points[i].moment_ns -
								   points[count / 2].moment_ns);
		double away = (double)points[i].value_ns - on_line;

		away = away < 0 ? -away : away;
		solver->values[i] = away < (double)SS_MOMENT_MAX ? (int64_t)away : SS_MOMENT_MAX;
	}
	return (double)ss_median(solver->values, count);
}

/* The slope between the medians of the first and last third, when it is more than noise. */
static int64_t estimate_drift(struct clock_solver *solver, const struct drift_point *points,
			      uint32_t count)
{
	uint32_t third = count / 3;
	int64_t span_ns;
	double change, noise;

	if (count < DRIFT_ANCHORS_MIN)
		return 0;
	span_ns = points[count - 1 - third / 2].moment_ns - points[third / 2].moment_ns;
	if (span_ns < DRIFT_SPAN_MIN)
		return 0;
	change = -(double)median_point_value(solver, points, third);
	change += (double)median_point_value(solver, points + count - third, third);
	/* three times the error of the difference of two medians: 3 * 1.25 * 1.48 * sqrt(2) */
	noise = drift_noise(solver, points, count, change / (double)span_ns) * 8;
	if (change * change * third <= noise * noise || change > (double)span_ns / 1000 ||
	    change < -(double)span_ns / 1000)
		return 0;
	return (int64_t)(change * 1e9 / (double)span_ns);
}

/* Sets the drift of a clock, and the moment at which its offset is exact. */
static void find_clock_drift(struct clock_solver *solver, uint32_t node, struct drift_point *points)
{
	struct ss_joined *joined = solver->joined;
	const struct ss_class_lists *ranks = &solver->node_ranks;
	uint32_t count = node_differences(solver, node);
	int64_t ppb;

	if (!count)
		return;
	for (uint32_t i = 0; i < count; i++)
		points[i] = (struct drift_point){ solver->moments[i], solver->values[i] };
	SS_SORT(points, count, drift_point_compare);
	ppb = estimate_drift(solver, points, count);
	for (uint32_t i = ranks->from[node]; i < ranks->from[node + 1]; i++) {
		joined->clocks[ranks->items[i]].drift_ppb = ppb;
		joined->clocks[ranks->items[i]].middle_ns = points[count / 2].moment_ns;
	}
}

/* --- errors ---------------------------------------------------------------------------- */

static int64_t integer_root(uint32_t square)
{
	int64_t guess = square / 2 + 1;

	while (guess > square / guess)
		guess = (guess + square / guess) / 2;
	return guess > 1 ? guess : 1;
}

/* No offset is more exact than the resolution of the clocks. */
#define ERROR_NS_MIN 1000

static int64_t scale_time(int64_t time_ns, double factor)
{
	double value = (double)time_ns * factor;

	return value < (double)(SS_MOMENT_MAX / 2) ? (int64_t)value : SS_MOMENT_MAX / 2;
}

/* How well the clock of a rank fits its collectives, and how exact its offset is. */
static void measure_residuals(struct clock_solver *solver, uint32_t r)
{
	struct ss_joined *joined = solver->joined;
	struct ss_clock *clock = &joined->clocks[r];
	uint32_t count = add_clock_differences(solver, r, 0);

	clock->anchors = count;
	if (!count)
		return;
	for (uint32_t i = 0; i < count; i++)
		solver->values[i] = llabs(solver->values[i]);
	clock->residual_p50_ns = ss_nth_smallest(solver->values, count, count / 2);
	clock->residual_p90_ns = ss_nth_smallest(solver->values, count,
						 (size_t)((uint64_t)count * 9 / 10));
	/* twice the error of a median: 2 * 1.25 * 1.48 * MAD / sqrt(n) */
	clock->error_ns = ss_ns_sum(ERROR_NS_MIN, scale_time(clock->residual_p50_ns,
							     3.7 / (double)integer_root(count)));
}

/* Marks collectives that a member left before the last arrived, by more than the clocks' error. */
static void check_causality(struct ss_joined *joined)
{
	for (uint32_t i = 0; i < joined->collective_count; i++) {
		struct ss_collective *collective = &joined->collectives[i];
		int64_t last_start_ns = INT64_MIN, first_end_ns = INT64_MAX, slack_ns = 0;

		for (uint32_t k = 0; k < collective->count; k++) {
			const struct ss_member *member = &joined->members[collective->first + k];
			const struct ss_arrival *arrival = ss_joined_arrival(joined, member);
			int64_t start_ns = ss_joined_align(joined, member->rank, arrival->start_ns);
			int64_t end_ns = ss_joined_align(joined, member->rank, arrival->end_ns);

			last_start_ns = start_ns > last_start_ns ? start_ns : last_start_ns;
			first_end_ns = end_ns < first_end_ns ? end_ns : first_end_ns;
			if (joined->clocks[member->rank].error_ns > slack_ns)
				slack_ns = joined->clocks[member->rank].error_ns;
		}
		collective->breaks_causality = collective->is_symmetric &&
					       last_start_ns - first_end_ns >
						       ss_ns_sum(slack_ns, slack_ns);
		for (uint32_t k = 0; collective->breaks_causality && k < collective->count; k++)
			joined->clocks[joined->members[collective->first + k].rank].violations++;
	}
}

bool ss_joined_set_clocks(struct ss_joined *joined)
{
	struct clock_solver solver = { .joined = joined };
	size_t total = (size_t)joined->member_count + joined->rank_count + 1;
	SS_SCRATCH(scratch, joined->memory);
	struct drift_point *points;
	size_t ranks = (size_t)joined->rank_count + 1, calls = (size_t)joined->collective_count + 1;

	solver.scratch = &scratch;
	if (!SS_ALLOC(&joined->arena, joined->clocks, ranks) ||
	    !SS_ALLOC(&scratch, solver.node_of, total) ||
	    !SS_ALLOC(&scratch, solver.queue, total) ||
	    !SS_ALLOC(&scratch, solver.is_visited, calls) ||
	    !SS_ALLOC(&scratch, solver.firsts, ranks) || !SS_ALLOC(&scratch, solver.ends, calls) ||
	    !SS_ALLOC(&scratch, solver.values, total) ||
	    !SS_ALLOC(&scratch, solver.moments, total) || !SS_ALLOC(&scratch, points, total))
		return false;
	guess_all_offsets(&solver);
	if (!share_clocks(&solver))
		return false;
	fit_offsets(&solver);
	find_collective_ends(&solver);
	for (uint32_t node = 0; node < solver.node_count; node++)
		find_clock_drift(&solver, node, points);
	fit_offsets(&solver);
	find_collective_ends(&solver);
	for (uint32_t r = 0; r < joined->rank_count; r++)
		measure_residuals(&solver, r);
	rebase_components(&solver);
	check_causality(joined);
	return true;
}
