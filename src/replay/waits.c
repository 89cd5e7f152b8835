/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waits.c - threads that wait for the device, streams that wait for each other.
 *
 * All calls are visited in order of time, tracking the last work that was launched on each stream.
 * A call that waits ends when one of these ends. Usually the stream it waits for is not recorded
 * (recorded.c handles those that are): it is the one whose end explains the end of the call, or the
 * one that the thread launched on last.
 *
 * Waits between streams are not recorded either, unless the user asked for it. A collective waits
 * for what its thread launched before it, on that stream: PyTorch puts an event there. Other calls
 * that make a stream wait are between a collective and the work that needs its result: that work
 * waits for the collective that was launched last and was done when the work began. Work that
 * starts later than its launch and its stream explain, right after the end of work on another
 * stream, waited for that work.
 */
#include <string.h>

#include "base/sort.h"
#include "base/search.h"
#include "replay/build.h"

/* What was waited for ends this much before the wait ends, or this part of a long wait. */
#define RETURN_NS 50000
#define RETURN_PART 32

/* A thread that does nothing between calls for this long waits: many times what a return takes. */
#define RELEASE_NS 1000000

/* The last blocks of a kernel leave room for other kernels this long before its end. */
#define TAIL_NS 10000

/* CPU time of a call that has nothing to wait for: 2 to 6 us on common machines. */
#define CALL_NS 5000

/* The launch queue has 1,024 places; a launch waits for work at least this many launches before. */
#define QUEUE_MIN 200

/* Streams, and rows on them, that are searched for one wait. */
#define STREAMS_MAX 64
#define ROWS_MAX 64

/* Streams of collectives that work may wait for: one per process group of the rank. */
#define COMMS_MAX 16

struct comm_tracks {
	uint32_t items[COMMS_MAX];
	uint32_t count;
};

struct waiting {
	struct ss_build *build;
	struct ss_graph *graph;
	uint32_t *calls; /* tasks of threads that are calls or returns, by start */
	uint32_t call_count;
	uint32_t *first;  /* per task of a thread: first device task that it launched */
	uint32_t *next;   /* per device task, from host_tasks on: the next of the same call */
	uint32_t *last;   /* per track: device task that was launched last */
	uint32_t *recent; /* tracks, the one that was launched on last at the end */
	uint32_t recent_count;
	uint32_t *by_end; /* device tasks by end */
	uint32_t device_count;
	uint32_t *compute;    /* per track of a thread: last work that is no collective */
	uint32_t *kernel;     /* per track of a thread: last kernel that is no collective */
	uint32_t *number;     /* likewise: how many were launched before */
	uint32_t *wait_calls; /* per stream: calls that make its next work wait for collectives */
	uint32_t *wait_called_at; /* per stream: tasks launched before the last of them */
	uint32_t launched;        /* so far, with those without work */
	uint8_t *is_wait_call;    /* per task of a thread: such a call */
	struct comm_tracks comms; /* of collectives, in the order of their first */
};

static uint32_t number_of(const struct waiting *waits, uint32_t task)
{
	return waits->number[task - waits->build->host_tasks];
}

static int64_t end_of_task(const struct waiting *waits, uint32_t task)
{
	return ss_task_end(&waits->graph->tasks[task]);
}

/* The arrival of a collective, the task itself for other work. */
static uint32_t starting_task(const struct waiting *waits, uint32_t task)
{
	return waits->graph->tasks[task].kind == SS_TASK_TRANSFER ? task - 1 : task;
}

/* The first of the work by end that ends after the moment. */
static uint32_t first_ending_after(const struct waiting *waits, int64_t moment_ns)
{
	uint32_t low = 0, high = waits->device_count;

	SS_SEARCH(low, high, at, end_of_task(waits, waits->by_end[at]) <= moment_ns);
	return low;
}

static int64_t return_limit_ns(int64_t wait_ns)
{
	return wait_ns / RETURN_PART > RETURN_NS ? wait_ns / RETURN_PART : RETURN_NS;
}

/* --- a thread waits ---------------------------------------------------------------------- */

