/* SPDX-License-Identifier: Apache-2.0 */
/*
 * needed_copies.c - finds copies to the host behind which the host works before it launches again.
 */
#include "diagnose/evidence/needed_copies.h"

#include "analyze/work/host_link.h"

/* A copy of up to this size is a number: the largest type of one takes 8 bytes. */
#define NUMBER_BYTES 8

/*
 * Eager mode launches a kernel every 5 to 50 us; the profiler's recording of stacks makes that up
 * to five times as long. A longer pause does something else.
 */
#define BUSY_NS 250000

/* One thread reads host memory at 10 to 20 GB/s: in less time it has not seen all values. */
#define BYTES_PER_NS 20

/* Per host row: the bytes that its call copies to the host; 0: none, or a number. */
static int64_t *needed_bytes_to_host(const struct ss_rule_context *context, struct ss_arena *arena)
{
	const struct ss_trace *trace = context->trace;
	int64_t *bytes = SS_ARENA_NEW(arena, int64_t, (size_t)trace->device_from + 1);
	struct ss_host_link link;

	if (!bytes || !ss_host_link_init(&link, trace, context->digest->device, arena))
		return NULL;
	for (uint32_t row = trace->device_from; row < trace->device_to; row++) {
		struct ss_copy_kind kind = link.kinds[trace->slices.name[row]];
		uint32_t call = trace->slices.link[row];

		if (kind.memory != SS_COPY_NONE && kind.way == SS_COPY_OUT &&
		    call < trace->device_from && ss_copy_bytes(trace, row) > NUMBER_BYTES)
			bytes[call] = ss_copy_bytes(trace, row);
	}
	return bytes;
}

const uint8_t *ss_needed_copies_find(const struct ss_rule_context *context,
				     const struct ss_ops *ops, struct ss_arena *arena)
{
	const struct ss_graph *graph = context->graph;
	uint8_t *needed = SS_ARENA_NEW(arena, uint8_t, (size_t)context->trace->device_from + 1);
	int64_t *bytes = needed ? needed_bytes_to_host(context, arena) : NULL;
	int64_t pause_ns = 0; /* the longest of the thread until it gives work to the device */

	if (!bytes)
		return NULL;
	for (uint32_t i = graph->task_count; i-- > 0;) {
		const struct ss_task *task = &graph->tasks[i];
		bool is_copy = (task->kind == SS_TASK_CALL || task->kind == SS_TASK_LAUNCH) &&
			       task->row < context->trace->device_from && bytes[task->row];

		if (task[1].track != task->track || task[1].step != task->step ||
		    (task->kind == SS_TASK_LAUNCH && !is_copy))
			pause_ns = 0;
		if (task->kind == SS_TASK_WORK && task->own_ns > pause_ns)
			pause_ns = task->own_ns;
		if (!is_copy || pause_ns < BUSY_NS || pause_ns < bytes[task->row] / BYTES_PER_NS)
			continue;
		needed[task->row] = true;
		if (ops->owner[task->row] != SS_NO_ROW)
			needed[ops->owner[task->row]] = true;
	}
	return needed;
}
