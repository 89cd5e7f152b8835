/*
 * threads.c - threads as chains of tasks, and who hands over to whom.
 *
 * One pass over the rows of all threads finds those that stand for something: calls of
 * the device, ranges of the DataLoader, compiling, the garbage collector. What is between
 * them is work. The thread that runs the steps is the main one. Others work in bursts:
 * autograd begins when the main thread has called backward, and that thread does nothing
 * until autograd is done. So a burst begins where the main thread is, and the main thread
 * goes on where the burst ends.
 */
#include <stdlib.h>
#include <string.h>

#include "replay/build.h"

/* Ranges in ranges that stand for something: deeper ones belong to those around them. */
#define DEPTH_MAX 16

/* What a thread may still do while it hands over, and already does when it takes back. */
#define HANDOVER_NS 20000

/* A launch that took as long as this waited for a place in the queue; launches need 5 to 20 us. */
#define LONG_LAUNCH_NS 50000

#define NO_KIND SS_TASK_KINDS

struct point {
	uint32_t row;
	enum ss_task_kind kind;
};

/* A stretch of another thread's work. */
struct burst {
	uint32_t track;
	int64_t start_ns, end_ns;
	uint32_t first, last; /* its tasks */
	uint32_t join;        /* number of the join that it is part of, or SS_NO_TASK */
};

/* Bursts during which the main thread stood still. */
struct join {
	int64_t start_ns, end_ns;
	uint32_t before, task; /* of the main thread */
};

struct threads {
	struct ss_build *build;
	const struct ss_trace *trace;
	struct point *points; /* in the order of rows */
	uint32_t point_count;
	uint32_t *point_from; /* per track: its first point; the next track's is the end */
	uint32_t *tops;       /* rows of threads that nothing is around, in the order of rows */
	uint32_t top_count;
	uint32_t *top_from; /* per track */
	struct burst *bursts;
	uint32_t burst_count, burst_capacity;
	struct join *joins;
	uint32_t join_count;
	bool has_comm; /* collectives run on threads: no device has any */
};

/* --- what rows stand for ----------------------------------------------------------- */

static enum ss_task_kind kind_of_call(uint32_t flags, bool launches)
{
	if (flags & SS_NAME_SYNC_CALL)
		return SS_TASK_CALL;
	if (flags & SS_NAME_MALLOC_CALL)
		return SS_TASK_ALLOCATOR;
	if (launches || (flags & (SS_NAME_LAUNCH | SS_NAME_GRAPH_LAUNCH | SS_NAME_COPY_CALL |
				  SS_NAME_STREAM_WAIT)))
		return SS_TASK_LAUNCH;
	return NO_KIND;
}

static enum ss_task_kind kind_of(const struct threads *threads, uint32_t row)
{
	const struct ss_trace *trace = threads->trace;
	uint32_t flags = ss_slice_flags(trace, row);

	if (ss_kind_is_call(trace->slices.kind[row]))
		return kind_of_call(flags, threads->build->calls[row] & SS_CALL_LAUNCHES);
	if (flags & SS_NAME_DATALOADER)
		return SS_TASK_INPUT;
	if (flags & SS_NAME_GC)
		return SS_TASK_GC;
	if ((flags & SS_NAME_COMM_RANGE) && threads->has_comm)
		return SS_TASK_TRANSFER;
	/* a compiled region that runs is not compiling */
	if ((flags & SS_NAME_COMPILE) &&
	    strncmp(ss_strings_text(&trace->names, trace->slices.name[row]),
		    "Torch-Compiled Region", 21) != 0)
		return SS_TASK_COMPILE;
	return NO_KIND;
}

