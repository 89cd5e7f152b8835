/* SPDX-License-Identifier: Apache-2.0 */
/*
 * causes.c - why ranks wait, where their calls do not differ: ranks that did not come or left no
 * dump, circles, collectives that do not finish.
 */
#include <string.h>

#include "hang/hang.h"

struct ss_hang_cause *ss_hang_add_cause(struct ss_hang *hang, enum ss_hang_kind kind,
					uint32_t group, int64_t sequence)
{
	struct ss_hang_cause *causes;
	struct ss_hang_cause *cause;

	if (!SS_ALLOC(&hang->arena, causes, (size_t)hang->cause_count + 1))
		return NULL;
	if (hang->cause_count)
		memcpy(causes, hang->causes, hang->cause_count * sizeof(*causes));
	hang->causes = causes;
	cause = &causes[hang->cause_count];
	*cause = (struct ss_hang_cause){ .kind = kind, .group = group, .sequence = sequence };
	if (!SS_ALLOC(&hang->arena, cause->ranks, (size_t)hang->rank_count + 1) ||
	    !SS_ALLOC(&hang->arena, cause->waiting, (size_t)hang->rank_count + 1))
		return NULL;
	hang->cause_count++;
	return cause;
}

/* --- ranks that others wait for ---------------------------------------------------------- */

static bool rank_is_cause(const struct ss_hang_rank *rank, enum ss_hang_state state)
{
	return rank->is_awaited && rank->state == (uint8_t)state;
}

/* Members in that state that have not called the group's frontier. */
static uint32_t group_count_absent(const struct ss_hang *hang, const struct ss_hang_group *group,
				   enum ss_hang_state state)
{
	uint32_t count = 0;

	for (uint32_t i = group->first; group->frontier && i < group->first + group->count; i++)
		count += rank_is_cause(&hang->ranks[hang->members[i].rank], state) &&
			 !ss_hang_has_called(&hang->members[i], group->frontier);
	return count;
}

/* The group in which most of them are absent, and the smallest of those; SS_NO_ROW: none. */
static uint32_t find_missed_group(const struct ss_hang *hang, enum ss_hang_state state)
{
	uint32_t best = SS_NO_ROW, most = 0;

	for (uint32_t i = 0; i < hang->group_count; i++) {
		uint32_t absent = group_count_absent(hang, &hang->groups[i], state);

		if (absent > most || (absent && absent == most &&
				      hang->groups[i].count < hang->groups[best].count)) {
			best = i;
			most = absent;
		}
	}
	return best;
}

static void cause_add_waiting(struct ss_hang *hang, struct ss_hang_cause *cause)
{
	const struct ss_hang_group *group = &hang->groups[cause->group];

	for (uint32_t i = group->first; i < group->first + group->count; i++)
		if (hang->members[i].pending_sequence == cause->sequence)
			cause->waiting[cause->waiting_count++] = hang->members[i].rank;
}

/* One cause for all ranks in that state; only ranks whose stacks show the same share it. */
static bool add_absent_ranks(struct ss_hang *hang, enum ss_hang_state state, enum ss_hang_kind kind)
{
	uint32_t group = find_missed_group(hang, state);
	struct ss_hang_cause *cause = NULL;

	for (uint32_t i = 0; i < hang->rank_count; i++) {
		if (!rank_is_cause(&hang->ranks[i], state) ||
		    (state == SS_HANG_ABSENT && ss_hang_kind_by_stack(hang, i) != kind))
			continue;
		if (!cause)
			cause = ss_hang_add_cause(hang, kind, group,
						  group == SS_NO_ROW
							  ? 0
							  : hang->groups[group].frontier);
		if (!cause)
			return false;
		cause->ranks[cause->rank_count++] = i;
	}
	if (!cause)
		return true;
	cause->guilty = cause->rank_count;
	if (group != SS_NO_ROW)
		cause_add_waiting(hang, cause);
	for (uint32_t i = 0; group == SS_NO_ROW && i < hang->rank_count; i++)
		if (hang->ranks[i].state == SS_HANG_WAITING)
			cause->waiting[cause->waiting_count++] = i;
	return true;
}

/* Fewer dumps than that are a selection: that the others are not there says nothing. */
#define DUMPS_MIN_SHARE 0.5

