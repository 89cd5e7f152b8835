/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summits.c - follows the curve up and down, and turns when it has changed enough.
 */
#include "memory/history/summits.h"

#include "memory/events/pools.h"

/* Of the device's peak: less is no rise and no fall. */
#define SWING_PART 20

struct climb {
	int64_t swing_bytes;
	int64_t low_bytes, top_bytes;
	int64_t top_event; /* -1: before the first one, which is no event to go to */
	bool falls;        /* the last peak is passed, and nothing has risen since */
	int64_t event;     /* asked: what is the peak before and after it? */
	struct ss_summits *out;
};

/*
 * Counts the top as a peak if it rose enough, and notes where it lies: before the asked event, at
 * it (its number is then known), or after it.
 */
static void climb_add_summit(struct climb *climb)
{
	struct ss_summits *out = climb->out;

	if (climb->top_event < 0 ||
	    ss_amount_subtract(climb->top_bytes, climb->low_bytes) < climb->swing_bytes)
		return;
	out->count++;
	if (climb->top_event < climb->event)
		out->before = climb->top_event;
	else if (climb->top_event == climb->event)
		out->number = out->count;
	else if (out->after < 0)
		out->after = climb->top_event;
}

/* Looks for a rise and a fall of at least `swing_bytes`; the top between them is a peak. */
static void climb_take_event(struct climb *climb, int64_t event, int64_t active_bytes)
{
	bool fell = ss_amount_subtract(climb->top_bytes, active_bytes) >= climb->swing_bytes;

	if (climb->falls) {
		if (active_bytes < climb->low_bytes)
			climb->low_bytes = active_bytes;
		if (ss_amount_subtract(active_bytes, climb->low_bytes) < climb->swing_bytes)
			return;
		climb->falls = false;
	} else if (fell) {
		climb_add_summit(climb);
		climb->falls = true;
		climb->low_bytes = active_bytes;
		return;
	} else if (active_bytes < climb->low_bytes) {
		climb->low_bytes = active_bytes;
	} else if (active_bytes <= climb->top_bytes) {
		return;
	}
	climb->top_bytes = active_bytes;
	climb->top_event = event;
}

void ss_summits_find(const struct ss_history *history, const struct ss_device_memory *device,
		     int64_t event, struct ss_summits *out)
{
	int64_t active = device->first_active_bytes, reserved = device->first_reserved_bytes;
	int64_t swing = device->peak_active_bytes / SWING_PART;
	struct climb climb = { .swing_bytes = swing > 0 ? swing : 1,
			       .low_bytes = active,
			       .top_bytes = active,
			       .top_event = -1,
			       .event = event,
			       .out = out };

	*out = (struct ss_summits){ -1, -1, 0, 0, active, reserved };
	for (uint32_t i = 0; i < device->count; i++) {
		uint32_t row = device->first + i;

		active = ss_amount_add(active, ss_history_change(history, row));
		if (reserved >= 0)
			reserved = ss_amount_add(reserved,
						 ss_history_reserved_change(history->snapshot,
									    row));
		climb_take_event(&climb, i, active);
		if (i <= event) {
			out->active_bytes = active;
			out->reserved_bytes = reserved;
		}
	}
	if (!climb.falls)
		climb_add_summit(&climb);
}
