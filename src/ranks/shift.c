/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shift.c - finds the offset between two recordings: pairs of ends vote for a difference.
 */
#include "ranks/shift.h"

#include "base/median.h"
#include "base/search.h"
#include "base/sort.h"

/* Ends of one collective differ by this much on one host, and more across hosts. */
#define TOGETHER_NS 100000

/* Clocks that are a little off make intervals seem apart that overlapped. */
#define OVERLAP_SLACK_NS 100000

/* Visits that vote; more do not make the result more certain. */
#define VOTERS_MAX 48
#define VOTERS_MIN 12

/* Differences that are compared; the number of voters is limited to stay below. */
#define VOTES_MAX 200000
#define VOTES_LIMIT 4000000u

/* Clocks run apart by up to a ten-thousandth: 100 ppm, twice what crystals have. */
#define DRIFT_SHARE 10000

/* The number of best shifts that are tried on all visits. */
#define TRIED_MAX 12

/* A likely shift is taken at once if it has this share of all points. */
#define ENOUGH_PERCENT 90

static bool is_same_operation(const struct ss_arrival *a, const struct ss_arrival *b)
{
	/* in a point-to-point pair one rank sends and one receives */
	bool pair = a->kind >= SS_COLLECTIVE_SEND_RECV && b->kind >= SS_COLLECTIVE_SEND_RECV;

	return a->kernel == b->kernel && (a->kind == b->kind || pair) &&
	       (!a->shape || !b->shape || a->shape == b->shape);
}

static const struct ss_arrival *visit_at(const struct ss_visits *visits, uint32_t at)
{
	return &visits->arrivals[visits->order[at]];
}

/* Clamped: differences of moments fit in int64_t, differences of those may not. */
static int64_t moment_distance(int64_t a, int64_t b)
{
	uint64_t apart = a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;

	return apart > INT64_MAX ? INT64_MAX : (int64_t)apart;
}

/* The first whose end is not before the moment. */
static uint32_t first_visit_from(const struct ss_visits *visits, int64_t moment_ns)
{
	uint32_t low = 0, high = visits->count;

	SS_SEARCH(low, high, at, visit_at(visits, at)->end_ns < moment_ns);
	return low;
}

/* How many neighbours of another kind are skipped in each direction. */
#define LOOK_MAX 32

/* The visit of the same operation that ends nearest to the moment, or SS_NO_ROW. */
static uint32_t nearest_visit(const struct ss_visits *visits, const struct ss_arrival *to,
			      int64_t end_ns)
{
	uint32_t from = first_visit_from(visits, end_ns), best = SS_NO_ROW;

	for (uint32_t i = from; i < visits->count && i - from < LOOK_MAX; i++)
		if (is_same_operation(visit_at(visits, i), to)) {
			best = i;
			break;
		}
	for (uint32_t i = from; i > 0 && from - i < LOOK_MAX; i--)
		if (is_same_operation(visit_at(visits, i - 1), to)) {
			if (best == SS_NO_ROW ||
			    moment_distance(visit_at(visits, i - 1)->end_ns, end_ns) <
				    moment_distance(visit_at(visits, best)->end_ns, end_ns))
				best = i - 1;
			break;
		}
	return best;
}

static bool visits_overlap(const struct ss_arrival *a, const struct ss_arrival *b,
			   const struct ss_shift *shift)
{
	return a->start_ns - ss_shift_apply(shift, b->end_ns) <= OVERLAP_SLACK_NS &&
	       ss_shift_apply(shift, b->start_ns) - a->end_ns <= OVERLAP_SLACK_NS;
}

uint32_t ss_visits_pair(const struct ss_visits *base, const struct ss_visits *other,
			const struct ss_shift *shift, uint32_t *partner, uint32_t *back)
{
	struct ss_shift backwards = ss_shift_inverse(shift);
	uint32_t paired = 0;

	for (uint32_t i = 0; i < base->count; i++)
		back[i] = nearest_visit(other, visit_at(base, i),
					ss_shift_apply(&backwards, visit_at(base, i)->end_ns));
	for (uint32_t i = 0; i < other->count; i++) {
		const struct ss_arrival *own = visit_at(other, i);
		uint32_t at = nearest_visit(base, own, ss_shift_apply(shift, own->end_ns));

		if (at != SS_NO_ROW &&
		    (back[at] != i || !visits_overlap(visit_at(base, at), own, shift)))
			at = SS_NO_ROW;
		partner[i] = at;
		paired += at != SS_NO_ROW;
	}
	return paired;
}

/* --- in order ----------------------------------------------------------------------- */

struct ordinal {
	uint64_t operation;
	uint32_t arrival, place; /* by start; by end */
};

SS_COMPARATOR(ordinal_compare, struct ordinal, SS_ASCENDING(operation) SS_ASCENDING(arrival))

