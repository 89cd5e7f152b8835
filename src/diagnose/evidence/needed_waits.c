/* SPDX-License-Identifier: Apache-2.0 */
/*
 * needed_waits.c - finds the host sync that follows the launch of most of a step's device work, and
 * copies to the host behind which the host works before it launches again.
 *
 * The length of a wait does not show which one it is: a host that launches slowly finds everything
 * done.
 */
#include "diagnose/evidence/needed_waits.h"

#include "analyze/work/host_link.h"
#include "base/search.h"
#include "base/sort.h"

/* A copy of up to this size is a number: the largest type of one takes 8 bytes. */
#define NUMBER_BYTES 8

/*
 * Eager mode launches a kernel every 5 to 50 us; the profiler's recording of stacks makes that up
 * to five times as long. A longer pause does something else.
 */
#define BUSY_NS 250000

/* One thread reads host memory at 10 to 20 GB/s: in less time it has not seen all values. */
#define BYTES_PER_NS 20

struct result_wait {
	int64_t start_ns, work_ns; /* work: launched since the previous wait */
	uint32_t row, step;
};

SS_COMPARATOR(result_wait_compare_start, struct result_wait,
	      SS_ASCENDING(start_ns) SS_ASCENDING(row))

/* Collects the waits within steps, each once; returns how many. */
static uint32_t result_waits_collect(const struct ss_rule_context *context,
				     const struct ss_waits *waits, struct result_wait *out)
{
	const struct ss_graph *graph = context->graph;
	struct ss_task_range tasks = graph->of_kind[SS_TASK_WAIT];
	uint32_t count = 0, kept = 0;

	for (uint32_t i = tasks.from; i < tasks.to; i++) {
		const struct ss_task *task = &graph->tasks[i];
		uint32_t row;

		if (task->kind != SS_TASK_WAIT || task->step == SS_NO_STEP ||
		    task->row >= waits->row_count)
			continue;
		row = waits->wait[task->row];
		if (row != SS_NO_ROW)
			out[count++] = (struct result_wait){
				.start_ns = context->trace->slices.start_ns[row],
				.row = row,
				.step = task->step
			};
	}
	SS_SORT(out, count, result_wait_compare_start);
	for (uint32_t i = 0; i < count; i++)
		if (!kept || out[kept - 1].row != out[i].row)
			out[kept++] = out[i];
	return kept;
}

/* The first wait from a moment on. */
static struct result_wait *result_wait_from(struct result_wait *waits, uint32_t count,
					    int64_t moment_ns)
{
	uint32_t low = 0, high = count;

	SS_SEARCH(low, high, at, waits[at].start_ns < moment_ns);
	return low < count ? &waits[low] : NULL;
}

static void result_wait_add_work(const struct ss_rule_context *context, struct result_wait *waits,
				 uint32_t count)
{
	const struct ss_graph *graph = context->graph;
	struct ss_task_range tasks = ss_replay_device_tasks(graph);
	const struct ss_slices *slices = &context->trace->slices;

	for (uint32_t i = tasks.from; i < tasks.to; i++) {
		const struct ss_task *task = &graph->tasks[i];
		uint32_t call = ss_task_on_device(task->kind) ? ss_slice_launch(slices, task->row)
							      : SS_NO_ROW;
		struct result_wait *wait = call < context->trace->device_from
						   ? result_wait_from(waits, count,
								      slices->start_ns[call])
						   : NULL;

		if (wait && wait->step == task->step)
			wait->work_ns = ss_ns_sum(wait->work_ns, task->own_ns);
	}
}

uint32_t *ss_result_waits_find(const struct ss_rule_context *context, const struct ss_waits *waits,
			       const struct ss_phases *phases)
{
	const struct ss_graph *graph = context->graph;
	struct ss_task_range tasks = graph->of_kind[SS_TASK_WAIT];
	uint32_t *results = SS_ARENA_NEW(context->scratch, uint32_t, (size_t)graph->step_count + 1);
	int64_t *most_ns = SS_ARENA_NEW(context->scratch, int64_t, (size_t)graph->step_count + 1);
	struct result_wait *all;
	uint32_t count = 0;

	if (!results || !most_ns)
		return NULL;
	for (uint32_t i = 0; i <= graph->step_count; i++) {
		results[i] = SS_NO_ROW;
		most_ns[i] = -1;
	}
	if (phases->has[SS_PHASE_BACKWARD] || phases->has[SS_PHASE_OPTIMIZER] || !phases->has_ops)
		return results;
	for (uint32_t i = tasks.from; i < tasks.to; i++)
		count += graph->tasks[i].kind == SS_TASK_WAIT;
	if (!SS_ALLOC(context->scratch, all, (size_t)count + 1))
		return NULL;
	count = result_waits_collect(context, waits, all);
	result_wait_add_work(context, all, count);
	for (uint32_t i = 0; i < count; i++)
		if (all[i].work_ns > most_ns[all[i].step]) {
			most_ns[all[i].step] = all[i].work_ns;
			results[all[i].step] = all[i].row;
		}
	return results;
}

