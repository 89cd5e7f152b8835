/* SPDX-License-Identifier: Apache-2.0 */
/*
 * curves.h - what is drawn as curves: busy devices, memory, the queue of launches, counters.
 */
#ifndef SS_TIMELINE_ROWS_CURVES_H
#define SS_TIMELINE_ROWS_CURVES_H

#include "base/memory.h"
#include "timeline/rows/lanes.h"
#include "timeline/timeline.h"

#define SS_SERIES_FAN 16u

struct ss_extent {
	float low, high;
};

/*
 * Values over time: each holds until the next one. Over the values stands a tree of the least and
 * the most, so that those of any stretch are found in a few steps. No peak vanishes, however short
 * it was.
 */
struct ss_series {
	struct ss_memory *memory;
	int64_t *at_ns; /* in order */
	float *value;   /* answers are float too */
	uint32_t count, at_capacity, value_capacity;
	float before; /* the value before the first; NAN: not known */
	struct ss_extent *nodes;
	uint32_t node_count;
};

/* Zeroed but for the memory and `before`: empty. */
void ss_series_init(struct ss_series *series, float before, struct ss_memory *memory);
void ss_series_release(struct ss_series *series);

/* Adds a value no earlier than those before it; false: no memory. */
SS_MUST_USE
bool ss_series_add(struct ss_series *series, int64_t at_ns, double value);

/* Sums it up; nothing may be added afterwards. */
SS_MUST_USE
bool ss_series_finish(struct ss_series *series);

/* The number of values before the moment; `near` is a guess. */
uint32_t ss_series_find(const struct ss_series *series, int64_t moment_ns, uint32_t near);

/* Minimum and maximum of the value that is valid at number `from`, and of from .. to - 1. */
struct ss_extent ss_series_extent(const struct ss_series *series, uint32_t from, uint32_t to);

/* More counters than this are not listed: no screen has room for them. */
#define SS_COUNTER_CURVES_MAX 256

enum ss_curve_kind {
	SS_CURVE_UTILIZATION,
	SS_CURVE_MEMORY,
	SS_CURVE_RESERVED,
	SS_CURVE_QUEUE,
	SS_CURVE_COUNTER,
};

struct ss_curve {
	enum ss_curve_kind kind;
	bool has_device;
	int64_t device;
	const char *name; /* of a counter: its own */
	const char *unit;
	double high;             /* NAN: not known before it is drawn */
	uint32_t pool;           /* memory: of ss_pools */
	uint32_t counter;        /* the first sample of the counter */
	bool is_made;            /* the series is there */
	struct ss_series series; /* all but utilization */
};

struct ss_curves {
	struct ss_memory *memory; /* NULL: not made yet */
	const struct ss_trace *trace;
	struct ss_arena arena; /* names */
	struct ss_curve *items;
	uint32_t count, capacity;
};

/* The list; series are made when they are first drawn. */
SS_MUST_USE
enum ss_status ss_curves_init(struct ss_curves *curves, const struct ss_trace *trace,
			      struct ss_memory *memory, struct ss_error *err);
void ss_curves_release(struct ss_curves *curves);

/* "memory" */
const char *ss_curve_kind_name(enum ss_curve_kind kind);

/* Makes its series, where it has one. */
SS_MUST_USE
enum ss_status ss_curve_make(struct ss_curves *curves, struct ss_curve *curve,
			     struct ss_error *err);

#endif