static bool find_points(struct threads *threads)
{
	const struct ss_trace *trace = threads->trace;
	struct ss_arena *scratch = &threads->build->scratch;
	uint32_t points = 0, tops = 0, track = 0;

	for (uint32_t row = 0; row < trace->device_from; row++) {
		points += kind_of(threads, row) != NO_KIND;
		tops += trace->slices.parent[row] == SS_NO_ROW;
	}
	threads->points = SS_ARENA_NEW(scratch, struct point, (size_t)points + 1);
	threads->tops = SS_ARENA_NEW(scratch, uint32_t, (size_t)tops + 1);
	threads->point_from = SS_ARENA_NEW(scratch, uint32_t, (size_t)trace->track_count + 1);
	threads->top_from = SS_ARENA_NEW(scratch, uint32_t, (size_t)trace->track_count + 1);
	if (!threads->points || !threads->tops || !threads->point_from || !threads->top_from)
		return false;
	for (uint32_t row = 0; row < trace->device_from; row++) {
		enum ss_task_kind kind = kind_of(threads, row);

		for (; track < trace->slices.track[row]; track++) {
			threads->point_from[track + 1] = threads->point_count;
			threads->top_from[track + 1] = threads->top_count;
		}
		if (kind != NO_KIND)
			threads->points[threads->point_count++] = (struct point){ row, kind };
		if (trace->slices.parent[row] == SS_NO_ROW)
			threads->tops[threads->top_count++] = row;
	}
	for (; track < trace->track_count; track++) {
		threads->point_from[track + 1] = threads->point_count;
		threads->top_from[track + 1] = threads->top_count;
	}
	return true;
}

/* --- one thread ---------------------------------------------------------------------- */

struct open_range {
	int64_t end_ns;
	enum ss_task_kind kind;
	uint32_t row;
};

struct walk {
	struct threads *threads;
	uint32_t track;
	int64_t now_ns;
	uint32_t last;     /* task */
	uint32_t next_row; /* that the work leads to */
	uint32_t border;   /* the next start or end of a step on the main thread */
	struct open_range open[DEPTH_MAX];
	uint32_t depth;
};

static uint32_t emit(struct walk *walk, enum ss_task_kind kind, uint32_t row, int64_t end_ns)
{
	struct ss_build *build = walk->threads->build;
	uint32_t task = ss_build_task(build, (struct ss_task){
						     .start_ns = walk->now_ns,
						     .own_ns = end_ns - walk->now_ns,
						     .row = row,
						     .track = walk->track,
						     .step = ss_build_step(build, walk->now_ns),
						     .kind = (uint8_t)kind,
						     .phase = row < build->phases->row_count
								      ? build->phases->phase[row]
								      : SS_PHASE_OTHER,
					     });

	if (walk->last != SS_NO_TASK)
		ss_build_edge(build, task,
			      (struct ss_edge){ .from = walk->last, .kind = SS_EDGE_THREAD });
	walk->last = task;
	walk->now_ns = end_ns;
	return task;
}

/* The next moment after now at which a step begins or ends on the main thread. */
static int64_t next_border(struct walk *walk)
{
	const struct ss_build *build = walk->threads->build;
	const struct ss_step *items = build->trace->steps.items;

	if (walk->track != build->main)
		return INT64_MAX;
	for (; walk->border < 2 * build->graph->step_count; walk->border++) {
		const struct ss_step *step = &items[build->step_items[walk->border / 2]];
		int64_t at_ns = walk->border % 2 ? step->host_end_ns : step->host_start_ns;

		if (at_ns > walk->now_ns)
			return at_ns;
	}
	return INT64_MAX;
}

/* The row whose work leads to the next point: the operator around it, or itself. */
static uint32_t row_of_work(const struct walk *walk)
{
	const struct ss_slices *slices = &walk->threads->trace->slices;
	uint32_t row = walk->next_row;

	return row != SS_NO_ROW && slices->parent[row] != SS_NO_ROW ? slices->parent[row] : row;
}

static void advance(struct walk *walk, int64_t until_ns)
{
	while (walk->now_ns < until_ns) {
		int64_t end_ns = until_ns, border_ns = next_border(walk);
		const struct open_range *open;

		while (walk->depth && walk->open[walk->depth - 1].end_ns <= walk->now_ns)
			walk->depth--;
		open = walk->depth ? &walk->open[walk->depth - 1] : NULL;
		if (open && open->end_ns < end_ns)
			end_ns = open->end_ns;
		if (border_ns < end_ns)
			end_ns = border_ns;
		emit(walk, open ? open->kind : SS_TASK_WORK, open ? open->row : row_of_work(walk),
		     end_ns);
	}
}

