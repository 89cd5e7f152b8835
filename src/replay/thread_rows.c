/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_rows.c - which rows of a thread have a meaning of their own, and when a thread does
 * nothing.
 */
#include <string.h>

#include "base/search.h"
#include "replay/build.h"
#include "trace/outward.h"

/* --- points ------------------------------------------------------------------------------ */

static enum ss_task_kind call_point_kind(uint32_t flags, bool launches)
{
	if (flags & SS_NAME_SYNC_CALL)
		return SS_TASK_CALL;
	if (flags & SS_NAME_MALLOC_CALL)
		return SS_TASK_ALLOCATOR;
	if (launches || (flags & (SS_NAME_LAUNCH | SS_NAME_GRAPH_LAUNCH | SS_NAME_COPY_CALL |
				  SS_NAME_STREAM_WAIT)))
		return SS_TASK_LAUNCH;
	return SS_NO_POINT;
}

/* Names of rows that can have a meaning of their own, beside calls. */
#define POINT_NAMES (SS_NAME_DATALOADER | SS_NAME_GC | SS_NAME_COMM_RANGE | SS_NAME_COMPILE)

static bool row_can_be_point(const struct ss_trace *trace, uint32_t row)
{
	return ss_kind_is_call(trace->slices.kind[row]) ||
	       (ss_slice_flags(trace, row) & POINT_NAMES);
}

static enum ss_task_kind row_point_kind(const struct ss_build *build, uint32_t row)
{
	const struct ss_trace *trace = build->trace;
	uint32_t flags = ss_slice_flags(trace, row);

	if (ss_kind_is_call(trace->slices.kind[row]))
		return call_point_kind(flags, build->calls[row] & SS_CALL_LAUNCHES);
	if (flags & SS_NAME_DATALOADER)
		return SS_TASK_INPUT;
	if (flags & SS_NAME_GC)
		return SS_TASK_GC;
	if ((flags & SS_NAME_COMM_RANGE) && !trace->comm_kernel_count)
		return SS_TASK_TRANSFER;
	/* a compiled region that runs is not compiling */
	if ((flags & SS_NAME_COMPILE) &&
	    strncmp(ss_strings_text(&trace->names, trace->slices.name[row]),
		    "Torch-Compiled Region", 21) != 0)
		return SS_TASK_COMPILE;
	return SS_NO_POINT;
}

bool ss_build_find_points(struct ss_points *out, struct ss_build *build)
{
	const struct ss_trace *trace = build->trace;
	struct ss_arena *scratch = &build->scratch;
	uint32_t points = 0, tops = 0, track = 0;

	for (uint32_t row = 0; row < trace->device_from; row++) {
		points += row_can_be_point(trace, row);
		tops += trace->slices.parent[row] == SS_NO_ROW;
	}
	if (!SS_ALLOC(scratch, out->items, (size_t)points + 1) ||
	    !SS_ALLOC(scratch, out->tops, (size_t)tops + 1) ||
	    !SS_ALLOC(scratch, out->from, (size_t)trace->track_count + 1) ||
	    !SS_ALLOC(scratch, out->top_from, (size_t)trace->track_count + 1))
		return false;
	for (uint32_t row = 0; row < trace->device_from; row++) {
		enum ss_task_kind kind = row_can_be_point(trace, row) ? row_point_kind(build, row)
								      : SS_NO_POINT;

		for (; track < trace->slices.track[row]; track++) {
			out->from[track + 1] = out->count;
			out->top_from[track + 1] = out->top_count;
		}
		if (kind != SS_NO_POINT)
			out->items[out->count++] = (struct ss_point){ row, kind };
		if (trace->slices.parent[row] == SS_NO_ROW)
			out->tops[out->top_count++] = row;
	}
	for (; track < trace->track_count; track++) {
		out->from[track + 1] = out->count;
		out->top_from[track + 1] = out->top_count;
	}
	return true;
}

/* --- silence ----------------------------------------------------------------------------- */

#define COPY_BACK "torch.distributed.ddp.reducer::copy_bucket_to_grad"
#define ACCUMULATE "AccumulateGrad"

uint32_t ss_build_next_row(const struct ss_trace *trace, uint32_t track, int64_t moment_ns)
{
	uint32_t low = trace->tracks[track].first_row, high = low + trace->tracks[track].row_count;

	SS_SEARCH(low, high, at, trace->slices.start_ns[at] <= moment_ns);
	return low;
}

