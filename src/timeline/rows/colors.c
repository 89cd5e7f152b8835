/* SPDX-License-Identifier: Apache-2.0 */
/*
 * colors.c - the colour of a row, from its kind and the flags of its name.
 */
#include <string.h>

#include "timeline/rows/colors.h"

#define OPTIMIZER_FLAGS (SS_NAME_OPTIMIZER_STEP | SS_NAME_ZERO_GRAD)

static const char *const color_names[] = {
	[SS_COLOR_COMPUTE] = "compute",     [SS_COLOR_COMMUNICATION] = "communication",
	[SS_COLOR_COPY] = "copy",           [SS_COLOR_OPERATOR] = "host operator",
	[SS_COLOR_CALL] = "runtime call",   [SS_COLOR_PYTHON] = "python",
	[SS_COLOR_INPUT] = "input",         [SS_COLOR_OPTIMIZER] = "optimizer",
	[SS_COLOR_RANGE] = "program range", [SS_COLOR_IDLE] = "idle",
	[SS_COLOR_OTHER] = "other",
};

const char *ss_color_name(enum ss_color color)
{
	assert(color < SS_COLOR_COUNT);
	return color_names[color];
}

static const uint8_t color_by_kind[SS_KIND_COUNT] = {
	[SS_KIND_OTHER] = SS_COLOR_OTHER,
	[SS_KIND_OP] = SS_COLOR_OPERATOR,
	[SS_KIND_ANNOTATION] = SS_COLOR_RANGE,
	[SS_KIND_PYTHON] = SS_COLOR_PYTHON,
	[SS_KIND_RUNTIME] = SS_COLOR_CALL,
	[SS_KIND_DRIVER] = SS_COLOR_CALL,
	[SS_KIND_KERNEL] = SS_COLOR_COMPUTE,
	[SS_KIND_COMM_KERNEL] = SS_COLOR_COMMUNICATION,
	[SS_KIND_MEMCPY] = SS_COLOR_COPY,
	[SS_KIND_MEMSET] = SS_COLOR_COPY,
	[SS_KIND_DEVICE_ANNOTATION] = SS_COLOR_RANGE,
	[SS_KIND_SYNC] = SS_COLOR_OTHER,
	[SS_KIND_OVERHEAD] = SS_COLOR_OTHER,
	[SS_KIND_SPAN] = SS_COLOR_OTHER,
	[SS_KIND_COUNTER_RANGE] = SS_COLOR_OTHER,
	[SS_KIND_INSTANT] = SS_COLOR_OTHER,
	[SS_KIND_ASYNC] = SS_COLOR_OTHER,
};

static const uint8_t color_by_cause[SS_IDLE_CAUSES] = {
	[SS_IDLE_PROFILER] = SS_COLOR_OTHER,
	[SS_IDLE_INPUT] = SS_COLOR_INPUT,
	[SS_IDLE_ALLOCATOR] = SS_COLOR_CALL,
	[SS_IDLE_COMPILE] = SS_COLOR_PYTHON,
	[SS_IDLE_GC] = SS_COLOR_PYTHON,
	[SS_IDLE_SYNC] = SS_COLOR_IDLE,
	[SS_IDLE_LAUNCH] = SS_COLOR_OPERATOR,
	[SS_IDLE_LATENCY] = SS_COLOR_CALL,
	[SS_IDLE_DEPENDENCY] = SS_COLOR_COMMUNICATION,
	[SS_IDLE_UNKNOWN] = SS_COLOR_OTHER,
};

enum ss_color ss_color_of_cause(enum ss_idle_cause cause)
{
	return (enum ss_color)color_by_cause[cause];
}

static bool row_is_optimizer(const struct ss_trace *trace, uint32_t row)
{
	enum ss_kind kind = trace->slices.kind[row];

	return (kind == SS_KIND_OP || kind == SS_KIND_ANNOTATION) &&
	       (ss_slice_flags(trace, row) & OPTIMIZER_FLAGS);
}

/* The colour of a row by itself, without its parents. */
static enum ss_color row_own_color(const struct ss_trace *trace, uint32_t row)
{
	enum ss_kind kind = trace->slices.kind[row];
	uint32_t flags;

	/* old files have ranges as operators; the device's copy of a range is one, too */
	if (kind != SS_KIND_OP && kind != SS_KIND_ANNOTATION && kind != SS_KIND_DEVICE_ANNOTATION)
		return color_by_kind[kind];
	flags = ss_slice_flags(trace, row);
	if (flags & SS_NAME_DATALOADER)
		return SS_COLOR_INPUT;
	if (flags & OPTIMIZER_FLAGS)
		return SS_COLOR_OPTIMIZER;
	/* nccl:all_reduce on a thread; of gloo it is all that there is of the collective */
	return flags & SS_NAME_COMM_RANGE ? SS_COLOR_COMMUNICATION : color_by_kind[kind];
}

enum ss_color ss_color_of(const struct ss_trace *trace, uint32_t row)
{
	enum ss_color color = row_own_color(trace, row);

	if (color != SS_COLOR_OPERATOR)
		return color;
	while (row != SS_NO_ROW && !row_is_optimizer(trace, row))
		row = trace->slices.parent[row];
	return row == SS_NO_ROW ? color : SS_COLOR_OPTIMIZER;
}

/* Parents stand before their children, so one pass hands the bit down. */
static void colors_mark_optimizer(const struct ss_trace *trace, uint32_t row_count, uint8_t *bits)
{
	const uint32_t *parents = trace->slices.parent;

	for (uint32_t row = 0; row < row_count; row++) {
		uint32_t parent = parents[row];

		if ((parent != SS_NO_ROW && (bits[parent / 8] >> parent % 8 & 1)) ||
		    row_is_optimizer(trace, row))
			bits[row / 8] |= (uint8_t)(1 << row % 8);
	}
}

enum ss_status ss_colors_init(struct ss_colors *colors, const struct ss_trace *trace,
			      struct ss_memory *memory, struct ss_error *err)
{
	size_t bytes = (size_t)trace->device_from / 8 + 1;
	bool has = false;

	*colors = (struct ss_colors){ .trace = trace, .memory = memory };
	for (uint32_t i = 0; i < trace->names.count && !has; i++)
		has = trace->name_flags[i] & OPTIMIZER_FLAGS;
	if (!has)
		return SS_OK;
	colors->in_optimizer = ss_memory_zeroed(memory, bytes);
	if (!colors->in_optimizer)
		return ss_fail_memory(err, "the colours");
	colors->row_count = trace->device_from;
	colors_mark_optimizer(trace, colors->row_count, colors->in_optimizer);
	return SS_OK;
}

void ss_colors_release(struct ss_colors *colors)
{
	if (colors->memory)
		ss_memory_free(colors->memory, colors->in_optimizer,
			       (size_t)colors->row_count / 8 + 1);
	*colors = (struct ss_colors){ 0 };
}

enum ss_color ss_colors_at(const struct ss_colors *colors, uint32_t row)
{
	enum ss_color color = row_own_color(colors->trace, row);

	if (color == SS_COLOR_OPERATOR && row < colors->row_count &&
	    (colors->in_optimizer[row / 8] >> row % 8 & 1))
		return SS_COLOR_OPTIMIZER;
	return color;
}
