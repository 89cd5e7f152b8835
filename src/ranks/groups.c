/* SPDX-License-Identifier: Apache-2.0 */
/*
 * groups.c - collects the process groups and the hosts of the job from what each rank recorded.
 */
#include "base/hash/hash.h"
#include "ranks/join.h"

/* Which of the recordings of its rank it is: those of different times never meet. */
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

/* The job's number of each rank's groups: the same name and ranks are the same group. */
static bool number_rank_groups(struct ss_joined *joined, struct ss_strings *keys)
{
	for (uint32_t r = 0; r < joined->rank_count; r++) {
		const struct ss_digest *rank = &joined->ranks[r];
		uint32_t cycle = recording_cycle(joined, r);

		joined->rank_groups[r] = SS_ARENA_NEW(&joined->arena, uint32_t,
						      (size_t)rank->group_count + 1);
		if (!joined->rank_groups[r])
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
	struct ss_strings keys = { 0 };
	uint32_t total = 0;
	bool whole = ss_strings_init(&keys, joined->memory);

	joined->rank_groups = SS_ARENA_NEW(&joined->arena, uint32_t *,
					   (size_t)joined->rank_count + 1);
	whole = whole && joined->rank_groups && number_rank_groups(joined, &keys);
	joined->group_count = whole ? keys.count - 1 : 0;
	ss_strings_release(&keys);
	if (!whole)
		return false;
	joined->groups = SS_ARENA_NEW(&joined->arena, struct ss_group,
				      (size_t)joined->group_count + 1);
	if (!joined->groups)
		return false;
	describe_groups(joined);
	for (uint32_t i = 0; i < joined->group_count; i++) {
		joined->groups[i].first = total;
		total += joined->groups[i].count;
		joined->groups[i].count = 0;
	}
	joined->group_members = SS_ARENA_NEW(&joined->arena, uint32_t, (size_t)total + 1);
	if (!joined->group_members)
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
	struct ss_strings names = { 0 };
	bool whole = ss_strings_init(&names, joined->memory);

	joined->hosts = SS_ARENA_NEW(&joined->arena, uint32_t, (size_t)joined->rank_count + 1);
	whole = whole && joined->hosts;
	for (uint32_t r = 0; whole && r < joined->rank_count; r++) {
		const struct ss_digest *rank = &joined->ranks[r];
		const struct ss_string *name = &rank->texts.items[rank->host];

		/* id 0 is the empty text */
		joined->hosts[r] = ss_strings_add(&names, name->text, name->length);
		whole = joined->hosts[r] != SS_NO_ID;
	}
	whole = whole && ss_classes_find(&joined->host_ranks, joined->hosts, joined->rank_count,
					 names.count, &joined->arena);
	ss_strings_release(&names);
	return whole;
}
