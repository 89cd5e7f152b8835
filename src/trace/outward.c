/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outward.c - jumps over rows that are inside each other.
 *
 * Jumps form a skew-binary list: the jump of a row skips as many rows as its parent's two jumps
 * together if these are equally long, else it leads to the parent. So the way to any ancestor takes
 * a logarithmic number of steps.
 */
#include "trace/outward.h"

/* Threads with less depth are walked row by row. */
#define DEPTH_MIN 256

static const uint32_t kind_marks[SS_KIND_COUNT] = {
	[SS_KIND_OP] = SS_ROW_OP,
	[SS_KIND_RUNTIME] = SS_ROW_CALL,
	[SS_KIND_DRIVER] = SS_ROW_CALL,
	[SS_KIND_PYTHON] = SS_ROW_PYTHON,
};

static uint32_t row_marks(const struct ss_trace *trace, uint32_t row)
{
	return ss_slice_flags(trace, row) | kind_marks[trace->slices.kind[row]];
}

static bool thread_is_deep(const struct ss_trace *trace)
{
	for (uint32_t i = 0; i < trace->track_count; i++)
		if (trace->tracks[i].depth_max >= DEPTH_MIN)
			return true;
	return false;
}

/* Marks are those of the row itself before; what is jumped over is added to them. */
static void add_jump(struct ss_trace *trace, uint32_t row, uint32_t *depths)
{
	uint32_t parent = trace->slices.parent[row], *jumps = trace->outward.jumps, to, behind;

	depths[row] = 1;
	jumps[row] = parent;
	if (parent == SS_NO_ROW)
		return;
	depths[row] = depths[parent] + 1;
	to = jumps[parent];
	if (to == SS_NO_ROW)
		return;
	behind = jumps[to] == SS_NO_ROW ? 0 : depths[jumps[to]];
	if (depths[parent] - depths[to] != depths[to] - behind)
		return;
	jumps[row] = jumps[to];
	trace->outward.marks[row] |= trace->outward.marks[parent] | trace->outward.marks[to];
}

enum ss_status ss_outward_init(struct ss_trace *trace, struct ss_error *err)
{
	const uint32_t count = trace->slices.count;
	struct ss_arena scratch;
	uint32_t *depths;

	trace->outward = (struct ss_jumps){ 0 };
	if (!thread_is_deep(trace))
		return SS_OK;
	ss_arena_init(&scratch, trace->memory);
	if (!SS_ALLOC(&scratch, depths, (size_t)count + 1) ||
	    !SS_ALLOC(&trace->arena, trace->outward.jumps, (size_t)count + 1) ||
	    !SS_ALLOC(&trace->arena, trace->outward.marks, (size_t)count + 1)) {
		ss_arena_release(&scratch);
		trace->outward = (struct ss_jumps){ 0 };
		return ss_fail_memory(err, "the nesting of the events");
	}
	for (uint32_t i = 0; i < trace->comm_count; i++)
		trace->outward.marks[trace->comms[i].row] = SS_ROW_COMM;
	for (uint32_t row = 0; row < count; row++) {
		trace->outward.marks[row] |= row_marks(trace, row);
		add_jump(trace, row, depths);
	}
	ss_arena_release(&scratch);
	return SS_OK;
}

static bool row_has_marks(const struct ss_trace *trace, uint32_t row, uint32_t marks)
{
	return (row_marks(trace, row) & marks) ||
	       ((marks & SS_ROW_COMM) && ss_trace_comm(trace, row));
}

uint32_t ss_outward_find(const struct ss_trace *trace, uint32_t row, uint32_t marks)
{
	const struct ss_jumps *outward = &trace->outward;

	while (row != SS_NO_ROW && !row_has_marks(trace, row, marks))
		row = outward->jumps && !(outward->marks[row] & marks) ? outward->jumps[row]
								       : trace->slices.parent[row];
	return row;
}