/* A call: its task, and its return where it may have waited. */
static void emit_call(struct walk *walk, const struct point *point, int64_t end_ns)
{
	struct ss_build *build = walk->threads->build;
	bool waits = point->kind != SS_TASK_LAUNCH || (build->calls[point->row] & SS_CALL_BLOCKS) ||
		     end_ns - walk->now_ns >= LONG_LAUNCH_NS;
	enum ss_task_kind kind = (build->calls[point->row] & SS_CALL_BLOCKS) ? SS_TASK_CALL
									     : point->kind;

	build->call_task[point->row] = emit(walk, kind, point->row, end_ns);
	if (waits)
		emit(walk, SS_TASK_WAIT, point->row, end_ns);
}

/* A collective on a thread. */
static void emit_collective(struct walk *walk, uint32_t row, int64_t end_ns)
{
	struct ss_graph *graph = walk->threads->build->graph;
	uint32_t arrive = emit(walk, SS_TASK_ARRIVE, row, walk->now_ns);

	emit(walk, SS_TASK_TRANSFER, row, end_ns);
	if (!ss_memory_reserve(graph->memory, (void **)&graph->comms, &graph->comm_capacity,
			       (size_t)graph->comm_count + 1, sizeof(*graph->comms))) {
		walk->threads->build->failed = true;
		return;
	}
	graph->comms[graph->comm_count++] = (struct ss_graph_comm){ row, arrive };
}

static void take(struct walk *walk, const struct point *point)
{
	const struct ss_slices *slices = &walk->threads->trace->slices;
	int64_t start_ns = slices->start_ns[point->row], end_ns = ss_slice_end(slices, point->row);

	if (end_ns <= walk->now_ns && start_ns < walk->now_ns) {
		/* in a call: what it launched was launched by that */
		walk->threads->build->call_task[point->row] = walk->last;
		return;
	}
	advance(walk, start_ns);
	if (ss_kind_is_call(slices->kind[point->row]))
		emit_call(walk, point, end_ns);
	else if (point->kind == SS_TASK_TRANSFER)
		emit_collective(walk, point->row, end_ns);
	else if (walk->depth < DEPTH_MAX)
		walk->open[walk->depth++] = (struct open_range){ end_ns, point->kind, point->row };
}

/* The points of a thread that start in [now, until), and the work between them. */
static uint32_t run(struct walk *walk, uint32_t at, int64_t until_ns)
{
	const struct threads *threads = walk->threads;
	uint32_t end = threads->point_from[walk->track + 1];

	for (; at < end && !threads->build->failed; at++) {
		uint32_t row = threads->points[at].row;

		if (threads->trace->slices.start_ns[row] >= until_ns)
			break;
		walk->next_row = row;
		take(walk, &threads->points[at]);
	}
	advance(walk, until_ns);
	return at;
}

/* --- other threads --------------------------------------------------------------------- */

static bool counts(const struct threads *threads, uint32_t track)
{
	const struct ss_trace *trace = threads->trace;

	if (trace->tracks[track].class != SS_TRACK_HOST || track == threads->build->main)
		return false;
	if (threads->point_from[track + 1] > threads->point_from[track])
		return true;
	return !trace->device_event_count && trace->tracks[track].has_ops;
}

