/* SPDX-License-Identifier: Apache-2.0 */
/*
 * later.h - columns of a pack that are unpacked when they are needed first.
 *
 * A pack is read as a whole and its checksums are checked, so its file may change or go
 * afterwards, and a damaged one is known at once. Its columns stay as they lie in the
 * file: who reads a trace says before which groups of columns it is about to read. What
 * only a reader of all rows can find out about a pack (numbers that refer to nothing,
 * times out of order) is an error then.
 *
 * A trace that was not read from a pack has all columns, and these calls do nothing.
 */
#ifndef SS_TRACE_PACK_LATER_H
#define SS_TRACE_PACK_LATER_H

#include "trace/trace.h"

/*
 * Makes these groups (enum ss_columns) readable. Nobody else may use the trace meanwhile. After
 * a failure the groups may not be read; where memory was missing it can be called again.
 */
SS_MUST_USE
enum ss_status ss_trace_need(struct ss_trace *trace, uint32_t columns, uint32_t threads,
			     struct ss_error *err);

/* None of them was needed yet, or: all are there. */
bool ss_trace_is_untouched(const struct ss_trace *trace);
bool ss_trace_is_whole(const struct ss_trace *trace);

/* What nobody needed is freed. */
void ss_later_release(struct ss_trace *trace);

#endif
