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

/* Per host row the outermost annotation around it or itself, else SS_NO_ROW; NULL: no memory. */
static uint32_t *outermost_ranges(const struct ss_trace *trace, struct ss_arena *scratch)
{
	uint32_t *outermost;

	if (!SS_ALLOC(scratch, outermost, (size_t)trace->device_from + 1))
		return NULL;
	/* parents stand before their children */
	for (uint32_t row = 0; row < trace->device_from; row++) {
		uint32_t parent = trace->slices.parent[row];

		outermost[row] = parent < row ? outermost[parent] : SS_NO_ROW;
		if (outermost[row] == SS_NO_ROW && trace->slices.kind[row] == SS_KIND_ANNOTATION)
			outermost[row] = row;
	}
	return outermost;
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

/* The key that more than half of the launches inside of ranges have, if any has. */
static bool find_majority(const struct ss_trace *trace, const uint32_t *outermost, uint64_t *out)
{
	uint64_t votes = 0;

	for (uint32_t row = trace->device_from; row < trace->device_to; row++) {
		uint32_t launch = trace->slices.link[row];
		uint64_t key;

		if (launch >= trace->device_from || outermost[launch] == SS_NO_ROW)
			continue;
		key = range_key(trace, outermost[launch]);
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
	SS_SCRATCH(scratch, trace->memory);
	uint32_t count = 0, *rows, *outermost = outermost_ranges(trace, &scratch);
	uint64_t key = 0;
	int64_t *starts;
	uint8_t *waits;

	*out_count = 0;
	if (!outermost)
		return ss_fail_memory(err, "finding steps");
	if (!find_majority(trace, outermost, &key))
		return SS_OK;
	/* what is before a row is no longer needed */
	for (uint32_t row = 0; row < trace->device_from; row++)
		if (outermost[row] == row && range_key(trace, row) == key)
			outermost[count++] = row;
	if (count < RANGES_MIN)
		return SS_OK;
	if (!SS_ALLOC(&trace->arena, rows, count) || !SS_ALLOC(&scratch, starts, count + 1) ||
	    !SS_ALLOC(&scratch, waits, count + 1))
		return ss_fail_memory(err, "finding steps");
	memcpy(rows, outermost, count * sizeof(*rows));
	for (uint32_t i = 0; i < count; i++)
		starts[i] = trace->slices.start_ns[rows[i]];
	starts[count] = ss_slice_end(&trace->slices, rows[count - 1]);
	if (hold_launches(trace, rows, count) &&
	    ss_periods_all_wait(trace, starts, count + 1, waits)) {
		*out = rows;
		*out_count = count;
	}
	return SS_OK;
}
