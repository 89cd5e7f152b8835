/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launches.c - view: kernel launches: what the calls cost, how long work waits for its
 * start, and whether the device had to wait for the host.
 *
 * A call and everything it starts on the device counts as one piece of work (queue.h), so
 * a graph launch counts once. Figures cover the whole file; queue depths cover the time
 * from the first counted step to the last.
 */
#include <string.h>

#include "analyze/host/ops.h"
#include "analyze/time/queue.h"
#include "analyze/facts.h"
#include "analyze/time/roles.h"
#include "base/sort.h"
#include "view/view.h"
#include "analyze/time/moment.h"
#include "base/median.h"

/* What a row is about, in the order of the view's groups. */
enum launch_group {
	LAUNCH_CALL,
	LAUNCH_STREAM,
	LAUNCH_STEP,
	LAUNCH_THREAD,
	LAUNCH_OP,
	LAUNCH_GRAPH,
};

struct launch_key {
	int64_t value; /* track, step or graph; -1: none */
	uint32_t name; /* of the call or the operator; 0: none */
	uint32_t zero;
};

struct launch_count {
	uint32_t id;       /* of its key */
	uint32_t delay_at; /* index while delays are collected */
	int64_t calls, call_ns, call_max_ns;
	int64_t works, events, device_ns; /* of calls that started work */
	int64_t shorter, late;            /* works */
	int64_t delay_median_ns, delay_max_ns;
	struct ss_launch_queue queue;
};

struct launch_counts {
	const struct ss_trace *trace;
	struct ss_memory *memory;
	enum launch_group group;
	struct ss_cover steps;
	struct ss_interval span; /* from the first step to the last */
	struct ss_launched works;
	const struct ss_ops *ops; /* NULL except for LAUNCH_OP */
	struct ss_records keys;
	struct launch_count *items; /* per key, in the order of their first appearance */
	uint32_t item_capacity;
	/* per work */
	uint32_t *work_keys;
	int64_t *graphs;
	bool has_calls; /* launches are recorded */
};

/*
 * One pass over the calls, then delays are sorted and queues are
 * replayed.
 */

#define LAUNCHING (SS_NAME_LAUNCH | SS_NAME_GRAPH_LAUNCH | SS_NAME_COPY_CALL)

static const struct ss_launched_work *launch_work(const struct launch_counts *counts, uint32_t row)
{
	uint32_t work = counts->works.of_call[row];

	return work ? &counts->works.items[work - 1] : NULL;
}

/* False: the group does not include this call. */
static bool launch_read_key(const struct launch_counts *counts, uint32_t row,
			    struct launch_key *key)
{
	const struct ss_slices *slices = &counts->trace->slices;
	const struct ss_launched_work *work = launch_work(counts, row);
	uint32_t owner;

	*key = (struct launch_key){ .value = -1 };
	switch (counts->group) {
	case LAUNCH_CALL:
		key->name = slices->name[row];
		return true;
	case LAUNCH_STREAM:
		key->value = work ? slices->track[work->first] : 0;
		return work;
	case LAUNCH_STEP:
		key->value = ss_step_at(counts->trace, slices->start_ns[row]);
		return key->value != SS_NO_ROW;
	case LAUNCH_THREAD:
		key->value = slices->track[row];
		return true;
	case LAUNCH_OP:
		owner = counts->ops->owner[row];
		key->name = owner == SS_NO_ROW ? 0 : slices->name[owner];
		return true;
	case LAUNCH_GRAPH:
		key->name = slices->name[row];
		if (work)
			key->value = counts->graphs[work - counts->works.items];
		return ss_slice_flags(counts->trace, row) & SS_NAME_GRAPH_LAUNCH;
	}
	return false;
}

/* The count of a key; NULL: no memory. */
static struct launch_count *launch_count_of(struct launch_counts *counts,
					    const struct launch_key *key)
{
	uint32_t known = counts->keys.count, id = ss_records_add(&counts->keys, key);

	if (id == SS_NO_ID || !SS_GROW(counts->memory, counts->items, counts->item_capacity, id))
		return NULL;
	if (id == known)
		counts->items[id] = (struct launch_count){ .id = id };
	return &counts->items[id];
}

