/* SPDX-License-Identifier: Apache-2.0 */
/*
 * curves.c - which curves a file has, and their values.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "analyze/time/queue.h"
#include "analyze/time/roles.h"
#include "memory/events/pools.h"
#include "base/search.h"
#include "base/sort.h"
#include "timeline/rows/curves.h"

static const char *const curve_kind_names[] = {
	[SS_CURVE_UTILIZATION] = "utilization", [SS_CURVE_MEMORY] = "memory",
	[SS_CURVE_RESERVED] = "reserved",       [SS_CURVE_QUEUE] = "queue",
	[SS_CURVE_COUNTER] = "counter",
};

const char *ss_curve_kind_name(enum ss_curve_kind kind)
{
	return curve_kind_names[kind];
}

/* --- the list ---------------------------------------------------------------------- */

static bool curves_add(struct ss_curves *curves, struct ss_curve curve)
{
	if (!SS_GROW(curves->memory, curves->items, curves->capacity, curves->count))
		return false;
	curves->items[curves->count++] = curve;
	return true;
}

/* Whether the launch of any of the device's work is in the file. */
static bool device_has_launches(const struct ss_trace *trace, int64_t device)
{
	for (uint32_t i = ss_stream_first(trace, device); i != SS_NO_ROW;
	     i = ss_stream_next(trace, i)) {
		const struct ss_track *track = &trace->tracks[i];

		for (uint32_t k = 0; k < track->row_count; k++)
			if (trace->slices.link[track->first_row + k] != SS_NO_ROW)
				return true;
	}
	return false;
}

static bool curves_add_device(struct ss_curves *curves, int64_t device)
{
	struct ss_curve curve = { .kind = SS_CURVE_UTILIZATION,
				  .has_device = true,
				  .device = device,
				  .name = "utilization",
				  .unit = "percent",
				  .high = 100 };

	if (!curves_add(curves, curve))
		return false;
	if (!device_has_launches(curves->trace, device))
		return true;
	curve.kind = SS_CURVE_QUEUE;
	curve.name = "queued kernels";
	curve.unit = "count";
	curve.high = NAN;
	return curves_add(curves, curve);
}

static bool curves_add_pools(struct ss_curves *curves, const struct ss_pools *pools)
{
	for (uint32_t i = 0; i < pools->count; i++) {
		const struct ss_pool *pool = &pools->items[i];
		struct ss_curve curve = { .kind = SS_CURVE_MEMORY,
					  .has_device = pool->type != 0,
					  .device = pool->id,
					  .name = "memory allocated",
					  .unit = "bytes",
					  .high = (double)pool->peak_bytes,
					  .pool = i };

		if (!pool->events || !ss_pool_is_shown(pools, pool))
			continue;
		if (!curves_add(curves, curve))
			return false;
		curve.kind = SS_CURVE_RESERVED;
		curve.name = "memory reserved";
		curve.high = (double)pool->reserved_bytes;
		if (pool->type && pool->has_reserved && !curves_add(curves, curve))
			return false;
	}
	return true;
}

struct curve_counter_key {
	uint32_t name, series;
};

/* "GPU Utilization" or, where one counter has several series, "GPU: used". */
static const char *curve_counter_name(struct ss_curves *curves, const struct curve_counter_key *key)
{
	const struct ss_string *name = &curves->trace->names.items[key->name];
	const struct ss_string *series = &curves->trace->texts.items[key->series];
	char *text = ss_arena_alloc(&curves->arena, (size_t)name->length + series->length + 3, 1);

	if (!text)
		return NULL;
	memcpy(text, name->text, name->length);
	/* most counters have one series, which is called "value" or as the counter */
	if (strcmp(series->text, "value") != 0 && strcmp(series->text, name->text) != 0) {
		memcpy(text + name->length, ": ", 2);
		memcpy(text + name->length + 2, series->text, series->length);
	}
	return text;
}

static bool curves_add_counters(struct ss_curves *curves)
{
	const struct ss_trace *trace = curves->trace;
	SS_OWNED(ss_records_release) struct ss_records keys = { 0 };

	if (!trace->counter_count)
		return true;
	if (!ss_records_init(&keys, curves->memory, sizeof(struct curve_counter_key)))
		return false;
	for (uint32_t i = 0; i < trace->counter_count; i++) {
		struct curve_counter_key key = { trace->counters[i].name,
						 trace->counters[i].series };
		struct ss_curve curve = {
			.kind = SS_CURVE_COUNTER, .unit = "", .high = NAN, .counter = i
		};
		uint32_t known = keys.count;
		uint32_t at = known < SS_COUNTER_CURVES_MAX ? ss_records_add(&keys, &key) : 0;

		if (at == SS_NO_ID)
			return false;
		if (at != known || known == SS_COUNTER_CURVES_MAX)
			continue;
		curve.name = curve_counter_name(curves, &key);
		if (!curve.name || !curves_add(curves, curve))
			return false;
	}
	return true;
}

