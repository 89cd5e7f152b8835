/*
 * join.c - joins the digests of all ranks: groups and meetings, then clocks, then
 * what each meeting cost whom.
 */
#include "job/join/join.h"

#include <stdlib.h>
#include <string.h>

/* Kind and whether waits mean something; all members say the same, the first is asked. */
static void describe(struct ss_many *many, struct ss_meeting *meeting)
{
	const struct ss_arrival *first = ss_many_arrival(many, &many->members[meeting->first]);

	meeting->kind = first->kind;
	meeting->is_symmetric = meeting->count > 1 && ss_collective_is_symmetric(meeting->kind);
	meeting->transfer_ns = INT64_MAX;
	meeting->bytes = -1;
	meeting->step = SS_NO_ROW;
	meeting->last_rank = SS_NO_ROW;
	for (uint32_t i = 0; i < meeting->count; i++) {
		const struct ss_member *member = &many->members[meeting->first + i];
		const struct ss_arrival *arrival = ss_many_arrival(many, member);
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
			ss_many_arrival(many, &many->members[meeting->first + i]);

		meeting->wait_ns = ss_ns_sum(meeting->wait_ns, arrival->end_ns - arrival->start_ns -
								       meeting->transfer_ns);
	}
}

static void place(struct ss_many *many, struct ss_meeting *meeting)
{
	meeting->start_ns = INT64_MAX;
	meeting->end_ns = INT64_MIN;
	for (uint32_t i = 0; i < meeting->count; i++) {
		const struct ss_member *member = &many->members[meeting->first + i];
		const struct ss_arrival *arrival = ss_many_arrival(many, member);
		int64_t start_ns = ss_many_align(many, member->rank, arrival->start_ns);
		int64_t end_ns = ss_many_align(many, member->rank, arrival->end_ns);

		meeting->start_ns = start_ns < meeting->start_ns ? start_ns : meeting->start_ns;
		meeting->end_ns = end_ns > meeting->end_ns ? end_ns : meeting->end_ns;
	}
}

static int by_time(const void *a, const void *b)
{
	const struct ss_meeting *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

/* Meetings in the order of time; who came knows the new numbers. */
static void arrange(struct ss_many *many)
{
	for (uint32_t i = 0; i < many->meeting_count; i++)
		place(many, &many->meetings[i]);
	if (many->meeting_count)
		qsort(many->meetings, many->meeting_count, sizeof(*many->meetings), by_time);
	for (uint32_t i = 0; i < many->meeting_count; i++)
		for (uint32_t k = 0; k < many->meetings[i].count; k++) {
			const struct ss_member *member =
				&many->members[many->meetings[i].first + k];

			many->meeting_of[member->rank][member->arrival] = i;
		}
}

void ss_many_release(struct ss_many *many)
{
	if (!many->memory)
		return;
	ss_memory_free(many->memory, many->meetings,
		       many->meeting_capacity * sizeof(*many->meetings));
	ss_memory_free(many->memory, many->members, many->member_capacity * sizeof(*many->members));
	ss_arena_release(&many->arena);
	*many = (struct ss_many){ 0 };
}

enum ss_status ss_many_join(struct ss_many *many, struct ss_digest *ranks, uint32_t rank_count,
			    struct ss_memory *memory, struct ss_error *err)
{
	bool whole;

	*many = (struct ss_many){ .memory = memory, .ranks = ranks, .rank_count = rank_count };
	ss_arena_init(&many->arena, memory);
	whole = ss_many_match(many);
	for (uint32_t i = 0; whole && i < many->meeting_count; i++)
		describe(many, &many->meetings[i]);
	whole = whole && ss_many_set_clocks(many);
	if (whole) {
		arrange(many);
		return SS_OK;
	}
	ss_many_release(many);
	return ss_fail_memory(err, "the collectives of the job");
}