/* Adds a call, and the work it started, to the count of its key; false: no memory. */
static bool launch_count_call(struct launch_counts *counts, uint32_t row)
{
	int64_t dur_ns = counts->trace->slices.dur_ns[row];
	const struct ss_launched_work *work = launch_work(counts, row);
	struct launch_count *count;
	struct launch_key key;

	if (!launch_read_key(counts, row, &key))
		return true;
	count = launch_count_of(counts, &key);
	if (!count)
		return false;
	count->calls++;
	count->call_ns = ss_ns_sum(count->call_ns, dur_ns);
	if (dur_ns > count->call_max_ns)
		count->call_max_ns = dur_ns;
	if (!work)
		return true;
	counts->work_keys[work - counts->works.items] = count->id;
	count->works++;
	count->events += work->events;
	count->device_ns = ss_ns_sum(count->device_ns, work->device_ns);
	count->shorter += work->device_ns < dur_ns;
	count->late += work->late;
	return true;
}

/* By its name, or because it started work. */
static bool is_launching_call(const struct launch_counts *counts, uint32_t row)
{
	const struct ss_trace *trace = counts->trace;

	return counts->works.of_call[row] || (ss_kind_is_call(trace->slices.kind[row]) &&
					      (ss_slice_flags(trace, row) & LAUNCHING));
}

static bool launch_count_calls(struct launch_counts *counts)
{
	const struct ss_trace *trace = counts->trace;

	for (uint32_t row = 0; row < counts->works.row_count && !counts->has_calls; row++)
		counts->has_calls = is_launching_call(counts, row);
	/* each step has a row, in order, unless launches are not recorded */
	for (uint32_t i = 0; counts->group == LAUNCH_STEP && i < trace->steps.count; i++) {
		struct launch_key key = { .value = i };

		if (counts->has_calls && !trace->steps.items[i].dropped &&
		    !launch_count_of(counts, &key))
			return false;
	}
	for (uint32_t row = 0; row < counts->works.row_count; row++)
		if (is_launching_call(counts, row) && !launch_count_call(counts, row))
			return false;
	return true;
}

/* --- delays and queues ------------------------------------------------------------ */

/* From the end of the call to the start of its work, at least 0. */
static int64_t launch_delay_ns(const struct ss_trace *trace, const struct ss_launched_work *work)
{
	int64_t delay_ns = trace->slices.start_ns[work->first] -
			   ss_slice_end(&trace->slices, work->call);

	return delay_ns > 0 ? delay_ns : 0;
}

/* Collects the delays of each key side by side, for their medians. */
static bool launch_find_delays(struct launch_counts *counts)
{
	const struct ss_launched *works = &counts->works;
	struct ss_memory *memory = counts->memory;
	size_t bytes = ((size_t)works->count + 1) * sizeof(int64_t);
	int64_t *delays = ss_memory_resize(memory, NULL, 0, bytes);
	uint32_t at = 0;

	if (!delays)
		return false;
	for (uint32_t i = 0; i < counts->keys.count; i++) {
		counts->items[i].delay_at = at;
		at += (uint32_t)counts->items[i].works;
	}
	for (uint32_t i = 0; i < works->count; i++)
		if (counts->work_keys[i] != SS_NO_ID)
			delays[counts->items[counts->work_keys[i]].delay_at++] =
				launch_delay_ns(counts->trace, &works->items[i]);
	for (uint32_t i = 0; i < counts->keys.count; i++) {
		struct launch_count *count = &counts->items[i];
		size_t number = (size_t)count->works;
		int64_t *own = delays + count->delay_at - number;

		if (!number)
			continue;
		count->delay_median_ns = ss_median(own, number);
		for (size_t k = 0; k < number; k++)
			if (own[k] > count->delay_max_ns)
				count->delay_max_ns = own[k];
	}
	ss_memory_free(memory, delays, bytes);
	return true;
}

/* How long the step of a row of LAUNCH_STEP is. */
static int64_t launch_step_ns(const struct launch_counts *counts, const struct launch_count *count)
{
	const struct launch_key *key = ss_records_at(&counts->keys, count->id);
	const struct ss_step *step = &counts->trace->steps.items[key->value];

	return step->end_ns - step->start_ns;
}

/* Queues by step are those of the steps; by anything else, those of its own work. */
static bool launch_find_queues(struct launch_counts *counts, struct ss_arena *scratch)
{
	bool by_step = counts->group == LAUNCH_STEP;
	uint32_t count = by_step ? counts->steps.count : counts->keys.count, at = 0;
	struct ss_launch_queue *queues;

	if (!SS_ALLOC(scratch, queues, (size_t)count + 1))
		return false;
	if (by_step)
		ss_launch_queues_in(&counts->works, &counts->steps, queues);
	else
		ss_launch_queues_of(&counts->works, counts->work_keys, counts->span, queues);
	/* steps without duration are not among the windows */
	for (uint32_t i = 0; i < counts->keys.count; i++)
		if (!by_step || launch_step_ns(counts, &counts->items[i]) > 0)
			counts->items[i].queue = queues[at++];
	return true;
}

