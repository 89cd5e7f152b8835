/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph.c - puts tasks and edges together, and finds the delays that no edge explains.
 */
#include "replay/graph.h"

#include <string.h>

#include "analyze/time/idle.h"
#include "base/search.h"
#include "replay/build.h"

#define SPAN_MAX_NS (INT64_C(1) << 60)

static const char *const task_names[] = {
	[SS_TASK_WORK] = "host",       [SS_TASK_LAUNCH] = "launch",
	[SS_TASK_CALL] = "call",       [SS_TASK_WAIT] = "sync",
	[SS_TASK_INPUT] = "input",     [SS_TASK_ALLOCATOR] = "allocator",
	[SS_TASK_COMPILE] = "compile", [SS_TASK_GC] = "garbage collection",
	[SS_TASK_JOIN] = "thread",     [SS_TASK_KERNEL] = "compute",
	[SS_TASK_COPY] = "copy",       [SS_TASK_MEMSET] = "memset",
	[SS_TASK_ARRIVE] = "arrival",  [SS_TASK_TRANSFER] = "communication",
};

const char *ss_task_name(enum ss_task_kind kind)
{
	return task_names[kind];
}

void ss_replay_graph_release(struct ss_graph *graph)
{
	if (!graph->memory)
		return;
	SS_FREE(graph->memory, graph->tasks, graph->task_capacity);
	SS_FREE(graph->memory, graph->edges, graph->edge_capacity);
	SS_FREE(graph->memory, graph->lags, graph->lag_capacity);
	SS_FREE(graph->memory, graph->delays, graph->delay_capacity);
	ss_memory_free(graph->memory, graph->names_of,
		       (size_t)graph->name_room * graph->name_bytes);
	ss_strings_release(&graph->names);
	SS_FREE(graph->memory, graph->comms, graph->comm_capacity);
	SS_FREE(graph->memory, graph->steps, graph->step_count);
	*graph = (struct ss_graph){ 0 };
}

/* Most names occur in many slices: each is added once. */
static uint32_t graph_name_of_row(struct ss_build *build, uint32_t row)
{
	uint32_t name = build->trace->slices.name[row];

	if (!build->names[name]) {
		const struct ss_string *text = &build->trace->names.items[name];
		uint32_t id = ss_strings_add(&build->graph->names, text->text, text->length);

		if (id == SS_NO_ID) {
			build->failed = true;
			return 0;
		}
		build->names[name] = id + 1;
	}
	return build->names[name] - 1;
}

static bool graph_widen_names(struct ss_graph *graph, uint32_t count)
{
	uint32_t *wide;

	if (!SS_MEMORY_NEW(graph->memory, wide, (size_t)graph->name_room + 1))
		return false;
	for (uint32_t i = 0; i < count; i++)
		wide[i] = graph->names_of[i];
	SS_FREE(graph->memory, graph->names_of, graph->name_room);
	graph->names_of = (uint8_t *)wide;
	graph->name_room++;
	graph->name_bytes = sizeof(*wide);
	return true;
}

bool ss_replay_graph_name_task(struct ss_graph *graph, uint32_t task, uint32_t name)
{
	if (!graph->name_bytes)
		graph->name_bytes = 1;
	if (name > UINT8_MAX && graph->name_bytes == 1 && !graph_widen_names(graph, task))
		return false;
	if (!ss_memory_reserve(graph->memory, (void **)&graph->names_of, &graph->name_room,
			       (size_t)task + 1, graph->name_bytes))
		return false;
	if (graph->name_bytes == 1)
		graph->names_of[task] = (uint8_t)name;
	else
		memcpy(&graph->names_of[(size_t)task * sizeof(name)], &name, sizeof(name));
	return true;
}

bool ss_replay_edge_shorten(struct ss_graph *graph, const struct ss_edge *edge,
			    struct ss_short_edge *out)
{
	bool is_long = edge->lag_ns >= SS_SHORT_LAG || edge->lag_ns < -(int64_t)SS_SHORT_LAG;
	uint32_t lag = is_long ? graph->lag_count : (uint32_t)(edge->lag_ns + SS_SHORT_LAG);

	if (is_long) {
		if (lag >= 2 * SS_SHORT_LAG ||
		    !SS_GROW(graph->memory, graph->lags, graph->lag_capacity, graph->lag_count))
			return false;
		graph->lags[graph->lag_count++] = edge->lag_ns;
	}
	*out = (struct ss_short_edge){ .from = edge->from,
				       .kind = (uint32_t)edge->kind & 0xf,
				       .from_start = edge->from_start,
				       .is_long = is_long,
				       .lag = lag & (2 * SS_SHORT_LAG - 1) };
	return true;
}

