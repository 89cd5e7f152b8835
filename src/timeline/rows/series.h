/* SPDX-License-Identifier: Apache-2.0 */
/*
 * series.h - values over time: each holds until the next one.
 *
 * Over the values stands a tree of the least and the most, so that those of any stretch
 * are found in a few steps. No peak vanishes, however short it was.
 */
#ifndef SS_TIMELINE_ROWS_SERIES_H
#define SS_TIMELINE_ROWS_SERIES_H

#include "base/memory.h"

#define SS_SERIES_FAN 16u

struct ss_extent {
	float low, high;
};

struct ss_series {
	struct ss_memory *memory;
	int64_t *at_ns; /* in order */
	float *value;   /* the answers have no more digits */
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

/* How many are before the moment; `near` is a guess that is not above it, or is wrong. */
uint32_t ss_series_find(const struct ss_series *series, int64_t moment_ns, uint32_t near);

/* Least and most of the value that holds at number `from`, and of those from..to. */
struct ss_extent ss_series_extent(const struct ss_series *series, uint32_t from, uint32_t to);

#endif
