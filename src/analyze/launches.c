/*
 * launches.c - view: how launching goes: what calls cost, how long work waits for
 * its start, and whether the device had to wait for the host.
 *
 * A call and all that it started on the device is one work (queue.h), so a graph
 * launch counts once. Figures are of the whole file; queues are of the time from
 * the first step that counts to the last.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/idle.h"
#include "analyze/missing.h"
#include "analyze/ops.h"
#include "analyze/queue.h"
#include "analyze/roles.h"
#include "analyze/view.h"

enum group { BY_CALL, BY_STREAM, BY_STEP, BY_THREAD, BY_OP, BY_GRAPH };

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "step", SS_COLUMN_ID, "number of the step in the file, from 0 (group step)", 0 },
	{ "device", SS_COLUMN_ID, "number of the device (group stream)", SS_COLUMN_CONTEXT },
	{ "stream", SS_COLUMN_ID, "number of the stream (group stream)", 0 },
	{ "thread", SS_COLUMN_TEXT, "thread that launches (group thread)", 0 },
	{ "op", SS_COLUMN_TEXT, "the innermost operator around the call (group op)", 0 },
	{ "graph", SS_COLUMN_ID, "number of the graph, where recorded (group graph)", 0 },
	{ "call", SS_COLUMN_TEXT, "the call that launches", 0 },
	{ "calls", SS_COLUMN_COUNT, "such calls, also those that started nothing", 0 },
	{ "nodes", SS_COLUMN_NUMBER, "device events for each launch (group graph)", 0 },
	{ "device_events", SS_COLUMN_COUNT, "kernels, copies and memsets that they started",
	  SS_COLUMN_DETAIL },
	{ "call_ns", SS_COLUMN_NS, "time of the host in these calls", SS_COLUMN_DETAIL },
	{ "call_mean_ns", SS_COLUMN_NS, "mean duration of a call", 0 },
	{ "call_max_ns", SS_COLUMN_NS, "longest call", SS_COLUMN_DETAIL },
	{ "device_ns", SS_COLUMN_NS, "sum of the durations of what they started (group graph)", 0 },
	{ "delay_median_ns", SS_COLUMN_NS,
	  "from the call's end to the start of its work, at least 0", 0 },
	{ "delay_max_ns", SS_COLUMN_NS, "the longest such delay", SS_COLUMN_DETAIL },
	{ "short_percent", SS_COLUMN_PERCENT,
	  "of the calls that started something: it ran shorter than the call", 0 },
	{ "late_percent", SS_COLUMN_PERCENT,
	  "of the calls that started something: the device had nothing to run and nothing queued",
	  0 },
	{ "queue_mean", SS_COLUMN_NUMBER,
	  "launched and not started, mean over the time of the steps", 0 },
	{ "queue_max", SS_COLUMN_COUNT, "launched and not started, at most", SS_COLUMN_DETAIL },
};

/* What a row is about. */
struct key {
	int64_t value; /* track, step or graph; -1: none */
	uint32_t name; /* of the call or the operator */
	uint32_t zero;
};

struct tally {
	uint32_t id; /* of its key */
	uint32_t delay_at;
	int64_t calls, call_ns, call_max_ns, works, events, device_ns, shorter, late;
	int64_t delay_median_ns, delay_max_ns;
	struct ss_queue queue;
};

struct counting {
	const struct ss_trace *trace;
	struct ss_table *out;
	enum group group;
	struct ss_works works;
	struct ss_ops ops; /* only of BY_OP */
	struct ss_records keys;
	struct tally *tallies; /* per key */
	uint32_t tally_capacity;
	/* per work */
	uint32_t *work_keys;
	int64_t *graphs;
	bool has_calls;
};

/* The sum, at most what fits: times come from files. */
static int64_t sum(int64_t a, int64_t b)
{
	return a > INT64_MAX - b ? INT64_MAX : a + b;
}

#define LAUNCHING (SS_NAME_LAUNCH | SS_NAME_GRAPH_LAUNCH | SS_NAME_COPY_CALL)

