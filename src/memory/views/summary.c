/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary.c - view: the memory of each device when the snapshot was taken, and its peak.
 *
 * Fragmentation has three parts: what rounding added to active blocks (internal), free
 * memory in segments that are in use (external), and completely free segments, which
 * empty_cache() releases (releasable). Reserved memory is active, external and releasable
 * memory.
 */
#include "memory/subject.h"

static const struct ss_column columns[] = {
	{ "device", SS_COLUMN_TEXT, SS_DEVICE_COLUMN_TEXT, 0 },
	{ "reserved_bytes", SS_COLUMN_BYTES, "memory reserved by the allocator (segments)", 0 },
	{ "allocated_bytes", SS_COLUMN_BYTES, "memory held by the program (blocks)", 0 },
	{ "peak_active_bytes", SS_COLUMN_BYTES,
	  "peak of the active memory in the recorded events; empty: no events", 0 },
	{ "peak_reserved_bytes", SS_COLUMN_BYTES,
	  "peak of the reserved memory in the recorded events", 0 },
	{ "external_bytes", SS_COLUMN_BYTES,
	  "free memory inside segments that are in use (fragmentation)", 0 },
	{ "releasable_bytes", SS_COLUMN_BYTES, "segments that are completely free", 0 },
	{ "largest_free_bytes", SS_COLUMN_BYTES, "largest free block", 0 },
	{ "active_bytes", SS_COLUMN_BYTES,
	  "blocks held by the program, and blocks that only streams still use", SS_COLUMN_DETAIL },
	{ "requested_bytes", SS_COLUMN_BYTES, "requested size of the active blocks",
	  SS_COLUMN_DETAIL },
	{ "internal_bytes", SS_COLUMN_BYTES, "active minus requested: lost to rounding",
	  SS_COLUMN_DETAIL },
	{ "peak_requested_bytes", SS_COLUMN_BYTES, "peak as memory_viz counts it: requested sizes",
	  SS_COLUMN_DETAIL },
	{ "peak_at_ns", SS_COLUMN_NS, "time of the peak, from the first event", SS_COLUMN_DETAIL },
	{ "segments", SS_COLUMN_COUNT, "segments", SS_COLUMN_DETAIL },
	{ "blocks", SS_COLUMN_COUNT, "number of blocks, used or free", SS_COLUMN_DETAIL },
	{ "events", SS_COLUMN_COUNT, "number of recorded events", 0 },
	{ "allocations", SS_COLUMN_COUNT, "number of allocations", SS_COLUMN_DETAIL },
	{ "out_of_memory", SS_COLUMN_COUNT, "allocations that failed",
	  SS_COLUMN_CONTEXT | SS_COLUMN_QUIET },
	{ "replay", SS_COLUMN_TEXT,
	  "exact: replaying the events gives every recorded block; requested: only their "
	  "requested sizes; differs: it does not; empty: nothing to compare",
	  SS_COLUMN_DETAIL },
};

static const char *summary_replay(const struct ss_device_memory *device)
{
	if (!device->is_compared)
		return NULL;
	if (device->is_exact)
		return "exact";
	return device->unmatched || device->odd_events ? "differs" : "requested";
}

/* What a trace knows, too. */
static void summary_add_amount(const struct ss_snapshot_subject *subject,
			       const struct ss_device_memory *device, int64_t bytes,
			       struct ss_table *out)
{
	bool is_known = subject->snapshot->has_segments || device->segment_count || device->traced;

	ss_row_int_known(out, is_known ? bytes : -1);
}

/* A figure of the segments: not known where the file has none. */
static void summary_add_end(const struct ss_snapshot_subject *subject,
			    const struct ss_device_memory *device, int64_t bytes,
			    struct ss_table *out)
{
	bool is_known = subject->snapshot->has_segments || device->segment_count;

	ss_row_int_known(out, is_known ? bytes : -1);
}

static int64_t summary_peak_ns(const struct ss_snapshot *snapshot,
			       const struct ss_device_memory *device)
{
	if (!device->count)
		return -1;
	if (device->peak_row != SS_NO_ROW)
		return ss_snapshot_time_ns(snapshot, device, device->peak_row);
	return device->traced ? ss_snapshot_time_ns(snapshot, device, device->first) : 0;
}

static void summary_add_row(const struct ss_snapshot_subject *subject,
			    const struct ss_device_memory *device, struct ss_table *out)
{
	const struct ss_device_state *end = &device->end;
	bool has_events = device->count > 0;

	ss_row_begin(out);
	ss_row_text(out, ss_snapshot_device_name(device, out));
	summary_add_amount(subject, device, end->reserved_bytes, out);
	summary_add_amount(subject, device, end->allocated_bytes, out);
	ss_row_int_known(out, has_events ? device->peak_active_bytes : -1);
	ss_row_int_known(out, has_events ? device->peak_reserved_bytes : -1);
	summary_add_end(subject, device, end->external_bytes, out);
	summary_add_end(subject, device, end->releasable_bytes, out);
	summary_add_end(subject, device, end->largest_free_bytes, out);
	summary_add_amount(subject, device, end->active_bytes, out);
	summary_add_end(subject, device, end->has_requested ? end->requested_bytes : -1, out);
	summary_add_end(subject, device, end->has_requested ? end->internal_bytes : -1, out);
	ss_row_int_known(out, has_events ? device->peak_requested_bytes : -1);
	ss_row_int_known(out, summary_peak_ns(subject->snapshot, device));
	ss_row_int_known(out, device->traced ? -1 : (int64_t)end->segments);
	ss_row_int_known(out, device->traced ? -1 : (int64_t)end->blocks);
	ss_row_int(out, device->count - (device->traced ? device->traced->unexplained : 0));
	ss_row_int(out, (int64_t)device->action_counts[SS_ACTION_ALLOC]);
	ss_row_int(out, (int64_t)device->action_counts[SS_ACTION_OOM]);
	ss_row_text(out, summary_replay(device));
	ss_row_end(out);
}

/* Of a memory timeline there is the peak. */
static void summary_add_curve(const struct ss_snapshot *snapshot, struct ss_table *out)
{
	ss_row_begin(out);
	ss_row_nulls(out, 3);
	ss_row_int(out, ss_snapshot_curve_peak(snapshot, NULL));
	ss_row_nulls(out, 11);
	ss_row_int(out, snapshot->curve.count);
	ss_row_nulls(out, 3);
	ss_row_end(out);
}

static enum ss_status summary_run(const struct ss_snapshot_subject *subject, struct ss_table *out,
				  struct ss_error *err)
{
	(void)err;
	if (subject->snapshot->curve.count)
		summary_add_curve(subject->snapshot, out);
	for (uint32_t i = 0; i < subject->history->device_count; i++)
		summary_add_row(subject, &subject->history->devices[i], out);
	ss_snapshot_notes(subject, out);
	return SS_OK;
}

const struct ss_view ss_snapshot_view_summary = {
	.name = "snapshot-summary",
	.summary = "Memory of each device: reserved, allocated, fragmentation, peak",
	.empty = "The snapshot holds no memory.",
	SS_TABLE_COLUMNS(columns),
	.rankless = true,
	.run_snapshot = summary_run,
};
