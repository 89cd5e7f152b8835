/* SPDX-License-Identifier: Apache-2.0 */
/*
 * area.c - makes an area (which holders get a series, the state before each run of events),
 * and computes its pixels.
 *
 * The holders with their own series are those that held the most at any moment, so that
 * colours stay the same at every zoom level.
 */
#include "memory/area/area.h"

#include <string.h>

#include "base/search.h"
#include "base/sort.h"
#include "memory/events/pools.h"

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
	const struct ss_snapshot_events *events = &area->opened->snapshot.events;
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

	holder->now_bytes = ss_amount_add(holder->now_bytes, bytes);
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

SS_COMPARATOR(area_holder_compare, struct area_holder, SS_DESCENDING(most_bytes) SS_ASCENDING(id))

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
	SS_SORT(making->holders, found, area_holder_compare);
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

/* Follows the events once and keeps the state before each run of them. */
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

		*part = ss_amount_add(*part, device->old[i].bytes);
	}
	for (uint32_t event = 0; event < device->count; event++) {
		uint32_t row = device->first + event;
		int64_t change = ss_history_change(&area->opened->history, row);

		if (event % AREA_RUN == 0)
			area_begin_run(area, now, active, reserved, latest_ns);
		if (change) {
			area->of[event] = area_series_at(making, row);
			active = ss_amount_add(active, change);
			now[area->of[event]] = ss_amount_add(now[area->of[event]], change);
		}
		if (reserved >= 0)
			reserved = ss_amount_add(reserved,
						 ss_history_reserved_change(snapshot, row));
		area_run_include(&area->runs[area->run_count - 1], event, active, reserved,
				 ss_snapshot_time_ns(snapshot, device, row));
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
	area->of = ss_memory_zeroed(area->memory, (size_t)area->state_count + 1);
	area->capacity = runs;
	if (!area->runs || !area->parts || !area->of)
		return false;
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
	making->holders = ss_memory_zeroed(memory, bytes);
	making->series = ss_memory_resize(memory, NULL, 0, (size_t)making->count + 1);
	whole = making->holders && making->series;
	if (whole) {
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
	const struct ss_snapshot_curve *curve = &area->opened->snapshot.curve;
	struct area_holder holders[SS_CURVE_COUNT] = { 0 };

	for (int k = 0; k < SS_CURVE_COUNT; k++) {
		holders[k].id = (uint32_t)ss_purpose_of_curve((enum ss_curve_category)k);
		for (uint32_t i = 0; i < curve->count; i++)
			if (curve->points[i].bytes[k] > holders[k].most_bytes)
				holders[k].most_bytes = curve->points[i].bytes[k];
	}
	SS_SORT(holders, SS_CURVE_COUNT, area_holder_compare);
	for (int k = 0; k < SS_CURVE_COUNT && holders[k].most_bytes > 0; k++)
		area->series[area->series_count++] = (struct ss_area_series){
			.id = holders[k].id, .most_bytes = holders[k].most_bytes
		};
}

static enum ss_status area_make_of_curve(struct ss_area *area, struct ss_error *err)
{
	const struct ss_snapshot_curve *curve = &area->opened->snapshot.curve;
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
	SS_FREE(area->memory, area->runs, (size_t)area->capacity + 1);
	ss_memory_free(area->memory, area->parts,
		       ((size_t)area->capacity + 1) * area->series_count * sizeof(*area->parts));
	ss_memory_free(area->memory, area->of, (size_t)area->state_count + 1);
	*area = (struct ss_area){ 0 };
}

/* --- drawing ------------------------------------------------------------------------- */

void ss_area_begin(struct ss_area_cursor *cursor)
{
	*cursor = (struct ss_area_cursor){ .state = -2, .last = { .state = -2 } };
}

const char *ss_area_name(const struct ss_area *area, uint32_t series)
{
	uint32_t id = area->series[series].id;
	const char *line;

	if (id == SS_NO_ID)
		return "everything else";
	if (area->group == SS_AREA_CATEGORY)
		return ss_purpose_name((enum ss_purpose)id);
	line = ss_snapshot_places_line(&area->opened->spots, area->series[series].stack);
	return line ? line : "no stack was recorded";
}

static int64_t area_change_at(const struct ss_area *area, uint32_t event)
{
	return ss_history_change(&area->opened->history, area->device->first + event);
}

/* Goes to the state before an event without looking at those between. */
static void area_cursor_jump(const struct ss_area *area, struct ss_area_cursor *cursor,
			     uint32_t event)
{
	const struct ss_area_run *run = &area->runs[event / AREA_RUN];

	cursor->state = (int64_t)(event / AREA_RUN * AREA_RUN) - 1;
	cursor->active_bytes = run->active_bytes;
	cursor->reserved_bytes = run->reserved_bytes;
}

static void area_cursor_step(const struct ss_area *area, struct ss_area_cursor *cursor)
{
	uint32_t event = (uint32_t)++cursor->state;
	const struct ss_snapshot *snapshot = &area->opened->snapshot;

	cursor->active_bytes = ss_amount_add(cursor->active_bytes, area_change_at(area, event));
	if (cursor->reserved_bytes >= 0)
		cursor->reserved_bytes = ss_amount_add(
			cursor->reserved_bytes,
			ss_history_reserved_change(snapshot, area->device->first + event));
}

static void area_pixel_include(struct ss_area_pixel *pixel, int64_t state, int64_t low,
			       int64_t high, int64_t reserved, bool is_first)
{
	if (is_first || low < pixel->low_bytes)
		pixel->low_bytes = low;
	if (is_first || high > pixel->high_bytes) {
		pixel->high_bytes = high;
		pixel->state = state;
	}
	if (is_first || reserved > pixel->reserved_bytes)
		pixel->reserved_bytes = reserved;
}

/* What the state of the most is made of. */
static void fill_parts(const struct ss_area *area, struct ss_area_pixel *pixel)
{
	uint32_t first = pixel->state < 0 ? 0 : (uint32_t)pixel->state / AREA_RUN;

	memcpy(pixel->parts, area->parts + (size_t)first * area->series_count,
	       area->series_count * sizeof(*pixel->parts));
	for (int64_t event = (int64_t)first * AREA_RUN; event <= pixel->state; event++) {
		int64_t *part = &pixel->parts[area->of[event]];

		*part = ss_amount_add(*part, area_change_at(area, (uint32_t)event));
	}
}

/* Points of a memory timeline are states already. */
static void draw_points(const struct ss_area *area, int64_t first, int64_t last,
			struct ss_area_pixel *out)
{
	const struct ss_snapshot_curve *curve = &area->opened->snapshot.curve;

	for (int64_t at = first; at <= last; at++) {
		int64_t sum = 0;

		for (int i = 0; i < SS_CURVE_COUNT; i++)
			sum = ss_amount_add(sum, curve->points[at].bytes[i]);
		area_pixel_include(out, at, sum, sum, -1, at == first);
	}
	for (uint32_t i = 0; i < area->series_count; i++)
		for (int k = 0; k < SS_CURVE_COUNT; k++)
			if (ss_purpose_of_curve((enum ss_curve_category)k) == area->series[i].id)
				out->parts[i] = curve->points[out->state].bytes[k];
}

void ss_area_draw(const struct ss_area *area, struct ss_area_cursor *cursor, int64_t first,
		  int64_t last, struct ss_area_pixel *out)
{
	int64_t at = first;

	*out = (struct ss_area_pixel){ .reserved_bytes = -1 };
	if (!area->device) {
		draw_points(area, first, last, out);
		return;
	}
	if (cursor->state < -1 || cursor->state < first - (int64_t)AREA_RUN ||
	    cursor->state > first)
		area_cursor_jump(area, cursor, first < 0 ? 0 : (uint32_t)first);
	while (cursor->state < first)
		area_cursor_step(area, cursor);
	area_pixel_include(out, first, cursor->active_bytes, cursor->active_bytes,
			   cursor->reserved_bytes, true);
	for (at = first + 1; at <= last; at++) {
		uint32_t index = (uint32_t)at / AREA_RUN;
		const struct ss_area_run *run = &area->runs[index];
		int64_t end = (int64_t)(index + 1) * AREA_RUN - 1;

		if (at % AREA_RUN == 0 && end <= last && index + 1 < area->run_count) {
			area_pixel_include(out, run->high, run->low_bytes, run->high_bytes,
					   run->high_reserved_bytes, false);
			cursor->state = end;
			cursor->active_bytes = run[1].active_bytes;
			cursor->reserved_bytes = run[1].reserved_bytes;
			at = end;
			continue;
		}
		area_cursor_step(area, cursor);
		area_pixel_include(out, at, cursor->active_bytes, cursor->active_bytes,
				   cursor->reserved_bytes, false);
	}
	if (out->state == cursor->last.state)
		memcpy(out->parts, cursor->last.parts, sizeof(out->parts));
	else
		fill_parts(area, out);
	cursor->last = *out;
}

/* When a state begins, or -1 where its time is not recorded or before the first one. */
static int64_t area_state_start_ns(const struct ss_area *area, uint32_t state)
{
	const struct ss_snapshot_curve *curve = &area->opened->snapshot.curve;
	int64_t span;

	if (area->device)
		return ss_snapshot_time_ns(&area->opened->snapshot, area->device,
					   area->device->first + state);
	if (curve->points[state].time_ns == SS_NO_TIME ||
	    __builtin_sub_overflow(curve->points[state].time_ns, area->first_ns, &span))
		return -1;
	return span;
}

int64_t ss_area_state_at(const struct ss_area *area, int64_t at_ns)
{
	uint32_t low = 0, high = area->run_count, state;
	int64_t latest;

	/* the first run whose latest event is later */
	SS_SEARCH(low, high, at, area->runs[at].latest_ns <= at_ns);
	if (low == area->run_count)
		return (int64_t)area->state_count - 1;
	latest = low ? area->runs[low - 1].latest_ns : -1;
	for (state = low * AREA_RUN; state < area->state_count; state++) {
		int64_t begin = area_state_start_ns(area, state);

		latest = begin > latest ? begin : latest;
		if (latest > at_ns)
			break;
	}
	return (int64_t)state - 1;
}
