/*
 * waits.c - threads that wait for the device, streams that wait for each other.
 *
 * All calls are gone through in the order of time, with the last work that was launched
 * on each stream in mind. A call that waits ends when one of these ends. Which stream it
 * waits for is mostly not recorded: it is the one whose end explains the end of the call,
 * or the one that the thread launched on last.
 *
 * Streams that wait for each other are not recorded either, unless the user asked for it.
 * A collective waits for what its thread launched before it, on the stream of that: the
 * library of torch puts an event there. Other work that starts later than its launch and
 * its stream explain, right behind the end of work on another stream, waited for that.
 */
#include <stdlib.h>

#include "replay/build.h"

/*
 * The end of what was waited for lies at most so far before the end of the wait, or this part of
 * the wait: a thread that has slept long on a busy machine comes back later.
 */
#define RETURN_NS 50000
#define RETURN_PART 32

/* So long nothing is done between calls without a reason: many times what a return takes. */
#define RELEASE_NS 1000000

/* Work that waits for an event starts within this after it: users.md 5.1. */
#define EVENT_NS 20000

/* The last blocks of a kernel leave room for others so long before its end. */
#define TAIL_NS 10000

/* What a start may be later than explained, before something else must be the reason. */
#define TOLERANCE_NS 3000

/* CPU time of a call that has nothing to wait for: 2 to 6 us on common machines. */
#define CALL_NS 5000

/* Places of the launch queue are 1,024; a launch waits for one that was so long before it. */
#define QUEUE_MIN 200

/* Streams, and rows on them, that are looked at for one wait. */
#define STREAMS_MAX 64
#define ROWS_MAX 64

struct waits {
	struct ss_build *build;
	struct ss_graph *graph;
	uint32_t *calls; /* tasks of threads that are calls or returns, by start */
	uint32_t call_count;
	uint32_t *first;  /* per task of a thread: first device task that it launched */
	uint32_t *next;   /* per device task: the next of the same call */
	uint32_t *last;   /* per track: device task that was launched last */
	uint32_t *recent; /* tracks, the one that was launched on last at the end */
	uint32_t recent_count;
	uint32_t *by_end; /* device tasks by end */
	uint32_t device_count;
	uint32_t *compute; /* per track of a thread: last work that is no collective */
	uint32_t *number;  /* per device task: how many were launched before */
};

static int64_t end_of(const struct waits *waits, uint32_t task)
{
	return ss_task_end(&waits->graph->tasks[task]);
}

/* The arrival of a collective, the task itself for other work. */
static uint32_t start_task(const struct waits *waits, uint32_t task)
{
	return waits->graph->tasks[task].kind == SS_TASK_TRANSFER ? task - 1 : task;
}