uint32_t ss_build_task(struct ss_build *build, struct ss_task task)
{
	struct ss_graph *graph = build->graph;
	struct ss_task_range *range = &graph->of_kind[task.kind];
	uint32_t name = task.row != SS_NO_ROW ? graph_name_of_row(build, task.row) : 0;

	/* one more: where the edges of the last one end */
	if ((size_t)graph->task_count + 1 >= graph->task_capacity &&
	    !SS_RESERVE(graph->memory, graph->tasks, graph->task_capacity,
			(size_t)graph->task_count + 2)) {
		build->failed = true;
		return SS_NO_TASK;
	}
	build->failed |= !ss_replay_graph_name_task(graph, graph->task_count, name);
	if (!range->to)
		range->from = graph->task_count;
	graph->tasks[graph->task_count++] = task;
	range->to = graph->task_count;
	return range->to - 1;
}

void ss_build_edge(struct ss_build *build, uint32_t to, struct ss_edge edge)
{
	if (to == SS_NO_TASK || edge.from == SS_NO_TASK || build->failed)
		return;
	if (build->edge_count == build->edge_capacity &&
	    !SS_GROW(build->graph->memory, build->edges, build->edge_capacity, build->edge_count)) {
		build->failed = true;
		return;
	}
	build->edges[build->edge_count].to = to;
	build->failed |= !ss_replay_edge_shorten(build->graph, &edge,
						 &build->edges[build->edge_count++].edge);
}

void ss_build_comm(struct ss_build *build, uint32_t row, uint32_t task)
{
	struct ss_graph *graph = build->graph;

	if (task == SS_NO_TASK ||
	    !SS_GROW(graph->memory, graph->comms, graph->comm_capacity, graph->comm_count)) {
		build->failed = true;
		return;
	}
	graph->comms[graph->comm_count++] = (struct ss_graph_comm){ row, task };
}

/* Whether only what ran on its stream before the file began explains the start. */
static bool is_late_first_work(const struct ss_build *build, uint32_t task)
{
	uint32_t first = build->first_edge[build->graph->tasks[task].track];

	return first < build->edge_count && build->edges[first].to == task;
}

bool ss_build_is_late(const struct ss_build *build, uint32_t task, int64_t gap_ns)
{
	int64_t bound_ns = build->bound_ns[task - build->host_tasks];

	if (gap_ns > SS_BUILD_EVENT_NS || bound_ns == INT64_MIN)
		return false;
	return is_late_first_work(build, task) ||
	       build->graph->tasks[task].start_ns - bound_ns > SS_BUILD_TOLERANCE_NS;
}

void ss_build_delay(struct ss_build *build, uint32_t to, struct ss_edge edge)
{
	const struct ss_task *tasks = build->graph->tasks;
	uint32_t *first = &build->first_edge[tasks[to].track];

	if (is_late_first_work(build, to) &&
	    tasks[to].start_ns - ss_task_end(&tasks[edge.from]) <= SS_BUILD_EVENT_NS) {
		struct ss_short_edge *launch = &build->edges[*first].edge;
		struct ss_edge late = ss_replay_edge_of(build->graph, launch);

		late.lag_ns = build->latency_ns;
		build->failed |= !ss_replay_edge_shorten(build->graph, &late, launch);
		*first = SS_NO_TASK;
	}
	ss_build_edge(build, to, edge);
}

uint16_t ss_build_step(const struct ss_build *build, int64_t moment_ns)
{
	const struct ss_step *items = build->trace->steps.items;
	uint32_t low = 0, high = build->graph->step_count;

	SS_SEARCH(low, high, at, items[build->step_items[at]].host_end_ns <= moment_ns);
	if (low == build->graph->step_count ||
	    items[build->step_items[low]].host_start_ns > moment_ns || low >= SS_NO_STEP)
		return SS_NO_STEP;
	return (uint16_t)low;
}