/* The recorded number of each graph; -1: none. */
static void launch_find_graphs(struct launch_counts *counts)
{
	const struct ss_trace *trace = counts->trace;

	for (uint32_t i = 0; i < counts->works.count; i++)
		counts->graphs[i] = -1;
	for (uint32_t row = trace->device_from; row < trace->device_to; row++) {
		uint32_t call = ss_slice_launch(&trace->slices, row), work;
		const struct ss_kernel_args *args;

		if (!ss_kind_is_kernel(trace->slices.kind[row]) ||
		    call >= counts->works.row_count || trace->slices.args[row] == SS_NO_ARGS)
			continue;
		work = counts->works.of_call[call] - 1;
		args = ss_records_at(&trace->kernel_args, trace->slices.args[row]);
		if (counts->graphs[work] < 0)
			counts->graphs[work] = args->graph_id;
	}
}

/* Everything that counting needs: steps, pieces of work, and a key for each of them. */
static enum ss_status launch_counts_prepare(struct launch_counts *counts, struct ss_arena *arena,
					    struct ss_error *err)
{
	size_t count;

	if (!ss_steps_cover(counts->trace, counts->memory, &counts->steps))
		return ss_fail_memory(err, "the launches");
	if (counts->steps.count) {
		counts->span.start_ns = counts->steps.items[0].start_ns;
		counts->span.end_ns = counts->steps.items[counts->steps.count - 1].end_ns;
	}
	SS_TRY(ss_launched_init(&counts->works, counts->trace, arena->memory, err));
	count = (size_t)counts->works.count + 1;
	if (!SS_ALLOC(arena, counts->work_keys, count) ||
	    !ss_records_init(&counts->keys, arena->memory, sizeof(struct launch_key)))
		return ss_fail_memory(err, "the launches");
	memset(counts->work_keys, 0xff, count * sizeof(*counts->work_keys)); /* SS_NO_ID */
	if (counts->group != LAUNCH_GRAPH)
		return SS_OK;
	if (!SS_ALLOC(arena, counts->graphs, count))
		return ss_fail_memory(err, "the launches");
	launch_find_graphs(counts);
	return SS_OK;
}

static void launch_counts_release(struct launch_counts *counts)
{
	if (!counts->memory)
		return;
	SS_FREE(counts->memory, counts->items, counts->item_capacity);
	ss_records_release(&counts->keys);
	ss_launched_release(&counts->works);
	ss_cover_release(&counts->steps);
	*counts = (struct launch_counts){ 0 };
}

/* `scratch` must live as long as the counts. LAUNCH_OP needs `ops`. */
static enum ss_status launch_counts_init(struct launch_counts *counts, const struct ss_trace *trace,
					 enum launch_group group, const struct ss_ops *ops,
					 struct ss_arena *scratch, struct ss_error *err)
{
	enum ss_status status;

