/* SPDX-License-Identifier: Apache-2.0 */
/*
 * late.c - computes the lateness of each rank in each step from the collectives of the job.
 */
#include "diagnose/stragglers/late.h"

#include <stdlib.h>

#include "base/median.h"
#include "base/sort.h"
#include "ranks/digest.h"

static void late_add_time(int64_t *sum_ns, int64_t time_ns)
{
	*sum_ns = ss_ns_sum(*sum_ns, time_ns);
}

/* The numbers of the steps that collectives lie in, each once. */
static bool late_find_steps(struct ss_lateness *lateness, const struct ss_joined *joined)
{
	uint32_t *numbers;
	uint32_t count = 0;

	if (!SS_ALLOC(lateness->arena, numbers, (size_t)joined->collective_count + 1))
		return false;
	for (uint32_t i = 0; i < joined->collective_count; i++)
		if (joined->collectives[i].is_symmetric && joined->collectives[i].step != SS_NO_ROW)
			numbers[count++] = joined->collectives[i].step;
	SS_SORT(numbers, count, ss_sort_compare_uint32);
	for (uint32_t i = 0; i < count; i++)
		if (!i || numbers[i] != numbers[i - 1])
			numbers[lateness->step_count++] = numbers[i];
	lateness->numbers = numbers;
	return true;
}

static struct ss_late_step *late_step_at(struct ss_lateness *lateness, uint32_t rank,
					 uint32_t number)
{
	const uint32_t *found = bsearch(&number, lateness->numbers, lateness->step_count,
					sizeof(number), ss_sort_compare_uint32);

	return &lateness->items[(size_t)rank * lateness->step_count +
				(size_t)(found - lateness->numbers)];
}

/* What members usually did since the previous collective, part by part. */
struct usual_parts {
	int64_t own_ns[SS_OWN_PARTS];
	int64_t *values; /* of all members, part after part */
};

static void member_own_parts(const struct ss_joined *joined, const struct ss_member *member,
			     int64_t *own_ns)
{
	ss_digest_own(&joined->ranks[member->rank], ss_joined_arrival(joined, member), own_ns);
}

/* The median of each part over the members. */
static void find_usual_parts(const struct ss_joined *joined, const struct ss_collective *collective,
			     struct usual_parts *usual)
{
	size_t count = collective->count;

	for (uint32_t i = 0; i < count; i++) {
		int64_t own_ns[SS_OWN_PARTS];

		member_own_parts(joined, &joined->members[collective->first + i], own_ns);
		for (int part = 0; part < SS_OWN_PARTS; part++)
			usual->values[(size_t)part * count + i] = own_ns[part];
	}
	/* of two members the smaller: the other one is late by the difference */
	for (int part = 0; part < SS_OWN_PARTS; part++)
		usual->own_ns[part] = ss_nth_smallest(&usual->values[(size_t)part * count], count,
						      (count - 1) / 2);
}

/* Divides the lateness of a member among the parts that it spent more time on than usual. */
static void charge_lateness(const int64_t own_ns[SS_OWN_PARTS], const struct usual_parts *usual,
			    int64_t late_ns, struct ss_late_step *out)
{
	int64_t more_ns[SS_OWN_PARTS], all_ns = 0, left_ns = late_ns;

	for (int part = 0; part < SS_OWN_PARTS; part++) {
		more_ns[part] = own_ns[part] - usual->own_ns[part];
		if (more_ns[part] < 0)
			more_ns[part] = 0;
		all_ns = ss_ns_sum(all_ns, more_ns[part]);
	}
	for (int part = 0; part < SS_OWN_PARTS && all_ns; part++) {
		double share = (double)late_ns * (double)more_ns[part] / (double)all_ns;
		int64_t share_ns = share < (double)SS_MOMENT_MAX ? (int64_t)share : left_ns;

		if (share_ns > left_ns)
			share_ns = left_ns;
		left_ns -= share_ns;
		if (part == SS_OWN_COMM)
			late_add_time(&out->inherited_ns, share_ns);
		else
			late_add_time(&out->own_ns[part], share_ns);
	}
	/* rounding, or nothing that it did more of */
	late_add_time(&out->own_ns[SS_OWN_IDLE_BY(SS_IDLE_UNKNOWN)], left_ns);
}

/*
 * Collectives on several streams, or that a framework starts together, are waited for at the same
 * time: what is counted of a rank ends here, on its own clock.
 */
