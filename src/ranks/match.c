/* SPDX-License-Identifier: Apache-2.0 */
/*
 * match.c - finds which arrivals of the members of a group are the same collective.
 *
 * If the writer numbered them, the numbers decide. Otherwise the recordings of the members
 * are aligned with that of the member with the most, by the shift on which their ends
 * agree; what remains is tried again with another member.
 */
#include <stdlib.h>

#include "base/median.h"
#include "base/search.h"
#include "base/sort.h"
#include "ranks/join.h"
#include "ranks/shift.h"

struct matcher {
	struct ss_joined *joined;
	struct ss_arena *scratch;
	struct ss_shift *shifts; /* per rank: to the time of the first of its component */
	uint32_t *components;    /* per rank; SS_NO_ROW: not reached yet */
	uint32_t component_count;
	uint32_t *next, *last; /* per rank: the next of its component; per component: its last */
	uint32_t *firsts;      /* per component */
	uint32_t **orders;     /* per rank: its arrivals by group, then by end */
	bool failed;
};

/* --- collectives -------------------------------------------------------------------- */

/* A member of a collective that is not stored yet. */
struct participant {
	uint32_t collective; /* any number: participants with the same one belong together */
	struct ss_member member;
};

SS_COMPARATOR(participant_compare, struct participant,
	      SS_ASCENDING(collective) SS_ASCENDING(member.rank) SS_ASCENDING(member.arrival))

static bool store_collective(struct ss_joined *joined, uint32_t group,
			     const struct participant *participants, uint32_t count)
{
	uint32_t number = joined->collective_count;

	if (!SS_GROW(joined->memory, joined->collectives, joined->collective_capacity, number) ||
	    !SS_RESERVE(joined->memory, joined->members, joined->member_capacity,
			(size_t)joined->member_count + count))
		return false;
	joined->collectives[number] = (struct ss_collective){ .group = group,
							      .first = joined->member_count,
							      .count = count };
	joined->collective_count++;
	for (uint32_t i = 0; i < count; i++) {
		joined->members[joined->member_count++] = participants[i].member;
		joined->collective_of[participants[i].member.rank][participants[i].member.arrival] =
			number;
	}
	return true;
}

/* Stores collectives of at least two members; if a rank occurs twice, its first arrival counts. */
static bool store_collectives(struct ss_joined *joined, uint32_t group,
			      struct participant *participants, uint32_t count)
{
	SS_SORT(participants, count, participant_compare);
	for (uint32_t from = 0, to; from < count; from = to) {
		uint32_t kept = from + 1;

		for (to = from + 1;
		     to < count && participants[to].collective == participants[from].collective;
		     to++)
			if (participants[to].member.rank != participants[kept - 1].member.rank)
				participants[kept++] = participants[to];
		if (kept - from > 1 &&
		    !store_collective(joined, group, participants + from, kept - from))
			return false;
	}
	return true;
}

/* --- unmatched arrivals --------------------------------------------------------------- */

/* Not sends and receives in a group of more than two: their partners are not recorded. */
static bool can_match(const struct ss_joined *joined, uint32_t group,
		      const struct ss_arrival *arrival)
{
	return arrival->kind < SS_COLLECTIVE_SEND_RECV || joined->groups[group].count == 2;
}

struct departure {
	uint32_t group, arrival;
	int64_t end_ns;
};

SS_COMPARATOR(departure_compare, struct departure,
	      SS_ASCENDING(group) SS_ASCENDING(end_ns) SS_ASCENDING(arrival))

/* Sorts the rank's arrivals by group once: a search for each group would be quadratic. */
static bool order_arrivals(struct matcher *matcher, uint32_t r)
{
	struct ss_joined *joined = matcher->joined;
	const struct ss_digest *rank = &joined->ranks[r];
	size_t count = rank->arrival_count;
	struct departure *all;
	SS_SCRATCH(scratch, joined->memory);

	if (!SS_ALLOC(&scratch, all, count + 1) ||
	    !SS_ALLOC(&joined->arena, matcher->orders[r], count + 1))
		return false;
	for (uint32_t i = 0; i < count; i++)
		all[i] = (struct departure){ joined->rank_groups[r][rank->arrivals[i].group], i,
					     rank->arrivals[i].end_ns };
	SS_SORT(all, count, departure_compare);
	for (uint32_t i = 0; i < count; i++)
		matcher->orders[r][i] = all[i].arrival;
	return true;
}

