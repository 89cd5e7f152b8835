/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle_together.c - view: when the devices of all ranks were idle at once, and what their
 * hosts did.
 *
 * No rank waits for another there: all did the same thing, for example wrote a checkpoint.
 * The idle times of the ranks are intersected on the aligned clock; short gaps are normal
 * and left out.
 */

#include "base/search.h"
#include "ranks/join.h"

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "cause", SS_COLUMN_TEXT, "why most ranks were idle; causes as in the gaps view",
	  SS_COLUMN_FILLED },
	{ "idle_ns", SS_COLUMN_NS, "time in which all ranks were idle at once, over all steps",
	  SS_COLUMN_FILLED },
	{ "step_percent", SS_COLUMN_PERCENT, "share of the time of the steps", SS_COLUMN_BAR },
	{ "times", SS_COLUMN_COUNT, "number of times", 0 },
	{ "longest_ns", SS_COLUMN_NS, "longest time", SS_COLUMN_LENGTH },
	{ "ranks_percent", SS_COLUMN_PERCENT,
	  "share of the ranks that had this cause in the longest one", 0 },
	{ "at_ns", SS_COLUMN_NS,
	  "start of the longest one, from the first step of the first of these ranks",
	  SS_COLUMN_DETAIL | SS_COLUMN_MOMENT },
	{ "host", SS_COLUMN_TEXT,
	  "what the host of the first of these ranks was doing in the longest one", 0 },
};

struct common_stretch {
	int64_t start_ns, end_ns;
};

struct common_stretches {
	struct common_stretch *items;
	uint32_t count;
};

/* The gaps of a rank on the common clock. */
static bool aligned_gaps(const struct ss_joined *joined, uint32_t r, struct ss_arena *arena,
			 struct common_stretches *out)
{
	const struct ss_digest *rank = &joined->ranks[r];

	out->count = 0;
	out->items = SS_ARENA_NEW(arena, struct common_stretch, (size_t)rank->gap_count + 1);
	for (uint32_t i = 0; out->items && i < rank->gap_count; i++)
		out->items[out->count++] =
			(struct common_stretch){ ss_joined_align(joined, r, rank->gaps[i].start_ns),
						 ss_joined_align(joined, r, rank->gaps[i].end_ns) };
	return out->items != NULL;
}

/* Reduces `common` to what both have; both are sorted by time. */
static bool intersect_stretches(struct common_stretches *common, const struct common_stretches *own,
				struct ss_arena *arena)
{
	struct common_stretch *both;
	uint32_t i = 0, k = 0, count = 0;

	if (!SS_ALLOC(arena, both, (size_t)common->count + own->count + 1))
		return false;
	while (i < common->count && k < own->count) {
		const struct common_stretch *a = &common->items[i], *b = &own->items[k];
		int64_t start_ns = a->start_ns > b->start_ns ? a->start_ns : b->start_ns;
		int64_t end_ns = a->end_ns < b->end_ns ? a->end_ns : b->end_ns;

		if (end_ns > start_ns)
			both[count++] = (struct common_stretch){ start_ns, end_ns };
		if (a->end_ns < b->end_ns)
			i++;
		else
			k++;
	}
	*common = (struct common_stretches){ both, count };
	return true;
}

/* Ranks of the first one's component that have a device. */
static bool is_compared_rank(const struct ss_joined *joined, uint32_t r)
{
	return joined->ranks[r].device >= 0 && joined->clocks[r].component == 0;
}

/* Intersects the gaps of all ranks that can be compared. False: no memory. */
static bool find_common_idle(const struct ss_joined *joined, struct ss_arena *arena,
			     struct common_stretches *common, uint32_t *ranks)
{
	*ranks = 0;
	for (uint32_t r = 0; r < joined->rank_count; r++) {
		struct common_stretches own;

		if (!is_compared_rank(joined, r))
			continue;
		if (!aligned_gaps(joined, r, arena, &own))
			return false;
		if (!(*ranks)++)
			*common = own;
		else if (!intersect_stretches(common, &own, arena))
			return false;
	}
	return true;
}

/* The gap of a rank at the moment, or NULL. */
static const struct ss_rank_gap *rank_gap_at(const struct ss_joined *joined, uint32_t r,
					     int64_t moment_ns)
{
	const struct ss_digest *rank = &joined->ranks[r];
	uint32_t low = 0, high = rank->gap_count;

	SS_SEARCH(low, high, at, ss_joined_align(joined, r, rank->gaps[at].end_ns) <= moment_ns);
	return low < rank->gap_count ? &rank->gaps[low] : NULL;
}