static void graph_find_steps(struct ss_build *build)
{
	const struct ss_steps *steps = &build->trace->steps;
	struct ss_graph *graph = build->graph;
	uint32_t count = 0;

	build->step_items = SS_ARENA_NEW(&build->scratch, uint32_t, (size_t)steps->kept_count + 1);
	graph->steps = steps->kept_count
			       ? ss_memory_resize(graph->memory, NULL, 0,
						  steps->kept_count * sizeof(*graph->steps))
			       : NULL;
	/* set first: it says how much to free if what follows fails */
	graph->step_count = graph->steps ? steps->kept_count : 0;
	if (!build->step_items || (steps->kept_count && !graph->steps)) {
		build->failed = true;
		return;
	}
	for (uint32_t i = 0; i < steps->count && count < steps->kept_count; i++) {
		if (steps->items[i].dropped)
			continue;
		build->step_items[count] = i;
		graph->steps[count++] = (struct ss_graph_step){ steps->items[i].start_ns,
								steps->items[i].end_ns };
	}
}

/*
 * Marks calls that started device work, whatever their names are, and copy calls that returned only
 * when the copy was done, or half of it (waits.c of analyze says why half).
 */
static void graph_find_calls(struct ss_build *build)
{
	const struct ss_trace *trace = build->trace;
	const struct ss_slices *slices = &trace->slices;

	for (uint32_t row = trace->device_from; row < trace->device_to; row++) {
		uint32_t call = ss_slice_launch(slices, row);

		if (call >= trace->device_from)
			continue;
		build->calls[call] |= SS_CALL_LAUNCHES;
		if (slices->kind[row] == SS_KIND_MEMCPY &&
		    ss_slice_end(slices, call) >= slices->start_ns[row] + slices->dur_ns[row] / 2 &&
		    !ss_copy_never_waits(trace, row))
			build->calls[call] |= SS_CALL_BLOCKS;
	}
}

/* Edges in the order of the tasks that they lead to. */
static bool graph_sort_edges(struct ss_build *build)
{
	struct ss_graph *graph = build->graph;
	uint32_t at = 0;

	if (!SS_GROW(graph->memory, graph->edges, graph->edge_capacity, build->edge_count) ||
	    !SS_GROW(graph->memory, graph->tasks, graph->task_capacity, graph->task_count))
		return false;
	for (uint32_t i = 0; i <= graph->task_count; i++)
		graph->tasks[i].edges = 0;
	for (uint32_t i = 0; i < build->edge_count; i++)
		graph->tasks[build->edges[i].to].edges++;
	for (uint32_t i = 0; i < graph->task_count; i++) {
		at += graph->tasks[i].edges;
		graph->tasks[i].edges = at;
	}
	graph->tasks[graph->task_count].edges = at;
	/* backwards: the edges of a task stay in the order in which they were added */
	for (uint32_t i = build->edge_count; i-- > 0;) {
		const struct ss_build_edge *edge = &build->edges[i];

		graph->edges[--graph->tasks[edge->to].edges] = edge->edge;
		graph->edges_of[edge->edge.kind]++;
	}
	graph->edge_count = build->edge_count;
	return true;
}

/* When its edges let a task start; cuts their lags. INT64_MIN: it has none. False: no memory. */
static bool task_cut_lags(struct ss_graph *graph, const struct ss_task *task, int64_t *bound_ns)
{
	*bound_ns = INT64_MIN;
	for (uint32_t k = task->edges; k < task[1].edges; k++) {
		struct ss_edge edge = ss_replay_edge_of(graph, &graph->edges[k]);
		const struct ss_task *from = &graph->tasks[edge.from];
		int64_t after_ns = edge.from_start ? from->start_ns : ss_task_end(from);

		if (edge.lag_ns > task->start_ns - after_ns) {
			edge.lag_ns = task->start_ns - after_ns;
			if (!ss_replay_edge_shorten(graph, &edge, &graph->edges[k]))
				return false;
		}
		if (after_ns + edge.lag_ns > *bound_ns)
			*bound_ns = after_ns + edge.lag_ns;
	}
	return true;
}

bool ss_replay_graph_find_delays(struct ss_graph *graph)
{
	for (uint32_t i = 0; i < graph->task_count; i++) {
		int64_t bound_ns, start_ns = graph->tasks[i].start_ns;

		if (!task_cut_lags(graph, &graph->tasks[i], &bound_ns))
			return false;
		if (bound_ns == INT64_MIN || bound_ns == start_ns)
			continue;
		if (!SS_GROW(graph->memory, graph->delays, graph->delay_capacity,
			     graph->delay_count))
			return false;
		graph->delays[graph->delay_count++] =
			(struct ss_packed_time){ i, start_ns - bound_ns };
	}
	return true;
}

