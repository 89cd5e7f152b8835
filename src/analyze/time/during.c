/* SPDX-License-Identifier: Apache-2.0 */
/*
 * during.c - what the host did while a device was idle: one answer for tables, verdict and
 * timeline.
 */
#include "analyze/time/idle.h"
#include "base/search.h"

/* Parents to visit: ranges may outlive those in which they began, so ended ones do not stop it. */
#define OUTWARDS_MAX 1024

struct idle_stretch {
	const struct ss_slices *slices;
	int64_t from_ns, to_ns;
};

static bool row_fills_half(const struct idle_stretch *stretch, uint32_t row)
{
	int64_t from_ns = stretch->slices->start_ns[row];
	int64_t to_ns = ss_slice_end(stretch->slices, row);

	if (from_ns < stretch->from_ns)
		from_ns = stretch->from_ns;
	if (to_ns > stretch->to_ns)
		to_ns = stretch->to_ns;
	return to_ns > from_ns && to_ns - from_ns >= (stretch->to_ns - stretch->from_ns + 1) / 2;
}

/* The first row of the track that starts after the moment. */
static uint32_t track_row_after(const struct ss_slices *slices, const struct ss_track *track,
				int64_t moment_ns)
{
	uint32_t low = track->first_row, high = low + track->row_count;

	SS_SEARCH(low, high, at, slices->start_ns[at] <= moment_ns);
	return low;
}

uint32_t ss_idle_during(const struct ss_trace *trace, int64_t start_ns, int64_t end_ns,
			uint32_t launch)
{
	const struct ss_slices *slices = &trace->slices;
	struct idle_stretch stretch = { slices, start_ns, end_ns };
	uint32_t after, row, best = SS_NO_ROW;
	const struct ss_track *track;

	if (launch >= trace->device_from)
		return SS_NO_ROW;
	if (slices->start_ns[launch] > start_ns && slices->start_ns[launch] < end_ns)
		stretch.to_ns = slices->start_ns[launch];
	track = &trace->tracks[slices->track[launch]];
	/* what fills half of it covers its middle */
	after = track_row_after(slices, track,
				stretch.from_ns + (stretch.to_ns - stretch.from_ns) / 2);
	row = after > track->first_row ? after - 1 : SS_NO_ROW;
	for (uint32_t tries = 0; row != SS_NO_ROW && best == SS_NO_ROW && tries < OUTWARDS_MAX;
	     row = slices->parent[row], tries++)
		if (row_fills_half(&stretch, row))
			best = row;
	/* the range of a step explains nothing */
	return best != SS_NO_ROW && (ss_slice_flags(trace, best) & SS_NAME_STEP) ? SS_NO_ROW : best;
}

bool ss_idle_is_unrecorded(const struct ss_trace *trace, int64_t start_ns, int64_t end_ns,
			   uint32_t call)
{
	const struct ss_slices *slices = &trace->slices;
	const struct ss_track *track;
	int64_t at_ns, blank_ns = 0;

	if (call >= trace->device_from)
		return false;
	at_ns = ss_slice_end(slices, call);
	track = &trace->tracks[slices->track[call]];
	for (uint32_t up = slices->parent[call], tries = 0; up != SS_NO_ROW && tries < OUTWARDS_MAX;
	     up = slices->parent[up], tries++)
		if (slices->kind[up] == SS_KIND_OP && ss_slice_end(slices, up) > at_ns)
			at_ns = ss_slice_end(slices, up);
	if (at_ns < start_ns)
		at_ns = start_ns;
	for (uint32_t row = call + 1; row < track->first_row + track->row_count; row++) {
		if (slices->start_ns[row] >= end_ns)
			break;
		if (slices->start_ns[row] > at_ns)
			blank_ns += slices->start_ns[row] - at_ns;
		if (ss_slice_end(slices, row) > at_ns)
			at_ns = ss_slice_end(slices, row);
	}
	if (end_ns > at_ns)
		blank_ns += end_ns - at_ns;
	return blank_ns > (end_ns - start_ns) / 2;
}

uint32_t ss_idle_host_row(const struct ss_trace *trace, const struct ss_gap *gap,
			  enum ss_idle_cause cause)
{
	uint32_t guilty = gap->guilty[cause], row = SS_NO_ROW;

	if (guilty == SS_NO_ROW)
		return SS_NO_ROW;
	/* what fills most of a gap with another main cause is that cause */
	if (cause == SS_IDLE_LAUNCH && ss_idle_gap_cause(gap) == cause)
		row = ss_idle_during(trace, gap->start_ns, gap->end_ns, guilty);
	return row == SS_NO_ROW ? guilty : row;
}

uint32_t ss_idle_named_row(const struct ss_trace *trace, uint32_t row)
{
	uint32_t op = row == SS_NO_ROW ? SS_NO_ROW : ss_idle_op(trace, row);

	return op == SS_NO_ROW ? row : op;
}