/* The first of the work by end that ends after the moment. */
static uint32_t first_after(const struct waits *waits, int64_t moment_ns)
{
	uint32_t low = 0, high = waits->device_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (end_of(waits, waits->by_end[middle]) <= moment_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int64_t return_ns(int64_t wait_ns)
{
	return wait_ns / RETURN_PART > RETURN_NS ? wait_ns / RETURN_PART : RETURN_NS;
}

/* --- a thread waits ---------------------------------------------------------------------- */

/* Of the work that is last on its stream, the one that ends last, no later than the moment. */
static uint32_t latest(const struct waits *waits, int64_t moment_ns)
{
	uint32_t best = SS_NO_TASK, count = waits->recent_count;

	for (uint32_t i = count > STREAMS_MAX ? count - STREAMS_MAX : 0; i < count; i++) {
		uint32_t task = waits->last[waits->recent[i]];

		if (end_of(waits, task) <= moment_ns &&
		    (best == SS_NO_TASK || end_of(waits, task) > end_of(waits, best)))
			best = task;
	}
	return best;
}

static void shorten(struct waits *waits, uint32_t call)
{
	struct ss_task *task = &waits->graph->tasks[call];

	if (waits->build->calls[task->row] & SS_CALL_STAGES)
		return;
	if (task->own_ns > CALL_NS)
		task->own_ns = CALL_NS;
}

/* The return of a call that may have waited; `call` is the task before it. */
static void explain_wait(struct waits *waits, uint32_t task)
{
	const struct ss_task *tasks = waits->graph->tasks;
	uint32_t call = task - 1, from = waits->first[call];
	int64_t end_ns = tasks[task].start_ns, start_ns = tasks[call].start_ns;
	bool is_copy = from != SS_NO_TASK && tasks[call].kind == SS_TASK_CALL;
	struct ss_edge edge = { .kind = SS_EDGE_SYNC };

	/* a copy: for itself; the host may go on when the last piece is on its way */
	if (!is_copy)
		from = latest(waits, end_ns + SS_BUILD_CLOCKS_NS);
	if (from == SS_NO_TASK)
		return;
	edge.from = from;
	edge.lag_ns = end_ns - end_of(waits, from);
	if (!is_copy &&
	    (edge.lag_ns > return_ns(end_ns - start_ns) || end_of(waits, from) <= start_ns)) {
		/* it had nothing to wait for: what it took is its own */
		if (tasks[call].kind != SS_TASK_CALL)
			return;
		edge.lag_ns = 0;
	} else {
		shorten(waits, call);
	}
	ss_build_edge(waits->build, task, edge);
}

/*
 * Before the allocator gives memory back to the driver it waits for events of the device, which
 * not every version records: the thread does nothing until the work before is done.
 */
static void explain_release(struct waits *waits, uint32_t task)
{
	struct ss_task *work = &waits->graph->tasks[task - 1];
	int64_t start_ns = waits->graph->tasks[task].start_ns;
	uint32_t from;

	if (work->kind != SS_TASK_WORK || work->track != waits->graph->tasks[task].track ||
	    work->own_ns < RELEASE_NS)
		return;
	from = latest(waits, start_ns + SS_BUILD_CLOCKS_NS);
	if (from == SS_NO_TASK || start_ns - end_of(waits, from) > return_ns(work->own_ns) ||
	    end_of(waits, from) <= work->start_ns)
		return;
	work->own_ns = CALL_NS;
	ss_build_edge(waits->build, task,
		      (struct ss_edge){ .from = from,
					.kind = SS_EDGE_SYNC,
					.lag_ns = start_ns - end_of(waits, from) });
}

/* A long launch: it waited for work to start that was launched long before. */
static void explain_queue(struct waits *waits, uint32_t task)
{
	const struct ss_task *tasks = waits->graph->tasks;
	uint32_t own = waits->first[task - 1], low;
	int64_t end_ns = tasks[task].start_ns;

	if (own == SS_NO_TASK)
		return;
	/* what started had just seen its predecessor end */
	low = first_after(waits, end_ns);
	for (uint32_t i = low; i > 0 && low - i < ROWS_MAX; i--) {
		uint32_t from = waits->by_end[i - 1];

		if (end_ns - end_of(waits, from) > RETURN_NS)
			return;
		if (waits->number[from] + QUEUE_MIN > waits->number[own])
			continue;
		shorten(waits, task - 1);
		ss_build_edge(waits->build, task,
			      (struct ss_edge){ .from = from,
						.kind = SS_EDGE_QUEUE,
						.lag_ns = end_ns - end_of(waits, from) });
		return;
	}
}

/* --- a stream waits ------------------------------------------------------------------------ */

/* The collective waits for what its thread launched before. */
static void explain_collective(struct waits *waits, uint32_t task, uint32_t thread)
{
	uint32_t from = waits->compute[thread], to = start_task(waits, task);
	const struct ss_task *tasks = waits->graph->tasks;

	if (from == SS_NO_TASK || tasks[from].track == tasks[task].track ||
	    end_of(waits, from) > tasks[to].start_ns)
		return;
	ss_build_edge(waits->build, to,
		      (struct ss_edge){ .from = from, .kind = SS_EDGE_INFERRED, .lag_ns = 1000 });
}

/* How much later than launch and stream explain; edges of a task lie together so far. */
static int64_t late_by(const struct waits *waits, uint32_t to, const uint32_t *edge_of)
{
	const struct ss_task *tasks = waits->graph->tasks;
	int64_t bound_ns = INT64_MIN;

	for (uint32_t i = edge_of[to]; i < waits->build->edge_count; i++) {
		const struct ss_build_edge *own = &waits->build->edges[i];
		int64_t after_ns;

		if (own->to != to)
			break;
		after_ns = own->edge.from_start ? tasks[own->edge.from].start_ns
						: end_of(waits, own->edge.from);
		if (after_ns + own->edge.lag_ns > bound_ns)
			bound_ns = after_ns + own->edge.lag_ns;
	}
	return bound_ns == INT64_MIN ? 0 : tasks[to].start_ns - bound_ns;
}

static bool can_hold(const struct waits *waits, uint32_t from, uint32_t task)
{
	const struct ss_task *tasks = waits->graph->tasks;
	const struct ss_track *tracks = waits->build->trace->tracks;

	return tasks[from].track != tasks[task].track &&
	       tracks[tasks[from].track].pid == tracks[tasks[task].track].pid &&
	       waits->number[from] < waits->number[task];
}

/*
 * Work of another stream of the device that ended right before the start of this, or was
 * in its last microseconds: a kernel that fills the device gives room when it runs out.
 */
static uint32_t held_by(const struct waits *waits, uint32_t task)
{
	int64_t start_ns = waits->graph->tasks[start_task(waits, task)].start_ns;
	uint32_t after = first_after(waits, start_ns);

	for (uint32_t i = after; i > 0 && after - i < ROWS_MAX; i--) {
		uint32_t from = waits->by_end[i - 1];

		if (end_of(waits, from) < start_ns - EVENT_NS)
			break;
		if (can_hold(waits, from, task))
			return from;
	}
	for (uint32_t i = after; i < waits->device_count && i - after < ROWS_MAX; i++) {
		uint32_t from = waits->by_end[i];

		if (end_of(waits, from) > start_ns + TAIL_NS)
			break;
		if (can_hold(waits, from, task))
			return from;
	}
	return SS_NO_TASK;
}

/* What ran on a stream before its first work is not recorded: that starts as late as it did. */
static void excuse_first(struct waits *waits, uint32_t task, const uint32_t *edge_of)
{
	uint32_t to = start_task(waits, task);
	struct ss_build_edge *launch = &waits->build->edges[edge_of[to]];
	bool is_first = task == waits->build->host_tasks || to == waits->build->host_tasks ||
			waits->graph->tasks[to - 1].track != waits->graph->tasks[to].track;

	if (is_first && launch->to == to && launch->edge.kind == SS_EDGE_LAUNCH)
		launch->edge.lag_ns += late_by(waits, to, edge_of);
}

static void explain_starts(struct waits *waits, uint32_t edges_from, const uint32_t *edge_of)
{
	const struct ss_graph *graph = waits->graph;
	uint32_t known = waits->build->edge_count;

	for (uint32_t task = waits->build->host_tasks; task < graph->task_count; task++) {
		uint32_t to = start_task(waits, task), from;

		if (graph->tasks[task].kind == SS_TASK_ARRIVE || edge_of[to] < edges_from ||
		    edge_of[to] >= known || late_by(waits, to, edge_of) <= TOLERANCE_NS)
			continue;
		from = held_by(waits, task);
		if (from == SS_NO_TASK)
			excuse_first(waits, task, edge_of);
		else
			ss_build_edge(waits->build, to,
				      (struct ss_edge){ .from = from,
							.kind = SS_EDGE_INFERRED,
							.lag_ns = graph->tasks[to].start_ns -
								  end_of(waits, from) });
	}
}

/* --- in the order of time -------------------------------------------------------------------- */

static void note_launch(struct waits *waits, uint32_t device, uint32_t thread, uint32_t *count)
{
	const struct ss_task *task = &waits->graph->tasks[device];
	uint32_t track = task->track;

	waits->number[device] = (*count)++;
	if (waits->last[track] == SS_NO_TASK)
		waits->recent[waits->recent_count++] = track;
	waits->last[track] = device;
	if (task->kind == SS_TASK_TRANSFER)
		explain_collective(waits, device, thread);
	else
		waits->compute[thread] = device;
}

static void sweep(struct waits *waits)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < waits->call_count && !waits->build->failed; i++) {
		uint32_t task = waits->calls[i];
		const struct ss_task *own = &waits->graph->tasks[task];

		if (own->kind == SS_TASK_ALLOCATOR && task > 0)
			explain_release(waits, task);
		if (own->kind != SS_TASK_WAIT) {
			for (uint32_t k = waits->first[task]; k != SS_NO_TASK; k = waits->next[k])
				note_launch(waits, k, own->track, &count);
		} else if (waits->graph->tasks[task - 1].kind == SS_TASK_LAUNCH) {
			explain_queue(waits, task);
		} else {
			explain_wait(waits, task);
		}
	}
}