enum ss_status ss_curves_init(struct ss_curves *curves, const struct ss_trace *trace,
			      struct ss_memory *memory, struct ss_error *err)
{
	int64_t device = INT64_MIN;
	struct ss_pools pools;
	bool whole = true;

	*curves = (struct ss_curves){ .memory = memory, .trace = trace };
	ss_arena_init(&curves->arena, memory);
	SS_TRY(ss_pools_init(&pools, trace, memory, err));
	while (whole && ss_device_next(trace, device, &device))
		whole = curves_add_device(curves, device);
	whole = whole && curves_add_pools(curves, &pools) && curves_add_counters(curves);
	ss_pools_release(&pools);
	if (whole)
		return SS_OK;
	ss_curves_release(curves);
	return ss_fail_memory(err, "the curves");
}

void ss_curves_release(struct ss_curves *curves)
{
	for (uint32_t i = 0; i < curves->count; i++)
		ss_series_release(&curves->items[i].series);
	if (curves->memory) {
		SS_FREE(curves->memory, curves->items, curves->capacity);
		ss_arena_release(&curves->arena);
	}
	*curves = (struct ss_curves){ 0 };
}

/* --- values ------------------------------------------------------------------------ */

static bool series_fill_memory(const struct ss_trace *trace, const struct ss_pools *pools,
			       const struct ss_curve *curve, struct ss_series *series)
{
	const struct ss_pool *pool = &pools->items[curve->pool];

	ss_series_init(series, curve->kind == SS_CURVE_MEMORY ? (float)pool->first_bytes : NAN,
		       pools->memory);
	for (uint32_t i = 0; i < pool->events; i++) {
		uint32_t event = pools->order[pool->first + i];
		int64_t bytes = curve->kind == SS_CURVE_MEMORY
					? pools->total_bytes[event]
					: trace->allocations.reserved_bytes[event];

		if (bytes >= 0 || curve->kind == SS_CURVE_MEMORY) {
			if (!ss_series_add(series, trace->allocations.start_ns[event],
					   (double)bytes))
				return false;
		}
	}
	return ss_series_finish(series);
}

static int64_t row_device(const struct ss_trace *trace, uint32_t row)
{
	const struct ss_track *track = &trace->tracks[trace->slices.track[row]];

	/* those with a name count as number 0: roles.h */
	return track->pid_text ? 0 : track->pid;
}

static bool device_is_queued(const struct ss_launched *works, uint32_t work, int64_t device)
{
	return works->from_ns[work] < works->to_ns[work] &&
	       row_device(works->trace, works->items[work].first) == device;
}

/* One value for each moment at which something changed: what is left after all of it. */
static bool series_fill_queue(const struct ss_launched *works, int64_t device,
			      struct ss_series *series)
{
	uint32_t from = 0, to = 0;
	int64_t length = 0;

	ss_series_init(series, 0, works->memory);
	while (to < works->count) {
		bool begins = from < works->count &&
			      works->from_ns[works->by_from[from]] < works->to_ns[works->by_to[to]];
		uint32_t work = begins ? works->by_from[from++] : works->by_to[to++];
		int64_t at_ns = begins ? works->from_ns[work] : works->to_ns[work];

		if (!device_is_queued(works, work, device))
			continue;
		length += begins ? 1 : -1;
		if (series->count && series->at_ns[series->count - 1] == at_ns)
			series->value[series->count - 1] = (float)length;
		else if (!ss_series_add(series, at_ns, (double)length))
			return false;
	}
	return ss_series_finish(series);
}

struct counter_sample {
	int64_t at_ns;
	uint32_t number;
};

SS_COMPARATOR(counter_sample_compare, struct counter_sample,
	      SS_ASCENDING(at_ns) SS_ASCENDING(number))

static bool series_fill_counter(const struct ss_trace *trace, uint32_t first,
				struct ss_memory *memory, struct ss_series *series)
{
	const struct ss_counter *like = &trace->counters[first];
	struct counter_sample *samples;
	SS_SCRATCH(scratch, memory);
	uint32_t count = 0;

	ss_series_init(series, NAN, memory);
	if (!SS_ALLOC(&scratch, samples, trace->counter_count - first))
		return false;
	for (uint32_t i = first; i < trace->counter_count; i++)
		if (trace->counters[i].name == like->name &&
		    trace->counters[i].series == like->series)
			samples[count++] = (struct counter_sample){ trace->counters[i].start_ns,
								    i };
	SS_SORT(samples, count, counter_sample_compare);
	for (uint32_t i = 0; i < count; i++)
		if (!ss_series_add(series, samples[i].at_ns,
				   trace->counters[samples[i].number].value))
			return false;
	return ss_series_finish(series);
}

enum ss_status ss_curve_make(struct ss_curves *curves, struct ss_curve *curve, struct ss_error *err)
{
	struct ss_launched works;
	struct ss_pools pools;
	bool whole = true;