/* Of the last work of each stream, the one that ends last, but not after the moment. */
static uint32_t latest_work_before(const struct waiting *waits, int64_t moment_ns)
{
	uint32_t best = SS_NO_TASK, count = waits->recent_count;

	for (uint32_t i = count > STREAMS_MAX ? count - STREAMS_MAX : 0; i < count; i++) {
		uint32_t task = waits->last[waits->recent[i]];

		if (end_of_task(waits, task) <= moment_ns &&
		    (best == SS_NO_TASK || end_of_task(waits, task) > end_of_task(waits, best)))
			best = task;
	}
	return best;
}

static void shorten_call(struct waiting *waits, uint32_t call)
{
	struct ss_task *task = &waits->graph->tasks[call];

	if (waits->build->calls[task->row] & SS_CALL_STAGES)
		return;
	if (task->own_ns > CALL_NS)
		task->own_ns = CALL_NS;
}

/*
 * What a call waits for by what was recorded, or SS_NO_TASK. Work that ended later than the
 * call cannot be it.
 */
static uint32_t recorded_wait_for(const struct waiting *waits, const struct ss_task *call,
				  int64_t end_ns)
{
	uint32_t from = waits->build->wait_for && call->row < waits->build->trace->device_from
				? waits->build->wait_for[call->row]
				: SS_NO_TASK;

	if (from == SS_NO_TASK || from == SS_ALL_TASKS ||
	    end_of_task(waits, from) > end_ns + SS_BUILD_CLOCKS_NS)
		return SS_NO_TASK;
	return from;
}

/* A call waits for all streams: with edits, any of them may be the last. */
static void add_edges_from_all(struct waiting *waits, uint32_t task, uint32_t latest_task)
{
	uint32_t count = waits->recent_count;

	for (uint32_t i = count > STREAMS_MAX ? count - STREAMS_MAX : 0; i < count; i++) {
		uint32_t from = waits->last[waits->recent[i]];

		if (from != latest_task &&
		    end_of_task(waits, from) <= waits->graph->tasks[task].start_ns)
			ss_build_edge(waits->build, task,
				      (struct ss_edge){ .from = from, .kind = SS_EDGE_SYNC });
	}
}

static bool call_waits_for_all(const struct waiting *waits, const struct ss_task *call)
{
	const struct ss_trace *trace = waits->build->trace;

	if (call->row >= trace->device_from)
		return false;
	if (waits->build->wait_for && waits->build->wait_for[call->row] == SS_ALL_TASKS)
		return true;
	return (ss_slice_flags(trace, call->row) & SS_NAME_SYNC_CALL) &&
	       strstr(ss_strings_text(&trace->names, trace->slices.name[call->row]),
		      "DeviceSynchronize");
}

/* The return of a call that may have waited; `call` is the task before it. */
static void explain_host_wait(struct waiting *waits, uint32_t task)
{
	const struct ss_task *tasks = waits->graph->tasks;
	uint32_t call = task - 1, from = waits->first[call];
	int64_t end_ns = tasks[task].start_ns, start_ns = tasks[call].start_ns;
	bool is_copy = from != SS_NO_TASK && tasks[call].kind == SS_TASK_CALL;
	struct ss_edge edge = { .kind = SS_EDGE_SYNC };

	/* a copy: for itself; the host may go on when the last piece is on its way */
	if (!is_copy)
		from = recorded_wait_for(waits, &tasks[call], end_ns);
	if (from == SS_NO_TASK)
		from = latest_work_before(waits, end_ns + SS_BUILD_CLOCKS_NS);
	if (from == SS_NO_TASK)
		return;
	edge.from = from;
	edge.lag_ns = end_ns - end_of_task(waits, from);
	if (!is_copy && (edge.lag_ns > return_limit_ns(end_ns - start_ns) ||
			 end_of_task(waits, from) <= start_ns)) {
		/* it had nothing to wait for: the time is its own */
		if (tasks[call].kind != SS_TASK_CALL)
			return;
		edge.lag_ns = 0;
	} else {
		shorten_call(waits, call);
	}
	ss_build_edge(waits->build, task, edge);
	if (!is_copy && call_waits_for_all(waits, &tasks[call]))
		add_edges_from_all(waits, task, from);
}

