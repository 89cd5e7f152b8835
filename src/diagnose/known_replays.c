/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known_replays.c - sets of fixes, compared without regard to their order.
 */
#include "diagnose/known_replays.h"

#include <string.h>

#include "base/hash/hash.h"
#include "base/search.h"
#include "base/sort.h"

/* The same hash for every order. */
static uint64_t fixes_hash(const struct ss_edits *const *fixes, uint32_t count)
{
	uint64_t hash = count;

	for (uint32_t i = 0; i < count; i++)
		hash += ss_hash_mix(SS_HASH_SEED, (uint64_t)(uintptr_t)fixes[i]);
	return hash;
}

static bool replay_has_fix(const struct ss_known_replay *run, const struct ss_edits *fix)
{
	uint32_t low = 0, high = run->count;

	SS_SEARCH(low, high, at, (uintptr_t)run->fixes[at] < (uintptr_t)fix);
	return low < run->count && run->fixes[low] == fix;
}

struct ss_known_replay *ss_known_replays_find(const struct ss_known_replays *memo,
					      const struct ss_edits *const *fixes, uint32_t count)
{
	uint64_t hash = fixes_hash(fixes, count);

	for (uint32_t i = 0; i < memo->count; i++) {
		struct ss_known_replay *run = &memo->items[i];
		bool same = run->hash == hash && run->count == count;

		/* a set contains each fix once */
		for (uint32_t k = 0; same && k < count; k++)
			same = replay_has_fix(run, fixes[k]);
		if (same)
			return run;
	}
	return NULL;
}

static int edits_compare_address(const void *a, const void *b)
{
	uintptr_t x = (uintptr_t) * (const struct ss_edits *const *)a;
	uintptr_t y = (uintptr_t) * (const struct ss_edits *const *)b;

	return x < y ? -1 : x > y;
}

void ss_known_replays_add(struct ss_known_replays *memo, const struct ss_edits *const *fixes,
			  uint32_t count, int64_t step_ns)
{
	const struct ss_edits **copy;

	if (memo->count == SS_KNOWN_REPLAYS_MAX ||
	    !SS_GROW(memo->memory, memo->items, memo->capacity, memo->count))
		return;
	if (!SS_ALLOC(memo->arena, copy, (size_t)count + 1))
		return;
	if (count) {
		memcpy(copy, fixes, count * sizeof(*copy));
		SS_SORT(copy, count, edits_compare_address);
	}
	memo->items[memo->count++] = (struct ss_known_replay){
		.hash = fixes_hash(fixes, count), .fixes = copy, .count = count, .step_ns = step_ns
	};
}

void ss_known_replays_release(struct ss_known_replays *memo)
{
	if (memo->memory)
		SS_FREE(memo->memory, memo->items, memo->capacity);
	*memo = (struct ss_known_replays){ 0 };
}