static bool visits_have_shapes(const struct ss_visits *visits)
{
	for (uint32_t i = 0; i < visits->count; i++)
		if (!visit_at(visits, i)->shape)
			return false;
	return true;
}

static struct ordinal *order_by_kind(const struct ss_visits *visits, bool shapes,
				     struct ss_arena *scratch)
{
	struct ordinal *order = SS_ARENA_NEW(scratch, struct ordinal, (size_t)visits->count + 1);

	for (uint32_t i = 0; order && i < visits->count; i++)
		order[i] = (struct ordinal){ visit_at(visits, i)->kernel ^
						     (shapes ? visit_at(visits, i)->shape : 0),
					     visits->order[i], i };
	if (order)
		SS_SORT(order, visits->count, ordinal_compare);
	return order;
}

uint32_t ss_visits_pair_in_order(const struct ss_visits *base, const struct ss_visits *other,
				 const struct ss_shift *shift, uint32_t *partner,
				 struct ss_arena *scratch, bool *failed)
{
	bool shapes = visits_have_shapes(base) && visits_have_shapes(other);
	struct ordinal *a, *b;

	if (base->count != other->count)
		return 0;
	a = order_by_kind(base, shapes, scratch);
	b = order_by_kind(other, shapes, scratch);
	*failed |= !a || !b;
	for (uint32_t i = 0; !*failed && i < base->count; i++) {
		if (a[i].operation != b[i].operation)
			return 0;
		/* the root of a broadcast may leave before the others arrive */
		if (ss_collective_is_symmetric(visit_at(base, a[i].place)->kind) &&
		    !visits_overlap(visit_at(base, a[i].place), visit_at(other, b[i].place), shift))
			return 0;
		partner[b[i].place] = a[i].place;
	}
	return *failed ? 0 : base->count;
}

/* --- voting -------------------------------------------------------------------------- */

struct shift_vote {
	int64_t shift_ns;
	uint32_t voter;
};

SS_COMPARATOR(shift_vote_compare, struct shift_vote, SS_ASCENDING(shift_ns) SS_ASCENDING(voter))

/* A shift with the voters that are for it. */
struct shift_candidate {
	int64_t shift_ns;
	uint32_t voters;
	int64_t spread_ns;
};

struct shift_ballot {
	const struct ss_visits *base, *other;
	struct shift_vote *votes;
	uint32_t count, capacity;
	int64_t window_ns; /* shifts within this distance are the same one */
	struct shift_candidate best[TRIED_MAX];
	uint32_t best_count;
};

static uint32_t voter_count(const struct shift_ballot *ballot)
{
	uint32_t most = VOTERS_MAX;

	if ((uint64_t)ballot->base->count * most > VOTES_MAX)
		most = VOTES_MAX / ballot->base->count;
	if (most < VOTERS_MIN)
		most = VOTERS_MIN;
	return most < ballot->other->count ? most : ballot->other->count;
}

/* Voters are spread evenly over the recording. */
static void collect_votes(struct shift_ballot *ballot, uint32_t voters)
{
	for (uint32_t k = 0; k < voters; k++) {
		uint32_t at = (uint32_t)((uint64_t)k * ballot->other->count / voters);
		const struct ss_arrival *own = visit_at(ballot->other, at);

		for (uint32_t i = 0; i < ballot->base->count; i++)
			if (ballot->count < ballot->capacity &&
			    is_same_operation(visit_at(ballot->base, i), own))
				ballot->votes[ballot->count++] = (struct shift_vote){
					visit_at(ballot->base, i)->end_ns - own->end_ns, k
				};
	}
}

static bool is_better_candidate(const struct shift_candidate *a, const struct shift_candidate *b)
{
	if (a->voters != b->voters)
		return a->voters > b->voters;
	if (a->spread_ns != b->spread_ns)
		return a->spread_ns < b->spread_ns;
	return moment_distance(a->shift_ns, 0) < moment_distance(b->shift_ns, 0);
}

/* Keeps the best TRIED_MAX candidates. */
static void keep_candidate(struct shift_ballot *ballot, struct shift_candidate candidate)
{
	uint32_t at;

	/* windows next to each other are one candidate: the best one is kept */
	for (uint32_t i = 0; i < ballot->best_count; i++)
		if (moment_distance(ballot->best[i].shift_ns, candidate.shift_ns) <=
		    ballot->window_ns) {
			if (is_better_candidate(&candidate, &ballot->best[i]))
				ballot->best[i] = candidate;
			return;
		}
	if (ballot->best_count < TRIED_MAX) {
		ballot->best[ballot->best_count++] = candidate;
		return;
	}
	at = 0;
	for (uint32_t i = 1; i < TRIED_MAX; i++)
		if (is_better_candidate(&ballot->best[at], &ballot->best[i]))
			at = i;
	if (is_better_candidate(&candidate, &ballot->best[at]))
		ballot->best[at] = candidate;
}

