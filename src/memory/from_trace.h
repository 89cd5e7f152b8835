/* SPDX-License-Identifier: Apache-2.0 */
/*
 * from_trace.h - converts the memory events of a trace to a snapshot, so that all snapshot
 * views can show them.
 *
 * profile(profile_memory=True) records allocations and frees, and after each the device's
 * total and what the allocator has reserved. The totals show how much was in use before
 * the first event: its blocks become known when they are freed, the rest stays one amount.
 * If a total differs from what the events give, the difference gets its own row
 * (SS_ACTION_GAIN, SS_ACTION_LOSS), so that amounts match the recording. So does the end of
 * an allocation whose address is given out again without a free. All other rows are the
 * events of the file, one each.
 *
 * Events without an address have address 0: they count as amounts, and their blocks are
 * unknown.
 */
#ifndef SS_MEMORY_FROM_TRACE_H
#define SS_MEMORY_FROM_TRACE_H

#include "memory/load/snapshot.h"
#include "trace/trace.h"

/* To be released when SS_OK came back; fails (SS_ERR_MISSING) where no memory was recorded. */
SS_MUST_USE
enum ss_status ss_snapshot_from_trace(struct ss_snapshot *out, const struct ss_trace *trace,
				      struct ss_memory *memory, struct ss_error *err);

#endif