/* The first index in the rank's order with this group or a later one. */
static uint32_t first_of_group(const struct matcher *matcher, uint32_t group, uint32_t r)
{
	const struct ss_digest *rank = &matcher->joined->ranks[r];
	const uint32_t *groups = matcher->joined->rank_groups[r];
	uint32_t low = 0, high = rank->arrival_count;

	SS_SEARCH(low, high, at, groups[rank->arrivals[matcher->orders[r][at]].group] < group);
	return low;
}

/* The unmatched arrivals of a rank in the group, by end. */
static struct ss_visits unmatched_visits(struct matcher *matcher, uint32_t group, uint32_t r)
{
	struct ss_joined *joined = matcher->joined;
	struct ss_visits visits = { .arrivals = joined->ranks[r].arrivals };
	uint32_t from = first_of_group(matcher, group, r),
		 to = first_of_group(matcher, group + 1, r);
	uint32_t *order = SS_ARENA_NEW(matcher->scratch, uint32_t, (size_t)(to - from) + 1);

	matcher->failed |= !order;
	for (uint32_t i = from; order && i < to; i++) {
		uint32_t at = matcher->orders[r][i];

		if (joined->collective_of[r][at] == SS_NO_COLLECTIVE &&
		    can_match(joined, group, &visits.arrivals[at]))
			order[visits.count++] = at;
	}
	visits.order = order;
	return visits;
}

/* --- by number ------------------------------------------------------------------------ */

struct numbered_arrival {
	int64_t sequence;
	uint64_t kernel;
	struct ss_member member;
};

SS_COMPARATOR(numbered_arrival_compare, struct numbered_arrival,
	      SS_ASCENDING(sequence) SS_ASCENDING(kernel) SS_ASCENDING(member.rank)
		      SS_ASCENDING(member.arrival))

static bool are_all_numbered(const struct ss_visits *visits, uint32_t count)
{
	for (uint32_t m = 0; m < count; m++)
		for (uint32_t i = 0; i < visits[m].count; i++)
			if (visits[m].arrivals[visits[m].order[i]].sequence < 0)
				return false;
	return true;
}

/* Arrivals with the same sequence number and kernel are one collective. False: no memory. */
static bool match_by_number(struct matcher *matcher, uint32_t group, const struct ss_visits *visits)
{
	struct ss_joined *joined = matcher->joined;
	const uint32_t *members = joined->group_members + joined->groups[group].first;
	uint32_t total = 0, count = 0, collective = 0;
	struct numbered_arrival *all;
	struct participant *participants;

	for (uint32_t m = 0; m < joined->groups[group].count; m++)
		total += visits[m].count;
	if (!SS_ALLOC(matcher->scratch, all, (size_t)total + 1) ||
	    !SS_ALLOC(matcher->scratch, participants, (size_t)total + 1))
		return false;
	for (uint32_t m = 0; m < joined->groups[group].count; m++)
		for (uint32_t i = 0; i < visits[m].count; i++) {
			uint32_t at = visits[m].order[i];
			const struct ss_arrival *arrival = &visits[m].arrivals[at];

			/* sends and all-to-alls run the same kernel, and are numbered separately */
			all[count++] = (struct numbered_arrival){
				arrival->sequence,
				arrival->kernel ^ (arrival->kind >= SS_COLLECTIVE_SEND_RECV),
				{ members[m], at }
			};
		}
	SS_SORT(all, count, numbered_arrival_compare);
	for (uint32_t i = 0; i < count; i++) {
		if (i &&
		    (all[i].sequence != all[i - 1].sequence || all[i].kernel != all[i - 1].kernel))
			collective++;
		participants[i] = (struct participant){ collective, all[i].member };
	}
	return store_collectives(joined, group, participants, count);
}

/* --- by shift --------------------------------------------------------------------------- */

