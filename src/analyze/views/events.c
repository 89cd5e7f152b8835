/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events.c - view: every event with a duration, as it was recorded, for questions that no other
 * view answers.
 *
 * Rows stand in the order of the trace: by thread or stream, then by start. A file has millions,
 * so they are filled column by column.
 */
#include "analyze/time/moment.h"
#include "view/view.h"

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "row", SS_COLUMN_ID, "number of the event in its file, from 0", SS_COLUMN_DETAIL },
	{ "track", SS_COLUMN_TEXT, "thread, stream, ranges (on a device), waits, profiler, async",
	  SS_COLUMN_CONTEXT },
	{ "pid", SS_COLUMN_TEXT, "process, or device of a stream", SS_COLUMN_CONTEXT },
	{ "tid", SS_COLUMN_TEXT, "thread or stream", SS_COLUMN_CONTEXT },
	{ "category", SS_COLUMN_TEXT, "category in the trace", 0 },
	{ "name", SS_COLUMN_TEXT, "name in the trace", SS_COLUMN_SLICES },
	{ "start_ns", SS_COLUMN_NS, "start, from the first event of the file",
	  SS_COLUMN_MOMENT | SS_COLUMN_FILLED },
	{ "duration_ns", SS_COLUMN_NS, "how long it lasted", SS_COLUMN_LENGTH | SS_COLUMN_FILLED },
	{ "step", SS_COLUMN_ID,
	  "measured step in which it began or was launched, numbered in the file from 0", 0 },
	{ "depth", SS_COLUMN_COUNT, "events of its thread around it; streams: its lane",
	  SS_COLUMN_FILLED },
	{ "parent", SS_COLUMN_ID, "row of the innermost event around it, on the same thread",
	  SS_COLUMN_DETAIL },
	{ "link", SS_COLUMN_ID,
	  "row of its launch; of an operator of the backward pass: row of its forward operator",
	  SS_COLUMN_DETAIL },
	{ "correlation", SS_COLUMN_ID,
	  "correlation id of calls and device events, else the external id", SS_COLUMN_DETAIL },
};

struct events_filling {
	const struct ss_trace *trace;
	const struct ss_slices *slices;
	struct ss_table *out;
	int32_t *names; /* per name of the trace: its id in the column + 2; 0: not added yet */
};

typedef const char *(*track_text)(const struct ss_trace *trace, const struct ss_track *track,
				  struct ss_table *table);

static const char *events_track_class(const struct ss_trace *trace, const struct ss_track *track,
				      struct ss_table *table)
{
	(void)trace;
	(void)table;
	return ss_track_class_name(track->class);
}

/* Fills a column with a text that all events of a track share. */
static void events_fill_tracks(struct events_filling *work, track_text text_of)
{
	const struct ss_trace *trace = work->trace;
	int32_t *cells = ss_rows_texts(work->out);

	for (uint32_t i = 0; cells && i < trace->track_count; i++) {
		const struct ss_track *track = &trace->tracks[i];
		uint32_t end = track->first_row + track->row_count;
		int32_t id;

		if (!track->row_count)
			continue;
		id = ss_rows_text(work->out, text_of(trace, track, work->out));
		for (uint32_t row = track->first_row; row < end; row++) {
			cells[row] = id;
			if (id == SS_TEXT_NULL)
				ss_rows_null(work->out, row);
		}
	}
}

static void events_fill_rows(struct events_filling *work)
{
	int64_t *cells = ss_rows_integers(work->out);

	for (uint32_t row = 0; cells && row < work->slices->count; row++)
		cells[row] = row;
}

static void events_fill_categories(struct events_filling *work)
{
	const struct ss_trace *trace = work->trace;
	int32_t *cells = ss_rows_texts(work->out), ids[SS_CATEGORIES_MAX];

	if (!cells)
		return;
	for (uint32_t i = 0; i < trace->category_count; i++)
		ids[i] = ss_rows_text(work->out, trace->categories[i].name);
	/* the category of events beyond the maximum number of categories */
	if (memchr(work->slices->category, SS_CATEGORIES_MAX - 1, work->slices->count))
		ids[SS_CATEGORIES_MAX - 1] =
			ss_rows_text(work->out, trace->categories[SS_CATEGORIES_MAX - 1].name);
	for (uint32_t row = 0; row < work->slices->count; row++) {
		cells[row] = ids[work->slices->category[row]];
		if (cells[row] == SS_TEXT_NULL)
			ss_rows_null(work->out, row);
	}
}