/* Slides a window over the sorted votes; a voter counts once in it. */
static void count_votes(struct shift_ballot *ballot)
{
	uint32_t in_window[VOTERS_MAX] = { 0 }, voters = 0, from = 0;

	for (uint32_t to = 0; to < ballot->count; to++) {
		const struct shift_vote *votes = ballot->votes;
		struct shift_candidate candidate;

		voters += in_window[votes[to].voter]++ == 0;
		while (moment_distance(votes[to].shift_ns, votes[from].shift_ns) >
		       ballot->window_ns)
			voters -= --in_window[votes[from++].voter] == 0;
		candidate = (struct shift_candidate){
			.shift_ns = votes[from + (to - from) / 2].shift_ns,
			.voters = voters,
			.spread_ns = moment_distance(votes[to].shift_ns, votes[from].shift_ns),
		};
		if (voters > 1 || ballot->other->count == 1)
			keep_candidate(ballot, candidate);
	}
}

/* --- trying shifts -------------------------------------------------------------------- */

struct shift_trial {
	uint32_t *partner, *back;
	int64_t *differences;
};

static int64_t median_difference(int64_t *values, uint32_t count)
{
	return ss_nth_smallest(values, count, count / 2);
}

/* Collects the differences of the pairs from..to, in the order of time; returns how many. */
static uint32_t pair_differences(const struct ss_visits *base, const struct ss_visits *other,
				 const struct shift_trial *trial, uint32_t from, uint32_t to)
{
	uint32_t count = 0, seen = 0;

	for (uint32_t i = 0; i < other->count; i++) {
		if (trial->partner[i] == SS_NO_ROW)
			continue;
		if (seen >= from && seen < to)
			trial->differences[count++] = visit_at(base, trial->partner[i])->end_ns -
						      visit_at(other, i)->end_ns;
		seen++;
	}
	return count;
}

/* A drift shows above the noise from this number of pairs and this length on. */
#define DRIFT_PAIRS_MIN 12
#define DRIFT_SPAN_MIN 100000000

/* The slope between the first and the last third, and the shift in the middle. */
static void fit_shift(const struct ss_visits *base, const struct ss_visits *other,
		      struct shift_trial *trial, uint32_t paired, struct ss_shift *shift)
{
	uint32_t third = paired / 3, count, first = 0, last = other->count - 1;
	int64_t early_ns, late_ns, span_ns;

	while (trial->partner[first] == SS_NO_ROW)
		first++;
	while (trial->partner[last] == SS_NO_ROW)
		last--;
	span_ns = (visit_at(other, last)->end_ns - visit_at(other, first)->end_ns) / 3 * 2;
	shift->middle_ns = visit_at(other, first)->end_ns + span_ns / 4 * 3;
	shift->drift_ppb = 0;
	if (paired >= DRIFT_PAIRS_MIN && span_ns >= DRIFT_SPAN_MIN) {
		count = pair_differences(base, other, trial, 0, third);
		early_ns = median_difference(trial->differences, count);
		count = pair_differences(base, other, trial, paired - third, paired);
		late_ns = median_difference(trial->differences, count);
		if (moment_distance(late_ns, early_ns) < span_ns / 1000)
			shift->drift_ppb = (late_ns - early_ns) * 1000 / (span_ns / 1000000);
	}
	count = pair_differences(base, other, trial, 0, paired);
	shift->shift_ns = median_difference(trial->differences, count);
}

bool ss_visits_fit(const struct ss_visits *base, const struct ss_visits *other,
		   const uint32_t *partner, struct ss_arena *scratch, struct ss_shift *shift)
{
	struct shift_trial trial = {
		.partner = SS_ARENA_NEW(scratch, uint32_t, (size_t)other->count + 1),
		.differences = SS_ARENA_NEW(scratch, int64_t, (size_t)other->count + 1)
	};
	uint32_t paired = 0;

	if (!trial.partner || !trial.differences)
		return false;
	for (uint32_t i = 0; i < other->count; i++) {
		/* ends of collectives with a root say nothing */
		bool counts = partner[i] != SS_NO_ROW &&
			      ss_collective_is_symmetric(visit_at(other, i)->kind);

		trial.partner[i] = counts ? partner[i] : SS_NO_ROW;
		paired += counts;
	}
	if (paired)
		fit_shift(base, other, &trial, paired, shift);
	return true;
}

/* A pair that ends together counts fully, one that is this far apart counts half. */
#define HALF_NS 10000

/* How good a shift is. */
struct shift_worth {
	uint32_t paired;
	int64_t points; /* pairs, each the less the further its ends are apart */
};