/* Nothing is pending, but ranks that the groups list left no dump: a fact worth a look. */
static bool add_lost_ranks(struct ss_hang *hang)
{
	uint32_t lost = hang->states[SS_HANG_NO_DUMP], group = SS_NO_ROW;
	struct ss_hang_cause *cause;

	if (!lost || lost > DUMPS_MIN_SHARE * hang->rank_count)
		return true;
	for (uint32_t i = 0; i < hang->group_count; i++)
		if (hang->groups[i].farthest &&
		    (group == SS_NO_ROW || hang->groups[i].count > hang->groups[group].count))
			group = i;
	cause = ss_hang_add_cause(hang, SS_HANG_LEFT_NO_DUMP, group,
				  group == SS_NO_ROW ? 0 : hang->groups[group].farthest);
	for (uint32_t i = 0; cause && i < hang->rank_count; i++)
		if (hang->ranks[i].state == SS_HANG_NO_DUMP)
			cause->ranks[cause->rank_count++] = i;
	if (cause)
		cause->guilty = cause->rank_count;
	return cause != NULL;
}

/* --- circles ----------------------------------------------------------------------------- */

/* A rank that this one waits for and that waits itself. */
static uint32_t next_in_circle(const struct ss_hang *hang, uint32_t number)
{
	const struct ss_hang_rank *rank = &hang->ranks[number];
	const struct ss_hang_group *group;

	if (rank->member == SS_NO_ROW)
		return rank->peer;
	group = &hang->groups[hang->members[rank->member].group];
	for (uint32_t i = group->first; i < group->first + group->count; i++)
		if (!ss_hang_has_called(&hang->members[i],
					hang->members[rank->member].pending_sequence) &&
		    hang->ranks[hang->members[i].rank].state == SS_HANG_WAITING)
			return hang->members[i].rank;
	return SS_NO_ROW;
}

/* How many members have not called what the rank waits in; of a point-to-point call, one. */
static uint32_t count_absent_for(const struct ss_hang *hang, uint32_t number)
{
	uint32_t member = hang->ranks[number].member, count = 0;
	const struct ss_hang_group *group;

	if (member == SS_NO_ROW)
		return 1;
	group = &hang->groups[hang->members[member].group];
	for (uint32_t i = group->first; i < group->first + group->count; i++)
		count += !ss_hang_has_called(&hang->members[i],
					     hang->members[member].pending_sequence);
	return count;
}

/* A rank of a circle; SS_NO_ROW: there is none. */
static uint32_t find_circle(const struct ss_hang *hang, uint8_t *seen)
{
	uint32_t at = 0;

	while (at < hang->rank_count && hang->ranks[at].state != SS_HANG_WAITING)
		at++;
	for (; at < hang->rank_count && !seen[at]; at = next_in_circle(hang, at))
		seen[at] = 1;
	return at < hang->rank_count ? at : SS_NO_ROW;
}

static struct ss_hang_cause *begin_circle(struct ss_hang *hang, uint32_t first, bool has_pairs)
{
	const struct ss_hang_rank *rank = &hang->ranks[first];

	return ss_hang_add_cause(hang, has_pairs ? SS_HANG_PAIR_CIRCLE : SS_HANG_GROUP_ORDER,
				 rank->member == SS_NO_ROW ? SS_NO_ROW
							   : hang->members[rank->member].group,
				 rank->flight->entries[rank->pending].sequence);
}

/*
 * Every waiting rank waits for another one: following them comes back to one of them. The circle
 * begins with the rank whose waiting partners miss the fewest: it is the one to look at.
 */
static bool add_circle(struct ss_hang *hang)
{
	uint8_t *seen = SS_ARENA_NEW(&hang->arena, uint8_t, (size_t)hang->rank_count + 1);
	uint32_t start = seen ? find_circle(hang, seen) : SS_NO_ROW, first = start, at = start;
	uint32_t fewest = UINT32_MAX, most = 0;
	struct ss_hang_cause *cause;
	bool has_pairs = true;

	if (start == SS_NO_ROW)
		return seen != NULL;
	do {
		uint32_t absent = count_absent_for(hang, at), next = next_in_circle(hang, at);

		has_pairs &= hang->ranks[at].member == SS_NO_ROW;
		first = absent < fewest ? next : first;
		fewest = absent < fewest ? absent : fewest;
		most = absent > most ? absent : most;
		at = next;
	} while (at != start);
	cause = begin_circle(hang, first, has_pairs);
	if (!cause)
		return false;
	at = first;
	do {
		cause->ranks[cause->rank_count++] = at;
		at = next_in_circle(hang, at);
	} while (at != first);
	for (uint32_t i = 0; i < hang->rank_count; i++)
		if (hang->ranks[i].state == SS_HANG_WAITING)
			cause->waiting[cause->waiting_count++] = i;
	cause->guilty = !has_pairs && fewest == 1 && most > 1;
	return true;
}

/* --- collectives that do not finish ------------------------------------------------------ */