/*
 * Before the allocator returns memory to the driver, it waits for events of the device, which not
 * every version records: the thread does nothing until earlier work is done.
 */
static void explain_release(struct waiting *waits, uint32_t task)
{
	struct ss_task *work = &waits->graph->tasks[task - 1];
	int64_t start_ns = waits->graph->tasks[task].start_ns;
	uint32_t from;

	if (work->kind != SS_TASK_WORK || work->track != waits->graph->tasks[task].track ||
	    work->own_ns < RELEASE_NS)
		return;
	from = latest_work_before(waits, start_ns + SS_BUILD_CLOCKS_NS);
	if (from == SS_NO_TASK ||
	    start_ns - end_of_task(waits, from) > return_limit_ns(work->own_ns) ||
	    end_of_task(waits, from) <= work->start_ns)
		return;
	work->own_ns = CALL_NS;
	ss_build_edge(waits->build, task,
		      (struct ss_edge){ .from = from,
					.kind = SS_EDGE_SYNC,
					.lag_ns = start_ns - end_of_task(waits, from) });
}

/* A long launch: it waited for work to start that was launched long before. */
static void explain_queue(struct waiting *waits, uint32_t task)
{
	const struct ss_task *tasks = waits->graph->tasks;
	int64_t end_ns = tasks[task].start_ns;
	uint32_t own = waits->first[task - 1];
	/* its work may be missing, behind the end of the file */
	uint32_t number = own == SS_NO_TASK ? waits->launched : number_of(waits, own);
	/* what started had just seen its predecessor end */
	uint32_t low = first_ending_after(waits, end_ns);

	for (uint32_t i = low; i > 0 && low - i < ROWS_MAX; i--) {
		uint32_t from = waits->by_end[i - 1];

		if (end_ns - end_of_task(waits, from) > RETURN_NS)
			return;
		if (number_of(waits, from) != SS_NO_TASK &&
		    number_of(waits, from) + QUEUE_MIN > number)
			continue;
		shorten_call(waits, task - 1);
		ss_build_edge(waits->build, task,
			      (struct ss_edge){ .from = from,
						.kind = SS_EDGE_QUEUE,
						.lag_ns = end_ns - end_of_task(waits, from) });
		return;
	}
}

/* --- a stream waits ------------------------------------------------------------------------ */

/* An edge between streams that is not recorded; its lag is at most the usual one. */
static void add_inferred_edge(struct waiting *waits, uint32_t from, uint32_t task)
{
	const struct ss_task *tasks = waits->graph->tasks;
	struct ss_build_pair pair = { tasks[from].track, tasks[task].track };

	if (!waits->build->pairs.count || ss_records_find(&waits->build->pairs, &pair) == SS_NO_ID)
		ss_build_delay(waits->build, starting_task(waits, task),
			       (struct ss_edge){
				       .from = from, .kind = SS_EDGE_INFERRED, .lag_ns = 1000 });
}

/* The collective waits for what its thread launched before. */
static void explain_collective(struct waiting *waits, uint32_t task, uint32_t thread)
{
	uint32_t from = waits->compute[thread], to = starting_task(waits, task);
	const struct ss_task *tasks = waits->graph->tasks;

	if (from == SS_NO_TASK || tasks[from].track == tasks[task].track ||
	    end_of_task(waits, from) > tasks[to].start_ns)
		return;
	add_inferred_edge(waits, from, task);
}

/*
 * The last collective of a stream that was launched before launch `number` and ended before the
 * moment.
 */
