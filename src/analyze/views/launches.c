/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launches.c - view: kernel launches: what the calls cost, how long work waits for its
 * start, and whether the device had to wait for the host.
 *
 * A call and everything it starts on the device counts as one piece of work (queue.h), so
 * a graph launch counts once. Figures cover the whole file; queue depths cover the time
 * from the first counted step to the last.
 */
#include <stdlib.h>

#include "analyze/facts.h"
#include "analyze/host/launch_counts.h"
#include "analyze/time/roles.h"
#include "base/sort.h"
#include "view/view.h"

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
SS_COMPARATOR(launch_compare_time, struct ss_launch_count, SS_DESCENDING(call_ns) SS_ASCENDING(id))

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
static void launches_add_key(const struct ss_launch_counts *counts, struct ss_table *out,
			     const struct ss_launch_key *key)
{
	const struct ss_trace *trace = counts->trace;
	const struct ss_track *stream = NULL;
	enum ss_launch_group group = counts->group;
	const char *name = ss_strings_text(&trace->names, key->name);

	if (group == SS_LAUNCH_STREAM)
		stream = &trace->tracks[key->value];
	ss_row_int_known(out, group == SS_LAUNCH_STEP ? key->value : -1);
	if (stream) {
		ss_row_int(out, stream->pid);
		ss_row_int(out, stream->tid);
	} else {
		ss_row_null(out);
		ss_row_null(out);
	}
	ss_row_text(out, group == SS_LAUNCH_THREAD ? launches_thread_name(out, trace, key->value)
						   : NULL);
	ss_row_text(out, group == SS_LAUNCH_OP ? name : NULL);
	ss_row_int_known(out, group == SS_LAUNCH_GRAPH ? key->value : -1);
	ss_row_text(out, group == SS_LAUNCH_CALL || group == SS_LAUNCH_GRAPH ? name : NULL);
}

static void launches_add_row(const struct ss_launch_counts *counts, struct ss_table *out,
			     const struct ss_launch_count *count)
{
	double span_ns = (double)(counts->span.end_ns - counts->span.start_ns);
	bool graph = counts->group == SS_LAUNCH_GRAPH, called = count->calls,
	     started = count->works;
	double mean_ns = called ? (double)count->call_ns / (double)count->calls : -1;

	if (counts->group == SS_LAUNCH_STEP)
		span_ns = (double)ss_launch_step_ns(counts, count);
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
	    (started || counts->group == SS_LAUNCH_STEP) && span_ns > 0) {
		ss_row_rate(out, count->queue.area, span_ns);
		ss_row_int(out, count->queue.max);
	} else {
		ss_row_null(out);
		ss_row_null(out);
	}
	ss_row_end(out);
}

static void launches_add_rows(struct ss_launch_counts *counts, struct ss_table *out)
{
	if (counts->keys.count && counts->group != SS_LAUNCH_STEP)
		qsort(counts->items, counts->keys.count, sizeof(*counts->items),
		      launch_compare_time);
	for (uint32_t i = 0; i < counts->keys.count; i++)
		launches_add_row(counts, out, &counts->items[i]);
}

/* --- notes ---------------------------------------------------------------------------- */

/* A note: how long devices waited for launches, and how often the queue was empty. */
static enum ss_status launches_add_summary(const struct ss_launch_counts *counts,
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
	queues = SS_ARENA_NEW(out->arena, struct ss_launch_queue, counts->steps.count);
	if (!queues)
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

static void launches_note_missing(const struct ss_launch_counts *counts, struct ss_table *out)
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
	enum ss_launch_group group = (enum ss_launch_group)subject->group;
	struct ss_launch_counts counts;
	const struct ss_ops *ops = NULL;
	enum ss_status status;

	if (group == SS_LAUNCH_OP)
		SS_TRY(ss_facts_ops(subject->facts, &ops, err));
	SS_TRY(ss_launch_counts_init(&counts, subject->trace, group, ops, out->arena, err));
	launches_add_rows(&counts, out);
	launches_note_missing(&counts, out);
	status = launches_add_summary(&counts, subject->facts, out, err);
	ss_launch_counts_release(&counts);
	return status;
}

const struct ss_view ss_view_launches = {
	.name = "launches",
	.summary = "Kernel launches: cost, delays, queue depth, late launches",
	.empty = "No launches: the file has no runtime calls that start work (group graph: no "
		 "graph launches).",
	.columns = columns,
	.column_count = SS_COUNT(columns),
	.sums = "calls device_events call_ns device_ns",
	.basis = SS_BASIS_FILE,
	.bases = { [2] = SS_BASIS_STEP },
	.groups = { "call", "stream", "step", "thread", "op", "graph" },
	.order = { "call_ns" },
	.own_order = 1u << SS_LAUNCH_STEP,
	.of_device = true,
	.run = launches_run,
};
