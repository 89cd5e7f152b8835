/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue.h - what was launched, and how long it was queued.
 *
 * A piece of work is a call and everything it started on the device (a graph launch: many
 * events). It is queued from the start of the call to the start of its first event, so a
 * queue changes by +1 when a call begins and by -1 when its work does.
 */
#ifndef SS_ANALYZE_TIME_QUEUE_H
#define SS_ANALYZE_TIME_QUEUE_H

#include "analyze/time/cover.h"
#include "trace/trace.h"

struct ss_launched_work {
	uint32_t call;     /* host row; SS_NO_ROW: not in the file */
	uint32_t first;    /* the device row that began first */
	uint32_t events;   /* device rows */
	bool late;         /* the device had run out of work when it was called */
	int64_t end_ns;    /* the last end of its rows */
	int64_t device_ns; /* sum of their durations */
};

struct ss_launched {
	const struct ss_trace *trace;
	struct ss_memory *memory;
	struct ss_launched_work *items;
	int64_t *from_ns, *to_ns; /* when each was in the queue */
	uint32_t *by_from, *by_to;
	uint32_t count, capacity;
	uint32_t row_count; /* of host rows */
	uint32_t *of_call;  /* per host row: number of its work + 1 */
};

SS_MUST_USE
enum ss_status ss_launched_init(struct ss_launched *works, const struct ss_trace *trace,
				struct ss_memory *memory, struct ss_error *err);
void ss_launched_release(struct ss_launched *works);

/* A queue over some time; work that did not wait was never in it. */
struct ss_launch_queue {
	double area;      /* sum of lengths times nanoseconds */
	int64_t now, max; /* its length */
	int64_t empty_ns; /* only from ss_launch_queues_in(): how long it was empty */
};

/* The queue of all work in each window; windows are sorted and do not overlap. */
void ss_launch_queues_in(const struct ss_launched *works, const struct ss_cover *windows,
			 struct ss_launch_queue *queues);

/*
 * The queue of each key in one window; work with key SS_NO_ID is in none. The areas add up
 * to that of the whole queue.
 */
void ss_launch_queues_of(const struct ss_launched *works, const uint32_t *keys,
			 struct ss_interval window, struct ss_launch_queue *queues);

#endif
