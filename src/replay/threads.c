/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threads.c - threads as chains of tasks, and which thread hands over to which.
 *
 * The time between the rows with a meaning of their own (points in build.h) is work. The thread
 * that runs the steps is the main thread. Others work in bursts: autograd begins when the
 * main thread calls backward, and the main thread does nothing until autograd is done. So
 * a burst begins where the main thread is, and the main thread continues where the burst
 * ends. Collectives of jobs without devices run on threads, too: the main thread waited
 * for one if it did nothing before its end and continues right after it.
 */

#include "base/search.h"
#include "base/sort.h"
#include "replay/build.h"

/* Nested ranges with a meaning of their own; deeper ones belong to those around them. */
#define DEPTH_MAX 16

/* How long a thread may still run when it hands over, or already runs when it takes back. */
#define HANDOVER_NS 20000

/* How soon the main thread goes on after a collective it waited for (seen: 30 to 250 us)... */
#define RESUME_NS 300000
/* ...and how many times as long it must have been silent before. */
#define SILENT_TIMES 5

/* For how long a thread may have no core on a busy machine: some turns of the scheduler. */
#define CORELESS_NS 100000000

/* A launch that took as long as this waited for a place in the queue; launches need 5 to 20 us. */
#define LONG_LAUNCH_NS 50000

/* A stretch of another thread's work. */
struct thread_burst {
	uint32_t track;
	int64_t start_ns, end_ns;
	uint32_t first, last; /* its tasks */
	uint32_t before;      /* last task of the burst before on its track, or SS_NO_TASK */
	uint32_t join;        /* number of the join that it is part of, or SS_NO_TASK */
	bool is_comm;         /* collectives */
};

/* Bursts during which the main thread stood still. */
struct thread_join {
	int64_t start_ns, end_ns;
	uint32_t task; /* of the main thread */
};

struct threads {
	struct ss_build *build;
	const struct ss_trace *trace;
	struct ss_points points;
	struct thread_burst *bursts;
	uint32_t burst_count, burst_capacity;
	int64_t *splits; /* starts of bursts, in their order */
	uint32_t split_count;
	struct thread_join *joins;
	uint32_t join_count;
};

/* --- one thread ---------------------------------------------------------------------- */

struct open_range {
	int64_t end_ns;
	enum ss_task_kind kind;
	uint32_t row;
};

struct thread_walk {
	struct threads *threads;
	uint32_t track;
	int64_t now_ns;
	uint32_t last;                    /* task */
	uint32_t next_row;                /* that the work leads to */
	int64_t step_from_ns, step_to_ns; /* the range of the step that was found last */
	uint16_t step;
	uint32_t border; /* the next start or end of a step on the main thread */
	uint32_t split;  /* the next start of a burst */
	struct open_range open[DEPTH_MAX];
	uint32_t depth;
};

/* The step of the moment; most tasks are in that of the one before. */
static uint16_t walk_step(struct thread_walk *walk)
{
	const struct ss_build *build = walk->threads->build;
	const struct ss_step *step;

	if (walk->now_ns >= walk->step_from_ns && walk->now_ns < walk->step_to_ns)
		return walk->step;
	walk->step = ss_build_step(build, walk->now_ns);
	walk->step_from_ns = walk->step_to_ns = 0;
	if (walk->step != SS_NO_STEP) {
		step = &build->trace->steps.items[build->step_items[walk->step]];
		walk->step_from_ns = step->host_start_ns;
		walk->step_to_ns = step->host_end_ns;
	}
	return walk->step;
}

