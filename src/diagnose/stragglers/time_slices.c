/* SPDX-License-Identifier: Apache-2.0 */
/*
 * time_slices.c - finds the most frequent gap length among gaps that no launch explains.
 */
#include "diagnose/stragglers/time_slices.h"

#include <stdlib.h>

/* Slices of the driver are one to some milliseconds; waits for other streams are mostly shorter. */
#define SLICE_NS_MIN 500000

/* They differ by less than this from the shortest: the driver's clock, not the work, ends them. */
#define ALIKE_PERCENT 6

/* This number of one length, in most of that time, is no accident. */
#define COUNT_MIN 6
#define SHARE_PERCENT 60

static int gap_length_compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* Work was there, or the host could not know that it had not run yet. */
static bool is_unexplained_gap(const struct ss_rank_gap *gap)
{
	return gap->cause == SS_IDLE_DEPENDENCY || gap->cause == SS_IDLE_SYNC;
}

struct ss_time_slices ss_time_slices_find(const struct ss_digest *rank, int64_t *scratch)
{
	struct ss_time_slices best = { 0 };
	uint32_t count = 0, queued = 0, from = 0;
	int64_t all_ns = 0;

	for (uint32_t i = 0; i < rank->gap_count; i++) {
		const struct ss_rank_gap *gap = &rank->gaps[i];
		int64_t length_ns = gap->end_ns - gap->start_ns;

		if (!is_unexplained_gap(gap) || length_ns < SLICE_NS_MIN)
			continue;
		scratch[count++] = length_ns;
		queued += gap->cause == SS_IDLE_DEPENDENCY;
		all_ns = ss_ns_sum(all_ns, length_ns);
	}
	qsort(scratch, count, sizeof(*scratch), gap_length_compare);
	for (uint32_t to = 0; to < count; to++) {
		while (scratch[to] - scratch[from] > scratch[from] / 100 * ALIKE_PERCENT)
			from++;
		if (to - from + 1 > best.count)
			best = (struct ss_time_slices){ to - from + 1,
							scratch[from + (to - from) / 2], 0 };
	}
	if (best.count < COUNT_MIN || queued * 2 < best.count)
		return (struct ss_time_slices){ 0 };
	best.sum_ns = best.slice_ns * best.count;
	return best.sum_ns / SHARE_PERCENT * 100 >= all_ns ? best : (struct ss_time_slices){ 0 };
}
