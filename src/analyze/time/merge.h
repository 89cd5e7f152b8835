/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge.h - the device rows of several streams in order of their starts.
 */
#ifndef SS_ANALYZE_TIME_MERGE_H
#define SS_ANALYZE_TIME_MERGE_H

#include "trace/trace.h"

struct ss_merge_stream {
	uint32_t at, end; /* its next row, and the end of its rows */
};

struct ss_merge {
	const struct ss_trace *trace;
	struct ss_merge_stream *heap; /* those that have rows left */
	uint32_t count;
};

/* The streams of a device; false: no memory. */
SS_MUST_USE
bool ss_merge_init(struct ss_merge *merge, const struct ss_trace *trace, int64_t device,
		   struct ss_arena *arena);

/* The next row, or SS_NO_ROW. Rows that start together come in the order of their streams. */
uint32_t ss_merge_next(struct ss_merge *merge);

#endif
