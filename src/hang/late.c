/* SPDX-License-Identifier: Apache-2.0 */
/*
 * late.c - where all collectives finish: whether one rank comes last repeatedly.
 *
 * Clocks of hosts differ: what is later by less than they do says nothing.
 */

#include "base/sort.h"
#include "hang/hang.h"

/* Hosts that are kept in time by NTP agree to some milliseconds. */
#define CLOCKS_NS INT64_C(10000000)
/* A share that no rank of several reaches by chance in as many collectives. */
#define LAST_SHARE (2.0 / 3)
#define COLLECTIVES_MIN 5

struct hang_arrival {
	uint32_t group, member;
	int64_t sequence, created_ns;
};

SS_COMPARATOR(hang_arrival_compare, struct hang_arrival,
	      SS_ASCENDING(group) SS_ASCENDING(sequence) SS_ASCENDING(created_ns)
		      SS_ASCENDING(member))

static uint32_t collect_arrivals(const struct ss_hang *hang, struct hang_arrival *out)
{
	uint32_t count = 0;

	for (uint32_t r = 0; r < hang->rank_count; r++) {
		const struct ss_flight *flight = hang->ranks[r].flight;

		for (uint32_t i = 0; flight && i < flight->entry_count; i++) {
			const struct ss_flight_entry *entry = &flight->entries[i];
			uint32_t member = hang->ranks[r].members[i];

			if (member == SS_NO_ROW || entry->is_pair || entry->created_ns <= 0)
				continue;
			out[count++] = (struct hang_arrival){ hang->members[member].group, member,
							      entry->sequence, entry->created_ns };
		}
	}
	return count;
}

struct hang_lateness {
	uint32_t times;
	int64_t ns;
};

/*
 * The last of each collective that all members called, if it came later than clocks differ;
 * `shared` is how many such collectives a group has.
 */
static void count_last(const struct ss_hang *hang, const struct hang_arrival *arrivals,
		       uint32_t count, struct hang_lateness *late, uint32_t *shared)
{
	for (uint32_t from = 0, to; from < count; from = to) {
		const struct hang_arrival *last;

		for (to = from + 1; to < count && arrivals[to].group == arrivals[from].group &&
				    arrivals[to].sequence == arrivals[from].sequence;
		     to++)
			;
		last = &arrivals[to - 1];
		if (to - from < 2 || to - from != hang->groups[last->group].count)
			continue;
		shared[last->group]++;
		if (last->created_ns - last[-1].created_ns < CLOCKS_NS)
			continue;
		late[last->member].times++;
		ss_ns_add(&late[last->member].ns, last->created_ns - last[-1].created_ns);
	}
}

bool ss_hang_find_late(struct ss_hang *hang)
{
	struct hang_arrival *arrivals;
	struct hang_lateness *late;
	uint32_t *shared, count;
	size_t most = 1;

	if (hang->cause_count)
		return true;
	for (uint32_t i = 0; i < hang->rank_count; i++)
		most += hang->ranks[i].flight ? hang->ranks[i].flight->entry_count : 0;
	if (!SS_ALLOC(&hang->arena, arrivals, most) ||
	    !SS_ALLOC(&hang->arena, late, (size_t)hang->member_count + 1) ||
	    !SS_ALLOC(&hang->arena, shared, (size_t)hang->group_count + 1))
		return false;
	count = collect_arrivals(hang, arrivals);
	SS_SORT(arrivals, count, hang_arrival_compare);
	count_last(hang, arrivals, count, late, shared);
	for (uint32_t i = 0; i < hang->member_count; i++) {
		uint32_t of = shared[hang->members[i].group];

		if (of < COLLECTIVES_MIN || late[i].times < LAST_SHARE * of ||
		    late[i].ns / late[i].times <= hang->late_ns)
			continue;
		hang->late = i;
		hang->late_ns = late[i].ns / late[i].times;
		hang->late_count = late[i].times;
		hang->shared_count = of;
	}
	return true;
}