struct sorted {
	int64_t key_ns;
	uint32_t task;
};

static int by_key(const void *a, const void *b)
{
	const struct sorted *x = a, *y = b;

	if (x->key_ns != y->key_ns)
		return x->key_ns < y->key_ns ? -1 : 1;
	return x->task < y->task ? -1 : x->task > y->task;
}

static bool is_call(enum ss_task_kind kind)
{
	return kind == SS_TASK_LAUNCH || kind == SS_TASK_CALL || kind == SS_TASK_ALLOCATOR ||
	       kind == SS_TASK_WAIT;
}

static uint32_t *new_tasks(struct waits *waits, size_t count)
{
	uint32_t *items = SS_ARENA_NEW(&waits->build->scratch, uint32_t, count + 1);

	for (size_t i = 0; items && i <= count; i++)
		items[i] = SS_NO_TASK;
	waits->build->failed |= !items;
	return items;
}

/* Tasks from..to in the order of their starts, or ends; returns how many. */
static uint32_t sort_tasks(struct waits *waits, uint32_t from, uint32_t to, uint32_t *out)
{
	const struct ss_task *tasks = waits->graph->tasks;
	bool host = to <= waits->build->host_tasks;
	struct sorted *sorted = SS_ARENA_NEW(&waits->build->scratch, struct sorted,
					     (size_t)to - from + 1);
	uint32_t count = 0;

	if (!sorted) {
		waits->build->failed = true;
		return 0;
	}
	for (uint32_t i = from; i < to; i++)
		if (host ? is_call(tasks[i].kind) : tasks[i].kind != SS_TASK_ARRIVE)
			sorted[count++] = (struct sorted){ host ? tasks[i].start_ns
								: ss_task_end(&tasks[i]),
							   i };
	if (count)
		qsort(sorted, count, sizeof(*sorted), by_key);
	for (uint32_t i = 0; i < count; i++)
		out[i] = sorted[i].task;
	return count;
}