	*counts = (struct launch_counts){
		.trace = trace, .memory = scratch->memory, .group = group, .ops = ops
	};
	status = launch_counts_prepare(counts, scratch, err);
	if (status == SS_OK && !(launch_count_calls(counts) && launch_find_delays(counts) &&
				 launch_find_queues(counts, scratch)))
		status = ss_fail_memory(err, "the launches");
	if (status != SS_OK)
		launch_counts_release(counts);
	return status;
}

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "step", SS_COLUMN_ID, "number of the step in the file, from 0 (group step)", 0 },
	{ "device", SS_COLUMN_ID, "number of the device (group stream)", SS_COLUMN_CONTEXT },
	{ "stream", SS_COLUMN_ID, "number of the stream (group stream)", 0 },
	{ "thread", SS_COLUMN_TEXT, "thread that made the launches (group thread)", 0 },
	{ "op", SS_COLUMN_TEXT, "innermost operator around the call (group op)", SS_COLUMN_SLICES },
	{ "graph", SS_COLUMN_ID, "number of the CUDA graph, where recorded (group graph)", 0 },
	{ "call", SS_COLUMN_TEXT, "the launch call", SS_COLUMN_SLICES },
	{ "calls", SS_COLUMN_COUNT, "number of calls, including those that started nothing",
	  SS_COLUMN_FILLED },
	{ "nodes", SS_COLUMN_NUMBER, "device events per graph launch (group graph)", 0 },
	{ "device_events", SS_COLUMN_COUNT, "kernels, copies and memsets that the calls started",
	  SS_COLUMN_DETAIL },
	{ "call_ns", SS_COLUMN_NS, "time the host spent in these calls",
	  SS_COLUMN_DETAIL | SS_COLUMN_FILLED },
	{ "call_mean_ns", SS_COLUMN_NS, "mean duration of a call", 0 },
	{ "call_max_ns", SS_COLUMN_NS, "duration of the longest call", SS_COLUMN_DETAIL },
	{ "device_ns", SS_COLUMN_NS, "total duration of the work they started (group graph)", 0 },
	{ "delay_median_ns", SS_COLUMN_NS,
	  "from the end of the call to the start of its work, at least 0", 0 },
	{ "delay_max_ns", SS_COLUMN_NS, "longest delay", SS_COLUMN_DETAIL },
	{ "short_percent", SS_COLUMN_PERCENT,
	  "share of the calls with work that ran for less time than the call took", 0 },
	{ "late_percent", SS_COLUMN_PERCENT,
	  "share of the calls with work that came after the device had run out of work", 0 },
	{ "queue_mean", SS_COLUMN_NUMBER,
	  "queued work (launched, not started), mean over the time of the steps", 0 },
	{ "queue_max", SS_COLUMN_COUNT, "queued work (launched, not started), maximum",
	  SS_COLUMN_DETAIL },
};

/* The most time in calls first, then in order of first appearance. */
SS_COMPARATOR(launch_compare_time, struct launch_count, SS_DESCENDING(call_ns) SS_ASCENDING(id))

static const char *launches_thread_name(struct ss_table *out, const struct ss_trace *trace,
					int64_t number)
{
	const struct ss_track *track = &trace->tracks[number];

	if (track->name)
		return ss_strings_text(&trace->texts, track->name);
	if (track->tid_text)
		return ss_strings_text(&trace->texts, track->tid_text);
	return ss_table_print(out, "%lld", (long long)track->tid);
}

/* The columns that say what the row is about. */
static void launches_add_key(const struct launch_counts *counts, struct ss_table *out,
			     const struct launch_key *key)
{
	const struct ss_trace *trace = counts->trace;
	const struct ss_track *stream = NULL;
	enum launch_group group = counts->group;
	const char *name = ss_strings_text(&trace->names, key->name);

	if (group == LAUNCH_STREAM)
		stream = &trace->tracks[key->value];
	ss_row_int_known(out, group == LAUNCH_STEP ? key->value : -1);
	if (stream) {
		ss_row_int(out, stream->pid);
		ss_row_int(out, stream->tid);
	} else {
		ss_row_null(out);
		ss_row_null(out);
	}
	ss_row_text(out,
		    group == LAUNCH_THREAD ? launches_thread_name(out, trace, key->value) : NULL);
	ss_row_text(out, group == LAUNCH_OP ? name : NULL);
	ss_row_int_known(out, group == LAUNCH_GRAPH ? key->value : -1);
	ss_row_text(out, group == LAUNCH_CALL || group == LAUNCH_GRAPH ? name : NULL);
}

static void launches_add_row(const struct launch_counts *counts, struct ss_table *out,
			     const struct launch_count *count)
{
	double span_ns = (double)(counts->span.end_ns - counts->span.start_ns);
	bool graph = counts->group == LAUNCH_GRAPH, called = count->calls, started = count->works;
	double mean_ns = called ? (double)count->call_ns / (double)count->calls : -1;

	if (counts->group == LAUNCH_STEP)
		span_ns = (double)launch_step_ns(counts, count);
	ss_row_begin(out);
	launches_add_key(counts, out, ss_records_at(&counts->keys, count->id));
	ss_row_int(out, count->calls);
	if (graph)
		ss_row_rate(out, (double)count->events, (double)count->works);
	else
		ss_row_null(out);
	ss_row_int_known(out, counts->trace->has_launches ? (int64_t)count->events : -1);
	ss_row_int(out, count->call_ns);
	ss_row_int_known(out, called ? (int64_t)(mean_ns + 0.5) : -1);
	ss_row_int_known(out, called ? count->call_max_ns : -1);
	ss_row_int_known(out, graph && started ? count->device_ns : -1);
	ss_row_int_known(out, started ? count->delay_median_ns : -1);
	ss_row_int_known(out, started ? count->delay_max_ns : -1);
	ss_row_share(out, (double)count->shorter, (double)count->works);
	ss_row_share(out, (double)count->late, (double)count->works);
	if (counts->works.count && counts->trace->has_launches &&
	    (started || counts->group == LAUNCH_STEP) && span_ns > 0) {
		ss_row_rate(out, count->queue.area, span_ns);
		ss_row_int(out, count->queue.max);
	} else {
		ss_row_null(out);
		ss_row_null(out);
	}
	ss_row_end(out);
}

