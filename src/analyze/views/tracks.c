/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracks.c - view: the threads and streams of the files, and what ran on them.
 */
#include <math.h>

#include "view/view.h"
#include "trace/trace.h"

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

static enum ss_status tracks_run(const struct ss_subject *subject, struct ss_table *out,
				 struct ss_error *err)
{
	const struct ss_trace *trace = subject->trace;

	(void)err;
	for (uint32_t i = 0; i < trace->track_count; i++) {
		const struct ss_track *track = &trace->tracks[i];
		struct ss_track_sums sums;

		if (!track->row_count)
			continue;
		ss_track_sum(trace, i, &sums);
		ss_row_begin(out);
		ss_row_text(out, ss_track_class_name(track->class));
		ss_row_text(out, ss_strings_text(&trace->texts, track->name));
		ss_row_text(out, ss_pid_text(trace, track, out));
		ss_row_text(out, ss_tid_text(trace, track, out));
		ss_row_int(out, track->row_count);
		ss_row_int(out, sums.busy_ns);
		ss_row_number(out, trace->span_ns > 0
					   ? 100.0 * (double)sums.busy_ns / (double)trace->span_ns
					   : NAN);
		ss_row_int(out, track->depth_max + 1);
		ss_row_int(out, sums.first_ns);
		ss_row_int(out, sums.last_ns);
		ss_row_end(out);
	}
	return SS_OK;
}

const struct ss_view ss_view_tracks = {
	.name = "tracks",
	.summary = "The threads and streams of the files, and how busy they were",
	.empty = "No tracks: the file has no events with a duration.",
	SS_TABLE_COLUMNS(columns),
	.sums = "events",
	.basis = SS_BASIS_FILE,
	.reads = SS_COLUMNS_NONE,
	.run = tracks_run,
};
