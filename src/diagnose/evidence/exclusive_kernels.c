/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exclusive_kernels.c - one pass over the kernels by start: those that started earlier and have
 * not ended run at the same time. Kernels of one stream follow each other, so only other streams
 * count.
 */
#include "diagnose/evidence/exclusive_kernels.h"

#include "base/sort.h"

/* What is sorted; the rest is in the task. */
struct kernel {
	int64_t start_ns;
	int64_t device;
	uint32_t task;
};

static int by_start(const void *a, const void *b)
{
	const struct kernel *x = a, *y = b;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->task < y->task ? -1 : x->task > y->task;
}

/*
 * The kernel that ends last of those so far, and the one that ends last of other streams than
 * its: one of both is the last of another stream than that of any kernel.
 */
struct latest {
	const struct ss_task *first, *second;
};

static void advance(struct latest *latest, const struct ss_task *kernel)
{
	int64_t end_ns = ss_task_end(kernel);

	if (!latest->first || end_ns >= ss_task_end(latest->first)) {
		if (latest->first && latest->first->track != kernel->track)
			latest->second = latest->first;
		latest->first = kernel;
	} else if (kernel->track != latest->first->track &&
		   (!latest->second || end_ns > ss_task_end(latest->second))) {
		latest->second = kernel;
	}
}

static const struct ss_task *other_stream(const struct latest *latest, uint32_t track)
{
	return latest->first && latest->first->track != track ? latest->first : latest->second;
}

static void sweep(const struct ss_graph *graph, const struct kernel *kernels, uint32_t count,
		  uint8_t *alone)
{
	struct latest latest = { 0 };

	for (uint32_t i = 0; i < count; i++) {
		const struct ss_task *task = &graph->tasks[kernels[i].task], *other;

		if (i && kernels[i - 1].device != kernels[i].device)
			latest = (struct latest){ 0 };
		other = other_stream(&latest, task->track);
		if (other && ss_task_end(other) > task->start_ns)
			alone[other - graph->tasks] = alone[kernels[i].task] = false;
		advance(&latest, task);
	}
}

/* The kernels of the graph, each marked as alone; returns how many. */
static uint32_t collect(const struct ss_graph *graph, const struct ss_trace *trace,
			struct kernel *kernels, uint8_t *alone)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < graph->task_count; i++) {
		const struct ss_task *task = &graph->tasks[i];

		if (task->kind != SS_TASK_KERNEL)
			continue;
		alone[i] = true;
		kernels[count++] = (struct kernel){ task->start_ns, trace->tracks[task->track].pid,
						    i };
	}
	return count;
}

uint8_t *ss_exclusive_kernels(const struct ss_graph *graph, const struct ss_trace *trace,
			      struct ss_arena *arena)
{
	uint8_t *alone = SS_ARENA_NEW(arena, uint8_t, (size_t)graph->task_count + 1);
	struct kernel *kernels;
	size_t bytes = sizeof(*kernels);
	uint32_t count;
	bool whole;

	for (uint32_t i = 0; i < graph->task_count; i++)
		bytes += graph->tasks[i].kind == SS_TASK_KERNEL ? sizeof(*kernels) : 0;
	kernels = ss_memory_resize(arena->memory, NULL, 0, bytes);
	whole = alone && kernels;
	if (whole) {
		count = collect(graph, trace, kernels, alone);
		whole = ss_sort_runs(kernels, count, sizeof(*kernels), by_start, arena->memory);
	}
	if (whole)
		sweep(graph, kernels, count, alone);
	ss_memory_free(arena->memory, kernels, bytes);
	return whole ? alone : NULL;
}
