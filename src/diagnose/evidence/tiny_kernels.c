/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tiny_kernels.c - runs of elementwise kernels that are shorter than their launches.
 */
#include "diagnose/evidence/tiny_kernels.h"

#include "diagnose/evidence/host_rows.h"

/* A kernel that takes less than its launch (5 us at best) cannot keep the device busy. */
#define TINY_NS 5000

/* A run of this length is a formula of several operators, which compiling fuses into one. */
#define ROW_MIN 4

static bool kernel_is_tiny(const struct ss_look *context, const struct ss_kernel_name *names,
			   uint32_t index)
{
	const struct ss_task *task = &context->graph->tasks[index];
	const struct ss_slices *slices = &context->trace->slices;

	return task->kind == SS_TASK_KERNEL && task->step != SS_NO_STEP && task->own_ns < TINY_NS &&
	       names[slices->name[task->row]].category == SS_KERNEL_ELEMENTWISE &&
	       slices->link[task->row] < context->trace->device_from &&
	       ss_look_is_free(context, index);
}

/* Claims all but the first kernel of a run. */
static void tiny_kernels_merge(struct ss_tiny_kernels *rows, struct ss_look *context, uint32_t from,
			       uint32_t to)
{
	if (to - from < ROW_MIN)
		return;
	for (uint32_t i = from + 1; i < to; i++) {
		const struct ss_task *task = &context->graph->tasks[i];
		uint32_t call = context->trace->slices.link[task->row];

		/* CUDA graphs alone fuse nothing */
		ss_look_claim(context, (struct ss_claim){
					       .task = i, .low_ns = task->own_ns, .merges = true });
		rows->is_merged[ss_cpu_outer_call(context->trace, call)] = true;
		rows->count++;
		rows->ns = ss_ns_sum(rows->ns, task->own_ns);
	}
}

enum ss_status ss_tiny_kernels_claim(struct ss_tiny_kernels *rows, struct ss_look *context,
				     struct ss_arena *scratch, struct ss_error *err)
{
	const struct ss_kernel_name *names;
	const struct ss_graph *graph = context->graph;
	uint32_t from = 0;

	*rows = (struct ss_tiny_kernels){ 0 };
	SS_TRY(ss_facts_kernel_names(context->subject->facts, &names, err));
	rows->is_merged = SS_ARENA_NEW(scratch, uint8_t, (size_t)context->trace->device_from + 1);
	if (!rows->is_merged)
		return ss_fail_memory(err, "rows of small kernels");
	for (uint32_t i = 0; i < graph->task_count; i++) {
		bool tiny = kernel_is_tiny(context, names, i);

		if (!tiny || (i && (graph->tasks[i - 1].track != graph->tasks[i].track ||
				    graph->tasks[i - 1].step != graph->tasks[i].step))) {
			tiny_kernels_merge(rows, context, from, i);
			from = tiny ? i : i + 1;
		}
	}
	tiny_kernels_merge(rows, context, from, graph->task_count);
	return SS_OK;
}