/* Which device tasks each call launched, in the order of their starts. */
static void find_launched(struct waits *waits, uint32_t *edge_of)
{
	const struct ss_build *build = waits->build;

	for (uint32_t i = build->edge_count; i-- > 0;) {
		const struct ss_build_edge *edge = &build->edges[i];
		uint32_t task = edge->to;

		edge_of[task] = i;
		if (edge->edge.kind != SS_EDGE_LAUNCH)
			continue;
		if (waits->graph->tasks[task].kind == SS_TASK_ARRIVE)
			task++;
		waits->next[task] = waits->first[edge->edge.from];
		waits->first[edge->edge.from] = task;
	}
}

void ss_build_waits(struct ss_build *build)
{
	struct ss_graph *graph = build->graph;
	struct waits waits = { .build = build, .graph = graph };
	uint32_t tracks = build->trace->track_count, *edge_of;

	if (graph->task_count == build->host_tasks)
		return;
	waits.calls = new_tasks(&waits, build->host_tasks);
	waits.first = new_tasks(&waits, build->host_tasks);
	waits.next = new_tasks(&waits, graph->task_count);
	waits.number = new_tasks(&waits, graph->task_count);
	waits.by_end = new_tasks(&waits, graph->task_count - build->host_tasks);
	waits.last = new_tasks(&waits, tracks);
	waits.recent = new_tasks(&waits, tracks);
	waits.compute = new_tasks(&waits, tracks);
	edge_of = new_tasks(&waits, graph->task_count);
	if (build->failed)
		return;
	find_launched(&waits, edge_of);
	waits.call_count = sort_tasks(&waits, 0, build->host_tasks, waits.calls);
	waits.device_count = sort_tasks(&waits, build->host_tasks, graph->task_count, waits.by_end);
	if (build->failed)
		return;
	/* edges of streams are known, those of collectives not yet: starts come first */
	sweep(&waits);
	explain_starts(&waits, 0, edge_of);
}