static void launches_add_rows(struct launch_counts *counts, struct ss_table *out)
{
	if (counts->keys.count && counts->group != LAUNCH_STEP)
		SS_SORT(counts->items, counts->keys.count, launch_compare_time);
	for (uint32_t i = 0; i < counts->keys.count; i++)
		launches_add_row(counts, out, &counts->items[i]);
}

/* --- notes ---------------------------------------------------------------------------- */

/* A note: how long devices waited for launches, and how often the queue was empty. */
static enum ss_status launches_add_summary(const struct launch_counts *counts,
					   struct ss_facts *facts, struct ss_table *out,
					   struct ss_error *err)
{
	const struct ss_launched *works = &counts->works;
	double bound_ns = 0, steps_ns = (double)ss_cover_length(&counts->steps), empty_ns = 0;
	int64_t late = 0, known = 0;
	const struct ss_idle *idle;
	struct ss_launch_queue *queues;

	for (uint32_t i = 0; i < works->count; i++) {
		known += works->items[i].call != SS_NO_ROW;
		late += works->items[i].call != SS_NO_ROW && works->items[i].late;
	}
	if (!known || !(steps_ns > 0))
		return SS_OK;
	SS_TRY(ss_facts_idle(facts, &idle, err));
	for (uint32_t i = 0; i < idle->piece_count; i++)
		if (idle->pieces[i].cause == SS_IDLE_LAUNCH)
			bound_ns += (double)idle->pieces[i].ns;
	if (!SS_ALLOC(out->arena, queues, counts->steps.count))
		return ss_fail_memory(err, "the launches");
	ss_launch_queues_in(works, &counts->steps, queues);
	for (uint32_t i = 0; i < counts->steps.count; i++)
		empty_ns += (double)queues[i].empty_ns;
	ss_table_note(out,
		      "%saunch-bound idle time is %.1f %% of the step time; the queue was empty "
		      "for %.1f %% of it, and %lld of %lld launches came after the device had run "
		      "out of work.",
		      out->rank < 0 ? "L"
				    : ss_table_print(out, "Rank %lld: l", (long long)out->rank),
		      100 * bound_ns / (steps_ns * idle->device_count), 100 * empty_ns / steps_ns,
		      (long long)late, (long long)known);
	return SS_OK;
}

static void launches_note_missing(const struct launch_counts *counts, struct ss_table *out)
{
	if (counts->has_calls && !counts->works.count)
		ss_note_missing(out, SS_MISSING_DEVICE);
	if (!counts->has_calls && counts->works.count)
		ss_table_note(out, "Runtime calls are not recorded: the file has GPU work, but "
				   "not the launches.");
}

static enum ss_status launches_run(const struct ss_subject *subject, struct ss_table *out,
				   struct ss_error *err)
{
	enum launch_group group = (enum launch_group)subject->group;
	struct launch_counts counts;
	const struct ss_ops *ops = NULL;
	enum ss_status status;

	if (group == LAUNCH_OP)
		SS_TRY(ss_facts_ops(subject->facts, &ops, err));
	SS_TRY(launch_counts_init(&counts, subject->trace, group, ops, out->arena, err));
	launches_add_rows(&counts, out);
	launches_note_missing(&counts, out);
	status = launches_add_summary(&counts, subject->facts, out, err);
	launch_counts_release(&counts);
	return status;
}

const struct ss_view ss_view_launches = {
	.name = "launches",
	.summary = "Kernel launches: cost, delays, queue depth, late launches",
	.empty = "No launches: the file has no runtime calls that start work (group graph: no "
		 "graph launches).",
	SS_TABLE_COLUMNS(columns),
	.sums = "calls device_events call_ns device_ns",
	.basis = SS_BASIS_FILE,
	.bases = { [2] = SS_BASIS_STEP },
	.groups = { "call", "stream", "step", "thread", "op", "graph" },
	.order = { "call_ns" },
	.own_order = 1u << LAUNCH_STEP,
	.of_device = true,
	.run = launches_run,
};