/* A rank of the base's component with the clock of `other`: itself, or one of its host. */
static uint32_t rank_with_known_shift(const struct matcher *matcher, uint32_t base, uint32_t other)
{
	const struct ss_class_lists *ranks = &matcher->joined->host_ranks;
	uint32_t host = matcher->joined->hosts[other];

	if (matcher->components[base] == SS_NO_ROW ||
	    matcher->components[base] == matcher->components[other])
		return matcher->components[base] == SS_NO_ROW ? SS_NO_ROW : other;
	for (uint32_t i = ranks->from[host]; host && i < ranks->from[host + 1]; i++)
		if (matcher->components[ranks->items[i]] == matcher->components[base])
			return ranks->items[i];
	return SS_NO_ROW;
}

/* The shift between the base and a rank of its component. */
static struct ss_shift known_shift(const struct matcher *matcher, uint32_t base, uint32_t known)
{
	struct ss_shift back = ss_shift_inverse(&matcher->shifts[base]);

	return ss_shift_then(&matcher->shifts[known], &back);
}

#define LIKELY_MAX 2

/* Likely shifts between two ranks, from what is known so far; returns how many. */
static uint32_t likely_shifts(const struct matcher *matcher, uint32_t base, uint32_t other,
			      struct ss_shift out[LIKELY_MAX])
{
	uint32_t known = rank_with_known_shift(matcher, base, other), count = 0;
	uint32_t host = matcher->joined->hosts[other];

	if (known != SS_NO_ROW) {
		out[0] = known_shift(matcher, base, known);
		return 1;
	}
	/* without host names: the shift of the rank before it, which is mostly on the same host */
	if (!host && other && matcher->components[base] != SS_NO_ROW &&
	    matcher->components[other - 1] == matcher->components[base])
		out[count++] = known_shift(matcher, base, other - 1);
	/* ranks of one host share its clock; without names they may be on one */
	if (!host || host == matcher->joined->hosts[base])
		out[count++] =
			(struct ss_shift){ .middle_ns = matcher->joined->ranks[other].start_ns };
	return count;
}

/* Two ranks whose recordings are aligned are in one component from now on. */
static void join_components(struct matcher *matcher, uint32_t base, uint32_t other,
			    const struct ss_shift *shift)
{
	uint32_t from = matcher->components[other], into;
	struct ss_shift moved, back;

	if (matcher->components[base] == SS_NO_ROW) {
		matcher->firsts[matcher->component_count] = base;
		matcher->last[matcher->component_count] = base;
		matcher->components[base] = matcher->component_count++;
		matcher->shifts[base] =
			(struct ss_shift){ .middle_ns = matcher->joined->ranks[base].start_ns };
	}
	into = matcher->components[base];
	if (from == into)
		return;
	/* other -> base -> first of base's component */
	moved = ss_shift_then(shift, &matcher->shifts[base]);
	if (from == SS_NO_ROW) {
		matcher->components[other] = into;
		matcher->shifts[other] = moved;
		matcher->next[matcher->last[into]] = other;
		matcher->last[into] = other;
		return;
	}
	/* the ranks of the other's component are shifted through it */
	back = ss_shift_inverse(&matcher->shifts[other]);
	moved = ss_shift_then(&back, &moved);
	for (uint32_t r = matcher->firsts[from]; r != SS_NO_ROW; r = matcher->next[r]) {
		matcher->components[r] = into;
		matcher->shifts[r] = ss_shift_then(&matcher->shifts[r], &moved);
	}
	matcher->next[matcher->last[into]] = matcher->firsts[from];
	matcher->last[into] = matcher->last[from];
}

/* A pair whose ends are this much further apart than usual is not a pair. */
#define RAGGED_NS 1000000
#define RAGGED_TIMES 10

/* With fewer pairs, the usual distance is not known. */
#define RAGGED_PAIRS_MIN 4

static int64_t end_distance(const struct ss_visits *base, const struct ss_visits *other,
			    const struct ss_shift *shift, uint32_t at, uint32_t i)
{
	return llabs(base->arrivals[base->order[at]].end_ns -
		     ss_shift_apply(shift, other->arrivals[other->order[i]].end_ns));
}

