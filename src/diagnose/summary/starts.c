/* SPDX-License-Identifier: Apache-2.0 */
/*
 * starts.c - visits the tasks of a graph, each after all that it waits for.
 */
#include "diagnose/summary/starts.h"

#include <string.h>

/* Starts and lags in a file are smaller than this, so sums of a few do not overflow. */
#define START_MAX_NS (INT64_C(1) << 60)

enum task_walk_state { STATE_NEW, STATE_OPEN, STATE_DONE };

struct task_walk {
	const struct ss_graph *graph;
	struct ss_memory *memory;
	uint8_t *states;
	uint32_t *next;  /* per open task: the current edge */
	uint32_t *stack; /* open tasks, each of which waits for the next one */
	uint32_t depth;
};

static void *task_walk_alloc(struct task_walk *walk, size_t item_bytes)
{
	return ss_memory_zeroed(walk->memory, ((size_t)walk->graph->task_count + 1) * item_bytes);
}

static void task_walk_end(struct task_walk *walk)
{
	size_t count = (size_t)walk->graph->task_count + 1;

	SS_FREE(walk->memory, walk->states, count);
	SS_FREE(walk->memory, walk->next, count);
	SS_FREE(walk->memory, walk->stack, count);
}

static bool task_walk_begin(struct task_walk *walk, const struct ss_graph *graph,
			    struct ss_memory *memory)
{
	*walk = (struct task_walk){ .graph = graph, .memory = memory };
	walk->states = task_walk_alloc(walk, sizeof(*walk->states));
	walk->next = task_walk_alloc(walk, sizeof(*walk->next));
	walk->stack = task_walk_alloc(walk, sizeof(*walk->stack));
	if (walk->states && walk->next && walk->stack)
		return true;
	task_walk_end(walk);
	return false;
}

static void task_walk_open(struct task_walk *walk, uint32_t task)
{
	walk->states[task] = STATE_OPEN;
	walk->next[task] = walk->graph->tasks[task].edges;
	walk->stack[walk->depth++] = task;
}

/* The next task whose edges all come from tasks that are done, or close a cycle. */
static uint32_t task_walk_next_ready(struct task_walk *walk)
{
	for (;;) {
		uint32_t task = walk->stack[walk->depth - 1];
		uint32_t end = walk->graph->tasks[task + 1].edges, at = walk->next[task];

		while (at < end && walk->states[walk->graph->edges[at].from] != STATE_NEW)
			at++;
		walk->next[task] = at;
		if (at == end) {
			walk->depth--;
			return task;
		}
		task_walk_open(walk, walk->graph->edges[at].from);
	}
}

/* The earliest start that its edges allow; 0: it has none. */
static int64_t task_walk_bound_ns(const struct task_walk *walk, uint32_t task)
{
	const struct ss_task *tasks = walk->graph->tasks;
	int64_t bound_ns = INT64_MIN;

	for (uint32_t i = tasks[task].edges; i < tasks[task + 1].edges; i++) {
		struct ss_edge edge = ss_replay_edge_of(walk->graph, &walk->graph->edges[i]);
		const struct ss_task *from = &tasks[edge.from];
		int64_t at_ns;

		if (walk->states[edge.from] != STATE_DONE)
			continue;
		at_ns = (edge.from_start ? from->start_ns : ss_task_end(from)) + edge.lag_ns;
		if (at_ns > bound_ns)
			bound_ns = at_ns;
	}
	return bound_ns == INT64_MIN ? 0 : bound_ns;
}

bool ss_starts_reduce(struct ss_graph *graph)
{
	size_t bytes = ((size_t)graph->task_count + 1) * sizeof(int64_t);
	int64_t *behind_ns = ss_memory_resize(graph->memory, NULL, 0, bytes);
	struct task_walk walk;

	if (!behind_ns || !task_walk_begin(&walk, graph, graph->memory)) {
		ss_memory_free(graph->memory, behind_ns, bytes);
		return false;
	}
	for (uint32_t i = 0; i < graph->task_count; i++) {
		if (walk.states[i] == STATE_NEW)
			task_walk_open(&walk, i);
		while (walk.depth) {
			uint32_t task = task_walk_next_ready(&walk);

			behind_ns[task] = graph->tasks[task].start_ns -
					  task_walk_bound_ns(&walk, task);
			walk.states[task] = STATE_DONE;
		}
	}
	task_walk_end(&walk);
	for (uint32_t i = 0; i < graph->task_count; i++)
		graph->tasks[i].start_ns = behind_ns[i];
	ss_memory_free(graph->memory, behind_ns, bytes);
	return true;
}

enum ss_status ss_starts_restore(struct ss_graph *graph, struct ss_error *err)
{
	enum ss_status status = SS_OK;
	struct task_walk walk;

	if (!task_walk_begin(&walk, graph, graph->memory))
		return ss_fail_memory(err, "a digest");
	for (uint32_t i = 0; i < graph->task_count && status == SS_OK; i++) {
		if (walk.states[i] == STATE_NEW)
			task_walk_open(&walk, i);
		while (walk.depth && status == SS_OK) {
			uint32_t task = task_walk_next_ready(&walk);
			int64_t *start_ns = &graph->tasks[task].start_ns;

			*start_ns += task_walk_bound_ns(&walk, task);
			walk.states[task] = STATE_DONE;
			if (*start_ns > START_MAX_NS || *start_ns < -START_MAX_NS)
				status = ss_fail(err, SS_ERR_FORMAT, "'start_ns' is wrong");
		}
	}
	task_walk_end(&walk);
	return status;
}