static const struct ss_work *work_of(const struct counting *counting, uint32_t row)
{
	uint32_t work = counting->works.of_call[row];

	return work ? &counting->works.items[work - 1] : NULL;
}

/* False: the group is not about this call. */
static bool key_of(const struct counting *counting, uint32_t row, struct key *key)
{
	const struct ss_slices *slices = &counting->trace->slices;
	const struct ss_work *work = work_of(counting, row);
	uint32_t owner;

	*key = (struct key){ .value = -1 };
	switch (counting->group) {
	case BY_CALL:
		key->name = slices->name[row];
		return true;
	case BY_STREAM:
		key->value = work ? slices->track[work->first] : 0;
		return work;
	case BY_STEP:
		key->value = ss_step_at(counting->trace, slices->start_ns[row]);
		return key->value != SS_NO_ROW;
	case BY_THREAD:
		key->value = slices->track[row];
		return true;
	case BY_OP:
		owner = counting->ops.owner[row];
		key->name = owner == SS_NO_ROW ? 0 : slices->name[owner];
		return true;
	case BY_GRAPH:
		key->name = slices->name[row];
		if (work)
			key->value = counting->graphs[work - counting->works.items];
		return ss_slice_flags(counting->trace, row) & SS_NAME_GRAPH_LAUNCH;
	}
	return false;
}

/* The tally of a key; NULL: no memory. */
static struct tally *tally_of(struct counting *counting, const struct key *key)
{
	uint32_t known = counting->keys.count, id = ss_records_add(&counting->keys, key);

	if (id == SS_NO_ID ||
	    !ss_memory_reserve(counting->out->arena->memory, (void **)&counting->tallies,
			       &counting->tally_capacity, (size_t)id + 1,
			       sizeof(*counting->tallies)))
		return NULL;
	if (id == known)
		counting->tallies[id] = (struct tally){ .id = id };
	return &counting->tallies[id];
}

static bool count_call(struct counting *counting, uint32_t row)
{
	int64_t dur_ns = counting->trace->slices.dur_ns[row];
	const struct ss_work *work = work_of(counting, row);
	struct tally *tally;
	struct key key;

	if (!key_of(counting, row, &key))
		return true;
	tally = tally_of(counting, &key);
	if (!tally)
		return false;
	tally->calls++;
	tally->call_ns = sum(tally->call_ns, dur_ns);
	if (dur_ns > tally->call_max_ns)
		tally->call_max_ns = dur_ns;
	if (!work)
		return true;
	counting->work_keys[work - counting->works.items] = tally->id;
	tally->works++;
	tally->events += work->events;
	tally->device_ns = sum(tally->device_ns, work->device_ns);
	tally->shorter += work->device_ns < dur_ns;
	tally->late += work->late;
	return true;
}

/* By its name, or because it started something. */
static bool is_launch(const struct counting *counting, uint32_t row)
{
	const struct ss_trace *trace = counting->trace;

	return counting->works.of_call[row] || (ss_kind_is_call(trace->slices.kind[row]) &&
						(ss_slice_flags(trace, row) & LAUNCHING));
}

static bool count_calls(struct counting *counting)
{
	const struct ss_trace *trace = counting->trace;

	for (uint32_t row = 0; row < counting->works.row_count && !counting->has_calls; row++)
		counting->has_calls = is_launch(counting, row);
	/* each step has a row, in their order; not where launches are not recorded */
	for (uint32_t i = 0; counting->group == BY_STEP && i < trace->steps.count; i++) {
		struct key key = { .value = i };

		if (counting->has_calls && !trace->steps.items[i].dropped &&
		    !tally_of(counting, &key))
			return false;
	}
	for (uint32_t row = 0; row < counting->works.row_count; row++)
		if (is_launch(counting, row) && !count_call(counting, row))
			return false;
	return true;
}

/* --- delays and queues ------------------------------------------------------------ */

static int by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* From the end of the call to the start of what it started. */
static int64_t delay_of(const struct ss_trace *trace, const struct ss_work *work)
{
	int64_t delay_ns = trace->slices.start_ns[work->first] -
			   ss_slice_end(&trace->slices, work->call);

	return delay_ns > 0 ? delay_ns : 0;
}

