/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_rows.c - searches the rows of CPU threads.
 */
#include "diagnose/evidence/host_rows.h"

#include "base/search.h"

/* A runtime call contains a driver call: calls do not nest deeper than this. */
#define CALLS_MAX 16

uint32_t ss_cpu_row_after(const struct ss_trace *trace, uint32_t track, int64_t moment_ns)
{
	uint32_t low = trace->tracks[track].first_row;
	uint32_t high = low + trace->tracks[track].row_count;

	SS_SEARCH(low, high, at, trace->slices.start_ns[at] < moment_ns);
	return low;
}

/* Most ranges have few rows, so the search begins near the first. */
uint32_t ss_cpu_row_end(const struct ss_trace *trace, uint32_t row)
{
	const struct ss_track *track = &trace->tracks[trace->slices.track[row]];
	const int64_t *start_ns = trace->slices.start_ns;
	int64_t end_ns = ss_slice_end(&trace->slices, row);
	uint32_t low = row + 1, high = track->first_row + track->row_count;

	if (end_ns <= start_ns[row])
		return ss_cpu_row_after(trace, trace->slices.track[row], end_ns);
	SS_SEARCH_NEAR(low, high, at, start_ns[at] < end_ns);
	return low;
}

uint32_t ss_cpu_row_last(const struct ss_trace *trace, uint32_t row)
{
	uint32_t behind = ss_cpu_row_end(trace, row);

	/* a row without duration may be listed after others with the same start */
	return behind > row ? behind - 1 : row;
}

uint32_t ss_cpu_outer_call(const struct ss_trace *trace, uint32_t row)
{
	for (uint32_t tries = 0; tries < CALLS_MAX; tries++) {
		uint32_t parent = trace->slices.parent[row];

		if (parent == SS_NO_ROW || !ss_kind_is_call(trace->slices.kind[parent]))
			break;
		row = parent;
	}
	return row;
}