static void events_fill_names(struct events_filling *work)
{
	const uint32_t *names = work->slices->name;
	int32_t *cells = ss_rows_texts(work->out);

	for (uint32_t row = 0; cells && row < work->slices->count; row++) {
		int32_t *known = &work->names[names[row]];

		if (!*known)
			*known = 2 + ss_rows_text(work->out,
						  ss_strings_text(&work->trace->names, names[row]));
		cells[row] = *known - 2;
		if (cells[row] == SS_TEXT_NULL)
			ss_rows_null(work->out, row);
	}
}

static void events_fill_times(struct events_filling *work, const int64_t *times)
{
	int64_t *cells = ss_rows_integers(work->out);

	if (cells)
		memcpy(cells, times, work->slices->count * sizeof(*cells));
}

static void events_fill_steps(struct events_filling *work)
{
	const struct ss_trace *trace = work->trace;
	int64_t *cells = ss_rows_integers(work->out);

	for (uint32_t row = 0; cells && row < work->slices->count; row++) {
		bool is_launched = row >= trace->device_from && row < trace->device_to;
		uint32_t step = is_launched ? ss_step_of_launch(trace, row)
					    : ss_step_at(trace, work->slices->start_ns[row]);

		cells[row] = step;
		if (step == SS_NO_ROW)
			ss_rows_null(work->out, row);
	}
}

static void events_fill_depths(struct events_filling *work)
{
	int64_t *cells = ss_rows_integers(work->out);

	for (uint32_t row = 0; cells && row < work->slices->count; row++)
		cells[row] = work->slices->depth[row];
}

static void events_fill_ids(struct events_filling *work, const uint32_t *ids, uint32_t none)
{
	int64_t *cells = ss_rows_integers(work->out);

	for (uint32_t row = 0; cells && row < work->slices->count; row++) {
		cells[row] = ids[row];
		if (ids[row] == none)
			ss_rows_null(work->out, row);
	}
}

static void events_fill(struct events_filling *work)
{
	const struct ss_slices *slices = work->slices;

	ss_rows_begin(work->out, slices->count);
	events_fill_rows(work);
	events_fill_tracks(work, events_track_class);
	events_fill_tracks(work, ss_pid_text);
	events_fill_tracks(work, ss_tid_text);
	events_fill_categories(work);
	events_fill_names(work);
	events_fill_times(work, slices->start_ns);
	events_fill_times(work, slices->dur_ns);
	events_fill_steps(work);
	events_fill_depths(work);
	events_fill_ids(work, slices->parent, SS_NO_ROW);
	events_fill_ids(work, slices->link, SS_NO_ROW);
	events_fill_ids(work, slices->id, 0);
	ss_rows_end(work->out, slices->count);
}

static enum ss_status events_run(const struct ss_subject *subject, struct ss_table *out,
				 struct ss_error *err)
{
	const struct ss_trace *trace = subject->trace;
	struct events_filling work = { .trace = trace, .slices = &trace->slices, .out = out };
	SS_SCRATCH(scratch, out->arena->memory);

	if (!trace->slices.count)
		return SS_OK;
	if (!SS_ALLOC(&scratch, work.names, trace->names.count))
		return ss_fail_memory(err, "the names of events");
	memset(work.names, 0, trace->names.count * sizeof(*work.names));
	events_fill(&work);
	return SS_OK;
}

const struct ss_view ss_view_events = {
	.name = "events",
	.summary = "Every event as it was recorded: name, start, duration, launch",
	.empty = "No events with a duration were recorded.",
	SS_TABLE_COLUMNS(columns),
	.basis = SS_BASIS_EVENT,
	.events = 1,
	.run = events_run,
};