/* Drops pairs whose ends are much further apart than usual; returns whether there were some. */
static bool drop_ragged_pairs(struct matcher *matcher, const struct ss_visits *base,
			      const struct ss_visits *other, const struct ss_shift *shift,
			      uint32_t *partner)
{
	int64_t *apart_ns = SS_ARENA_NEW(matcher->scratch, int64_t, (size_t)other->count + 1);
	int64_t limit_ns = RAGGED_NS, usual_ns;
	uint32_t count = 0;
	bool any = false;

	matcher->failed |= !apart_ns;
	for (uint32_t i = 0; apart_ns && i < other->count; i++)
		if (partner[i] != SS_NO_ROW)
			apart_ns[count++] = end_distance(base, other, shift, partner[i], i);
	if (!count)
		return false;
	usual_ns = ss_nth_smallest(apart_ns, count, count / 2);
	if (count >= RAGGED_PAIRS_MIN && usual_ns > limit_ns / RAGGED_TIMES)
		limit_ns = usual_ns < INT64_MAX / RAGGED_TIMES ? usual_ns * RAGGED_TIMES
							       : INT64_MAX;
	for (uint32_t i = 0; i < other->count; i++)
		if (partner[i] != SS_NO_ROW &&
		    end_distance(base, other, shift, partner[i], i) > limit_ns) {
			partner[i] = SS_NO_ROW;
			any = true;
		}
	return any;
}

/*
 * The shift that the ends of the same steps show. Ranks end a step some way apart: that says which
 * of a few collectives are the same, not how far apart the clocks are.
 */
static bool shift_of_steps(struct matcher *matcher, uint32_t base, uint32_t other,
			   struct ss_shift *out)
{
	const struct ss_digest *a = &matcher->joined->ranks[base];
	const struct ss_digest *b = &matcher->joined->ranks[other];
	uint32_t count = 0;
	int64_t *differences;

	if (!a->first_step || a->first_step != b->first_step)
		return false;
	differences = SS_ARENA_NEW(matcher->scratch, int64_t, (size_t)a->step_count + 1);
	matcher->failed |= !differences;
	for (uint32_t i = 0, k = 0; differences && i < a->step_count; i++) {
		while (k < b->step_count && b->steps[k].number < a->steps[i].number)
			k++;
		if (k < b->step_count && b->steps[k].number == a->steps[i].number)
			differences[count++] = a->steps[i].end_ns - b->steps[k].end_ns;
	}
	if (!count)
		return false;
	*out = (struct ss_shift){ .shift_ns = ss_nth_smallest(differences, count, count / 2),
				  .middle_ns = b->start_ns };
	return true;
}

/* Pairs equal recordings in order, if the shift keeps causality, and fits it to their ends. */
static bool pair_in_order(struct matcher *matcher, const struct ss_visits *base,
			  const struct ss_visits *other, bool fits, struct ss_shift *shift,
			  uint32_t *partner)
{
	struct ss_shift likely = *shift;

	if (matcher->failed || !ss_visits_pair_in_order(base, other, &likely, partner,
							matcher->scratch, &matcher->failed))
		return false;
	/* an overlap does not show how far apart the clocks are */
	matcher->failed |= fits && !ss_visits_fit(base, other, partner, matcher->scratch, shift);
	return !matcher->failed;
}

/*
 * Pairs equal recordings in order if likely shifts are known and causality is kept: collectives on
 * the host end too raggedly for anything else. All others are paired by their ends, and where these
 * agree too little, in the order that the numbers of steps confirm.
 */
