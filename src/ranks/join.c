/* SPDX-License-Identifier: Apache-2.0 */
/*
 * join.c - joins the digests of all ranks: groups, hosts and collectives, then clocks, then what
 * each collective costs each rank.
 */
#include "ranks/join.h"

#include "base/hash/hash.h"
#include "base/sort.h"

/* --- groups and hosts -------------------------------------------------------------------- */

/* Number of this recording among those of its rank: recordings of different times share nothing. */
static uint32_t recording_cycle(const struct ss_joined *joined, uint32_t r)
{
	const struct ss_digest *own = &joined->ranks[r];
	uint32_t before = 0;

	if (own->rank < 0)
		return 0;
	for (uint32_t k = r; k-- > 0 && joined->ranks[k].rank == own->rank;)
		before += joined->ranks[k].start_ns <= own->start_ns;
	for (uint32_t k = r + 1; k < joined->rank_count && joined->ranks[k].rank == own->rank; k++)
		before += joined->ranks[k].start_ns < own->start_ns;
	return before;
}

/* Numbers the groups of the job: groups with the same name and ranks are one. */
static bool number_rank_groups(struct ss_joined *joined, struct ss_strings *keys)
{
	for (uint32_t r = 0; r < joined->rank_count; r++) {
		const struct ss_digest *rank = &joined->ranks[r];
		uint32_t cycle = recording_cycle(joined, r);

		if (!SS_ALLOC(&joined->arena, joined->rank_groups[r],
			      (size_t)rank->group_count + 1))
			return false;
		for (uint32_t i = 0; i < rank->group_count; i++) {
			const struct ss_string *name = &rank->texts.items[rank->groups[i].name];
			char key[24];
			uint64_t hash = ss_hash_mix(ss_hash_bytes(name->text, name->length),
						    rank->groups[i].ranks);

			hash = ss_hash_mix(hash, cycle);
			for (int k = 0; k < 16; k++)
				key[k] = (char)('a' + (hash >> (k * 4) & 15));
			/* id 0 is the empty text */
			joined->rank_groups[r][i] = ss_strings_add(keys, key, 16);
			if (joined->rank_groups[r][i] == SS_NO_ID)
				return false;
			joined->rank_groups[r][i]--;
		}
	}
	return true;
}

static void describe_groups(struct ss_joined *joined)
{
	for (uint32_t r = joined->rank_count; r-- > 0;)
		for (uint32_t i = 0; i < joined->ranks[r].group_count; i++) {
			const struct ss_strings *texts = &joined->ranks[r].texts;
			const struct ss_rank_group *own = &joined->ranks[r].groups[i];
			struct ss_group *group = &joined->groups[joined->rank_groups[r][i]];

			group->name = ss_strings_text(texts, own->name);
			group->description = ss_strings_text(texts, own->description);
			group->count++;
		}
}

bool ss_joined_find_groups(struct ss_joined *joined)
{
	SS_OWNED(ss_strings_release) struct ss_strings keys = { 0 };
	uint32_t total = 0;

	if (!ss_strings_init(&keys, joined->memory) ||
	    !SS_ALLOC(&joined->arena, joined->rank_groups, (size_t)joined->rank_count + 1) ||
	    !number_rank_groups(joined, &keys))
		return false;
	joined->group_count = keys.count - 1;
	if (!SS_ALLOC(&joined->arena, joined->groups, (size_t)joined->group_count + 1))
		return false;
	describe_groups(joined);
	for (uint32_t i = 0; i < joined->group_count; i++) {
		joined->groups[i].first = total;
		total += joined->groups[i].count;
		joined->groups[i].count = 0;
	}
	if (!SS_ALLOC(&joined->arena, joined->group_members, (size_t)total + 1))
		return false;
	for (uint32_t r = 0; r < joined->rank_count; r++)
		for (uint32_t i = 0; i < joined->ranks[r].group_count; i++) {
			struct ss_group *group = &joined->groups[joined->rank_groups[r][i]];

			joined->group_members[group->first + group->count++] = r;
		}
	return true;
}

bool ss_joined_find_hosts(struct ss_joined *joined)
{
	SS_OWNED(ss_strings_release) struct ss_strings names = { 0 };

	if (!ss_strings_init(&names, joined->memory) ||
	    !SS_ALLOC(&joined->arena, joined->hosts, (size_t)joined->rank_count + 1))
		return false;
	for (uint32_t r = 0; r < joined->rank_count; r++) {
		const struct ss_digest *rank = &joined->ranks[r];
		const struct ss_string *name = &rank->texts.items[rank->host];

		/* id 0 is the empty text */
		joined->hosts[r] = ss_strings_add(&names, name->text, name->length);
		if (joined->hosts[r] == SS_NO_ID)
			return false;
	}
	return ss_class_lists_make(&joined->host_ranks, joined->hosts, joined->rank_count,
				   names.count, &joined->arena);
}