/* Pairs the visits with the shift and fits it to the pairs, twice. */
static struct shift_worth try_shift(const struct ss_visits *base, const struct ss_visits *other,
				    struct shift_trial *trial, struct ss_shift *shift)
{
	struct shift_worth worth = { 0 };

	for (int round = 0; round < 2; round++) {
		worth.paired = ss_visits_pair(base, other, shift, trial->partner, trial->back);
		if (!worth.paired)
			return worth;
		fit_shift(base, other, trial, worth.paired, shift);
	}
	for (uint32_t i = 0; i < other->count; i++) {
		int64_t apart_ns;

		if (trial->partner[i] == SS_NO_ROW)
			continue;
		apart_ns = moment_distance(visit_at(base, trial->partner[i])->end_ns,
					   ss_shift_apply(shift, visit_at(other, i)->end_ns));
		worth.points += 1000 * (int64_t)HALF_NS / ss_ns_sum(HALF_NS, apart_ns);
	}
	return worth;
}

/* Whether a likely shift explains nearly all pairs exactly: then no other is tried. */
static bool explains_enough(const struct ss_visits *base, const struct ss_visits *other,
			    const struct shift_worth *worth)
{
	uint32_t most = base->count < other->count ? base->count : other->count;

	return worth->points >= (int64_t)most * 10 * ENOUGH_PERCENT;
}

/* Below this share of all points ends are a tenth of a millisecond apart, or lack partners. */
#define RAGGED_PERCENT 10

/* One pair always agrees: the shift is made from it. */
static bool explains_little(const struct ss_visits *base, const struct ss_visits *other,
			    const struct shift_worth *worth)
{
	uint32_t most = base->count < other->count ? base->count : other->count;

	return worth->paired < most ||
	       worth->points - 1000 <= (int64_t)(most - 1) * 10 * RAGGED_PERCENT;
}

/*
 * Takes the candidate with the most points. Collectives in close succession also fit when they are
 * shifted onto their neighbours, but not all of them.
 */
static bool try_candidates(struct shift_ballot *ballot, struct shift_trial *trial,
			   struct shift_worth *best, struct ss_shift *out)
{
	for (uint32_t i = 0; i < ballot->best_count; i++) {
		struct ss_shift shift = { .shift_ns = ballot->best[i].shift_ns };
		struct shift_worth worth = try_shift(ballot->base, ballot->other, trial, &shift);

		if (worth.points <= best->points)
			continue;
		*best = worth;
		*out = shift;
	}
	return best->points > 0;
}

static bool prepare_ballot(struct shift_ballot *ballot, struct shift_trial *trial, uint32_t voters,
			   struct ss_arena *scratch)
{
	const struct ss_visits *base = ballot->base, *other = ballot->other;
	int64_t span_ns = visit_at(base, base->count - 1)->end_ns - visit_at(base, 0)->end_ns;

	trial->partner = SS_ARENA_NEW(scratch, uint32_t, other->count);
	trial->back = SS_ARENA_NEW(scratch, uint32_t, base->count);
	trial->differences = SS_ARENA_NEW(scratch, int64_t, other->count);
	ballot->window_ns = TOGETHER_NS + span_ns / DRIFT_SHARE;
	ballot->capacity = base->count < VOTES_LIMIT / voters ? voters * base->count : VOTES_LIMIT;
	ballot->votes = SS_ARENA_NEW(scratch, struct shift_vote, ballot->capacity);
	return trial->partner && trial->back && trial->differences && ballot->votes;
}

bool ss_visits_find_shift(const struct ss_visits *base, const struct ss_visits *other,
			  const struct ss_shift *likely, uint32_t likely_count,
			  struct ss_memory *memory, struct ss_shift *out, bool *is_ragged,
			  bool *failed)
{
	struct shift_ballot ballot = { .base = base, .other = other };
	SS_SCRATCH(scratch, memory);
	struct shift_trial trial;
	struct shift_worth best = { 0 };
	bool found = false;
	uint32_t voters;

	*is_ragged = true;
	if (!base->count || !other->count)
		return false;
	voters = voter_count(&ballot);
	*failed |= !prepare_ballot(&ballot, &trial, voters, &scratch);
	for (uint32_t i = 0; i < likely_count && !*failed && !found; i++) {
		struct ss_shift shift = likely[i];
		struct shift_worth worth = try_shift(base, other, &trial, &shift);

		found = explains_enough(base, other, &worth);
		if (!found && worth.points <= best.points)
			continue;
		best = worth;
		*out = shift;
	}
	if (!*failed && !found) {
		collect_votes(&ballot, voters);
		SS_SORT(ballot.votes, ballot.count, shift_vote_compare);
		count_votes(&ballot);
		found = try_candidates(&ballot, &trial, &best, out);
	}
	*is_ragged = explains_little(base, other, &best);
	return found;
}
