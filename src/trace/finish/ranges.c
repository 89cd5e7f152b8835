/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranges.c - ranges of the program that are its steps, whatever it calls them.
 *
 * Programs mark their iterations with NVTX, roctx or record_function, each with names of its own:
 * "iteration 12", "train", "batch#3". The outermost ranges of one thread with the same name, apart
 * from numbers in it, are steps if nearly all launches lie in them and if the CPU waits for the
 * device in each of them. Ranges of layers do not pass: nobody waits in every layer.
 */
#include <string.h>

#include "base/hash/hash.h"
#include "base/search.h"
#include "base/text.h"
#include "trace/finish/finish.h"

/* Fewer repetitions are not a loop. */
#define RANGES_MIN 3

/* Launches between the ranges: the loop itself, logging. */
#define INSIDE_SHARE_MIN 0.9

/* The outermost annotation around a row or itself; SS_NO_ROW: there is none. */
static uint32_t outermost_range(const struct ss_trace *trace, uint32_t row)
{
	uint32_t found = SS_NO_ROW;

	for (; row != SS_NO_ROW; row = trace->slices.parent[row])
		if (trace->slices.kind[row] == SS_KIND_ANNOTATION)
			found = row;
	return found;
}

/* Thread and name without its numbers. */
static uint64_t range_key(const struct ss_trace *trace, uint32_t row)
{
	const char *name = ss_strings_text(&trace->names, trace->slices.name[row]);
	uint64_t key = ss_hash_mix(SS_HASH_SEED, trace->slices.track[row]);

	for (; *name; name++)
		if (!ss_char_is_digit(*name))
			key = ss_hash_mix(key, (unsigned char)*name);
	return key;
}

static bool range_is_like(const struct ss_trace *trace, uint32_t row, uint64_t key)
{
	return trace->slices.kind[row] == SS_KIND_ANNOTATION && range_key(trace, row) == key &&
	       outermost_range(trace, row) == row;
}

/* The key that more than half of the launches inside of ranges have, if any has. */
static bool find_majority(const struct ss_trace *trace, uint64_t *out)
{
	uint64_t votes = 0;

	for (uint32_t row = trace->device_from; row < trace->device_to; row++) {
		uint32_t range = outermost_range(trace, trace->slices.link[row]);
		uint64_t key;

		if (range == SS_NO_ROW)
			continue;
		key = range_key(trace, range);
		if (!votes)
			*out = key;
		votes += key == *out ? 1 : (uint64_t)-1;
	}
	return votes > 0;
}

/* Whether nearly all launches, of any thread, lie in one of the ranges. */
static bool hold_launches(const struct ss_trace *trace, const uint32_t *rows, uint32_t count)
{
	const struct ss_slices *slices = &trace->slices;
	uint64_t all = 0, inside = 0;

	for (uint32_t row = trace->device_from; row < trace->device_to; row++) {
		uint32_t launch = slices->link[row], low = 0, high = count;

		if (launch == SS_NO_ROW)
			continue;
		all++;
		SS_SEARCH(low, high, at, slices->start_ns[rows[at]] <= slices->start_ns[launch]);
		inside += low && slices->start_ns[launch] < ss_slice_end(slices, rows[low - 1]);
	}
	return all && (double)inside >= INSIDE_SHARE_MIN * (double)all;
}

enum ss_status ss_ranges_find(struct ss_trace *trace, const uint32_t **out, uint32_t *out_count,
			      struct ss_error *err)
{
	uint32_t count = 0, *rows;
	uint64_t key = 0;
	int64_t *starts;
	uint8_t *waits;

	*out_count = 0;
	if (!find_majority(trace, &key))
		return SS_OK;
	for (uint32_t row = 0; row < trace->device_from; row++)
		count += range_is_like(trace, row, key);
	if (count < RANGES_MIN)
		return SS_OK;
	rows = SS_ARENA_NEW(&trace->arena, uint32_t, count);
	starts = SS_ARENA_NEW(&trace->arena, int64_t, count + 1);
	waits = SS_ARENA_NEW(&trace->arena, uint8_t, count + 1);
	if (!rows || !starts || !waits)
		return ss_fail_memory(err, "finding steps");
	count = 0;
	for (uint32_t row = 0; row < trace->device_from; row++)
		if (range_is_like(trace, row, key)) {
			starts[count] = trace->slices.start_ns[row];
			rows[count++] = row;
		}
	starts[count] = ss_slice_end(&trace->slices, rows[count - 1]);
	if (hold_launches(trace, rows, count) &&
	    ss_periods_all_wait(trace, starts, count + 1, waits)) {
		*out = rows;
		*out_count = count;
	}
	return SS_OK;
}
