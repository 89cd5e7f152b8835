/* SPDX-License-Identifier: Apache-2.0 */
/*
 * finish.c - turns unsorted rows into a trace: joins halves, names tracks, and
 * runs the passes of finish.h in their order.
 */
#include "trace/finish/finish.h"
#include "base/sort.h"
#include "trace/outward.h"

#include <string.h>

SS_COMPARATOR(mark_compare, struct ss_mark,
	      SS_ASCENDING(key) SS_ASCENDING(start_ns) SS_ASCENDING(order))

static enum ss_status slice_from_mark(struct ss_trace *trace, const struct ss_mark *mark,
				      int64_t end_ns, struct ss_error *err)
{
	struct ss_slices *slices = &trace->slices;
	uint32_t row = slices->count;

	trace->category_events[mark->category]++;
	if (end_ns - mark->start_ns > SS_SLICE_NS_MAX) {
		ss_quality_add(&trace->quality, SS_ODD_ABSURD_DURATION, 1);
		return SS_OK;
	}
	SS_TRY(ss_slices_reserve(trace, (size_t)row + 1, err));
	slices->start_ns[row] = mark->start_ns;
	slices->dur_ns[row] = end_ns > mark->start_ns ? end_ns - mark->start_ns : 0;
	slices->name[row] = mark->name;
	slices->track[row] = mark->track;
	slices->args[row] = SS_NO_ARGS;
	slices->id[row] = 0;
	slices->kind[row] = mark->kind;
	slices->category[row] = (uint8_t)mark->category; /* the builder has numbered it */
	slices->count++;
	return SS_OK;
}

/* Joins the halves of one key, innermost first. */
static enum ss_status join_marks_of_key(struct ss_trace *trace, struct ss_mark *marks,
					uint32_t count, int64_t last_ns, struct ss_error *err)
{
	uint32_t open = 0; /* marks[0 .. open) are the open begins, moved to the front */

	for (uint32_t i = 0; i < count; i++) {
		if (!marks[i].ends) {
			marks[open++] = marks[i];
		} else if (open) {
			SS_TRY(slice_from_mark(trace, &marks[--open], marks[i].start_ns, err));
		} else {
			ss_quality_add(&trace->quality, SS_ODD_END_WITHOUT_BEGIN, 1);
		}
	}
	for (; open; open--) {
		ss_quality_add(&trace->quality, SS_ODD_BEGIN_WITHOUT_END, 1);
		SS_TRY(slice_from_mark(trace, &marks[open - 1], last_ns, err));
	}
	return SS_OK;
}

/* Makes slices of begins and ends; a begin without an end lasts to the end of the trace. */
static enum ss_status join_marks(struct ss_builder *builder, struct ss_error *err)
{
	struct ss_trace *trace = builder->trace;
	int64_t last = INT64_MIN;
	uint32_t first = 0;

	if (!builder->marks_count)
		return SS_OK;
	for (uint32_t row = 0; row < trace->slices.count; row++)
		if (trace->slices.kind[row] != SS_KIND_INSTANT &&
		    ss_slice_end(&trace->slices, row) > last)
			last = ss_slice_end(&trace->slices, row);
	for (uint32_t i = 0; i < builder->marks_count; i++)
		if (builder->marks[i].start_ns > last)
			last = builder->marks[i].start_ns;
	SS_SORT(builder->marks, builder->marks_count, mark_compare);
	for (uint32_t i = 1; i <= builder->marks_count; i++) {
		if (i < builder->marks_count && builder->marks[i].key == builder->marks[first].key)
			continue;
		SS_TRY(join_marks_of_key(trace, builder->marks + first, i - first, last, err));
		first = i;
	}
	return SS_OK;
}

/* Writers name streams "stream 7": only streams have such names, and they have no others. */
static bool name_fits_track(const struct ss_track *track, const char *text)
{
	bool is_stream = strncmp(text, "stream", 6) == 0;
	bool is_device = track->class == SS_TRACK_DEVICE || track->class == SS_TRACK_SYNC ||
			 track->class == SS_TRACK_DEVICE_ANNOTATION;

	return is_stream == is_device;
}

static uint32_t meta_find_text(const struct ss_builder *builder, const struct ss_meta *wanted)
{
	uint32_t id = ss_records_find(&builder->metas, wanted);

	return id == SS_NO_ID ? 0 : builder->meta_texts[id];
}

/* Gives tracks the names that the file has for their processes and threads. */
static void tracks_set_names(struct ss_builder *builder)
{
	struct ss_trace *trace = builder->trace;

	for (uint32_t i = 0; i < trace->track_count; i++) {
		struct ss_track *track = &trace->tracks[i];
		struct ss_meta wanted = {
			track->pid, 0, track->pid_text, 0, SS_META_PROCESS_NAME, 0
		};
		uint32_t name;

		track->process = meta_find_text(builder, &wanted);
		wanted.what = SS_META_THREAD_NAME;
		wanted.tid = track->tid;
		wanted.tid_text = track->tid_text;
		name = meta_find_text(builder, &wanted);
		if (name_fits_track(track, ss_strings_text(&trace->texts, name)))
			track->name = name;
	}
}

/* Time that the profiler took for itself: the union of its rows. */
static void measure_overhead(struct ss_trace *trace)
{
	const struct ss_slices *slices = &trace->slices;
	struct ss_quality_row *row = &trace->quality.rows[SS_ODD_OVERHEAD];

	for (uint32_t i = 0; i < trace->track_count; i++) {
		const struct ss_track *track = &trace->tracks[i];
		int64_t covered = INT64_MIN;

		for (uint32_t k = 0; k < track->row_count; k++) {
			uint32_t at = track->first_row + k;
			int64_t start = slices->start_ns[at], end = ss_slice_end(slices, at);

			if (slices->kind[at] != SS_KIND_OVERHEAD)
				continue;
			row->count++;
			if (row->amount_ns < 0)
				row->amount_ns = 0;
			if (start < covered)
				start = covered;
			if (end > start)
				ss_ns_add(&row->amount_ns, end - start);
			if (end > covered)
				covered = end;
		}
	}
}

enum ss_status ss_finish(struct ss_builder *builder, uint32_t threads, struct ss_error *err)
{
	struct ss_trace *trace = builder->trace;

	SS_TRY(join_marks(builder, err));
	SS_TRY(ss_finish_graphs(builder, err));
	SS_TRY(ss_finish_sort(builder, threads, err));
	SS_TRY(ss_slices_finish(trace, err));
	ss_finish_nest(trace, threads);
	SS_TRY(ss_outward_init(trace, err));
	SS_TRY(ss_finish_links(builder, threads, err));
	SS_TRY(ss_finish_steps(trace, err));
	tracks_set_names(builder);
	measure_overhead(trace);
	ss_finish_suspects(trace);
	ss_quality_absent(trace);
	return SS_OK;
}
