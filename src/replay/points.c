/* SPDX-License-Identifier: Apache-2.0 */
/*
 * points.c - two passes over the rows of all threads: how many there are, and which.
 */
#include "replay/points.h"

#include <string.h>

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

bool ss_points_find(struct ss_points *out, struct ss_build *build)
{
	const struct ss_trace *trace = build->trace;
	struct ss_arena *scratch = &build->scratch;
	uint32_t points = 0, tops = 0, track = 0;

	for (uint32_t row = 0; row < trace->device_from; row++) {
		points += row_point_kind(build, row) != SS_NO_POINT;
		tops += trace->slices.parent[row] == SS_NO_ROW;
	}
	out->items = SS_ARENA_NEW(scratch, struct ss_point, (size_t)points + 1);
	out->tops = SS_ARENA_NEW(scratch, uint32_t, (size_t)tops + 1);
	out->from = SS_ARENA_NEW(scratch, uint32_t, (size_t)trace->track_count + 1);
	out->top_from = SS_ARENA_NEW(scratch, uint32_t, (size_t)trace->track_count + 1);
	if (!out->items || !out->tops || !out->from || !out->top_from)
		return false;
	for (uint32_t row = 0; row < trace->device_from; row++) {
		enum ss_task_kind kind = row_point_kind(build, row);

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
