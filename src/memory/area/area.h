/* SPDX-License-Identifier: Apache-2.0 */
/*
 * area.h - the memory of a device over time, stacked by holder.
 *
 * An area is made once: which series each event belongs to, and a checkpoint of the state
 * every AREA_RUN events. A window is then drawn without visiting most of the events.
 *
 * State k is the state after event k; state -1 is before the first one. A pixel shows the
 * state with the most active memory among its states: no peak is lost, and its parts add
 * up to it exactly.
 */
#ifndef SS_MEMORY_AREA_AREA_H
#define SS_MEMORY_AREA_AREA_H

#include "memory/subject.h"

enum ss_area_group { SS_AREA_CATEGORY, SS_AREA_LINE, SS_AREA_STACK, SS_AREA_GROUPS };

/* "category" */
const char *ss_area_group_name(enum ss_area_group group);

/* More than can be told apart by colour; what else there is becomes the last series. */
#define SS_AREA_SERIES_MAX 16

struct ss_area_series {
	uint32_t id;        /* of the group; SS_NO_ID: the rest */
	uint32_t stack;     /* of the largest block; 0: none */
	int64_t most_bytes; /* at any moment */
	int64_t largest_bytes;
};

/* What there is before a run of events, and what comes in it. */
struct ss_area_run {
	int64_t active_bytes, reserved_bytes;               /* before; reserved -1: not known */
	int64_t low_bytes, high_bytes, high_reserved_bytes; /* after its events */
	uint32_t high;     /* the first event of high_bytes, from 0 */
	int64_t latest_ns; /* of all events up to its end: clocks of files go back */
};

struct ss_area {
	struct ss_memory *memory;
	const struct ss_opened *opened;
	const struct ss_device_memory *device; /* NULL: a memory timeline of the profiler */
	enum ss_area_group group;
	uint32_t state_count; /* without state -1, which memory timelines do not have */
	int64_t span_ns;      /* to the last event; -1: times are not recorded */
	struct ss_area_series series[SS_AREA_SERIES_MAX + 1];
	uint32_t series_count;
	uint8_t *of;              /* per event: its series */
	struct ss_area_run *runs; /* of AREA_RUN events each */
	int64_t *parts;           /* per run and series: before it */
	uint32_t run_count, capacity;
	int64_t first_ns; /* of a memory timeline: its first point with a time */
};

/* Events of a run: a pixel scans at most two of them, which takes a microsecond each. */
#define AREA_RUN 1024u

/* `opened` is lent. Release it also when this failed. */
SS_MUST_USE
enum ss_status ss_area_make(struct ss_area *area, const struct ss_opened *opened,
			    const struct ss_device_memory *device, enum ss_area_group group,
			    struct ss_error *err);
void ss_area_release(struct ss_area *area);

/* The name of a series: a line, a category, "everything else". Lives as long as the snapshot. */
const char *ss_area_name(const struct ss_area *area, uint32_t series);

/* The series of a block that was in use before the events. */
uint32_t ss_area_series_of_old(const struct ss_area *area, const struct ss_old_block *old);

struct ss_area_pixel {
	int64_t low_bytes, high_bytes, reserved_bytes; /* reserved: most; -1: not known */
	int64_t parts[SS_AREA_SERIES_MAX + 1];         /* of high_bytes */
	int64_t state;                                 /* of high_bytes */
};

/* Where a drawing is: pixels are taken from left to right. */
struct ss_area_cursor {
	int64_t state; /* the last one that was seen; -2: none */
	int64_t active_bytes, reserved_bytes;
	struct ss_area_pixel last;
};

void ss_area_begin(struct ss_area_cursor *cursor);

/* The states from first to last; not before those of the pixel before it. */
void ss_area_draw(const struct ss_area *area, struct ss_area_cursor *cursor, int64_t first,
		  int64_t last, struct ss_area_pixel *out);

/* The last state that begins at the moment or before it: times count from the first event. */
int64_t ss_area_state_at(const struct ss_area *area, int64_t at_ns);

#endif
