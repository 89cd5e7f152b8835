/* SPDX-License-Identifier: Apache-2.0 */
/*
 * area_make.c - makes an area: which holders get a series, and the state before each run
 * of events.
 *
 * The holders with their own series are those that held the most at any moment, so that
 * colours stay the same at every zoom level.
 */
#include <stdlib.h>
#include <string.h>

#include "memory/events/pools.h"
#include "memory/area/area.h"

/* What one holder has now, and the most that it had. */
struct area_holder {
	int64_t now_bytes, most_bytes, largest_bytes;
	uint32_t id, stack;
};

struct area_making {
	struct ss_area *area;
	struct area_holder *holders; /* by id */
	uint32_t count;
	uint8_t *series; /* per id */
};

const char *ss_area_group_name(enum ss_area_group group)
{
	static const char *const names[] = { "category", "line", "stack" };

	return names[group];
}

static uint32_t stack_of_old(const struct ss_area *area, const struct ss_old_block *old)
{
	return old && old->block != SS_NO_ID ? area->opened->snapshot.blocks[old->block].stack : 0;
}

static uint32_t area_holder_id(const struct ss_area *area, uint32_t stack, enum ss_purpose purpose)
{
	if (area->group == SS_AREA_CATEGORY)
		return (uint32_t)purpose;
	return area->group == SS_AREA_STACK ? stack : area->opened->spots.line[stack];
}

static uint32_t area_holder_of_old(const struct ss_area *area, const struct ss_old_block *old)
{
	enum ss_purpose purpose = SS_PURPOSE_UNKNOWN;

	if (area->group == SS_AREA_CATEGORY && old)
		purpose = ss_purpose_of_old(&area->opened->history, &area->opened->spots, old);
	return area_holder_id(area, stack_of_old(area, old), purpose);
}

uint32_t ss_area_series_of_old(const struct ss_area *area, const struct ss_old_block *old)
{
	uint32_t id = area_holder_of_old(area, old), series = 0;

	while (series + 1 < area->series_count && area->series[series].id != id)
		series++;
	return series;
}

static uint32_t area_holder_of_row(const struct ss_area *area, uint32_t row)
{
	enum ss_purpose purpose = SS_PURPOSE_UNKNOWN;

	if (area->group == SS_AREA_CATEGORY)
		purpose = ss_purpose_of(&area->opened->history, &area->opened->spots, row);
	return area_holder_id(area, area->opened->snapshot.events.stack[row], purpose);
}

/* The holder of what an event allocates or frees. */
static uint32_t area_holder_at(const struct ss_area *area, uint32_t row)
{
	const struct ss_memory_events *events = &area->opened->snapshot.events;
	uint32_t partner = area->opened->history.partner[row];

	if (ss_history_is_loose(&area->opened->history, row))
		return area_holder_id(area, 0, SS_PURPOSE_UNKNOWN);
	if (events->action[row] == SS_ACTION_ALLOC)
		return area_holder_of_row(area, row);
	return partner == row ? area_holder_of_old(area, ss_history_old(area->device,
									events->address[row]))
			      : area_holder_of_row(area, partner);
}

static void area_holder_add(struct area_making *making, uint32_t id, int64_t bytes, uint32_t stack)
{
	struct area_holder *holder = &making->holders[id];

	holder->now_bytes = ss_bytes_add(holder->now_bytes, bytes);
	if (holder->now_bytes > holder->most_bytes)
		holder->most_bytes = holder->now_bytes;
	if (bytes > holder->largest_bytes) {
		holder->largest_bytes = bytes;
		holder->stack = stack;
	}
}

/* How much each held at most. */
static void area_measure_holders(struct area_making *making)
{
	const struct ss_area *area = making->area;
	const struct ss_device_memory *device = area->device;

	for (uint32_t i = 0; i < device->old_count; i++)
		area_holder_add(making, area_holder_of_old(area, &device->old[i]),
				device->old[i].bytes, stack_of_old(area, &device->old[i]));
	for (uint32_t row = device->first; row < device->first + device->count; row++) {
		int64_t change = ss_history_change(&area->opened->history, row);

		if (change)
			area_holder_add(making, area_holder_at(area, row), change,
					ss_history_is_loose(&area->opened->history, row)
						? 0
						: area->opened->snapshot.events.stack[row]);
	}
}