/* The delays of each key side by side; the median of an even number lies between two. */
static bool find_delays(struct counting *counting)
{
	const struct ss_works *works = &counting->works;
	struct ss_memory *memory = counting->out->arena->memory;
	size_t bytes = ((size_t)works->count + 1) * sizeof(int64_t);
	int64_t *delays = ss_memory_resize(memory, NULL, 0, bytes);
	uint32_t at = 0;

	if (!delays)
		return false;
	for (uint32_t i = 0; i < counting->keys.count; i++) {
		counting->tallies[i].delay_at = at;
		at += (uint32_t)counting->tallies[i].works;
	}
	for (uint32_t i = 0; i < works->count; i++)
		if (counting->work_keys[i] != SS_NO_ID)
			delays[counting->tallies[counting->work_keys[i]].delay_at++] =
				delay_of(counting->trace, &works->items[i]);
	for (uint32_t i = 0; i < counting->keys.count; i++) {
		struct tally *tally = &counting->tallies[i];
		size_t count = (size_t)tally->works;
		int64_t *own = delays + tally->delay_at - count;
		int64_t low_ns;

		if (!count)
			continue;
		qsort(own, count, sizeof(*own), by_size);
		low_ns = own[(count - 1) / 2];
		tally->delay_median_ns = low_ns + (own[count / 2] - low_ns) / 2;
		tally->delay_max_ns = own[count - 1];
	}
	ss_memory_free(memory, delays, bytes);
	return true;
}

/* How long the step of the tally is. */
static int64_t step_ns(const struct counting *counting, const struct tally *tally)
{
	const struct key *key = ss_records_at(&counting->keys, tally->id);
	const struct ss_step *step = &counting->trace->steps.items[key->value];

	return step->end_ns - step->start_ns;
}

static bool find_queues(struct counting *counting, const struct ss_cover *steps,
			struct ss_interval span)
{
	struct ss_arena *arena = counting->out->arena;
	bool by_step = counting->group == BY_STEP;
	uint32_t count = by_step ? steps->count : counting->keys.count, at = 0;
	struct ss_queue *queues = SS_ARENA_NEW(arena, struct ss_queue, (size_t)count + 1);

	if (!queues)
		return false;
	if (by_step)
		ss_queue_in(&counting->works, steps, queues);
	else
		ss_queue_of(&counting->works, counting->work_keys, span, queues);
	for (uint32_t i = 0; i < counting->keys.count; i++) {
		/* steps that take no time are not among the windows */
		if (!by_step || step_ns(counting, &counting->tallies[i]) > 0)
			counting->tallies[i].queue = queues[at++];
	}
	return true;
}

/* The number that writers gave the graph; -1 where they gave none. */
static void find_graphs(struct counting *counting)
{
	const struct ss_trace *trace = counting->trace;

	for (uint32_t i = 0; i < counting->works.count; i++)
		counting->graphs[i] = -1;
	for (uint32_t row = trace->device_from; row < trace->device_to; row++) {
		uint32_t call = trace->slices.link[row], work;
		const struct ss_kernel_args *args;

		if (!ss_kind_is_kernel(trace->slices.kind[row]) ||
		    call >= counting->works.row_count || trace->slices.args[row] == SS_NO_ARGS)
			continue;
		work = counting->works.of_call[call] - 1;
		args = ss_records_at(&trace->kernel_args, trace->slices.args[row]);
		if (counting->graphs[work] < 0)
			counting->graphs[work] = args->graph_id;
	}
}

/* --- rows --------------------------------------------------------------------------- */