/* The first row of the main thread that starts after the moment. */
static uint32_t main_row_after(const struct threads *threads, int64_t moment_ns)
{
	const struct ss_track *track = &threads->trace->tracks[threads->build->main];
	uint32_t low = track->first_row, high = low + track->row_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (threads->trace->slices.start_ns[middle] <= moment_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* True when a row of the main thread starts in between. */
static bool main_goes_on(const struct threads *threads, int64_t from_ns, int64_t to_ns)
{
	const struct ss_track *track;
	uint32_t row;

	if (threads->build->main == SS_NO_ROW || from_ns >= to_ns)
		return false;
	track = &threads->trace->tracks[threads->build->main];
	row = main_row_after(threads, from_ns);
	return row < track->first_row + track->row_count &&
	       threads->trace->slices.start_ns[row] < to_ns;
}

static void add_burst(struct threads *threads, struct burst burst)
{
	if (!ss_memory_reserve(threads->build->graph->memory, (void **)&threads->bursts,
			       &threads->burst_capacity, (size_t)threads->burst_count + 1,
			       sizeof(burst)))
		threads->build->failed = true;
	else
		threads->bursts[threads->burst_count++] = burst;
}

static void find_bursts(struct threads *threads, uint32_t track)
{
	const struct ss_slices *slices = &threads->trace->slices;
	struct burst burst = { .track = track, .join = SS_NO_TASK };
	bool any = false;

	for (uint32_t i = threads->top_from[track];
	     i < threads->top_from[track + 1] && !threads->build->failed; i++) {
		int64_t start_ns = slices->start_ns[threads->tops[i]];
		int64_t end_ns = ss_slice_end(slices, threads->tops[i]);

		if (any && main_goes_on(threads, burst.end_ns, start_ns)) {
			add_burst(threads, burst);
			any = false;
		}
		if (!any)
			burst.start_ns = start_ns;
		if (!any || end_ns > burst.end_ns)
			burst.end_ns = end_ns;
		any = true;
	}
	if (any)
		add_burst(threads, burst);
}

static void walk_bursts(struct threads *threads, uint32_t from)
{
	uint32_t track = threads->bursts[from].track, at = threads->point_from[track];

	for (uint32_t i = from; i < threads->burst_count && !threads->build->failed; i++) {
		struct burst *burst = &threads->bursts[i];
		struct walk walk = { .threads = threads,
				     .track = track,
				     .last = SS_NO_TASK,
				     .next_row = SS_NO_ROW,
				     .now_ns = burst->start_ns };

		burst->first = threads->build->graph->task_count;
		at = run(&walk, at, burst->end_ns);
		burst->last = walk.last;
	}
}

/* --- handing over ------------------------------------------------------------------------ */

static int by_start(const void *a, const void *b)
{
	const struct burst *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

/* Bursts in the order of time; those that the main thread waited for are joined. */
static bool find_joins(struct threads *threads)
{
	struct join *last = NULL;

	threads->joins = SS_ARENA_NEW(&threads->build->scratch, struct join,
				      (size_t)threads->burst_count + 1);
	if (!threads->joins)
		return false;
	if (threads->burst_count)
		qsort(threads->bursts, threads->burst_count, sizeof(*threads->bursts), by_start);
	for (uint32_t i = 0; i < threads->burst_count; i++) {
		struct burst *burst = &threads->bursts[i];

		if (threads->build->main == SS_NO_ROW || burst->last == SS_NO_TASK ||
		    burst->end_ns - burst->start_ns < HANDOVER_NS ||
		    main_goes_on(threads, burst->start_ns + HANDOVER_NS,
				 burst->end_ns - HANDOVER_NS))
			continue;
		if (!last || burst->start_ns >= last->end_ns) {
			last = &threads->joins[threads->join_count++];
			*last = (struct join){ burst->start_ns, burst->end_ns, SS_NO_TASK,
					       SS_NO_TASK };
		} else if (burst->end_ns > last->end_ns) {
			last->end_ns = burst->end_ns;
		}
		burst->join = threads->join_count - 1;
	}
	return true;
}

/* The end of what is recorded of a thread. */
static int64_t thread_end(const struct threads *threads, uint32_t track)
{
	int64_t end_ns = INT64_MIN;

	for (uint32_t i = threads->top_from[track]; i < threads->top_from[track + 1]; i++) {
		int64_t own_ns = ss_slice_end(&threads->trace->slices, threads->tops[i]);

		if (own_ns > end_ns)
			end_ns = own_ns;
	}
	return end_ns;
}

static void walk_main(struct threads *threads)
{
	uint32_t track = threads->build->main, at = threads->point_from[track];
	struct walk walk = {
		.threads = threads, .track = track, .last = SS_NO_TASK, .next_row = SS_NO_ROW
	};

	walk.now_ns = threads->trace->slices.start_ns[threads->tops[threads->top_from[track]]];
	for (uint32_t i = 0; i < threads->join_count && !threads->build->failed; i++) {
		struct join *join = &threads->joins[i];

		at = run(&walk, at, join->start_ns);
		join->before = walk.last;
		if (walk.now_ns < join->end_ns)
			walk.now_ns = join->end_ns;
		join->task = emit(&walk, SS_TASK_JOIN, walk.next_row, walk.now_ns);
	}
	run(&walk, at, thread_end(threads, track));
}

/* The task of the main thread at a moment; its tasks are the last ones. */
static uint32_t main_task_at(const struct threads *threads, uint32_t from, int64_t moment_ns)
{
	const struct ss_graph *graph = threads->build->graph;
	uint32_t low = from, high = graph->task_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (graph->tasks[middle].start_ns <= moment_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low > from ? low - 1 : SS_NO_TASK;
}

static void hand_over(struct threads *threads, uint32_t main_from)
{
	struct ss_build *build = threads->build;
	const struct ss_task *tasks = build->graph->tasks;

	for (uint32_t i = 0; i < threads->burst_count; i++) {
		const struct burst *burst = &threads->bursts[i];
		const struct join *join = burst->join == SS_NO_TASK ? NULL
								    : &threads->joins[burst->join];
		struct ss_edge edge = { .kind = SS_EDGE_HANDOVER, .from = SS_NO_TASK };

		if (burst->last == SS_NO_TASK)
			continue;
		if (join && join->before != SS_NO_TASK) {
			edge.from = join->before;
			edge.lag_ns = burst->start_ns - join->start_ns;
		} else if (build->main != SS_NO_ROW) {
			edge.from = main_task_at(threads, main_from, burst->start_ns);
			edge.from_start = true;
			if (edge.from != SS_NO_TASK)
				edge.lag_ns = burst->start_ns - tasks[edge.from].start_ns;
		}
		ss_build_edge(build, burst->first, edge);
		if (join)
			ss_build_edge(build, join->task,
				      (struct ss_edge){ .from = burst->last,
							.kind = SS_EDGE_HANDOVER,
							.lag_ns = join->end_ns - burst->end_ns });
	}
}

/* The main thread, or the one that calls the device most. */
static uint32_t main_of(const struct threads *threads)
{
	uint32_t best = threads->build->phases->main;

	if (best != SS_NO_ROW)
		return best;
	for (uint32_t i = 0; i < threads->trace->track_count; i++) {
		uint32_t count = threads->point_from[i + 1] - threads->point_from[i];

		if (threads->trace->tracks[i].class == SS_TRACK_HOST && count &&
		    (best == SS_NO_ROW ||
		     count > threads->point_from[best + 1] - threads->point_from[best]))
			best = i;
	}
	return best;
}

void ss_build_threads(struct ss_build *build)
{
	struct threads threads = { .build = build,
				   .trace = build->trace,
				   .has_comm = !build->trace->comm_kernel_count };
	uint32_t main_from;

	if (!find_points(&threads)) {
		build->failed = true;
		return;
	}
	build->main = main_of(&threads);
	for (uint32_t i = 0; i < build->trace->track_count && !build->failed; i++) {
		uint32_t from = threads.burst_count;

		if (!counts(&threads, i))
			continue;
		find_bursts(&threads, i);
		if (threads.burst_count > from)
			walk_bursts(&threads, from);
	}
	if (!build->failed && !find_joins(&threads))
		build->failed = true;
	main_from = build->graph->task_count;
	if (build->main != SS_NO_ROW && !build->failed)
		walk_main(&threads);
	if (!build->failed)
		hand_over(&threads, main_from);
	ss_memory_free(build->graph->memory, threads.bursts,
		       threads.burst_capacity * sizeof(*threads.bursts));
}
