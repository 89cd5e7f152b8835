/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collectives.c - joins the graphs of the ranks at their collectives: which transfers wait for the
 * last member, and how long each takes from then on.
 */
#include "replay/replay_parts.h"

#include <stdlib.h>

#include "base/search.h"
#include "base/sort.h"

/* Adds a collective with the members that have tasks, if there are at least two. */
static void replay_add_collective(struct ss_replay *replay, const struct ss_joined *joined,
				  const struct ss_collective *collective)
{
	struct ss_replay_collective own = { replay->member_count, 0 };

	for (uint32_t i = 0; i < collective->count; i++) {
		const struct ss_member *member = &joined->members[collective->first + i];
		uint32_t task = ss_packed_comm_of(&replay->ranks[member->rank],
						  ss_joined_arrival(joined, member)->row);

		if (task == SS_NO_TASK ||
		    joined->clocks[member->rank].component !=
			    joined->clocks[joined->members[collective->first].rank].component)
			continue;
		replay->members[own.first + own.count++] =
			(struct ss_replay_member){ .rank = member->rank,
						   .task = task,
						   .collective = replay->collective_count,
						   .is_awaited = true };
	}
	if (own.count < 2)
		return;
	replay->member_count += own.count;
	replay->collectives[replay->collective_count++] = own;
}

struct ss_replay_transfer *ss_replay_transfer_of(const struct ss_replay *replay, uint32_t rank,
						 uint32_t task)
{
	uint32_t low = replay->transfers_from[rank], end = replay->transfers_from[rank + 1];
	uint32_t high = end;

	SS_SEARCH(low, high, at, replay->transfers[at].task < task);
	return low < end && replay->transfers[low].task == task ? &replay->transfers[low] : NULL;
}

/* Finds when the last member arrived, as recorded, and how long the others took from then on. */
static void settle_collective(struct ss_replay *replay,
			      const struct ss_replay_collective *collective, int64_t *ends_ns)
{
	struct ss_replay_member *members = &replay->members[collective->first];
	int64_t complete_ns = INT64_MIN;

	for (uint32_t i = 0; i < collective->count; i++) {
		int64_t offset_ns = replay->offset_ns[members[i].rank], at_ns;

		ends_ns[i] = offset_ns + ss_packed_transfer_end(&replay->ranks[members[i].rank],
								members[i].task, &at_ns);
		if (at_ns + offset_ns > complete_ns)
			complete_ns = at_ns + offset_ns;
	}
	for (uint32_t i = 0; i < collective->count; i++) {
		struct ss_replay_member *member = &members[i];

		/* a member that left before the last arrived did not wait for it */
		if (ends_ns[i] < complete_ns)
			continue;
		ss_packed_settle(&replay->ranks[member->rank], member->task + 1,
				 ends_ns[i] - complete_ns);
		ss_replay_transfer_of(replay, member->rank, member->task + 1)->member =
			collective->first + i + 1;
	}
}

SS_COMPARATOR(replay_transfer_compare, struct ss_replay_transfer, SS_ASCENDING(task))

/* The transfers of all members; whether they wait is not known yet. */
static void list_transfers(struct ss_replay *replay)
{
	uint32_t *from = replay->transfers_from, count = 0;

	for (uint32_t i = 0; i < replay->member_count; i++)
		from[replay->members[i].rank]++;
	for (uint32_t i = 0; i <= replay->rank_count; i++) {
		count += from[i];
		from[i] = count;
	}
	for (uint32_t i = 0; i < replay->member_count; i++)
		replay->transfers[--from[replay->members[i].rank]].task = replay->members[i].task +
									  1;
	for (uint32_t i = 0; i < replay->rank_count; i++)
		qsort(&replay->transfers[from[i]], from[i + 1] - from[i],
		      sizeof(*replay->transfers), replay_transfer_compare);
}

bool ss_replay_settle(struct ss_replay *replay)
{
	bool whole = true;
	int64_t *ends_ns = ss_replay_array(replay, replay->member_count, sizeof(*ends_ns), &whole);

	if (!whole)
		return false;
	list_transfers(replay);
	for (uint32_t i = 0; i < replay->collective_count; i++)
		settle_collective(replay, &replay->collectives[i], ends_ns);
	ss_replay_free_array(replay, ends_ns, replay->member_count, sizeof(*ends_ns));
	replay->is_settled = true;
	return true;
}

/* The graphs are lent: makes them as they were before. */
void ss_replay_unsettle(struct ss_replay *replay)
{
	for (uint32_t i = 0; i < replay->left_out_count; i++) {
		const struct ss_replay_left_out *left_out = &replay->left_out[i];

		if (left_out->member)
			ss_replay_transfer_of(replay, left_out->rank, left_out->at)->member =
				left_out->member;
		else
			replay->ranks[left_out->rank].edges[left_out->at] = left_out->head;
	}
	for (uint32_t i = 0; replay->is_settled && i < replay->member_count; i++) {
		const struct ss_replay_member *member = &replay->members[i];
		struct ss_packed *graph = &replay->ranks[member->rank];
		int64_t end_ns, arrived_ns;

		if (!ss_replay_transfer_of(replay, member->rank, member->task + 1)->member)
			continue;
		end_ns = ss_packed_transfer_end(graph, member->task, &arrived_ns);
		ss_packed_settle(graph, member->task + 1, end_ns - arrived_ns);
	}
}

bool ss_replay_join(struct ss_replay *replay, const struct ss_joined *joined)
{
	bool whole = true;

	replay->collective_capacity = joined ? joined->collective_count : 0;
	replay->member_capacity = joined ? joined->member_count : 0;
	replay->collectives = ss_replay_array(replay, replay->collective_capacity,
					      sizeof(*replay->collectives), &whole);
	replay->members = ss_replay_array(replay, replay->member_capacity, sizeof(*replay->members),
					  &whole);
	if (!whole)
		return false;
	replay->is_together = joined && replay->rank_count > 1;
	for (uint32_t i = 0; joined && i < replay->rank_count; i++) {
		replay->offset_ns[i] = ss_joined_align(joined, i, joined->ranks[i].start_ns);
		replay->is_together &= joined->clocks[i].component != SS_NO_ROW &&
				       joined->clocks[i].component == joined->clocks[0].component &&
				       replay->ranks[i].step_count == replay->ranks[0].step_count &&
				       replay->ranks[i].step_count > 0;
	}
	for (uint32_t i = 0; joined && i < joined->collective_count; i++)
		replay_add_collective(replay, joined, &joined->collectives[i]);
	return true;
}
