/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waits.c - which ranks wait, and for whom.
 *
 * A collective that one member finished is called by all: who still has it pending is about to
 * finish, and does not wait. Point-to-point calls wait for their partner unless that has the
 * opposite call pending.
 */
#include <string.h>

#include "base/text.h"
#include "hang/hang.h"

/* --- collectives ------------------------------------------------------------------------- */

static bool group_has_finished(const struct ss_hang *hang, const struct ss_hang_member *member)
{
	const struct ss_hang_group *group = &hang->groups[member->group];

	for (uint32_t i = group->first; i < group->first + group->count; i++)
		if (hang->members[i].done_sequence >= member->pending_sequence)
			return true;
	return false;
}

/* A rank can have several pending: it waits in the first that it called and that waits. */
static void rank_take_pending(struct ss_hang *hang, uint32_t number)
{
	const struct ss_hang_member *member = &hang->members[number];
	struct ss_hang_rank *rank = &hang->ranks[member->rank];
	bool waits = ss_hang_member_waits(hang, member);

	if (!waits && (rank->state == SS_HANG_WAITING || group_has_finished(hang, member)))
		return;
	if (rank->pending != SS_NO_ROW && waits == (rank->state == SS_HANG_WAITING) &&
	    rank->flight->entries[rank->pending].record_id <=
		    rank->flight->entries[member->pending].record_id)
		return;
	rank->state = waits ? SS_HANG_WAITING : SS_HANG_STALLED;
	rank->pending = member->pending;
	rank->member = number;
}

/* Members that have not called what others wait in. */
static void group_mark_awaited(struct ss_hang *hang, const struct ss_hang_group *group)
{
	int64_t farthest = 0;

	for (uint32_t i = group->first; i < group->first + group->count; i++)
		if (hang->members[i].pending_sequence > farthest)
			farthest = hang->members[i].pending_sequence;
	for (uint32_t i = group->first; i < group->first + group->count; i++)
		if (!ss_hang_has_called(&hang->members[i], farthest))
			hang->ranks[hang->members[i].rank].is_awaited = true;
}

/* --- point to point ---------------------------------------------------------------------- */

/* Number `position` of a list; -1: it is shorter. */
static int64_t list_item(const char *list, int64_t position)
{
	for (; *list; list++) {
		int64_t number = 0;

		if (!ss_char_is_digit(*list))
			continue;
		for (; ss_char_is_digit(*list); list++)
			number = number < INT32_MAX ? number * 10 + (*list - '0') : number;
		if (!position--)
			return number;
		if (!*list)
			break;
	}
	return -1;
}

struct pair_call {
	bool sends;
	uint32_t peer; /* index of the rank; SS_NO_ROW: not known */
};

/* "send 0->1", "recv 1<-0": numbers in the group. False: it is something else. */
static bool pair_read(const struct ss_hang *hang, const struct ss_flight *flight,
		      const struct ss_flight_entry *entry, uint32_t group, struct pair_call *out)
{
	const char *name = ss_hang_operation(flight, entry);
	const char *arrow = strstr(name, "->");
	const char *list = "";
	int64_t position = 0;

	out->sends = arrow != NULL;
	out->peer = SS_NO_ROW;
	if (!arrow)
		arrow = strstr(name, "<-");
	if (!arrow || !ss_char_is_digit(arrow[2]))
		return false;
	for (arrow += 2; ss_char_is_digit(*arrow); arrow++)
		position = position < INT32_MAX ? position * 10 + (*arrow - '0') : position;
	if (group != SS_NO_ROW && hang->groups[group].ranks)
		list = ss_strings_text(&hang->texts, hang->groups[group].ranks);
	out->peer = ss_hang_find_rank(hang, *list ? list_item(list, position) : position);
	return true;
}

/* The group of that name with that rank in it. */
static uint32_t pair_group(const struct ss_hang *hang, const struct ss_flight *flight,
			   const struct ss_flight_entry *entry, uint32_t rank)
{
	const char *name = ss_strings_text(&flight->texts, entry->group);

	for (uint32_t i = 0; i < hang->group_count; i++)
		if (strcmp(ss_strings_text(&hang->texts, hang->groups[i].name), name) == 0 &&
		    hang->groups[i].count && ss_hang_find_member(hang, i, rank) != SS_NO_ROW)
			return i;
	return SS_NO_ROW;
}

/* Whether `rank` has the opposite call pending. */
static bool pair_is_answered(const struct ss_hang *hang, uint32_t rank, uint32_t by, bool sends)
{
	const struct ss_flight *flight = hang->ranks[by].flight;

	for (uint32_t i = 0; flight && i < flight->entry_count; i++) {
		const struct ss_flight_entry *entry = &flight->entries[i];
		struct pair_call call;

		if (entry->is_pair && !ss_hang_is_done(hang, flight, entry) &&
		    pair_read(hang, flight, entry, pair_group(hang, flight, entry, by), &call) &&
		    call.peer == rank && call.sends != sends)
			return true;
	}
	return false;
}

static void rank_take_pairs(struct ss_hang *hang, uint32_t number)
{
	struct ss_hang_rank *rank = &hang->ranks[number];
	const struct ss_flight *flight = rank->flight;

	for (uint32_t i = 0; flight && i < flight->entry_count; i++) {
		const struct ss_flight_entry *entry = &flight->entries[i];
		struct pair_call call;

		if (!entry->is_pair || ss_hang_is_done(hang, flight, entry) ||
		    !pair_read(hang, flight, entry, pair_group(hang, flight, entry, number),
			       &call) ||
		    call.peer == SS_NO_ROW || call.peer == number)
			continue;
		if (pair_is_answered(hang, number, call.peer, call.sends)) {
			if (rank->state == SS_HANG_FINISHED) {
				rank->state = SS_HANG_STALLED;
				rank->pending = i;
				rank->peer = call.peer;
			}
			continue;
		}
		hang->ranks[call.peer].is_awaited = true;
		if (rank->state == SS_HANG_WAITING)
			continue;
		rank->state = SS_HANG_WAITING;
		rank->pending = i;
		rank->member = SS_NO_ROW;
		rank->peer = call.peer;
	}
}

/* --- all --------------------------------------------------------------------------------- */

void ss_hang_find_waits(struct ss_hang *hang)
{
	for (uint32_t i = 0; i < hang->member_count; i++)
		if (hang->members[i].pending != SS_NO_ROW)
			rank_take_pending(hang, i);
	for (uint32_t i = 0; i < hang->group_count; i++)
		group_mark_awaited(hang, &hang->groups[i]);
	for (uint32_t i = 0; i < hang->rank_count; i++)
		rank_take_pairs(hang, i);
	for (uint32_t i = 0; i < hang->rank_count; i++) {
		struct ss_hang_rank *rank = &hang->ranks[i];

		if (!rank->flight)
			rank->state = SS_HANG_NO_DUMP;
		else if (rank->is_awaited && rank->state == SS_HANG_FINISHED)
			rank->state = SS_HANG_ABSENT;
		hang->states[rank->state]++;
	}
}
