/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch_counts.c - one pass over the calls, then delays are sorted and queues are
 * replayed.
 */
#include <string.h>

#include "analyze/host/launch_counts.h"
#include "analyze/time/moment.h"
#include "analyze/time/roles.h"
#include "base/median.h"

#define LAUNCHING (SS_NAME_LAUNCH | SS_NAME_GRAPH_LAUNCH | SS_NAME_COPY_CALL)

static const struct ss_launched_work *launch_work(const struct ss_launch_counts *counts,
						  uint32_t row)
{
	uint32_t work = counts->works.of_call[row];

	return work ? &counts->works.items[work - 1] : NULL;
}

/* False: the group does not include this call. */
static bool launch_read_key(const struct ss_launch_counts *counts, uint32_t row,
			    struct ss_launch_key *key)
{
	const struct ss_slices *slices = &counts->trace->slices;
	const struct ss_launched_work *work = launch_work(counts, row);
	uint32_t owner;

	*key = (struct ss_launch_key){ .value = -1 };
	switch (counts->group) {
	case SS_LAUNCH_CALL:
		key->name = slices->name[row];
		return true;
	case SS_LAUNCH_STREAM:
		key->value = work ? slices->track[work->first] : 0;
		return work;
	case SS_LAUNCH_STEP:
		key->value = ss_step_at(counts->trace, slices->start_ns[row]);
		return key->value != SS_NO_ROW;
	case SS_LAUNCH_THREAD:
		key->value = slices->track[row];
		return true;
	case SS_LAUNCH_OP:
		owner = counts->ops->owner[row];
		key->name = owner == SS_NO_ROW ? 0 : slices->name[owner];
		return true;
	case SS_LAUNCH_GRAPH:
		key->name = slices->name[row];
		if (work)
			key->value = counts->graphs[work - counts->works.items];
		return ss_slice_flags(counts->trace, row) & SS_NAME_GRAPH_LAUNCH;
	}
	return false;
}

/* The count of a key; NULL: no memory. */
static struct ss_launch_count *launch_count_of(struct ss_launch_counts *counts,
					       const struct ss_launch_key *key)
{
	uint32_t known = counts->keys.count, id = ss_records_add(&counts->keys, key);

	if (id == SS_NO_ID ||
	    !ss_memory_reserve(counts->memory, (void **)&counts->items, &counts->item_capacity,
			       (size_t)id + 1, sizeof(*counts->items)))
		return NULL;
	if (id == known)
		counts->items[id] = (struct ss_launch_count){ .id = id };
	return &counts->items[id];
}

/* Adds a call, and the work it started, to the count of its key; false: no memory. */
static bool launch_count_call(struct ss_launch_counts *counts, uint32_t row)
{
	int64_t dur_ns = counts->trace->slices.dur_ns[row];
	const struct ss_launched_work *work = launch_work(counts, row);
	struct ss_launch_count *count;
	struct ss_launch_key key;

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
static bool is_launching_call(const struct ss_launch_counts *counts, uint32_t row)
{
	const struct ss_trace *trace = counts->trace;

	return counts->works.of_call[row] || (ss_kind_is_call(trace->slices.kind[row]) &&
					      (ss_slice_flags(trace, row) & LAUNCHING));
}

static bool launch_count_calls(struct ss_launch_counts *counts)
{
	const struct ss_trace *trace = counts->trace;

	for (uint32_t row = 0; row < counts->works.row_count && !counts->has_calls; row++)
		counts->has_calls = is_launching_call(counts, row);
	/* each step has a row, in order, unless launches are not recorded */
	for (uint32_t i = 0; counts->group == SS_LAUNCH_STEP && i < trace->steps.count; i++) {
		struct ss_launch_key key = { .value = i };

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
static bool launch_find_delays(struct ss_launch_counts *counts)
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
		struct ss_launch_count *count = &counts->items[i];
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

int64_t ss_launch_step_ns(const struct ss_launch_counts *counts,
			  const struct ss_launch_count *count)
{
	const struct ss_launch_key *key = ss_records_at(&counts->keys, count->id);
	const struct ss_step *step = &counts->trace->steps.items[key->value];

	return step->end_ns - step->start_ns;
}

/* Queues by step are those of the steps; by anything else, those of its own work. */
static bool launch_find_queues(struct ss_launch_counts *counts, struct ss_arena *scratch)
{
	bool by_step = counts->group == SS_LAUNCH_STEP;
	uint32_t count = by_step ? counts->steps.count : counts->keys.count, at = 0;
	struct ss_launch_queue *queues = SS_ARENA_NEW(scratch, struct ss_launch_queue,
						      (size_t)count + 1);

	if (!queues)
		return false;
	if (by_step)
		ss_launch_queues_in(&counts->works, &counts->steps, queues);
	else
		ss_launch_queues_of(&counts->works, counts->work_keys, counts->span, queues);
	/* steps without duration are not among the windows */
	for (uint32_t i = 0; i < counts->keys.count; i++)
		if (!by_step || ss_launch_step_ns(counts, &counts->items[i]) > 0)
			counts->items[i].queue = queues[at++];
	return true;
}

/* The recorded number of each graph; -1: none. */
static void launch_find_graphs(struct ss_launch_counts *counts)
{
	const struct ss_trace *trace = counts->trace;

	for (uint32_t i = 0; i < counts->works.count; i++)
		counts->graphs[i] = -1;
	for (uint32_t row = trace->device_from; row < trace->device_to; row++) {
		uint32_t call = trace->slices.link[row], work;
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
static enum ss_status launch_counts_prepare(struct ss_launch_counts *counts, struct ss_arena *arena,
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
	counts->work_keys = SS_ARENA_NEW(arena, uint32_t, count);
	if (!counts->work_keys ||
	    !ss_records_init(&counts->keys, arena->memory, sizeof(struct ss_launch_key)))
		return ss_fail_memory(err, "the launches");
	memset(counts->work_keys, 0xff, count * sizeof(*counts->work_keys)); /* SS_NO_ID */
	if (counts->group != SS_LAUNCH_GRAPH)
		return SS_OK;
	counts->graphs = SS_ARENA_NEW(arena, int64_t, count);
	if (!counts->graphs)
		return ss_fail_memory(err, "the launches");
	launch_find_graphs(counts);
	return SS_OK;
}

void ss_launch_counts_release(struct ss_launch_counts *counts)
{
	if (!counts->memory)
		return;
	ss_memory_free(counts->memory, counts->items,
		       counts->item_capacity * sizeof(*counts->items));
	ss_records_release(&counts->keys);
	ss_launched_release(&counts->works);
	ss_cover_release(&counts->steps);
	*counts = (struct ss_launch_counts){ 0 };
}

enum ss_status ss_launch_counts_init(struct ss_launch_counts *counts, const struct ss_trace *trace,
				     enum ss_launch_group group, const struct ss_ops *ops,
				     struct ss_arena *scratch, struct ss_error *err)
{
	enum ss_status status;

	*counts = (struct ss_launch_counts){
		.trace = trace, .memory = scratch->memory, .group = group, .ops = ops
	};
	status = launch_counts_prepare(counts, scratch, err);
	if (status == SS_OK && !(launch_count_calls(counts) && launch_find_delays(counts) &&
				 launch_find_queues(counts, scratch)))
		status = ss_fail_memory(err, "the launches");
	if (status != SS_OK)
		ss_launch_counts_release(counts);
	return status;
}
