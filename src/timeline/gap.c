/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gap.c - looks up a gap and its causes, and the gap of a slice.
 */
#include "timeline/gap.h"

#include <stdio.h>
#include <string.h>

const struct ss_idle_device *ss_gap_device(const struct ss_index *index, uint32_t track)
{
	uint32_t first = index->trace->track_count;

	if (track < first || track - first >= index->idle.device_count)
		return NULL;
	return &index->idle.devices[track - first];
}

const struct ss_idle_gap *ss_gap_of_track(const struct ss_index *index, uint32_t track,
					  uint32_t gap)
{
	const struct ss_idle_device *device = ss_gap_device(index, track);

	if (!device || gap < device->gap_from || gap >= device->gap_to)
		return NULL;
	return &index->idle.gaps[gap];
}

/* Whether a cause comes before the other one. */
static bool idle_piece_precedes(const struct ss_idle_piece *a, const struct ss_idle_piece *b,
				uint32_t main)
{
	if ((a->cause == main) != (b->cause == main))
		return a->cause == main;
	return a->ns > b->ns;
}

uint32_t ss_gap_causes(const struct ss_index *index, uint32_t gap,
		       struct ss_idle_piece out[SS_IDLE_CAUSES])
{
	const struct ss_idle_gap *kept = &index->idle.gaps[gap];
	uint32_t count = 0;

	for (uint32_t i = kept->piece_from; i < kept->piece_to && count < SS_IDLE_CAUSES; i++) {
		const struct ss_idle_piece *piece = &index->idle.pieces[i];
		uint32_t at = count++;

		for (; at && idle_piece_precedes(piece, &out[at - 1], index->gaps.cause[gap]); at--)
			out[at] = out[at - 1];
		out[at] = *piece;
	}
	return count;
}

/* --- the gap of a slice ----------------------------------------------------------------- */

/* How long the gap waits for the row or for slices within it. */
static int64_t gap_waits_for_row(const struct ss_index *index, const struct ss_idle_gap *gap,
				 uint32_t row)
{
	const struct ss_slices *slices = &index->trace->slices;
	int64_t waited_ns = 0;

	for (uint32_t i = gap->piece_from; i < gap->piece_to; i++) {
		const struct ss_idle_piece *piece = &index->idle.pieces[i];

		if (piece->guilty != SS_NO_ROW && piece->guilty >= row &&
		    slices->track[piece->guilty] == slices->track[row] &&
		    ss_slice_end(slices, piece->guilty) <= ss_slice_end(slices, row))
			waited_ns += piece->ns;
	}
	return waited_ns;
}

static int64_t gap_row_overlap(const struct ss_slices *slices, const struct ss_idle_gap *gap,
			       uint32_t row)
{
	int64_t from_ns = slices->start_ns[row], to_ns = ss_slice_end(slices, row);

	if (from_ns < gap->start_ns)
		from_ns = gap->start_ns;
	return (to_ns < gap->end_ns ? to_ns : gap->end_ns) - from_ns;
}

bool ss_gap_of_row(const struct ss_index *index, uint32_t row, struct ss_row_gap *out)
{
	const struct ss_trace *trace = index->trace;
	int64_t longest_ns = 0;

	out->is_cause = false;
	/* a step contains all gaps and causes none */
	if (row >= trace->device_from || (ss_slice_flags(trace, row) & SS_NAME_STEP))
		return false;
	for (uint32_t k = 0; k < index->idle.device_count; k++) {
		const struct ss_idle_device *device = &index->idle.devices[k];

		for (uint32_t i = device->gap_from; i < device->gap_to; i++) {
			const struct ss_idle_gap *gap = &index->idle.gaps[i];
			int64_t waited_ns = gap_waits_for_row(index, gap, row);
			bool is_cause = waited_ns > 0;
			int64_t ns = is_cause ? waited_ns
					      : gap_row_overlap(&trace->slices, gap, row);

			if (is_cause < out->is_cause ||
			    (is_cause == out->is_cause && ns <= longest_ns))
				continue;
			*out = (struct ss_row_gap){ trace->track_count + k, i, is_cause };
			longest_ns = ns;
		}
	}
	return longest_ns > 0;
}

bool ss_gap_before_row(const struct ss_index *index, uint32_t row, struct ss_row_gap *out)
{
	for (uint32_t k = 0; k < index->idle.device_count; k++) {
		const struct ss_idle_device *device = &index->idle.devices[k];

		for (uint32_t i = device->gap_from; i < device->gap_to; i++) {
			if (index->idle.gaps[i].next != row)
				continue;
			*out = (struct ss_row_gap){ index->trace->track_count + k, i, false };
			return true;
		}
	}
	return false;
}

/* --- lines ----------------------------------------------------------------------------- */

enum ss_status ss_index_places(struct ss_index *index, const struct ss_places **out,
			       struct ss_error *err)
{
	*out = &index->places;
	return index->places.trace
		       ? SS_OK
		       : ss_places_init(&index->places, index->trace, index->memory, err);
}

void ss_timeline_short_line(const char *line, char *out, size_t room)
{
	const char *open = strstr(line, ".py("), *from = line;
	size_t digits = open ? strspn(open + 4, "0123456789") : 0;

	if (!digits || open[4 + digits] != ')') {
		snprintf(out, room, "%s", line);
		return;
	}
	for (const char *at = line; at < open; at++)
		if (*at == '/' || *at == '\\')
			from = at + 1;
	snprintf(out, room, "%.*s:%.*s", (int)(open + 3 - from), from, (int)digits, open + 4);
}