static uint32_t last_done_collective(const struct waiting *waits, uint32_t track, uint32_t number,
				     int64_t moment_ns)
{
	const struct ss_task *tasks = waits->graph->tasks;
	uint32_t at = waits->last[track];

	for (int i = 0; i < ROWS_MAX && at >= waits->build->host_tasks && at != SS_NO_TASK &&
			tasks[at].track == track;
	     i++, at--)
		if (tasks[at].kind == SS_TASK_TRANSFER && number_of(waits, at) < number &&
		    end_of_task(waits, at) <= moment_ns)
			return at;
	return SS_NO_TASK;
}

/*
 * Work after calls that make its stream wait: it waits for as many streams of collectives as there
 * were calls, those that were launched on last.
 */
static void explain_held_work(struct waiting *waits, uint32_t task)
{
	const struct ss_task *own = &waits->graph->tasks[task];
	uint32_t calls = waits->wait_calls[own->track], count = 0, done[COMMS_MAX];

	waits->wait_calls[own->track] = 0;
	for (uint32_t i = 0; i < waits->comms.count; i++) {
		uint32_t from = waits->comms.items[i] == own->track
					? SS_NO_TASK
					: last_done_collective(waits, waits->comms.items[i],
							       waits->wait_called_at[own->track],
							       own->start_ns);
		uint32_t at = count;

		if (from == SS_NO_TASK)
			continue;
		for (; at > 0 && number_of(waits, done[at - 1]) < number_of(waits, from); at--)
			done[at] = done[at - 1];
		done[at] = from;
		count++;
	}
	for (uint32_t i = 0; i < calls && i < count; i++)
		add_inferred_edge(waits, done[i], task);
}

/* Work without a recorded launch was launched before what started after it. */
static bool can_delay(const struct waiting *waits, uint32_t from, uint32_t task)
{
	const struct ss_task *tasks = waits->graph->tasks;
	const struct ss_track *tracks = waits->build->trace->tracks;

	if (tasks[from].track == tasks[task].track ||
	    tracks[tasks[from].track].pid != tracks[tasks[task].track].pid)
		return false;
	return number_of(waits, from) == SS_NO_TASK
		       ? tasks[from].start_ns < tasks[task].start_ns
		       : number_of(waits, from) < number_of(waits, task);
}

/*
 * Work of another stream of the device that ended right before this started, or was in its last
 * microseconds: a kernel that fills the device leaves room when it ends.
 */
static uint32_t find_delaying_work(const struct waiting *waits, uint32_t task)
{
	int64_t start_ns = waits->graph->tasks[starting_task(waits, task)].start_ns;
	uint32_t after = first_ending_after(waits, start_ns);

	for (uint32_t i = after; i > 0 && after - i < ROWS_MAX; i--) {
		uint32_t from = waits->by_end[i - 1];

		if (end_of_task(waits, from) < start_ns - SS_BUILD_EVENT_NS)
			break;
		if (can_delay(waits, from, task))
			return from;
	}
	for (uint32_t i = after; i < waits->device_count && i - after < ROWS_MAX; i++) {
		uint32_t from = waits->by_end[i];

		if (end_of_task(waits, from) > start_ns + TAIL_NS)
			break;
		if (can_delay(waits, from, task))
			return from;
	}
	return SS_NO_TASK;
}

static void explain_late_starts(struct waiting *waits)
{
	const struct ss_graph *graph = waits->graph;

	for (uint32_t task = waits->build->host_tasks; task < graph->task_count; task++) {
		uint32_t to = starting_task(waits, task), from;

		if (graph->tasks[task].kind == SS_TASK_ARRIVE ||
		    !ss_build_is_late(waits->build, to, 0))
			continue;
		from = find_delaying_work(waits, task);
		if (from != SS_NO_TASK)
			ss_build_delay(waits->build, to,
				       (struct ss_edge){ .from = from,
							 .kind = SS_EDGE_INFERRED,
							 .lag_ns = graph->tasks[to].start_ns -
								   end_of_task(waits, from) });
	}
}

/* --- in the order of time -------------------------------------------------------------------- */

static void note_comm_stream(struct waiting *waits, uint32_t track)
{
	for (uint32_t i = 0; i < waits->comms.count; i++)
		if (waits->comms.items[i] == track)
			return;
	if (waits->comms.count < COMMS_MAX)
		waits->comms.items[waits->comms.count++] = track;
}

