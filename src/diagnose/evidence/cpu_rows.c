/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_rows.c - searches the rows of CPU threads, and what a thread was doing at each moment.
 */
#include "diagnose/evidence/cpu_rows.h"

#include "base/search.h"
#include "trace/outward.h"

/* A runtime call contains a driver call: calls do not nest deeper than this. */
#define CALLS_MAX 16

/* A function may exceed a stretch by a tenth of it: clocks, and the call around it. */
#define OUTSIDE 10

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

/* --- time of a thread ----------------------------------------------------------------- */

/* The innermost row that is open at the moment; `row` is the first that starts after it. */
static uint32_t thread_row_before(const struct ss_trace *trace, uint32_t track, uint32_t row,
				  int64_t moment_ns)
{
	/* rows of a thread are nested: open rows contain the last one that began */
	row = row > trace->tracks[track].first_row ? row - 1 : SS_NO_ROW;
	for (uint32_t tries = 0; tries < SS_OUTWARD_MAX; tries++) {
		if (row == SS_NO_ROW || ss_slice_end(&trace->slices, row) > moment_ns)
			return row;
		row = trace->slices.parent[row];
	}
	return SS_NO_ROW;
}

/*
 * The row behind all that start in `whole`, which is open around `open`, before a moment;
 * SS_NO_ROW: one of them outlasts it. `next` is the first that starts after `open`.
 */
static uint32_t whole_row_end(const struct ss_trace *trace, uint32_t whole, uint32_t open,
			      uint32_t next, int64_t limit_ns)
{
	const struct ss_slices *slices = &trace->slices;
	const struct ss_track *track = &trace->tracks[slices->track[whole]];
	uint32_t last = track->first_row + track->row_count;
	int64_t end_ns = ss_slice_end(slices, whole);

	for (; open != whole && open != SS_NO_ROW; open = slices->parent[open])
		if (ss_slice_end(slices, open) > end_ns)
			return SS_NO_ROW;
	limit_ns = limit_ns < end_ns ? limit_ns : end_ns;
	for (; next < last && slices->start_ns[next] < limit_ns; next++)
		if (ss_slice_end(slices, next) > end_ns)
			return SS_NO_ROW;
	return next;
}

void ss_cpu_visit_time(const struct ss_trace *trace, uint32_t track, struct ss_interval stretch,
		       const struct ss_cpu_visitor *visitor)
{
	const struct ss_slices *slices = &trace->slices;
	uint32_t end = trace->tracks[track].first_row + trace->tracks[track].row_count;
	uint32_t row = ss_cpu_row_after(trace, track, stretch.start_ns + 1);
	uint32_t open = thread_row_before(trace, track, row, stretch.start_ns);
	int64_t now_ns = stretch.start_ns;

	for (; now_ns < stretch.end_ns; row++) {
		uint32_t whole = visitor->whole && open != SS_NO_ROW
					 ? visitor->whole(visitor->context, open)
					 : SS_NO_ROW;
		uint32_t behind = whole == SS_NO_ROW
					  ? SS_NO_ROW
					  : whole_row_end(trace, whole, open, row, stretch.end_ns);
		bool is_last;
		int64_t until_ns;

		if (behind != SS_NO_ROW) {
			open = whole;
			row = behind;
		}
		is_last = row >= end || slices->start_ns[row] >= stretch.end_ns;
		until_ns = is_last ? stretch.end_ns : slices->start_ns[row];
		while (open != SS_NO_ROW && ss_slice_end(slices, open) <= until_ns) {
			int64_t end_ns = ss_slice_end(slices, open);

			if (end_ns > now_ns)
				visitor->add(visitor->context, open, now_ns, end_ns);
			now_ns = end_ns > now_ns ? end_ns : now_ns;
			open = slices->parent[open];
		}
		if (until_ns > now_ns)
			visitor->add(visitor->context, open, now_ns, until_ns);
		now_ns = until_ns;
		if (is_last)
			break;
		open = row;
	}
}

static bool row_fills_time(const struct ss_phases *phases, uint32_t row)
{
	const struct ss_trace *trace = phases->trace;
	enum ss_kind kind = trace->slices.kind[row];
	enum ss_phase phase = row < phases->row_count ? phases->phase[row] : SS_PHASE_OTHER;

	return (phase == SS_PHASE_OTHER || phase == SS_PHASE_INPUT) &&
	       (kind == SS_KIND_PYTHON || kind == SS_KIND_ANNOTATION) &&
	       !(ss_slice_flags(trace, row) & (SS_NAME_STEP | SS_NAME_STEP_LIKE));
}

uint32_t ss_cpu_function(const struct ss_phases *phases, uint32_t track, struct ss_interval stretch)
{
	const struct ss_trace *trace = phases->trace;
	const struct ss_slices *slices = &trace->slices;
	int64_t length_ns = stretch.end_ns - stretch.start_ns;
	int64_t middle_ns = stretch.start_ns + length_ns / 2;
	uint32_t row = ss_cpu_row_after(trace, track, middle_ns + 1), whole = SS_NO_ROW;

	row = thread_row_before(trace, track, row, middle_ns);
	for (; row != SS_NO_ROW; row = slices->parent[row]) {
		if (slices->start_ns[row] < stretch.start_ns - length_ns / OUTSIDE ||
		    ss_slice_end(slices, row) > stretch.end_ns + length_ns / OUTSIDE)
			break;
		if (row_fills_time(phases, row))
			whole = row;
	}
	return whole;
}

int64_t ss_cpu_claim_before(struct ss_rule_context *context, const uint8_t *calls,
			    ss_own_task is_own, const void *data)
{
	const struct ss_graph *graph = context->graph;
	uint32_t from = 0;
	int64_t sum_ns = 0;

	for (uint32_t i = 0; i < graph->task_count; i++) {
		const struct ss_task *task = &graph->tasks[i];

		if (ss_task_on_device(task->kind))
			break;
		if (i && task->track != graph->tasks[i - 1].track)
			from = i;
		if (task->kind != SS_TASK_LAUNCH)
			continue;
		for (; from <= i && calls[task->row]; from++) {
			const struct ss_task *own = &graph->tasks[from];

			if ((own->kind == SS_TASK_WORK || own->kind == SS_TASK_LAUNCH) &&
			    is_own(data, own) &&
			    ss_rule_claim(context, (struct ss_claim){ .task = from }))
				ss_ns_add(&sum_ns, own->own_ns);
		}
		from = i + 1;
	}
	return sum_ns;
}