/* --- copies ---------------------------------------------------------------------------- */

/* Calls that copy more than a number to the host. */
struct copy_calls {
	struct ss_bitmap rows;
	int64_t *bytes; /* of each of them */
};

/* Whether a device row is such a copy, and by which call. */
static bool copy_is_to_host(const struct ss_rule_context *context, const struct ss_host_link *link,
			    uint32_t row, uint32_t *call)
{
	const struct ss_trace *trace = context->trace;
	struct ss_copy_kind kind = link->kinds[trace->slices.name[row]];

	if (kind.memory == SS_COPY_NONE || kind.way != SS_COPY_OUT)
		return false;
	*call = ss_slice_launch(&trace->slices, row);
	return *call < trace->device_from && ss_copy_bytes(trace, row) > NUMBER_BYTES;
}

/* False: no memory. */
static bool copy_calls_find(struct copy_calls *calls, const struct ss_rule_context *context)
{
	const struct ss_trace *trace = context->trace;
	struct ss_host_link link;
	uint32_t call;

	if (!ss_bitmap_init(&calls->rows, trace->device_from, context->memory) ||
	    !ss_host_link_init(&link, trace, context->digest->device, context->scratch))
		return false;
	for (uint32_t row = trace->device_from; row < trace->device_to; row++)
		if (copy_is_to_host(context, &link, row, &call))
			ss_bitmap_add(&calls->rows, call);
	ss_bitmap_finish(&calls->rows);
	if (!SS_ALLOC(context->scratch, calls->bytes, (size_t)calls->rows.count + 1))
		return false;
	for (uint32_t row = trace->device_from; row < trace->device_to && calls->rows.count; row++)
		if (copy_is_to_host(context, &link, row, &call))
			calls->bytes[ss_bitmap_find(&calls->rows, call)] = ss_copy_bytes(trace,
											 row);
	return true;
}

/* Marks the calls that are followed by a long pause, in the order of their thread. */
static void needed_mark_calls(const struct ss_rule_context *context, const struct ss_ops *ops,
			      const struct copy_calls *calls, uint8_t *needed)
{
	const struct ss_graph *graph = context->graph;
	int64_t pause_ns = 0; /* the longest of the thread until it gives work to the device */

	for (uint32_t i = graph->task_count; i-- > 0;) {
		const struct ss_task *task = &graph->tasks[i];
		uint32_t copy = task->kind == SS_TASK_CALL || task->kind == SS_TASK_LAUNCH
					? ss_bitmap_find(&calls->rows, task->row)
					: SS_NO_ROW;

		if (i + 1 == graph->task_count || task[1].track != task->track ||
		    task[1].step != task->step ||
		    (task->kind == SS_TASK_LAUNCH && copy == SS_NO_ROW))
			pause_ns = 0;
		if (task->kind == SS_TASK_WORK && task->own_ns > pause_ns)
			pause_ns = task->own_ns;
		if (copy == SS_NO_ROW || pause_ns < BUSY_NS ||
		    pause_ns < calls->bytes[copy] / BYTES_PER_NS)
			continue;
		needed[task->row] = true;
		if (ops->owner[task->row] != SS_NO_ROW)
			needed[ops->owner[task->row]] = true;
	}
}

const uint8_t *ss_needed_copies_find(struct ss_rule_context *context, const struct ss_ops *ops)
{
	struct ss_rule_shared *shared = context->shared;
	size_t rows = (size_t)context->trace->device_from + 1;
	struct copy_calls calls = { 0 };
	uint8_t *needed;

	ss_rule_share(context);
	if (!shared->needed_copies && SS_ALLOC(&shared->arena, needed, rows) &&
	    copy_calls_find(&calls, context)) {
		if (calls.rows.count)
			needed_mark_calls(context, ops, &calls, needed);
		shared->needed_copies = needed;
	}
	ss_rule_unshare(context);
	ss_bitmap_release(&calls.rows);
	return shared->needed_copies;
}