struct counted_until {
	int64_t late_ns, gain_ns;
};

/* How much of a time that ends at `at_ns` was not counted yet. */
static int64_t count_new_time(int64_t *until_ns, int64_t at_ns, int64_t time_ns)
{
	int64_t new_ns = at_ns - *until_ns < time_ns ? at_ns - *until_ns : time_ns;

	if (at_ns > *until_ns)
		*until_ns = at_ns;
	return new_ns > 0 ? new_ns : 0;
}

/* Adds to the step of each member how late it was, and to the last one's what it cost. */
static void add_collective_lateness(struct ss_lateness *lateness, const struct ss_joined *joined,
				    const struct ss_collective *collective,
				    struct usual_parts *usual, struct counted_until *until)
{
	int64_t second_ns = INT64_MAX, last_at_ns = 0, own_ns[SS_OWN_PARTS];

	find_usual_parts(joined, collective, usual);
	for (uint32_t i = 0; i < collective->count; i++) {
		const struct ss_member *member = &joined->members[collective->first + i];
		const struct ss_arrival *arrival = ss_joined_arrival(joined, member);
		int64_t dur_ns = arrival->end_ns - arrival->start_ns;
		int64_t late_ns = collective->longest_ns - dur_ns;
		struct ss_late_step *out = late_step_at(lateness, member->rank, collective->step);

		if (member->rank == collective->last_rank)
			last_at_ns = arrival->start_ns;
		else if (dur_ns < second_ns)
			second_ns = dur_ns;
		out->worst_ns = late_ns > out->worst_ns ? late_ns : out->worst_ns;
		late_ns = count_new_time(&until[member->rank].late_ns, arrival->start_ns, late_ns);
		late_add_time(&out->late_ns, late_ns);
		member_own_parts(joined, member, own_ns);
		charge_lateness(own_ns, usual, late_ns, out);
	}
	if (collective->last_rank != SS_NO_ROW && second_ns != INT64_MAX) {
		struct ss_late_step *last = late_step_at(lateness, collective->last_rank,
							 collective->step);

		int64_t gain_ns = count_new_time(&until[collective->last_rank].gain_ns, last_at_ns,
						 second_ns - collective->transfer_ns);

		late_add_time(&last->gain_ns, gain_ns);
		late_add_time(&last->lost_ns, gain_ns < INT64_MAX / collective->count
						      ? gain_ns * (collective->count - 1)
						      : INT64_MAX);
	}
}

static void find_step_times(struct ss_lateness *lateness, const struct ss_joined *joined)
{
	for (uint32_t r = 0; r < joined->rank_count; r++) {
		const struct ss_digest *rank = &joined->ranks[r];
		int64_t sum_ns = 0;

		for (uint32_t i = 0; i < rank->step_count; i++)
			late_add_time(&sum_ns, rank->steps[i].end_ns - rank->steps[i].start_ns);
		lateness->step_ns[r] = rank->step_count ? sum_ns / rank->step_count : 0;
	}
}

bool ss_late_find(struct ss_lateness *lateness, const struct ss_joined *joined,
		  struct ss_arena *arena)
{
	struct usual_parts usual;
	struct counted_until *until = SS_ARENA_NEW(arena, struct counted_until,
						   (size_t)joined->rank_count + 1);

	*lateness = (struct ss_lateness){ .arena = arena, .rank_count = joined->rank_count };
	if (!late_find_steps(lateness, joined))
		return false;
	if (!SS_ALLOC(arena, lateness->items,
		      (size_t)joined->rank_count * lateness->step_count + 1) ||
	    !SS_ALLOC(arena, lateness->step_ns, (size_t)joined->rank_count + 1) ||
	    !SS_ALLOC(arena, usual.values, ((size_t)joined->rank_count + 1) * SS_OWN_PARTS) ||
	    !until)
		return false;
	for (uint32_t r = 0; r < joined->rank_count; r++)
		until[r] = (struct counted_until){ -SS_MOMENT_MAX, -SS_MOMENT_MAX };
	for (uint32_t i = 0; i < joined->collective_count; i++)
		if (joined->collectives[i].is_symmetric && joined->collectives[i].step != SS_NO_ROW)
			add_collective_lateness(lateness, joined, &joined->collectives[i], &usual,
						until);
	find_step_times(lateness, joined);
	return true;
}