/* By time in calls; equal ones in the order of their first appearance. */
static int compare(const void *a, const void *b)
{
	const struct tally *x = a, *y = b;

	if (x->call_ns != y->call_ns)
		return x->call_ns > y->call_ns ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static const char *thread_name(struct ss_table *out, const struct ss_trace *trace, int64_t number)
{
	const struct ss_track *track = &trace->tracks[number];

	if (track->name)
		return ss_strings_text(&trace->texts, track->name);
	if (track->tid_text)
		return ss_strings_text(&trace->texts, track->tid_text);
	return ss_table_print(out, "%lld", (long long)track->tid);
}

/* The columns that say what the row is about. */
static void add_key(const struct counting *counting, const struct key *key)
{
	const struct ss_trace *trace = counting->trace;
	const struct ss_track *stream = NULL;
	struct ss_table *out = counting->out;
	enum group group = counting->group;
	const char *name = ss_strings_text(&trace->names, key->name);

	if (group == BY_STREAM)
		stream = &trace->tracks[key->value];
	ss_row_int_known(out, group == BY_STEP ? key->value : -1);
	if (stream) {
		ss_row_int(out, stream->pid);
		ss_row_int(out, stream->tid);
	} else {
		ss_row_null(out);
		ss_row_null(out);
	}
	ss_row_text(out, group == BY_THREAD ? thread_name(out, trace, key->value) : NULL);
	ss_row_text(out, group == BY_OP ? name : NULL);
	ss_row_int_known(out, group == BY_GRAPH ? key->value : -1);
	ss_row_text(out, group == BY_CALL || group == BY_GRAPH ? name : NULL);
}

static void add_row(const struct counting *counting, const struct tally *tally, double span_ns)
{
	struct ss_table *out = counting->out;
	bool graph = counting->group == BY_GRAPH, called = tally->calls, started = tally->works;
	double mean_ns = called ? (double)tally->call_ns / (double)tally->calls : -1;

	if (counting->group == BY_STEP)
		span_ns = (double)step_ns(counting, tally);
	ss_row_begin(out);
	add_key(counting, ss_records_at(&counting->keys, tally->id));
	ss_row_int(out, tally->calls);
	if (graph)
		ss_row_rate(out, (double)tally->events, (double)tally->works);
	else
		ss_row_null(out);
	ss_row_int(out, tally->events);
	ss_row_int(out, tally->call_ns);
	ss_row_int_known(out, called ? (int64_t)(mean_ns + 0.5) : -1);
	ss_row_int_known(out, called ? tally->call_max_ns : -1);
	ss_row_int_known(out, graph && started ? tally->device_ns : -1);
	ss_row_int_known(out, started ? tally->delay_median_ns : -1);
	ss_row_int_known(out, started ? tally->delay_max_ns : -1);
	ss_row_share(out, (double)tally->shorter, (double)tally->works);
	ss_row_share(out, (double)tally->late, (double)tally->works);
	if (counting->works.count && (started || counting->group == BY_STEP) && span_ns > 0) {
		ss_row_rate(out, tally->queue.area, span_ns);
		ss_row_int(out, tally->queue.max);
	} else {
		ss_row_null(out);
		ss_row_null(out);
	}
	ss_row_end(out);
}

static void add_rows(struct counting *counting, struct ss_interval span)
{
	if (counting->keys.count && counting->group != BY_STEP && counting->group != BY_STREAM)
		qsort(counting->tallies, counting->keys.count, sizeof(*counting->tallies), compare);
	for (uint32_t i = 0; i < counting->keys.count; i++)
		add_row(counting, &counting->tallies[i], (double)(span.end_ns - span.start_ns));
}

/* --- notes ---------------------------------------------------------------------------- */

static bool add_gap(void *context, const struct ss_gap *gap)
{
	*(double *)context += (double)gap->cause_ns[SS_IDLE_LAUNCH];
	return true;
}

/* How much of the steps the devices waited for launches, and whether the queue ran empty. */
static enum ss_status add_summary(const struct counting *counting, const struct ss_cover *steps,
				  struct ss_interval span, struct ss_error *err)
{
	const struct ss_works *works = &counting->works;
	struct ss_cover whole = { .items = &span, .count = 1 };
	struct ss_queue queue = { 0 };
	int64_t device = INT64_MIN, late = 0, known = 0;
	double bound_ns = 0, steps_ns = 0, span_ns = (double)(span.end_ns - span.start_ns);

	while (ss_device_next(counting->trace, device, &device)) {
		SS_TRY(ss_idle_find(counting->trace, device, works->memory, add_gap, &bound_ns,
				    err));
		steps_ns += (double)ss_cover_length(steps);
	}
	for (uint32_t i = 0; i < works->count; i++) {
		known += works->items[i].call != SS_NO_ROW;
		late += works->items[i].call != SS_NO_ROW && works->items[i].late;
	}
	if (!known || !(steps_ns > 0))
		return SS_OK;
	ss_queue_in(works, &whole, &queue);
	ss_table_note(counting->out,
		      "Launch-bound idle time is %.1f %% of the time of the steps; the queue was "
		      "empty for %.1f %% of it, and before %lld of %lld launches the device had "
		      "nothing left to run.",
		      100 * bound_ns / steps_ns, 100 * (double)queue.empty_ns / span_ns,
		      (long long)late, (long long)known);
	return SS_OK;
}

static void add_missing(const struct counting *counting)
{
	if (counting->has_calls && !counting->works.count)
		ss_note_missing(counting->out, SS_MISSING_DEVICE);
	if (!counting->has_calls && counting->works.count)
		ss_table_note(counting->out, "Runtime calls are not recorded: the file has device "
					     "work, but not what launched it.");
}

/* --- all of it -------------------------------------------------------------------------- */

static enum ss_status prepare(struct counting *counting, struct ss_error *err)
{
	struct ss_arena *arena = counting->out->arena;
	size_t count;

	SS_TRY(ss_works_init(&counting->works, counting->trace, arena->memory, err));
	if (counting->group == BY_OP)
		SS_TRY(ss_ops_init(&counting->ops, counting->trace, arena->memory, err));
	count = (size_t)counting->works.count + 1;
	counting->work_keys = SS_ARENA_NEW(arena, uint32_t, count);
	if (!counting->work_keys ||
	    !ss_records_init(&counting->keys, arena->memory, sizeof(struct key)))
		return ss_fail_memory(err, "the launches");
	memset(counting->work_keys, 0xff, count * sizeof(*counting->work_keys)); /* SS_NO_ID */
	if (counting->group != BY_GRAPH)
		return SS_OK;
	counting->graphs = SS_ARENA_NEW(arena, int64_t, count);
	if (!counting->graphs)
		return ss_fail_memory(err, "the launches");
	find_graphs(counting);
	return SS_OK;
}

static enum ss_status launches_run(const struct ss_subject *subject, struct ss_table *out,
				   struct ss_error *err)
{
	struct counting counting = { .trace = subject->trace,
				     .out = out,
				     .group = (enum group)subject->group };
	struct ss_memory *memory = out->arena->memory;
	struct ss_interval span = { 0, 0 };
	enum ss_status status = SS_OK;
	struct ss_cover steps;

	if (!ss_steps_cover(subject->trace, memory, &steps))
		status = ss_fail_memory(err, "the launches");
	else if (steps.count)
		span = (struct ss_interval){ steps.items[0].start_ns,
					     steps.items[steps.count - 1].end_ns };
	if (status == SS_OK)
		status = prepare(&counting, err);
	if (status == SS_OK && !(count_calls(&counting) && find_delays(&counting) &&
				 find_queues(&counting, &steps, span)))
		status = ss_fail_memory(err, "the launches");
	if (status == SS_OK) {
		add_rows(&counting, span);
		add_missing(&counting);
		status = add_summary(&counting, &steps, span, err);
	}
	ss_memory_free(memory, counting.tallies,
		       counting.tally_capacity * sizeof(*counting.tallies));
	ss_records_release(&counting.keys);
	ss_ops_release(&counting.ops);
	ss_works_release(&counting.works);
	ss_cover_release(&steps);
	return status;
}

const struct ss_view ss_view_launches = {
	.name = "launches",
	.summary = "How launching goes: what calls cost, delays, queues, and when the host is late",
	.empty = "No launches: the file holds no runtime calls that start work.",
	.columns = columns,
	.column_count = SS_COUNT(columns),
	.groups = { "call", "stream", "step", "thread", "op", "graph" },
	.run = launches_run,
};