/* --- collectives ------------------------------------------------------------------------- */

/* Fills kind, transfer time, waits and the last rank. All members have the kind of the first. */
static void describe_collective(struct ss_joined *joined, struct ss_collective *collective)
{
	const struct ss_arrival *first = ss_joined_arrival(joined,
							   &joined->members[collective->first]);

	collective->kind = first->kind;
	collective->is_symmetric = collective->count > 1 &&
				   ss_collective_is_symmetric(collective->kind);
	collective->transfer_ns = INT64_MAX;
	collective->bytes = -1;
	collective->step = SS_NO_ROW;
	collective->last_rank = SS_NO_ROW;
	for (uint32_t i = 0; i < collective->count; i++) {
		const struct ss_member *member = &joined->members[collective->first + i];
		const struct ss_arrival *arrival = ss_joined_arrival(joined, member);
		int64_t dur_ns = arrival->end_ns - arrival->start_ns;

		if (dur_ns <= collective->transfer_ns)
			collective->last_rank = dur_ns < collective->transfer_ns ? member->rank
										 : SS_NO_ROW;
		collective->transfer_ns = dur_ns < collective->transfer_ns
						  ? dur_ns
						  : collective->transfer_ns;
		collective->longest_ns = dur_ns > collective->longest_ns ? dur_ns
									 : collective->longest_ns;
		collective->bytes = arrival->bytes > collective->bytes ? arrival->bytes
								       : collective->bytes;
		if (collective->step == SS_NO_ROW)
			collective->step = arrival->step;
	}
	for (uint32_t i = 0; i < collective->count; i++) {
		const struct ss_arrival *arrival =
			ss_joined_arrival(joined, &joined->members[collective->first + i]);

		collective->wait_ns = ss_ns_sum(collective->wait_ns,
						arrival->end_ns - arrival->start_ns -
							collective->transfer_ns);
	}
}

static void place_collective(struct ss_joined *joined, struct ss_collective *collective)
{
	collective->start_ns = INT64_MAX;
	collective->end_ns = INT64_MIN;
	for (uint32_t i = 0; i < collective->count; i++) {
		const struct ss_member *member = &joined->members[collective->first + i];
		const struct ss_arrival *arrival = ss_joined_arrival(joined, member);
		int64_t start_ns = ss_joined_align(joined, member->rank, arrival->start_ns);
		int64_t end_ns = ss_joined_align(joined, member->rank, arrival->end_ns);

		collective->start_ns = start_ns < collective->start_ns ? start_ns
								       : collective->start_ns;
		collective->end_ns = end_ns > collective->end_ns ? end_ns : collective->end_ns;
	}
}

SS_COMPARATOR(collective_compare_time, struct ss_collective,
	      SS_ASCENDING(start_ns) SS_ASCENDING(first))

/* Sorts the collectives by time, and gives the arrivals their new numbers. */
static void sort_collectives(struct ss_joined *joined)
{
	for (uint32_t i = 0; i < joined->collective_count; i++)
		place_collective(joined, &joined->collectives[i]);
	SS_SORT(joined->collectives, joined->collective_count, collective_compare_time);
	for (uint32_t i = 0; i < joined->collective_count; i++)
		for (uint32_t k = 0; k < joined->collectives[i].count; k++) {
			const struct ss_member *member =
				&joined->members[joined->collectives[i].first + k];

			joined->collective_of[member->rank][member->arrival] = i;
		}
}

/* --- the job ----------------------------------------------------------------------------- */

void ss_joined_release(struct ss_joined *joined)
{
	if (!joined->memory)
		return;
	SS_FREE(joined->memory, joined->collectives, joined->collective_capacity);
	SS_FREE(joined->memory, joined->members, joined->member_capacity);
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
	for (uint32_t i = 0; whole && i < joined->collective_count; i++)
		describe_collective(joined, &joined->collectives[i]);
	whole = whole && ss_joined_set_clocks(joined) && ss_joined_find_roles(joined);
	if (whole) {
		sort_collectives(joined);
		return SS_OK;
	}
	ss_joined_release(joined);
	return ss_fail_memory(err, "the collectives of the job");
}
