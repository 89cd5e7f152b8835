/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order.h - sorts row numbers by time.
 *
 * Trace files are not sorted, but they are made of long sorted runs (each thread
 * and stream was recorded in order), so runs are found and merged; runs that
 * already follow each other cost one comparison.
 */
#ifndef SS_TRACE_ORDER_H
#define SS_TRACE_ORDER_H

#include "base/memory.h"

/* By start, then longest first, then id, then as they came. */
struct ss_order {
	const int64_t *start_ns;
	const int64_t *dur_ns; /* NULL: not looked at */
	const uint32_t *id;    /* NULL: not looked at */
};

/* Sorts rows[0 .. count) using spare[0 .. count); stable. */
void ss_order_sort(const struct ss_order *order, uint32_t *rows, uint32_t *spare, uint32_t count);

#endif
