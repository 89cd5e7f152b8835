/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_rows.h - searches the rows of CPU threads.
 */
#ifndef SS_DIAGNOSE_EVIDENCE_HOST_ROWS_H
#define SS_DIAGNOSE_EVIDENCE_HOST_ROWS_H

#include "trace/trace.h"

/* The first row of the track that starts at or after the moment, or the track's end. */
uint32_t ss_cpu_row_after(const struct ss_trace *trace, uint32_t track, int64_t moment_ns);

/* The row after the last one that starts within the range of this one. */
uint32_t ss_cpu_row_end(const struct ss_trace *trace, uint32_t row);

/* The last row that starts within the range of this one, or the row itself. */
uint32_t ss_cpu_row_last(const struct ss_trace *trace, uint32_t row);

/* Calls can be nested: the outermost one is the task of the graph. */
uint32_t ss_cpu_outer_call(const struct ss_trace *trace, uint32_t row);

#endif