static bool pair_visits(struct matcher *matcher, const struct ss_visits *base, uint32_t base_rank,
			const struct ss_visits *other, uint32_t other_rank, struct ss_shift *shift,
			uint32_t *partner)
{
	uint32_t *back = SS_ARENA_NEW(matcher->scratch, uint32_t, (size_t)base->count + 1);
	struct ss_shift likely[LIKELY_MAX] = { 0 };
	uint32_t count = likely_shifts(matcher, base_rank, other_rank, likely);
	struct ss_shift of_steps;
	bool is_ragged = false, is_found = true;

	bool together = matcher->components[base_rank] != SS_NO_ROW &&
			matcher->components[base_rank] == matcher->components[other_rank];

	matcher->failed |= !back;
	for (uint32_t i = 0; i < count; i++) {
		*shift = likely[i];
		if (pair_in_order(matcher, base, other, !together, shift, partner))
			return true;
	}
	/* the rest shows less about the shift than what was matched before */
	if (!together && !matcher->failed)
		is_found = ss_visits_find_shift(base, other, likely, count, matcher->joined->memory,
						shift, &is_ragged, &matcher->failed);
	if (is_found && !is_ragged && !matcher->failed) {
		ss_visits_pair(base, other, shift, partner, back);
		if (!drop_ragged_pairs(matcher, base, other, shift, partner) || together)
			return !matcher->failed;
	}
	if (shift_of_steps(matcher, base_rank, other_rank, &of_steps) &&
	    pair_in_order(matcher, base, other, true, &of_steps, partner)) {
		*shift = of_steps;
		return true;
	}
	if (matcher->failed || !is_found)
		return false;
	ss_visits_pair(base, other, shift, partner, back);
	(void)drop_ragged_pairs(matcher, base, other, shift, partner);
	return !matcher->failed;
}

/* Pairs one member with the base; a pair has the number of the base's visit. */
static uint32_t match_member(struct matcher *matcher, const struct ss_visits *base,
			     uint32_t base_rank, const struct ss_visits *other, uint32_t other_rank,
			     struct participant *participants)
{
	uint32_t *partner = SS_ARENA_NEW(matcher->scratch, uint32_t, (size_t)other->count + 1);
	struct ss_shift shift;
	uint32_t count = 0;

	matcher->failed |= !partner;
	if (!partner || !pair_visits(matcher, base, base_rank, other, other_rank, &shift, partner))
		return 0;
	for (uint32_t i = 0; i < other->count; i++)
		if (partner[i] != SS_NO_ROW)
			participants[count++] =
				(struct participant){ partner[i], { other_rank, other->order[i] } };
	if (count)
		join_components(matcher, base_rank, other_rank, &shift);
	return count;
}

/*
 * One round: pairs all members with the one that has the most visits, which is done then. Returns
 * that member, or SS_NO_ROW: nothing more to find.
 */
static uint32_t match_round(struct matcher *matcher, uint32_t group, const struct ss_visits *visits)
{
	struct ss_joined *joined = matcher->joined;
	const uint32_t *members = joined->group_members + joined->groups[group].first;
	uint32_t base = 0, total = 0, count = 0;
	struct participant *participants;

	for (uint32_t m = 0; m < joined->groups[group].count; m++) {
		total += visits[m].count;
		if (visits[m].count > visits[base].count)
			base = m;
	}
	if (visits[base].count == total)
		return SS_NO_ROW;
	if (!SS_ALLOC(matcher->scratch, participants, (size_t)total + 1)) {
		matcher->failed = true;
		return SS_NO_ROW;
	}
	for (uint32_t i = 0; i < visits[base].count; i++)
		participants[count++] =
			(struct participant){ i, { members[base], visits[base].order[i] } };
	for (uint32_t m = 0; m < joined->groups[group].count; m++)
		if (m != base && visits[m].count)
			count += match_member(matcher, &visits[base], members[base], &visits[m],
					      members[m], participants + count);
	matcher->failed = matcher->failed || !store_collectives(joined, group, participants, count);
	return matcher->failed ? SS_NO_ROW : base;
}

/* Lost events leave a few unmatched; each round finds those that its base has. */
#define ROUNDS_MAX 4

/* Matches one group: by number if all arrivals have one, else in rounds. */
static void match_group(struct matcher *matcher, uint32_t group)
{
	struct ss_joined *joined = matcher->joined;
	uint32_t count = joined->groups[group].count, bases[ROUNDS_MAX];
	const uint32_t *members = joined->group_members + joined->groups[group].first;
	struct ss_visits *visits = SS_ARENA_NEW(matcher->scratch, struct ss_visits,
						(size_t)count + 1);

	matcher->failed |= !visits;
	for (uint32_t round = 0; round < ROUNDS_MAX && !matcher->failed; round++) {
		for (uint32_t m = 0; m < count; m++)
			visits[m] = unmatched_visits(matcher, group, members[m]);
		if (matcher->failed)
			return;
		for (uint32_t i = 0; i < round; i++)
			visits[bases[i]].count = 0;
		if (!round && are_all_numbered(visits, count)) {
			matcher->failed = !match_by_number(matcher, group, visits);
			return;
		}
		bases[round] = match_round(matcher, group, visits);
		if (bases[round] == SS_NO_ROW)
			return;
	}
}

