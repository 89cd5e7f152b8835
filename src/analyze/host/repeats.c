/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repeats.c - finds repeated runs of symbols by joining frequent pairs.
 */
#include "analyze/host/repeats.h"

#include <string.h>

#include "base/hash/hash.h"

/* Runs of 8 need 3 to 7 rounds; further rounds find less and less. */
#define ROUNDS_MAX 12

#define NO_PAIR UINT32_MAX

struct symbol_pair {
	uint32_t left, right;
};

/* What one round knows. */
struct repair_round {
	struct ss_records pairs; /* different ones */
	uint32_t *pair;          /* id of the pair that begins at each run, or NO_PAIR */
	uint64_t *seen, *joined; /* per pair: occurrences, and how many of them would be joined */
	uint32_t longest;
	uint64_t least;
};

bool ss_repeats_add(struct ss_repeats *repeats, uint32_t symbol, bool starts)
{
	if (!SS_GROW(repeats->memory, repeats->runs, repeats->capacity, repeats->count))
		return false;
	repeats->runs[repeats->count] = (struct ss_repeat_run){
		.symbol = symbol, .first = repeats->count, .length = 1, .starts = starts
	};
	repeats->count++;
	return true;
}

void ss_repeats_release(struct ss_repeats *repeats)
{
	SS_FREE(repeats->memory, repeats->runs, repeats->capacity);
	*repeats = (struct ss_repeats){ .memory = repeats->memory };
}

static bool runs_can_join(const struct repair_round *round, const struct ss_repeat_run *left,
			  const struct ss_repeat_run *right)
{
	return !right->starts && left->length + right->length <= round->longest;
}

/* Numbers and counts the pairs; "a a a" has the pair "a a" once. */
static bool repeats_count_pairs(const struct ss_repeats *repeats, struct repair_round *round)
{
	bool is_counted = false;

	for (uint32_t i = 0; i < repeats->count; i++) {
		const struct ss_repeat_run *run = &repeats->runs[i];
		uint32_t before = i ? round->pair[i - 1] : NO_PAIR, id;

		round->pair[i] = NO_PAIR;
		if (i + 1 == repeats->count || !runs_can_join(round, run, run + 1))
			continue;
		id = ss_records_add(&round->pairs,
				    &(struct symbol_pair){ run->symbol, run[1].symbol });
		if (id == SS_NO_ID)
			return false;
		round->pair[i] = id;
		is_counted = !(is_counted && before == id);
		round->seen[id] += is_counted;
	}
	return true;
}

/* Whether to join the pair at i: it is frequent, and the next one is not more frequent. */
static bool repeats_is_best_pair(const struct ss_repeats *repeats, const struct repair_round *round,
				 uint32_t i)
{
	uint32_t pair = round->pair[i], next;

	if (pair == NO_PAIR || round->seen[pair] < round->least)
		return false;
	next = i + 1 < repeats->count ? round->pair[i + 1] : NO_PAIR;
	return next == NO_PAIR || round->seen[next] <= round->seen[pair];
}

static void repeats_count_joined(const struct ss_repeats *repeats, struct repair_round *round)
{
	for (uint32_t i = 0; i < repeats->count; i++)
		if (repeats_is_best_pair(repeats, round, i))
			round->joined[round->pair[i++]]++;
}

/* Joins pairs of which enough are left after overlaps. Returns how many were joined. */
static uint32_t repeats_join_pairs(struct ss_repeats *repeats, const struct repair_round *round,
				   uint32_t next_symbol)
{
	uint32_t kept = 0, count = repeats->count;

	for (uint32_t i = 0; i < count; i++) {
		struct ss_repeat_run run = repeats->runs[i];

		if (repeats_is_best_pair(repeats, round, i)) {
			uint32_t pair = round->pair[i];

			if (round->joined[pair] >= round->least) {
				run.symbol = next_symbol + pair;
				run.length += repeats->runs[i + 1].length;
			} else {
				repeats->runs[kept++] = run;
				run = repeats->runs[i + 1];
			}
			i++;
		}
		repeats->runs[kept++] = run;
	}
	repeats->count = kept;
	return count - kept;
}

/* One round; after *joined_count 0, another one is useless. False: no memory. */
static bool repeats_run_round(struct ss_repeats *repeats, struct repair_round *round,
			      uint32_t *next_symbol, uint32_t *joined_count)
{
	size_t bytes = (size_t)repeats->count * sizeof(*round->seen);
	size_t pair_bytes = (size_t)repeats->count * sizeof(*round->pair);
	bool done = false;

	round->pair = ss_memory_resize(repeats->memory, NULL, 0, pair_bytes);
	round->seen = ss_memory_zeroed(repeats->memory, bytes);
	round->joined = ss_memory_resize(repeats->memory, NULL, 0, bytes);
	if (round->pair && round->seen && round->joined &&
	    ss_records_init(&round->pairs, repeats->memory, sizeof(struct symbol_pair))) {
		memset(round->joined, 0, bytes);
		done = repeats_count_pairs(repeats, round);
	}
	if (done) {
		repeats_count_joined(repeats, round);
		*joined_count = repeats_join_pairs(repeats, round, *next_symbol);
		*next_symbol += round->pairs.count;
	}
	ss_memory_free(repeats->memory, round->pair, pair_bytes);
	ss_memory_free(repeats->memory, round->seen, bytes);
	ss_memory_free(repeats->memory, round->joined, bytes);
	ss_records_release(&round->pairs);
	return done;
}

bool ss_repeats_find(struct ss_repeats *repeats, uint32_t symbols, uint32_t longest, uint64_t least)
{
	uint32_t next_symbol = symbols, joined_count = 1;

	for (int i = 0; i < ROUNDS_MAX && joined_count && repeats->count; i++) {
		struct repair_round round = { .longest = longest, .least = least };

		/* symbols are numbered with 32 bits; a round adds at most one for each run */
		if (next_symbol > UINT32_MAX - repeats->count)
			break;
		if (!repeats_run_round(repeats, &round, &next_symbol, &joined_count))
			return false;
	}
	return true;
}
