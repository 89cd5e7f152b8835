/* SPDX-License-Identifier: Apache-2.0 */
/*
 * join.c - joins the digests of all ranks: groups and meetings, then clocks, then the cost
 * of each meeting per rank.
 */
#include "ranks/join.h"

#include <stdlib.h>
#include <string.h>

/* Kind and whether waits mean something; all members say the same, the first is asked. */
static void describe_collective(struct ss_joined *joined, struct ss_meeting *meeting)
{
	const struct ss_arrival *first = ss_joined_arrival(joined,
							   &joined->members[meeting->first]);

	meeting->kind = first->kind;
	meeting->is_symmetric = meeting->count > 1 && ss_collective_is_symmetric(meeting->kind);
	meeting->transfer_ns = INT64_MAX;
	meeting->bytes = -1;
	meeting->step = SS_NO_ROW;
	meeting->last_rank = SS_NO_ROW;
	for (uint32_t i = 0; i < meeting->count; i++) {
		const struct ss_member *member = &joined->members[meeting->first + i];
		const struct ss_arrival *arrival = ss_joined_arrival(joined, member);
		int64_t dur_ns = arrival->end_ns - arrival->start_ns;

		if (dur_ns <= meeting->transfer_ns)
			meeting->last_rank = dur_ns < meeting->transfer_ns ? member->rank
									   : SS_NO_ROW;
		meeting->transfer_ns = dur_ns < meeting->transfer_ns ? dur_ns
								     : meeting->transfer_ns;
		meeting->longest_ns = dur_ns > meeting->longest_ns ? dur_ns : meeting->longest_ns;
		meeting->bytes = arrival->bytes > meeting->bytes ? arrival->bytes : meeting->bytes;
		if (meeting->step == SS_NO_ROW)
			meeting->step = arrival->step;
	}
	for (uint32_t i = 0; i < meeting->count; i++) {
		const struct ss_arrival *arrival =
			ss_joined_arrival(joined, &joined->members[meeting->first + i]);

		meeting->wait_ns = ss_ns_sum(meeting->wait_ns, arrival->end_ns - arrival->start_ns -
								       meeting->transfer_ns);
	}
}

static void place_collective(struct ss_joined *joined, struct ss_meeting *meeting)
{
	meeting->start_ns = INT64_MAX;
	meeting->end_ns = INT64_MIN;
	for (uint32_t i = 0; i < meeting->count; i++) {
		const struct ss_member *member = &joined->members[meeting->first + i];
		const struct ss_arrival *arrival = ss_joined_arrival(joined, member);
		int64_t start_ns = ss_joined_align(joined, member->rank, arrival->start_ns);
		int64_t end_ns = ss_joined_align(joined, member->rank, arrival->end_ns);

		meeting->start_ns = start_ns < meeting->start_ns ? start_ns : meeting->start_ns;
		meeting->end_ns = end_ns > meeting->end_ns ? end_ns : meeting->end_ns;
	}
}

static int collective_compare_time(const void *a, const void *b)
{
	const struct ss_meeting *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

/* Meetings in the order of time; who came knows the new numbers. */
static void sort_collectives(struct ss_joined *joined)
{
	for (uint32_t i = 0; i < joined->meeting_count; i++)
		place_collective(joined, &joined->meetings[i]);
	if (joined->meeting_count)
		qsort(joined->meetings, joined->meeting_count, sizeof(*joined->meetings),
		      collective_compare_time);
	for (uint32_t i = 0; i < joined->meeting_count; i++)
		for (uint32_t k = 0; k < joined->meetings[i].count; k++) {
			const struct ss_member *member =
				&joined->members[joined->meetings[i].first + k];

			joined->meeting_of[member->rank][member->arrival] = i;
		}
}

void ss_joined_release(struct ss_joined *joined)
{
	if (!joined->memory)
		return;
	ss_memory_free(joined->memory, joined->meetings,
		       joined->meeting_capacity * sizeof(*joined->meetings));
	ss_memory_free(joined->memory, joined->members,
		       joined->member_capacity * sizeof(*joined->members));
	ss_arena_release(&joined->arena);
	*joined = (struct ss_joined){ 0 };
}

enum ss_status ss_join_ranks(struct ss_joined *joined, struct ss_digest *ranks, uint32_t rank_count,
			     struct ss_memory *memory, struct ss_error *err)
{
	bool whole;

	*joined = (struct ss_joined){ .memory = memory, .ranks = ranks, .rank_count = rank_count };
	ss_arena_init(&joined->arena, memory);
	whole = ss_joined_match(joined);
	for (uint32_t i = 0; whole && i < joined->meeting_count; i++)
		describe_collective(joined, &joined->meetings[i]);
	whole = whole && ss_joined_set_clocks(joined);
	if (whole) {
		sort_collectives(joined);
		return SS_OK;
	}
	ss_joined_release(joined);
	return ss_fail_memory(err, "the collectives of the job");
}