int64_t ss_build_silent_since(const struct ss_trace *trace, uint32_t track, int64_t moment_ns)
{
	const struct ss_slices *slices = &trace->slices;
	uint32_t row = ss_build_next_row(trace, track, moment_ns - 1);
	int64_t last_ns = INT64_MIN;

	if (row == trace->tracks[track].first_row)
		return last_ns;
	row--;
	for (uint32_t tries = 0; row != SS_NO_ROW && tries < SS_OUTWARD_MAX;
	     row = slices->parent[row], tries++) {
		int64_t end_ns = ss_slice_end(slices, row);

		if (slices->start_ns[row] > last_ns)
			last_ns = slices->start_ns[row];
		if (end_ns < moment_ns && end_ns > last_ns)
			last_ns = end_ns;
	}
	return last_ns;
}

/* The function of autograd that a row is part of, or SS_NO_ROW. */
static uint32_t autograd_function_of(const struct ss_trace *trace, uint32_t row)
{
	return ss_outward_find(trace, row, SS_NAME_BACKWARD);
}

static bool row_name_contains(const struct ss_trace *trace, uint32_t row, const char *part)
{
	return strstr(ss_strings_text(&trace->names, trace->slices.name[row]), part) != NULL;
}

/* The operator that copies a bucket back of which a row is part, or SS_NO_ROW. */
static uint32_t copy_back_of(const struct ss_trace *trace, uint32_t row)
{
	for (uint32_t tries = 0; row != SS_NO_ROW && tries < SS_OUTWARD_MAX; tries++) {
		if (row_name_contains(trace, row, COPY_BACK))
			return row;
		row = trace->slices.parent[row];
	}
	return SS_NO_ROW;
}

/* Whether the row is over at the moment, and is part of one that copies a bucket back. */
static bool has_copied_back(const struct ss_trace *trace, uint32_t row, int64_t moment_ns)
{
	row = copy_back_of(trace, row);
	return row != SS_NO_ROW && ss_slice_end(&trace->slices, row) <= moment_ns;
}

bool ss_build_waits_for_reducer(const struct ss_trace *trace, uint32_t track, int64_t moment_ns)
{
	const struct ss_track *own = &trace->tracks[track];
	uint32_t next = ss_build_next_row(trace, track, moment_ns), function;

	if (next == own->first_row || next == own->first_row + own->row_count ||
	    autograd_function_of(trace, next) != SS_NO_ROW)
		return false;
	if (has_copied_back(trace, next - 1, moment_ns))
		return true;
	function = autograd_function_of(trace, next - 1);
	return function != SS_NO_ROW && row_name_contains(trace, function, ACCUMULATE) &&
	       ss_slice_end(&trace->slices, function) <= moment_ns;
}

/* Autograd, or DDP that copies a bucket back: backward is not over. */
static bool is_in_backward(const struct ss_trace *trace, uint32_t row)
{
	return autograd_function_of(trace, row) != SS_NO_ROW ||
	       copy_back_of(trace, row) != SS_NO_ROW;
}

bool ss_build_backward_resume(const struct ss_trace *trace, uint32_t track, int64_t from_ns,
			      int64_t to_ns, int64_t least_ns, int64_t *resume_ns)
{
	const struct ss_slices *slices = &trace->slices;
	uint32_t first = trace->tracks[track].first_row;
	uint32_t end = first + trace->tracks[track].row_count;
	bool found = false;

	for (uint32_t row = ss_build_next_row(trace, track, from_ns);
	     row < end && slices->start_ns[row] <= to_ns; row++) {
		int64_t start_ns = slices->start_ns[row], since_ns;

		if (row > first && start_ns - slices->start_ns[row - 1] >= least_ns) {
			since_ns = ss_build_silent_since(trace, track, start_ns);
			if (start_ns - (since_ns > from_ns ? since_ns : from_ns) >= least_ns &&
			    ss_build_waits_for_reducer(trace, track, start_ns - 1)) {
				*resume_ns = start_ns;
				found = true;
			}
		}
		/* between two buckets it waits for the next one, which may go on for long */
		if (found && !is_in_backward(trace, row))
			return true;
	}
	return false;
}
