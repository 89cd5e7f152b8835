/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sums.c - passes over the rows of a track.
 */
#include "trace/sums.h"

#include <string.h>

void ss_track_sum_kinds(const struct ss_trace *trace, const struct ss_track *track,
			struct ss_track_sums *out)
{
	const uint8_t *kinds = trace->slices.kind;
	const uint32_t end = track->first_row + track->row_count;
	/* runs of one kind are long: two counts in turn do not wait for each other */
	uint32_t counts[2][256] = { 0 };

	for (uint32_t row = track->first_row; row < end; row++)
		counts[row & 1][kinds[row]]++;
	for (int kind = 0; kind < SS_KIND_COUNT; kind++)
		out->kinds[kind] = counts[0][kind] + counts[1][kind];
}

/* The union of the rows, which are sorted by start. */
void ss_track_sum_times(const struct ss_trace *trace, const struct ss_track *track,
			struct ss_track_sums *out)
{
	const struct ss_slices *slices = &trace->slices;
	int64_t busy_ns = 0, last_ns = INT64_MIN;

	if (!track->row_count)
		return;
	for (uint32_t i = 0; i < track->row_count; i++) {
		uint32_t row = track->first_row + i;
		int64_t start_ns = slices->start_ns[row], end_ns = ss_slice_end(slices, row);

		if (end_ns <= last_ns)
			continue;
		busy_ns += end_ns - (start_ns > last_ns ? start_ns : last_ns);
		last_ns = end_ns;
	}
	out->busy_ns = busy_ns;
	out->first_ns = slices->start_ns[track->first_row];
	out->last_ns = last_ns;
}

void ss_track_sum_links(const struct ss_trace *trace, const struct ss_track *track,
			struct ss_track_sums *out)
{
	const uint32_t *links = trace->slices.link;
	const uint32_t end = track->first_row + track->row_count;
	uint32_t unlinked = 0;

	for (uint32_t row = track->first_row; track->class == SS_TRACK_DEVICE && row < end; row++)
		unlinked += links[row] == SS_NO_ROW;
	out->unlinked = unlinked;
}

void ss_track_sum(const struct ss_trace *trace, uint32_t track, struct ss_track_sums *out)
{
	if (trace->track_sums) {
		*out = trace->track_sums[track];
		return;
	}
	memset(out, 0, sizeof(*out));
	if (!trace->tracks[track].row_count)
		return;
	ss_track_sum_kinds(trace, &trace->tracks[track], out);
	ss_track_sum_times(trace, &trace->tracks[track], out);
	ss_track_sum_links(trace, &trace->tracks[track], out);
}
