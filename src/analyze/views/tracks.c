/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracks.c - view: the threads and streams of the files, and what ran on them.
 */
#include <math.h>

#include "analyze/track_words.h"
#include "table/view.h"

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "track", SS_COLUMN_TEXT, "thread, stream, ranges (on a device), waits, profiler, async",
	  0 },
	{ "name", SS_COLUMN_TEXT, "name of the track in the trace", 0 },
	{ "pid", SS_COLUMN_TEXT, "process, or device of a stream", 0 },
	{ "tid", SS_COLUMN_TEXT, "thread or stream", 0 },
	{ "events", SS_COLUMN_COUNT, "events on the track", SS_COLUMN_FILLED },
	{ "busy_ns", SS_COLUMN_NS, "time covered by at least one event", SS_COLUMN_FILLED },
	{ "share_percent", SS_COLUMN_PERCENT, "that time as a share of the trace's span", 0 },
	{ "depth", SS_COLUMN_COUNT, "levels of nesting; for streams: lanes of overlapping kernels",
	  0 },
	{ "first_ns", SS_COLUMN_NS, "start of the first event, from the first event of the file",
	  SS_COLUMN_DETAIL | SS_COLUMN_MOMENT },
	{ "last_ns", SS_COLUMN_NS, "end of the last event", SS_COLUMN_DETAIL },
};

/* The union of the track's events; its rows are sorted by start. */
static void cover(const struct ss_trace *trace, const struct ss_track *track, int64_t *busy,
		  int64_t *last)
{
	const struct ss_slices *slices = &trace->slices;

	*busy = 0;
	*last = INT64_MIN;
	for (uint32_t i = 0; i < track->row_count; i++) {
		uint32_t row = track->first_row + i;
		int64_t start = slices->start_ns[row], end = ss_slice_end(slices, row);

		if (end <= *last)
			continue;
		*busy += end - (start > *last ? start : *last);
		*last = end;
	}
}

static enum ss_status tracks_run(const struct ss_subject *subject, struct ss_table *out,
				 struct ss_error *err)
{
	const struct ss_trace *trace = subject->trace;

	(void)err;
	for (uint32_t i = 0; i < trace->track_count; i++) {
		const struct ss_track *track = &trace->tracks[i];
		int64_t busy, last;

		if (!track->row_count)
			continue;
		cover(trace, track, &busy, &last);
		ss_row_begin(out);
		ss_row_text(out, ss_track_class_name(track->class));
		ss_row_text(out, ss_strings_text(&trace->texts, track->name));
		ss_row_text(out, ss_track_pid(trace, track, out));
		ss_row_text(out, ss_track_tid(trace, track, out));
		ss_row_int(out, track->row_count);
		ss_row_int(out, busy);
		ss_row_number(out, trace->span_ns > 0
					   ? 100.0 * (double)busy / (double)trace->span_ns
					   : NAN);
		ss_row_int(out, track->depth_max + 1);
		ss_row_int(out, trace->slices.start_ns[track->first_row]);
		ss_row_int(out, last);
		ss_row_end(out);
	}
	return SS_OK;
}

const struct ss_view ss_view_tracks = {
	.name = "tracks",
	.summary = "The threads and streams of the files, and how busy they were",
	.empty = "No tracks: the file has no events with a duration.",
	.columns = columns,
	.column_count = SS_COUNT(columns),
	.sums = "events",
	.basis = SS_BASIS_FILE,
	.run = tracks_run,
};
