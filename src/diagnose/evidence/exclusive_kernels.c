/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exclusive_kernels.c - one pass over the kernels in order of their starts: kernels that started
 * earlier and have not ended run at the same time. Kernels of one stream follow each other, so only
 * other streams count.
 */
#include "diagnose/evidence/exclusive_kernels.h"

#include "base/runs.h"

/* What is sorted; everything else is in the task. */
struct exclusive_kernel {
	int64_t start_ns;
	int64_t device;
	uint32_t task;
};

static int kernel_compare_start(const void *a, const void *b)
{
	const struct exclusive_kernel *x = a, *y = b;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->task < y->task ? -1 : x->task > y->task;
}

/*
 * The kernel that ends last so far, and the one that ends last on any other stream: for every
 * kernel, one of the two is the latest kernel of another stream.
 */
struct latest_kernels {
	const struct ss_task *first, *second;
};

static void latest_kernels_advance(struct latest_kernels *latest, const struct ss_task *kernel)
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

static const struct ss_task *latest_kernel_of_other(const struct latest_kernels *latest,
						    uint32_t track)
{
	return latest->first && latest->first->track != track ? latest->first : latest->second;
}

static void exclusive_sweep(const struct ss_graph *graph, const struct exclusive_kernel *kernels,
			    uint32_t count, uint8_t *alone)
{
	struct latest_kernels latest = { 0 };

	for (uint32_t i = 0; i < count; i++) {
		const struct ss_task *task = &graph->tasks[kernels[i].task], *other;

		if (i && kernels[i - 1].device != kernels[i].device)
			latest = (struct latest_kernels){ 0 };
		other = latest_kernel_of_other(&latest, task->track);
		if (other && ss_task_end(other) > task->start_ns)
			alone[other - graph->tasks] = alone[kernels[i].task] = false;
		latest_kernels_advance(&latest, task);
	}
}

/* Collects the kernels of the graph, each marked as alone; returns how many. */
static uint32_t exclusive_collect_kernels(const struct ss_graph *graph,
					  const struct ss_trace *trace,
					  struct exclusive_kernel *kernels, uint8_t *alone)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < graph->task_count; i++) {
		const struct ss_task *task = &graph->tasks[i];

		if (task->kind != SS_TASK_KERNEL)
			continue;
		alone[i] = true;
		kernels[count++] = (struct exclusive_kernel){ task->start_ns,
							      trace->tracks[task->track].pid, i };
	}
	return count;
}

uint8_t *ss_exclusive_kernels_find(const struct ss_graph *graph, const struct ss_trace *trace,
				   struct ss_arena *arena)
{
	uint8_t *alone = SS_ARENA_NEW(arena, uint8_t, (size_t)graph->task_count + 1);
	struct exclusive_kernel *kernels;
	size_t bytes = sizeof(*kernels);
	uint32_t count;
	bool whole;

	for (uint32_t i = 0; i < graph->task_count; i++)
		bytes += graph->tasks[i].kind == SS_TASK_KERNEL ? sizeof(*kernels) : 0;
	kernels = ss_memory_resize(arena->memory, NULL, 0, bytes);
	whole = alone && kernels;
	if (whole) {
		count = exclusive_collect_kernels(graph, trace, kernels, alone);
		whole = ss_sort_runs(kernels, count, sizeof(*kernels), kernel_compare_start,
				     arena->memory);
	}
	if (whole)
		exclusive_sweep(graph, kernels, count, alone);
	ss_memory_free(arena->memory, kernels, bytes);
	return whole ? alone : NULL;
}