static uint32_t emit_task(struct thread_walk *walk, enum ss_task_kind kind, uint32_t row,
			  int64_t end_ns)
{
	struct ss_build *build = walk->threads->build;
	uint32_t task = ss_build_task(build, (struct ss_task){
						     .start_ns = walk->now_ns,
						     .own_ns = end_ns - walk->now_ns,
						     .row = row,
						     .track = walk->track,
						     .step = walk_step(walk),
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

/*
 * The next moment after now at which the main thread is cut: steps, and starts of bursts. Borders
 * 2 i and 2 i + 1 are the start and the end of step i.
 */
static int64_t next_main_cut(struct thread_walk *walk)
{
	const struct threads *threads = walk->threads;
	const struct ss_build *build = threads->build;
	const struct ss_step *items = build->trace->steps.items;
	int64_t border_ns = INT64_MAX;

	if (walk->track != build->main)
		return INT64_MAX;
	while (walk->split < threads->split_count && threads->splits[walk->split] <= walk->now_ns)
		walk->split++;
	if (walk->split < threads->split_count)
		border_ns = threads->splits[walk->split];
	for (; walk->border < 2 * build->graph->step_count; walk->border++) {
		const struct ss_step *step = &items[build->step_items[walk->border / 2]];
		int64_t at_ns = walk->border % 2 ? step->host_end_ns : step->host_start_ns;

		if (at_ns > walk->now_ns)
			return at_ns < border_ns ? at_ns : border_ns;
	}
	return border_ns;
}

/* The row whose work leads to the next point: the operator around it, or itself. */
static uint32_t row_of_next_work(const struct thread_walk *walk)
{
	const struct ss_slices *slices = &walk->threads->trace->slices;
	uint32_t row = walk->next_row;

	return row != SS_NO_ROW && slices->parent[row] != SS_NO_ROW ? slices->parent[row] : row;
}

/* Emits the thread's work up to the moment, cut at ranges, steps and starts of bursts. */
static void emit_work_until(struct thread_walk *walk, int64_t until_ns)
{
	struct ss_build *build = walk->threads->build;

	while (walk->now_ns < until_ns) {
		int64_t end_ns = until_ns, border_ns = next_main_cut(walk);
		const struct open_range *open;

		while (walk->depth && walk->open[walk->depth - 1].end_ns <= walk->now_ns)
			walk->depth--;
		open = walk->depth ? &walk->open[walk->depth - 1] : NULL;
		if (open && open->end_ns < end_ns)
			end_ns = open->end_ns;
		if (border_ns < end_ns)
			end_ns = border_ns;
		emit_task(walk, open ? open->kind : SS_TASK_WORK,
			  open ? open->row : row_of_next_work(walk), end_ns);
		if (open && end_ns == open->end_ns && ss_build_is_batch(build, open->row))
			build->call_task[open->row] = emit_task(walk, SS_TASK_JOIN, open->row,
								end_ns);
	}
}

/* A call: its task, and its return where it may have waited. */
static void emit_call_tasks(struct thread_walk *walk, const struct ss_point *point, int64_t end_ns)
{
	struct ss_build *build = walk->threads->build;
	bool waits = point->kind != SS_TASK_LAUNCH || (build->calls[point->row] & SS_CALL_BLOCKS) ||
		     end_ns - walk->now_ns >= LONG_LAUNCH_NS;
	enum ss_task_kind kind = (build->calls[point->row] & SS_CALL_BLOCKS) ? SS_TASK_CALL
									     : point->kind;

	build->call_task[point->row] = emit_task(walk, kind, point->row, end_ns);
	if (waits)
		emit_task(walk, SS_TASK_WAIT, point->row, end_ns);
}

/* A collective on a thread. */
static void emit_collective_tasks(struct thread_walk *walk, uint32_t row, int64_t end_ns)
{
	uint32_t arrive = emit_task(walk, SS_TASK_ARRIVE, row, walk->now_ns);

	emit_task(walk, SS_TASK_TRANSFER, row, end_ns);
	ss_build_comm(walk->threads->build, row, arrive);
}

static void walk_point(struct thread_walk *walk, const struct ss_point *point)
{
	const struct ss_slices *slices = &walk->threads->trace->slices;
	int64_t start_ns = slices->start_ns[point->row], end_ns = ss_slice_end(slices, point->row);

	if (end_ns <= walk->now_ns && start_ns < walk->now_ns) {
		/* inside a call: that call launched its work */
		walk->threads->build->call_task[point->row] = walk->last;
		return;
	}
	emit_work_until(walk, start_ns);
	if (ss_kind_is_call(slices->kind[point->row]))
		emit_call_tasks(walk, point, end_ns);
	else if (point->kind == SS_TASK_TRANSFER)
		emit_collective_tasks(walk, point->row, end_ns);
	else if (walk->depth < DEPTH_MAX)
		walk->open[walk->depth++] = (struct open_range){ end_ns, point->kind, point->row };
}

/* The points of a thread that start in [now, until), and the work between them. */
static uint32_t walk_thread(struct thread_walk *walk, uint32_t at, int64_t until_ns)
{
	const struct threads *threads = walk->threads;
	uint32_t end = threads->points.from[walk->track + 1];

	for (; at < end && !threads->build->failed; at++) {
		uint32_t row = threads->points.items[at].row;

		if (threads->trace->slices.start_ns[row] >= until_ns)
			break;
		walk->next_row = row;
		walk_point(walk, &threads->points.items[at]);
	}
	emit_work_until(walk, until_ns);
	return at;
}

/* --- other threads --------------------------------------------------------------------- */

static bool is_worker_thread(const struct threads *threads, uint32_t track)
{
	const struct ss_trace *trace = threads->trace;

	if (trace->tracks[track].class != SS_TRACK_HOST || track == threads->build->main)
		return false;
	if (threads->points.from[track + 1] > threads->points.from[track])
		return true;
	return !trace->device_event_count && trace->tracks[track].has_ops;
}

/* The first row of the main thread that starts after the moment. */
static uint32_t main_row_after(const struct threads *threads, int64_t moment_ns)
{
	return ss_build_next_row(threads->trace, threads->build->main, moment_ns);
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

static void add_burst(struct threads *threads, struct thread_burst burst)
{
	if (!ss_memory_reserve(threads->build->graph->memory, (void **)&threads->bursts,
			       &threads->burst_capacity, (size_t)threads->burst_count + 1,
			       sizeof(burst)))
		threads->build->failed = true;
	else
		threads->bursts[threads->burst_count++] = burst;
}

/* A burst ends when the main thread goes on, or with each collective. */
static void find_bursts(struct threads *threads, uint32_t track)
{
	const struct ss_slices *slices = &threads->trace->slices;
	struct thread_burst burst = { .track = track, .join = SS_NO_TASK };
	uint32_t point = threads->points.from[track];
	bool any = false;

	burst.is_comm = point < threads->points.from[track + 1] &&
			threads->points.items[point].kind == SS_TASK_TRANSFER;
	for (uint32_t i = threads->points.top_from[track];
	     i < threads->points.top_from[track + 1] && !threads->build->failed; i++) {
		int64_t start_ns = slices->start_ns[threads->points.tops[i]];
		int64_t end_ns = ss_slice_end(slices, threads->points.tops[i]);

		/* a thread that waits for several collectives waits for each of them */
		if (any && (burst.is_comm || main_goes_on(threads, burst.end_ns, start_ns))) {
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
	uint32_t track = threads->bursts[from].track, at = threads->points.from[track];

	for (uint32_t i = from; i < threads->burst_count && !threads->build->failed; i++) {
		struct thread_burst *burst = &threads->bursts[i];
		struct thread_walk walk = { .threads = threads,
					    .track = track,
					    .last = SS_NO_TASK,
					    .next_row = SS_NO_ROW,
					    .now_ns = burst->start_ns };

		burst->first = threads->build->graph->task_count;
		at = walk_thread(&walk, at, burst->end_ns);
		burst->last = walk.last;
		burst->before = i > from ? burst[-1].last : SS_NO_TASK;
	}
}

/* --- handing over ------------------------------------------------------------------------ */

SS_COMPARATOR(thread_burst_compare, struct thread_burst, SS_ASCENDING(end_ns) SS_ASCENDING(first))

/*
 * The library releases the waiting thread before it records the end of a collective; on a busy
 * machine that takes a while. Then the collective ends when the main thread goes on after a long
 * silence.
 */
static void end_burst_early(const struct threads *threads, struct thread_burst *burst)
{
	const struct ss_track *track = &threads->trace->tracks[threads->build->main];
	uint32_t row = main_row_after(threads, burst->end_ns - RESUME_NS);
	int64_t resume_ns = INT64_MAX, since_ns = burst->start_ns;

	if (!burst->is_comm)
		return;
	if (row < track->first_row + track->row_count) {
		resume_ns = threads->trace->slices.start_ns[row];
		since_ns = ss_build_silent_since(threads->trace, threads->build->main, resume_ns);
	}
	if (since_ns < burst->start_ns)
		since_ns = burst->start_ns;
	if (resume_ns <= burst->end_ns && resume_ns - since_ns >= SILENT_TIMES * RESUME_NS) {
		burst->end_ns = resume_ns - 1;
		return;
	}
	/*
	 * DDP ends backward when all its collectives have ended: then the thread of this one lost
	 * its core before it could record the end.
	 */
	since_ns = burst->end_ns - CORELESS_NS;
	if (since_ns < burst->start_ns)
		since_ns = burst->start_ns;
	if (ss_build_backward_resume(threads->trace, threads->build->main, since_ns, burst->end_ns,
				     SILENT_TIMES * RESUME_NS, &resume_ns))
		burst->end_ns = resume_ns - 1;
}

/* Since when the main thread waited for the end of the burst; INT64_MAX: it did not. */
static int64_t main_waits_since(const struct threads *threads, const struct thread_burst *burst)
{
	const struct ss_track *track = &threads->trace->tracks[threads->build->main];
	int64_t since_ns, resume_ns;
	uint32_t next;

	if (!burst->is_comm)
		return burst->end_ns - burst->start_ns < HANDOVER_NS ||
				       main_goes_on(threads, burst->start_ns + HANDOVER_NS,
						    burst->end_ns - HANDOVER_NS)
			       ? INT64_MAX
			       : burst->start_ns;
	next = main_row_after(threads, burst->end_ns);
	if (next == track->first_row + track->row_count)
		return INT64_MAX;
	resume_ns = threads->trace->slices.start_ns[next] - burst->end_ns;
	since_ns = ss_build_silent_since(threads->trace, threads->build->main, burst->end_ns);
	/* a collective that it queued may begin later: the thread waits for that, too */
	if (since_ns != INT64_MIN && burst->end_ns - since_ns >= HANDOVER_NS &&
	    ss_build_waits_for_reducer(threads->trace, threads->build->main, burst->end_ns))
		return since_ns;
	if (since_ns < burst->start_ns)
		since_ns = burst->start_ns;
	if (resume_ns > RESUME_NS || burst->end_ns - since_ns < HANDOVER_NS ||
	    burst->end_ns - since_ns < SILENT_TIMES * resume_ns)
		return INT64_MAX;
	return since_ns;
}

static void add_thread_join(struct threads *threads, struct thread_burst *burst, int64_t since_ns)
{
	struct thread_join *last = threads->join_count ? &threads->joins[threads->join_count - 1]
						       : NULL;

	if (!last || since_ns >= last->end_ns) {
		last = &threads->joins[threads->join_count++];
		*last = (struct thread_join){ since_ns, burst->end_ns, SS_NO_TASK };
	} else {
		/* one wait for several; those before it stay as they are */
		int64_t least_ns = threads->join_count > 1 ? last[-1].end_ns : INT64_MIN;

		if (since_ns < last->start_ns)
			last->start_ns = since_ns < least_ns ? least_ns : since_ns;
		last->end_ns = burst->end_ns;
	}
	burst->join = threads->join_count - 1;
}

/* Finds what the main thread waited for, and where bursts begin. */
static bool find_thread_joins(struct threads *threads)
{
	struct ss_arena *scratch = &threads->build->scratch;

	if (!SS_ALLOC(scratch, threads->joins, (size_t)threads->burst_count + 1) ||
	    !SS_ALLOC(scratch, threads->splits, (size_t)threads->burst_count + 1))
		return false;
	if (!threads->burst_count || threads->build->main == SS_NO_ROW)
		return true;
	for (uint32_t i = 0; i < threads->burst_count; i++)
		end_burst_early(threads, &threads->bursts[i]);
	SS_SORT(threads->bursts, threads->burst_count, thread_burst_compare);
	for (uint32_t i = 0; i < threads->burst_count; i++) {
		struct thread_burst *burst = &threads->bursts[i];
		int64_t since_ns;

		if (burst->last == SS_NO_TASK)
			continue;
		threads->splits[threads->split_count++] = burst->start_ns;
		since_ns = main_waits_since(threads, burst);
		if (since_ns != INT64_MAX)
			add_thread_join(threads, burst, since_ns);
	}
	SS_SORT(threads->splits, threads->split_count, ss_sort_compare_int64);
	return true;
}

/* When the recording of a thread ends. */
static int64_t thread_end(const struct threads *threads, uint32_t track)
{
	int64_t end_ns = INT64_MIN;

	for (uint32_t i = threads->points.top_from[track]; i < threads->points.top_from[track + 1];
	     i++) {
		int64_t own_ns = ss_slice_end(&threads->trace->slices, threads->points.tops[i]);

		if (own_ns > end_ns)
			end_ns = own_ns;
	}
	return end_ns;
}

/* The main thread, with a join wherever it waited for bursts. */
static void walk_main_thread(struct threads *threads)
{
	uint32_t track = threads->build->main, at = threads->points.from[track];
	struct thread_walk walk = {
		.threads = threads, .track = track, .last = SS_NO_TASK, .next_row = SS_NO_ROW
	};

	walk.now_ns = threads->trace->slices
			      .start_ns[threads->points.tops[threads->points.top_from[track]]];
	for (uint32_t i = 0; i < threads->join_count && !threads->build->failed; i++) {
		struct thread_join *join = &threads->joins[i];

		at = walk_thread(&walk, at, join->start_ns);
		if (walk.now_ns < join->end_ns)
			walk.now_ns = join->end_ns;
		join->task = emit_task(&walk, SS_TASK_JOIN, walk.next_row, walk.now_ns);
	}
	walk_thread(&walk, at, thread_end(threads, track));
}

/* The last task of the main thread that starts before the moment; its tasks are the last ones. */
static uint32_t main_task_before(const struct threads *threads, uint32_t from, int64_t moment_ns)
{
	const struct ss_graph *graph = threads->build->graph;
	uint32_t low = from, high = graph->task_count;

	SS_SEARCH(low, high, at, graph->tasks[at].start_ns < moment_ns);
	return low > from ? low - 1 : SS_NO_TASK;
}

/*
 * Connects the begin of a burst with the main thread. A collective that begins when the one before
 * it on its thread ends, or soon after while the main thread waits, was queued: the main thread had
 * launched it with its last work.
 */
static void add_burst_begin(struct threads *threads, const struct thread_burst *burst,
			    uint32_t main_from)
{
	const struct ss_task *tasks = threads->build->graph->tasks;
	uint32_t from = main_task_before(threads, main_from, burst->start_ns);
	int64_t lag_ns = from == SS_NO_TASK ? 0 : burst->start_ns - ss_task_end(&tasks[from]);

	if (burst->is_comm && burst->before != SS_NO_TASK) {
		int64_t gap_ns = burst->start_ns - ss_task_end(&tasks[burst->before]);
		bool is_queued = gap_ns < (lag_ns > 0 ? RESUME_NS : HANDOVER_NS);

		ss_build_edge(threads->build, burst->first,
			      (struct ss_edge){ burst->before, SS_EDGE_THREAD, false,
						is_queued ? gap_ns : 0 });
		if (is_queued && lag_ns > 0)
			lag_ns = 0;
	}
	if (from != SS_NO_TASK)
		ss_build_edge(threads->build, burst->first,
			      (struct ss_edge){ from, SS_EDGE_HANDOVER, false, lag_ns });
}

/* A thread that waits for several collectives goes on after the last: earlier ones delay nobody. */
static int64_t resume_lag(const struct threads *threads, const struct thread_burst *burst)
{
	const struct ss_task *last = &threads->build->graph->tasks[burst->last];
	int64_t lag_ns = threads->joins[burst->join].end_ns - ss_task_end(last);

	return burst->is_comm && lag_ns > 0 ? 0 : lag_ns;
}

static void add_handovers(struct threads *threads, uint32_t main_from)
{
	struct ss_build *build = threads->build;

	for (uint32_t i = 0; i < threads->burst_count && build->main != SS_NO_ROW; i++) {
		const struct thread_burst *burst = &threads->bursts[i];

		if (burst->last == SS_NO_TASK)
			continue;
		add_burst_begin(threads, burst, main_from);
		if (burst->join != SS_NO_TASK)
			ss_build_edge(build, threads->joins[burst->join].task,
				      (struct ss_edge){ .from = burst->last,
							.kind = SS_EDGE_HANDOVER,
							.lag_ns = resume_lag(threads, burst) });
	}
}

/* The main thread, or the one that calls the device most. */
static uint32_t find_main_thread(const struct threads *threads)
{
	uint32_t best = threads->build->phases->main;

	if (best != SS_NO_ROW)
		return best;
	for (uint32_t i = 0; i < threads->trace->track_count; i++) {
		uint32_t count = threads->points.from[i + 1] - threads->points.from[i];

		if (threads->trace->tracks[i].class == SS_TRACK_HOST && count &&
		    (best == SS_NO_ROW ||
		     count > threads->points.from[best + 1] - threads->points.from[best]))
			best = i;
	}
	return best;
}

void ss_build_threads(struct ss_build *build)
{
	struct threads threads = { .build = build, .trace = build->trace };
	uint32_t main_from;

	if (!ss_build_find_points(&threads.points, build)) {
		build->failed = true;
		return;
	}
	build->main = find_main_thread(&threads);
	for (uint32_t i = 0; i < build->trace->track_count && !build->failed; i++) {
		uint32_t from = threads.burst_count;

		if (!is_worker_thread(&threads, i))
			continue;
		find_bursts(&threads, i);
		if (threads.burst_count > from)
			walk_bursts(&threads, from);
	}
	if (!build->failed && !find_thread_joins(&threads))
		build->failed = true;
	main_from = build->graph->task_count;
	if (build->main != SS_NO_ROW && !build->failed)
		walk_main_thread(&threads);
	if (!build->failed)
		add_handovers(&threads, main_from);
	SS_FREE(build->graph->memory, threads.bursts, threads.burst_capacity);
}