static int area_holder_compare(const void *a, const void *b)
{
	const struct area_holder *x = a, *y = b;

	if (x->most_bytes != y->most_bytes)
		return x->most_bytes > y->most_bytes ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* Those that held most get a series; the others share the last one. */
static void area_choose_series(struct area_making *making)
{
	struct ss_area *area = making->area;
	uint32_t found = 0;

	for (uint32_t i = 0; i < making->count; i++)
		if (making->holders[i].most_bytes > 0) {
			making->holders[found] = making->holders[i];
			making->holders[found++].id = i;
		}
	qsort(making->holders, found, sizeof(*making->holders), area_holder_compare);
	area->series_count = found < SS_AREA_SERIES_MAX ? found : SS_AREA_SERIES_MAX;
	memset(making->series, (int)area->series_count, making->count);
	for (uint32_t i = 0; i < area->series_count; i++) {
		const struct area_holder *holder = &making->holders[i];

		area->series[i] = (struct ss_area_series){ holder->id, holder->stack,
							   holder->most_bytes,
							   holder->largest_bytes };
		making->series[holder->id] = (uint8_t)i;
	}
	if (found > area->series_count || !found)
		area->series[area->series_count++] = (struct ss_area_series){ .id = SS_NO_ID };
}

static void area_begin_run(struct ss_area *area, const int64_t *now, int64_t active,
			   int64_t reserved, int64_t latest_ns)
{
	struct ss_area_run *run = &area->runs[area->run_count];

	*run = (struct ss_area_run){ .active_bytes = active,
				     .reserved_bytes = reserved,
				     .low_bytes = INT64_MAX,
				     .high_bytes = INT64_MIN,
				     .high_reserved_bytes = -1,
				     .latest_ns = latest_ns };
	memcpy(area->parts + (size_t)area->run_count++ * area->series_count, now,
	       area->series_count * sizeof(*now));
}

static void area_run_include(struct ss_area_run *run, uint32_t event, int64_t active,
			     int64_t reserved, int64_t at_ns)
{
	if (active < run->low_bytes)
		run->low_bytes = active;
	if (active > run->high_bytes) {
		run->high_bytes = active;
		run->high = event;
	}
	if (reserved > run->high_reserved_bytes)
		run->high_reserved_bytes = reserved;
	if (at_ns > run->latest_ns)
		run->latest_ns = at_ns;
}

/* The series of an event; frees have that of their allocation, which was before them. */
static uint8_t area_series_at(const struct area_making *making, uint32_t row)
{
	const struct ss_area *area = making->area;
	uint32_t partner = area->opened->history.partner[row];

	if (area->opened->snapshot.events.action[row] != SS_ACTION_ALLOC && partner != row &&
	    !ss_history_is_loose(&area->opened->history, row))
		return area->of[partner - area->device->first];
	return making->series[area_holder_at(area, row)];
}

static void area_make_runs(struct area_making *making)
{
	struct ss_area *area = making->area;
	const struct ss_device_memory *device = area->device;
	const struct ss_snapshot *snapshot = &area->opened->snapshot;
	int64_t active = device->first_active_bytes, reserved = device->first_reserved_bytes;
	int64_t now[SS_AREA_SERIES_MAX + 1] = { 0 };
	int64_t latest_ns = -1;

	for (uint32_t i = 0; i < device->old_count; i++) {
		int64_t *part = &now[making->series[area_holder_of_old(area, &device->old[i])]];

		*part = ss_bytes_add(*part, device->old[i].bytes);
	}
	for (uint32_t event = 0; event < device->count; event++) {
		uint32_t row = device->first + event;
		int64_t change = ss_history_change(&area->opened->history, row);

		if (event % AREA_RUN == 0)
			area_begin_run(area, now, active, reserved, latest_ns);
		if (change) {
			area->of[event] = area_series_at(making, row);
			active = ss_bytes_add(active, change);
			now[area->of[event]] = ss_bytes_add(now[area->of[event]], change);
		}
		if (reserved >= 0)
			reserved = ss_bytes_add(reserved,
						ss_history_reserved_change(snapshot, row));
		area_run_include(&area->runs[area->run_count - 1], event, active, reserved,
				 ss_snapshot_moment(snapshot, device, row));
		latest_ns = area->runs[area->run_count - 1].latest_ns;
	}
	area->span_ns = latest_ns;
}

static bool area_allocate(struct ss_area *area, uint32_t runs)
{
	area->runs = ss_memory_resize(area->memory, NULL, 0, (runs + 1) * sizeof(*area->runs));
	area->parts = ss_memory_resize(area->memory, NULL, 0,
				       ((size_t)runs + 1) * area->series_count *
					       sizeof(*area->parts));
	area->of = ss_memory_resize(area->memory, NULL, 0, (size_t)area->state_count + 1);
	area->room = runs;
	if (!area->runs || !area->parts || !area->of)
		return false;
	memset(area->of, 0, (size_t)area->state_count + 1);
	return true;
}

static enum ss_status area_make_of_device(struct area_making *making, struct ss_error *err)
{
	struct ss_area *area = making->area;
	struct ss_memory *memory = area->memory;
	size_t bytes;
	bool whole;

	making->count = area->group == SS_AREA_CATEGORY ? SS_PURPOSE_COUNT
			: area->group == SS_AREA_STACK  ? area->opened->snapshot.stacks.count
							: area->opened->spots.texts.count;
	bytes = ((size_t)making->count + 1) * sizeof(*making->holders);
	making->holders = ss_memory_resize(memory, NULL, 0, bytes);
	making->series = ss_memory_resize(memory, NULL, 0, (size_t)making->count + 1);
	whole = making->holders && making->series;
	if (whole) {
		memset(making->holders, 0, bytes);
		area_measure_holders(making);
		area_choose_series(making);
		whole = area_allocate(area, (area->state_count + AREA_RUN - 1) / AREA_RUN);
	}
	if (whole)
		area_make_runs(making);
	ss_memory_free(memory, making->holders, bytes);
	ss_memory_free(memory, making->series, (size_t)making->count + 1);
	return whole ? SS_OK : ss_fail_memory(err, "the curve of memory");
}

/* --- memory timelines of the profiler ------------------------------------------------ */

static void choose_categories(struct ss_area *area)
{
	const struct ss_memory_curve *curve = &area->opened->snapshot.curve;
	struct area_holder holders[SS_CURVE_COUNT] = { 0 };

	for (int k = 0; k < SS_CURVE_COUNT; k++) {
		holders[k].id = (uint32_t)ss_purpose_of_curve((enum ss_curve_category)k);
		for (uint32_t i = 0; i < curve->count; i++)
			if (curve->points[i].bytes[k] > holders[k].most_bytes)
				holders[k].most_bytes = curve->points[i].bytes[k];
	}
	qsort(holders, SS_CURVE_COUNT, sizeof(*holders), area_holder_compare);
	for (int k = 0; k < SS_CURVE_COUNT && holders[k].most_bytes > 0; k++)
		area->series[area->series_count++] = (struct ss_area_series){
			.id = holders[k].id, .most_bytes = holders[k].most_bytes
		};
}

static enum ss_status area_make_of_curve(struct ss_area *area, struct ss_error *err)
{
	const struct ss_memory_curve *curve = &area->opened->snapshot.curve;
	uint32_t first = 0;

	choose_categories(area);
	if (!area_allocate(area, (area->state_count + AREA_RUN - 1) / AREA_RUN))
		return ss_fail_memory(err, "the curve of memory");
	while (first < curve->count && curve->points[first].time_ns == SS_NO_TIME)
		first++;
	area->first_ns = first < curve->count ? curve->points[first].time_ns : 0;
	for (uint32_t i = 0; i < curve->count; i++) {
		int64_t at_ns;

		if (i % AREA_RUN == 0) {
			area->runs[area->run_count] =
				(struct ss_area_run){ .latest_ns = area->span_ns };
			area->run_count++;
		}
		if (curve->points[i].time_ns != SS_NO_TIME &&
		    !__builtin_sub_overflow(curve->points[i].time_ns, area->first_ns, &at_ns) &&
		    at_ns > area->span_ns)
			area->span_ns = at_ns;
		area->runs[area->run_count - 1].latest_ns = area->span_ns;
	}
	return SS_OK;
}

enum ss_status ss_area_make(struct ss_area *area, const struct ss_opened *opened,
			    const struct ss_device_memory *device, enum ss_area_group group,
			    struct ss_error *err)
{
	struct area_making making = { .area = area };

	*area = (struct ss_area){ .memory = opened->snapshot.memory,
				  .opened = opened,
				  .device = device,
				  .group = group,
				  .span_ns = -1 };
	area->state_count = device ? device->count : opened->snapshot.curve.count;
	if (!area->state_count)
		return ss_fail(err, SS_ERR_MISSING,
			       "no events were recorded: call "
			       "torch.cuda.memory._record_memory_history() first");
	if (!device && group != SS_AREA_CATEGORY)
		return ss_fail(err, SS_ERR_MISSING,
			       "a memory timeline can only be shown by category");
	return device ? area_make_of_device(&making, err) : area_make_of_curve(area, err);
}

void ss_area_release(struct ss_area *area)
{
	if (!area->memory)
		return;
	ss_memory_free(area->memory, area->runs, ((size_t)area->room + 1) * sizeof(*area->runs));
	ss_memory_free(area->memory, area->parts,
		       ((size_t)area->room + 1) * area->series_count * sizeof(*area->parts));
	ss_memory_free(area->memory, area->of, (size_t)area->state_count + 1);
	*area = (struct ss_area){ 0 };
}