/* Finds when device work could start by its launch and its stream; other edges follow later. */
static void find_start_bounds(struct ss_build *build)
{
	const struct ss_graph *graph = build->graph;
	size_t room = (size_t)graph->task_count - build->host_tasks + 1;

	if (!SS_ALLOC(&build->scratch, build->bound_ns, room)) {
		build->failed = true;
		return;
	}
	for (size_t i = 0; i < room; i++)
		build->bound_ns[i] = INT64_MIN;
	for (uint32_t i = 0; i < build->edge_count; i++) {
		struct ss_edge edge = ss_replay_edge_of(graph, &build->edges[i].edge);
		const struct ss_task *from = &graph->tasks[edge.from];
		int64_t at_ns = (edge.from_start ? from->start_ns : ss_task_end(from)) +
				edge.lag_ns;
		int64_t *bound_ns;

		if (build->edges[i].to < build->host_tasks)
			continue;
		bound_ns = &build->bound_ns[build->edges[i].to - build->host_tasks];
		if (at_ns > *bound_ns)
			*bound_ns = at_ns;
	}
}

/* Threads, batches and streams first, then what they wait for. False: no memory. */
static bool build_graph(struct ss_build *build)
{
	const struct ss_trace *trace = build->trace;

	if (!SS_ALLOC(&build->scratch, build->call_task, (size_t)trace->device_from + 1) ||
	    !SS_ALLOC(&build->scratch, build->device_task,
		      (size_t)trace->device_to - trace->device_from + 1) ||
	    !SS_ALLOC(&build->scratch, build->calls, (size_t)trace->device_from + 1) ||
	    !SS_ALLOC(&build->scratch, build->names, (size_t)trace->names.count + 1) ||
	    !ss_strings_init(&build->graph->names, build->graph->memory))
		return false;
	memset(build->call_task, 0xff, trace->device_from * sizeof(*build->call_task));
	memset(build->device_task, 0xff,
	       (trace->device_to - trace->device_from) * sizeof(*build->device_task));
	graph_find_steps(build);
	graph_find_calls(build);
	if (!build->failed)
		ss_build_threads(build);
	if (!build->failed)
		ss_build_batches(build);
	build->host_tasks = build->graph->task_count;
	if (!build->failed)
		ss_build_streams(build);
	if (!build->failed)
		find_start_bounds(build);
	if (!build->failed)
		ss_build_recorded(build);
	if (!build->failed)
		ss_build_waits(build);
	return !build->failed;
}

enum ss_status ss_replay_graph_make(struct ss_graph *graph, const struct ss_subject *subject,
				    struct ss_memory *memory, struct ss_error *err)
{
	struct ss_build build = { .graph = graph, .trace = subject->trace, .main = SS_NO_ROW };
	bool whole;

	*graph = (struct ss_graph){ .memory = memory, .main = SS_NO_ROW };
	/* sums of moments must fit; a trace of decades gets no graph, but can have a digest */
	if (subject->trace->span_ns > SPAN_MAX_NS)
		return ss_strings_init(&graph->names, memory)
			       ? SS_OK
			       : ss_fail_memory(err, "the graph of the steps");
	SS_TRY(ss_facts_phases(subject->facts, &build.phases, err));
	ss_arena_init(&build.scratch, memory);
	whole = ss_records_init(&build.pairs, memory, sizeof(struct ss_build_pair)) &&
		build_graph(&build);
	/* sorting needs the edges twice: frees everything else before */
	ss_records_release(&build.pairs);
	ss_arena_release(&build.scratch);
	whole = whole && graph_sort_edges(&build) && ss_strings_fit(&graph->names);
	SS_FREE(memory, build.edges, build.edge_capacity);
	whole = whole && ss_replay_graph_find_delays(graph);
	if (!whole) {
		ss_replay_graph_release(graph);
		return ss_fail_memory(err, "the graph of the steps");
	}
	graph->main = build.main;
	ss_memory_fit(memory, (void **)&graph->tasks, &graph->task_capacity, graph->task_count + 1,
		      sizeof(*graph->tasks));
	ss_memory_fit(memory, (void **)&graph->edges, &graph->edge_capacity, graph->edge_count,
		      sizeof(*graph->edges));
	ss_memory_fit(memory, (void **)&graph->comms, &graph->comm_capacity, graph->comm_count,
		      sizeof(*graph->comms));
	return SS_OK;
}

uint32_t ss_replay_graph_find_comm(const struct ss_graph_comm *comms, uint32_t count, uint32_t row)
{
	uint32_t low = 0, high = count;

	SS_SEARCH(low, high, at, comms[at].row < row);
	return low < count && comms[low].row == row ? comms[low].task : SS_NO_TASK;
}