/* The cause that most ranks have at the moment, and how many have it. */
static uint32_t common_cause_at(const struct ss_joined *joined, int64_t moment_ns, uint32_t *votes)
{
	uint32_t counts[SS_IDLE_CAUSES] = { 0 }, best = 0;

	for (uint32_t r = 0; r < joined->rank_count; r++) {
		const struct ss_rank_gap *gap = is_compared_rank(joined, r)
							? rank_gap_at(joined, r, moment_ns)
							: NULL;

		if (gap)
			counts[gap->cause]++;
	}
	for (uint32_t i = 1; i < SS_IDLE_CAUSES; i++)
		if (counts[i] > counts[best])
			best = i;
	*votes = counts[best];
	return best;
}

struct idle_together_tally {
	int64_t idle_ns, longest_ns, at_ns;
	uint32_t times, votes;
};

static const char *host_work_at(const struct ss_joined *joined, uint32_t cause, int64_t moment_ns)
{
	for (uint32_t r = 0; r < joined->rank_count; r++) {
		const struct ss_rank_gap *gap = is_compared_rank(joined, r)
							? rank_gap_at(joined, r, moment_ns)
							: NULL;

		if (gap && gap->cause == cause && gap->host)
			return ss_strings_text(&joined->ranks[r].texts, gap->host);
	}
	return NULL;
}

static void idle_together_add_rows(const struct ss_joined *joined,
				   struct idle_together_tally *tallies, uint32_t ranks,
				   struct ss_table *out)
{
	int64_t steps_ns = 0, zero_ns = 0;
	uint32_t r = 0;

	while (r < joined->rank_count && !is_compared_rank(joined, r))
		r++;
	for (uint32_t i = 0; r < joined->rank_count && i < joined->ranks[r].step_count; i++) {
		const struct ss_rank_step *step = &joined->ranks[r].steps[i];

		zero_ns = i ? zero_ns : ss_joined_align(joined, r, step->start_ns);
		ss_ns_add(&steps_ns, step->end_ns - step->start_ns);
	}
	for (;;) {
		uint32_t best = 0;

		for (uint32_t i = 1; i < SS_IDLE_CAUSES; i++)
			if (tallies[i].idle_ns > tallies[best].idle_ns)
				best = i;
		if (!tallies[best].idle_ns)
			return;
		out->rank = -1;
		ss_row_begin(out);
		ss_row_text(out, ss_idle_name((enum ss_idle_cause)best));
		ss_row_int(out, tallies[best].idle_ns);
		ss_row_share(out, (double)tallies[best].idle_ns, (double)steps_ns);
		ss_row_int(out, tallies[best].times);
		ss_row_int(out, tallies[best].longest_ns);
		ss_row_share(out, tallies[best].votes, ranks);
		ss_row_int(out, tallies[best].at_ns - zero_ns);
		ss_row_text(out, host_work_at(joined, best, tallies[best].at_ns));
		ss_row_end(out);
		tallies[best].idle_ns = 0;
	}
}

static bool any_rank_has_device(const struct ss_joined *joined)
{
	for (uint32_t r = 0; r < joined->rank_count; r++)
		if (joined->ranks[r].device >= 0)
			return true;
	return false;
}

static enum ss_status idle_together_run(const struct ss_joined *joined, uint32_t group,
					struct ss_table *out, struct ss_error *err)
{
	struct idle_together_tally tallies[SS_IDLE_CAUSES] = { 0 };
	struct common_stretches common = { 0 };
	SS_SCRATCH(scratch, out->arena->memory);
	uint32_t ranks;
	bool whole;

	(void)group;
	whole = find_common_idle(joined, &scratch, &common, &ranks);
	for (uint32_t i = 0; whole && ranks > 1 && i < common.count; i++) {
		const struct common_stretch *stretch = &common.items[i];
		int64_t length_ns = stretch->end_ns - stretch->start_ns;
		uint32_t votes, cause = common_cause_at(joined, stretch->start_ns, &votes);
		struct idle_together_tally *tally = &tallies[cause];

		ss_ns_add(&tally->idle_ns, length_ns);
		tally->times++;
		if (length_ns <= tally->longest_ns)
			continue;
		tally->longest_ns = length_ns;
		tally->at_ns = stretch->start_ns;
		tally->votes = votes;
	}
	if (!whole)
		return ss_fail_memory(err, "the idle time of all ranks");
	idle_together_add_rows(joined, tallies, ranks, out);
	if (joined->rank_count > 1 && !any_rank_has_device(joined))
		ss_table_note(out, "No GPU work: when the ranks were idle is unknown.");
	return SS_OK;
}

const struct ss_view ss_view_idle_together = {
	.name = "idle-together",
	.summary = "All GPUs idle at the same time, and what the hosts do",
	.empty = "There is no time in which all ranks were idle at once.",
	SS_TABLE_COLUMNS(columns),
	.order = { "idle_ns" },
	.zero = SS_ZERO_STEPS,
	.sums = "idle_ns times",
	.basis = SS_BASIS_STEPS,
	.of_device = true,
	.run_job = idle_together_run,
};
