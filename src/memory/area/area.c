/* SPDX-License-Identifier: Apache-2.0 */
/*
 * area.c - computes the pixels of an area.
 */
#include "memory/area/area.h"

#include <string.h>

#include "memory/events/pools.h"
#include "base/search.h"

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
	line = ss_stack_places_line(&area->opened->spots, area->series[series].stack);
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

	cursor->active_bytes = ss_bytes_add(cursor->active_bytes, area_change_at(area, event));
	if (cursor->reserved_bytes >= 0)
		cursor->reserved_bytes = ss_bytes_add(
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

		*part = ss_bytes_add(*part, area_change_at(area, (uint32_t)event));
	}
}

/* Points of a memory timeline are states already. */
static void draw_points(const struct ss_area *area, int64_t first, int64_t last,
			struct ss_area_pixel *out)
{
	const struct ss_memory_curve *curve = &area->opened->snapshot.curve;

	for (int64_t at = first; at <= last; at++) {
		int64_t sum = 0;

		for (int i = 0; i < SS_CURVE_COUNT; i++)
			sum = ss_bytes_add(sum, curve->points[at].bytes[i]);
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
	const struct ss_memory_curve *curve = &area->opened->snapshot.curve;
	int64_t span;

	if (area->device)
		return ss_snapshot_moment(&area->opened->snapshot, area->device,
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