static void note_launch(struct waiting *waits, uint32_t device, uint32_t thread)
{
	const struct ss_task *task = &waits->graph->tasks[device];
	uint32_t track = task->track;

	waits->number[device - waits->build->host_tasks] = waits->launched++;
	if (waits->last[track] == SS_NO_TASK)
		waits->recent[waits->recent_count++] = track;
	waits->last[track] = device;
	if (task->kind == SS_TASK_TRANSFER) {
		note_comm_stream(waits, track);
		explain_collective(waits, device, thread);
		return;
	}
	waits->compute[thread] = device;
	if (task->kind == SS_TASK_KERNEL)
		waits->kernel[thread] = device;
	if (waits->wait_calls[track])
		explain_held_work(waits, device);
}

/* A call makes the stream wait that the thread computes on. */
static void note_stream_wait(struct waiting *waits, uint32_t thread)
{
	uint32_t track = waits->kernel[thread] == SS_NO_TASK
				 ? SS_NO_ROW
				 : waits->graph->tasks[waits->kernel[thread]].track;

	if (track == SS_NO_ROW)
		return;
	waits->wait_calls[track]++;
	waits->wait_called_at[track] = waits->launched;
}

/* Visits all calls in the order of time: what they launch, and what they wait for. */
static void visit_calls(struct waiting *waits)
{
	for (uint32_t i = 0; i < waits->call_count && !waits->build->failed; i++) {
		uint32_t task = waits->calls[i];
		const struct ss_task *own = &waits->graph->tasks[task];

		if (own->kind == SS_TASK_ALLOCATOR && task > 0)
			explain_release(waits, task);
		if (own->kind != SS_TASK_WAIT) {
			if (waits->is_wait_call[task])
				note_stream_wait(waits, own->track);
			if (waits->first[task] == SS_NO_TASK &&
			    own->row < waits->build->trace->device_from &&
			    (ss_slice_flags(waits->build->trace, own->row) & SS_NAME_LAUNCH))
				waits->launched++;
			for (uint32_t k = waits->first[task]; k != SS_NO_TASK;
			     k = waits->next[k - waits->build->host_tasks])
				note_launch(waits, k, own->track);
		} else if (waits->graph->tasks[task - 1].kind == SS_TASK_LAUNCH) {
			explain_queue(waits, task);
		} else {
			explain_host_wait(waits, task);
		}
	}
}

/*
 * Finds calls that make the stream wait that their thread computes on. If the thread launches a
 * collective next, it is that one's stream, which waits for the data.
 */
static void find_stream_wait_calls(struct waiting *waits, uint8_t *next_is_comm)
{
	const struct ss_trace *trace = waits->build->trace;

	for (uint32_t i = waits->call_count; i-- > 0;) {
		uint32_t task = waits->calls[i], device = waits->first[task];
		const struct ss_task *own = &waits->graph->tasks[task];

		if (own->kind != SS_TASK_LAUNCH)
			continue;
		if (device != SS_NO_TASK)
			next_is_comm[own->track] = waits->graph->tasks[device].kind ==
						   SS_TASK_TRANSFER;
		else if (ss_slice_flags(trace, own->row) & SS_NAME_STREAM_WAIT)
			waits->is_wait_call[task] = !next_is_comm[own->track];
	}
}

struct sorted_task {
	int64_t key_ns;
	uint32_t task;
};

SS_COMPARATOR(sorted_task_compare, struct sorted_task, SS_ASCENDING(key_ns) SS_ASCENDING(task))

static bool is_call_task(enum ss_task_kind kind)
{
	return kind == SS_TASK_LAUNCH || kind == SS_TASK_CALL || kind == SS_TASK_ALLOCATOR ||
	       kind == SS_TASK_WAIT;
}

static uint32_t *new_task_list(struct waiting *waits, size_t count)
{
	uint32_t *items = SS_ARENA_NEW(&waits->build->scratch, uint32_t, count + 1);

	for (size_t i = 0; items && i <= count; i++)
		items[i] = SS_NO_TASK;
	waits->build->failed |= !items;
	return items;
}