	if (curve->is_made || curve->kind == SS_CURVE_UTILIZATION)
		return SS_OK;
	if (curve->kind == SS_CURVE_COUNTER) {
		whole = series_fill_counter(curves->trace, curve->counter, curves->memory,
					    &curve->series);
	} else if (curve->kind == SS_CURVE_QUEUE) {
		SS_TRY(ss_launched_init(&works, curves->trace, curves->memory, err));
		whole = series_fill_queue(&works, curve->device, &curve->series);
		ss_launched_release(&works);
	} else {
		SS_TRY(ss_pools_init(&pools, curves->trace, curves->memory, err));
		whole = series_fill_memory(curves->trace, &pools, curve, &curve->series);
		ss_pools_release(&pools);
	}
	curve->is_made = whole;
	if (whole)
		return SS_OK;
	ss_series_release(&curve->series);
	return ss_fail_memory(err, "a curve");
}

/* --- series -------------------------------------------------------------------------- */

void ss_series_init(struct ss_series *series, float before, struct ss_memory *memory)
{
	*series = (struct ss_series){ .memory = memory, .before = before };
}

void ss_series_release(struct ss_series *series)
{
	if (!series->memory)
		return;
	SS_FREE(series->memory, series->at_ns, series->at_capacity);
	SS_FREE(series->memory, series->value, series->value_capacity);
	SS_FREE(series->memory, series->nodes, (size_t)series->node_count + 1);
	*series = (struct ss_series){ 0 };
}

bool ss_series_add(struct ss_series *series, int64_t at_ns, double value)
{
	size_t room = (size_t)series->count + 1;

	if (!SS_RESERVE(series->memory, series->at_ns, series->at_capacity, room) ||
	    !SS_RESERVE(series->memory, series->value, series->value_capacity, room))
		return false;
	/* counters come from files */
	if (value > FLT_MAX)
		value = FLT_MAX;
	if (value < -FLT_MAX)
		value = -FLT_MAX;
	series->at_ns[series->count] = at_ns;
	series->value[series->count++] = (float)value;
	return true;
}

/* NAN on one side is left out. */
static void extent_widen(struct ss_extent *extent, struct ss_extent by)
{
	extent->low = fminf(extent->low, by.low);
	extent->high = fmaxf(extent->high, by.high);
}

static void extents_sum_level(struct ss_extent *to, const struct ss_extent *from, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (i % SS_SERIES_FAN == 0)
			to[i / SS_SERIES_FAN] = from[i];
		else
			extent_widen(&to[i / SS_SERIES_FAN], from[i]);
}

bool ss_series_finish(struct ss_series *series)
{
	uint64_t nodes = 0;
	uint32_t count = series->count;
	struct ss_extent *level;

	while (count > 1) {
		count = (count - 1) / SS_SERIES_FAN + 1;
		nodes += count;
	}
	if (!SS_MEMORY_NEW(series->memory, series->nodes, nodes + 1))
		return false;
	series->node_count = (uint32_t)nodes;
	for (uint32_t i = 0; i < series->count; i++) {
		struct ss_extent own = { series->value[i], series->value[i] };

		if (i % SS_SERIES_FAN == 0)
			series->nodes[i / SS_SERIES_FAN] = own;
		else
			extent_widen(&series->nodes[i / SS_SERIES_FAN], own);
	}
	level = series->nodes;
	for (count = series->count ? (series->count - 1) / SS_SERIES_FAN + 1 : 0; count > 1;
	     count = (count - 1) / SS_SERIES_FAN + 1) {
		extents_sum_level(level + count, level, count);
		level += count;
	}
	return true;
}

uint32_t ss_series_find(const struct ss_series *series, int64_t moment_ns, uint32_t near)
{
	uint32_t low = near, high = series->count;

	if (low > high || (low && series->at_ns[low - 1] >= moment_ns))
		low = 0;
	/* pixels come one after the other: the next is not far */
	SS_SEARCH_NEAR(low, high, at, series->at_ns[at] < moment_ns);
	return low;
}

struct ss_extent ss_series_extent(const struct ss_series *series, uint32_t from, uint32_t to)
{
	float holds = from ? series->value[from - 1] : series->before;
	struct ss_extent extent = { holds, holds };
	const struct ss_extent *level = series->nodes;
	uint32_t count = series->count;

	while (from < to && (from % SS_SERIES_FAN || to - from < SS_SERIES_FAN)) {
		extent_widen(&extent,
			     (struct ss_extent){ series->value[from], series->value[from] });
		from++;
	}
	for (; to % SS_SERIES_FAN && from < to; to--)
		extent_widen(&extent,
			     (struct ss_extent){ series->value[to - 1], series->value[to - 1] });
	while (from < to) {
		from /= SS_SERIES_FAN;
		to /= SS_SERIES_FAN;
		count = (count - 1) / SS_SERIES_FAN + 1;
		while (from < to && (from % SS_SERIES_FAN || to - from < SS_SERIES_FAN))
			extent_widen(&extent, level[from++]);
		for (; to % SS_SERIES_FAN && from < to; to--)
			extent_widen(&extent, level[to - 1]);
		level += count;
	}
	return extent;
}