struct group_turn {
	uint32_t members, group;
	uint64_t symmetric; /* calls that all members leave together */
};

/* Groups that show the clocks come first, large ones before small ones: they connect most ranks. */
SS_COMPARATOR(group_turn_compare, struct group_turn,
	      SS_DESCENDING(symmetric != 0) SS_DESCENDING(members) SS_DESCENDING(symmetric)
		      SS_ASCENDING(group))

/* Counts the symmetric calls of each group: these show the clocks, sends do not. */
static void count_symmetric_calls(const struct ss_joined *joined, struct group_turn *turns)
{
	for (uint32_t r = 0; r < joined->rank_count; r++)
		for (uint32_t i = 0; i < joined->ranks[r].arrival_count; i++) {
			const struct ss_arrival *arrival = &joined->ranks[r].arrivals[i];

			turns[joined->rank_groups[r][arrival->group]].symmetric +=
				ss_collective_is_symmetric(arrival->kind);
		}
}

static bool match_groups(struct matcher *matcher)
{
	struct ss_joined *joined = matcher->joined;
	struct group_turn *turns;

	if (!SS_ALLOC(&joined->arena, turns, (size_t)joined->group_count + 1))
		return false;
	for (uint32_t i = 0; i < joined->group_count; i++)
		turns[i] = (struct group_turn){ .members = joined->groups[i].count, .group = i };
	count_symmetric_calls(joined, turns);
	SS_SORT(turns, joined->group_count, group_turn_compare);
	for (uint32_t i = 0; i < joined->group_count && !matcher->failed; i++) {
		struct ss_arena scratch;

		ss_arena_init(&scratch, joined->memory);
		matcher->scratch = &scratch;
		match_group(matcher, turns[i].group);
		ss_arena_release(&scratch);
	}
	return !matcher->failed;
}

bool ss_joined_match(struct ss_joined *joined)
{
	struct matcher matcher = { .joined = joined };
	size_t count = (size_t)joined->rank_count + 1;

	if (!SS_ALLOC(&joined->arena, joined->collective_of, count) ||
	    !SS_ALLOC(&joined->arena, matcher.shifts, count) ||
	    !SS_ALLOC(&joined->arena, matcher.components, count) ||
	    !SS_ALLOC(&joined->arena, matcher.orders, count) ||
	    !SS_ALLOC(&joined->arena, matcher.next, count) ||
	    !SS_ALLOC(&joined->arena, matcher.last, count) ||
	    !SS_ALLOC(&joined->arena, matcher.firsts, count) || !ss_joined_find_hosts(joined) ||
	    !ss_joined_find_groups(joined))
		return false;
	for (uint32_t r = 0; r < joined->rank_count; r++) {
		uint32_t arrivals = joined->ranks[r].arrival_count;

		matcher.components[r] = matcher.next[r] = SS_NO_ROW;
		if (!SS_ALLOC(&joined->arena, joined->collective_of[r], (size_t)arrivals + 1) ||
		    !order_arrivals(&matcher, r))
			return false;
		for (uint32_t i = 0; i < arrivals; i++)
			joined->collective_of[r][i] = SS_NO_COLLECTIVE;
	}
	if (!match_groups(&matcher))
		return false;
	ss_memory_fit(joined->memory, (void **)&joined->collectives, &joined->collective_capacity,
		      joined->collective_count, sizeof(*joined->collectives));
	ss_memory_fit(joined->memory, (void **)&joined->members, &joined->member_capacity,
		      joined->member_count, sizeof(*joined->members));
	for (uint32_t r = 0; r < joined->rank_count; r++)
		for (uint32_t i = 0; i < joined->ranks[r].arrival_count; i++)
			joined->unmatched += joined->collective_of[r][i] == SS_NO_COLLECTIVE;
	return true;
}