/* Tasks from..to in the order of their starts, or ends; returns how many. */
static uint32_t sort_wait_tasks(struct waiting *waits, uint32_t from, uint32_t to, uint32_t *out)
{
	const struct ss_task *tasks = waits->graph->tasks;
	bool host = to <= waits->build->host_tasks;
	size_t bytes = ((size_t)to - from + 1) * sizeof(struct sorted_task);
	struct sorted_task *sorted = ss_memory_resize(waits->graph->memory, NULL, 0, bytes);
	uint32_t count = 0;

	if (!sorted) {
		waits->build->failed = true;
		return 0;
	}
	for (uint32_t i = from; i < to; i++)
		if (host ? is_call_task(tasks[i].kind) : tasks[i].kind != SS_TASK_ARRIVE)
			sorted[count++] = (struct sorted_task){ host ? tasks[i].start_ns
								     : ss_task_end(&tasks[i]),
								i };
	if (!ss_sort_runs(sorted, count, sizeof(*sorted), sorted_task_compare,
			  waits->graph->memory))
		waits->build->failed = true;
	for (uint32_t i = 0; i < count; i++)
		out[i] = sorted[i].task;
	ss_memory_free(waits->graph->memory, sorted, bytes);
	return count;
}

/* Which device tasks each call launched, in the order of their starts. */
static void find_launched_work(struct waiting *waits)
{
	const struct ss_build *build = waits->build;

	for (uint32_t i = build->edge_count; i-- > 0;) {
		const struct ss_build_edge *edge = &build->edges[i];
		uint32_t task = edge->to;

		if (edge->edge.kind != SS_EDGE_LAUNCH)
			continue;
		if (waits->graph->tasks[task].kind == SS_TASK_ARRIVE)
			task++;
		waits->next[task - build->host_tasks] = waits->first[edge->edge.from];
		waits->first[edge->edge.from] = task;
	}
}

static void allocate_wait_tables(struct waiting *waits)
{
	struct ss_build *build = waits->build;
	uint32_t tracks = build->trace->track_count, tasks = build->graph->task_count;

	waits->calls = new_task_list(waits, build->host_tasks);
	waits->first = new_task_list(waits, build->host_tasks);
	waits->next = new_task_list(waits, tasks - build->host_tasks);
	waits->number = new_task_list(waits, tasks - build->host_tasks);
	waits->by_end = new_task_list(waits, tasks - build->host_tasks);
	waits->last = new_task_list(waits, tracks);
	waits->recent = new_task_list(waits, tracks);
	waits->compute = new_task_list(waits, tracks);
	waits->kernel = new_task_list(waits, tracks);
	waits->wait_called_at = new_task_list(waits, tracks);
	waits->wait_calls = SS_ARENA_NEW(&build->scratch, uint32_t, (size_t)tracks + 1);
	waits->is_wait_call = SS_ARENA_NEW(&build->scratch, uint8_t, (size_t)build->host_tasks + 1);
	build->failed |= !waits->wait_calls || !waits->is_wait_call;
}

void ss_build_waits(struct ss_build *build)
{
	struct ss_graph *graph = build->graph;
	struct waiting waits = { .build = build, .graph = graph };
	uint8_t *next_is_comm = SS_ARENA_NEW(&build->scratch, uint8_t,
					     (size_t)build->trace->track_count + 1);

	if (graph->task_count == build->host_tasks)
		return;
	build->failed |= !next_is_comm;
	allocate_wait_tables(&waits);
	if (build->failed)
		return;
	find_launched_work(&waits);
	waits.call_count = sort_wait_tasks(&waits, 0, build->host_tasks, waits.calls);
	waits.device_count = sort_wait_tasks(&waits, build->host_tasks, graph->task_count,
					     waits.by_end);
	if (build->failed)
		return;
	find_stream_wait_calls(&waits, next_is_comm);
	visit_calls(&waits);
	explain_late_starts(&waits);
}