static bool group_has_cause(const struct ss_hang *hang, uint32_t group)
{
	for (uint32_t i = 0; i < hang->cause_count; i++)
		if (hang->causes[i].group == group)
			return true;
	return false;
}

/* All members that are known called it: the device, the network, or what was overwritten. */
static bool add_stalled_group(struct ss_hang *hang, uint32_t number)
{
	const struct ss_hang_group *group = &hang->groups[number];
	uint32_t unknown = 0, started = 0;
	struct ss_hang_cause *cause = ss_hang_add_cause(hang, SS_HANG_NOT_FINISHED, number,
							group->frontier);

	if (!cause)
		return false;
	for (uint32_t i = group->first; i < group->first + group->count; i++) {
		const struct ss_hang_member *member = &hang->members[i];
		uint32_t rank = member->rank;

		unknown += member->is_unknown;
		if (member->at != SS_NO_ROW)
			cause->waiting[cause->waiting_count++] = rank;
		if (member->at != SS_NO_ROW &&
		    ss_hang_entry(hang, rank, member->at)->state == SS_FLIGHT_STARTED)
			started++;
	}
	if (unknown)
		cause->kind = SS_HANG_NOT_KNOWN;
	else if (started && started < cause->waiting_count)
		cause->kind = SS_HANG_NOT_STARTED;
	for (uint32_t i = group->first; i < group->first + group->count; i++) {
		const struct ss_hang_member *member = &hang->members[i];
		bool is_late = member->at != SS_NO_ROW &&
			       ss_hang_entry(hang, member->rank, member->at)->state ==
				       SS_FLIGHT_SCHEDULED;

		if (unknown ? member->is_unknown : is_late && cause->kind == SS_HANG_NOT_STARTED)
			cause->ranks[cause->rank_count++] = member->rank;
	}
	return true;
}

static bool add_stalled_groups(struct ss_hang *hang)
{
	for (uint32_t i = 0; i < hang->rank_count; i++) {
		const struct ss_hang_rank *rank = &hang->ranks[i];
		uint32_t group = rank->member == SS_NO_ROW ? SS_NO_ROW
							   : hang->members[rank->member].group;

		if (rank->state == SS_HANG_STALLED && group != SS_NO_ROW &&
		    !group_has_cause(hang, group) && !add_stalled_group(hang, group))
			return false;
	}
	return true;
}

/* --- the watchdog ------------------------------------------------------------------------ */

/* The watchdog looks every 100 ms: what it has not seen after a hundred looks, it does not see. */
#define WATCHDOG_NS (INT64_C(100) * 100000000)

static bool rank_has_stuck_watchdog(const struct ss_hang *hang, const struct ss_flight *flight)
{
	for (uint32_t i = 0; i < flight->entry_count; i++) {
		const struct ss_flight_entry *entry = &flight->entries[i];

		if (entry->state == SS_FLIGHT_COMPLETED && !entry->is_retired &&
		    entry->created_ns > 0 && hang->newest_ns - entry->created_ns > WATCHDOG_NS)
			return true;
	}
	return false;
}

/* Only beside ranks that wait: alone it harms nobody. */
static bool add_watchdogs(struct ss_hang *hang)
{
	struct ss_hang_cause *cause = NULL;

	for (uint32_t i = 0; hang->cause_count && i < hang->rank_count; i++) {
		if (!hang->ranks[i].flight || !rank_has_stuck_watchdog(hang, hang->ranks[i].flight))
			continue;
		if (!cause)
			cause = ss_hang_add_cause(hang, SS_HANG_WATCHDOG, SS_NO_ROW, 0);
		if (!cause)
			return false;
		cause->ranks[cause->rank_count++] = i;
	}
	return true;
}

bool ss_hang_find_causes(struct ss_hang *hang)
{
	static const enum ss_hang_kind absent[] = { SS_HANG_TEARDOWN, SS_HANG_LEFT_LOOP,
						    SS_HANG_DID_NOT_COME };

	if (!add_absent_ranks(hang, SS_HANG_NO_DUMP, SS_HANG_LEFT_NO_DUMP))
		return false;
	/* after an error, a rank that is gone explains why another did not go on */
	for (size_t i = 0; i < SS_COUNT(absent) && !(hang->cause_count && hang->has_errors); i++)
		if (!add_absent_ranks(hang, SS_HANG_ABSENT, absent[i]))
			return false;
	if (!add_stalled_groups(hang))
		return false;
	if (!hang->cause_count && hang->states[SS_HANG_WAITING] && !add_circle(hang))
		return false;
	if (!hang->cause_count && !add_lost_ranks(hang))
		return false;
	return add_watchdogs(hang);
}
