/* SPDX-License-Identifier: Apache-2.0 */
/*
 * from_trace.h - the memory events of a trace as a snapshot, so that all its views show them.
 *
 * profile(profile_memory=True) records what is allocated and freed, and after each the total
 * of the device and what the allocator has reserved. From the totals follows what was in use
 * before the first event, as a sum: blocks of it are known when they are freed, the rest stays
 * one amount. Where a total is not what the events lead to, what is between gets a row of its
 * own (SS_ACTION_GAIN, SS_ACTION_LOSS), so that amounts are those that were recorded.
 *
 * Changes of what is reserved become rows of segments without an address. Events without an
 * address have address 0: they count as amounts, and nothing is said of blocks.
 */
#ifndef SS_SNAPSHOT_FROM_TRACE_H
#define SS_SNAPSHOT_FROM_TRACE_H

#include "snapshot/load/snapshot.h"
#include "trace/trace.h"

/* To be released when SS_OK came back; fails (SS_ERR_MISSING) where no memory was recorded. */
SS_MUST_USE
enum ss_status ss_snapshot_from_trace(struct ss_snapshot *out, const struct ss_trace *trace,
				      struct ss_memory *memory, struct ss_error *err);

#endif
