/* SPDX-License-Identifier: Apache-2.0 */
/*
 * oom.c - view: failed allocations: requested size, free memory, and what would have
 * helped.
 */
#include "memory/events/pools.h"
#include "memory/holders/out_of_memory.h"

static const struct ss_column columns[] = {
	SS_COLUMN_DEVICE,
	{ "event", SS_COLUMN_ID, "number of the event, from 0", SS_COLUMN_DETAIL },
	{ "at_ns", SS_COLUMN_NS, "time of the failure, from the first event", SS_COLUMN_DETAIL },
	{ "asked_bytes", SS_COLUMN_BYTES, "requested size", 0 },
	{ "device_free_bytes", SS_COLUMN_BYTES,
	  "memory the device had left for a new segment; empty: not recorded", 0 },
	{ "cached_free_bytes", SS_COLUMN_BYTES,
	  "reserved but unused memory at that moment; empty: unknown", 0 },
	{ "largest_free_bytes", SS_COLUMN_BYTES, "largest free block in the allocator's cache", 0 },
	{ "missing_bytes", SS_COLUMN_BYTES,
	  "requested size beyond all free memory; 0: enough was free, but fragmented; empty: "
	  "unknown",
	  0 },
	{ "active_bytes", SS_COLUMN_BYTES, "memory in use at that moment", 0 },
	{ "reserved_bytes", SS_COLUMN_BYTES, "memory reserved at that moment", SS_COLUMN_DETAIL },
	{ "activation_bytes", SS_COLUMN_BYTES, "activations in use, as far as the stacks show it",
	  SS_COLUMN_DETAIL },
	{ "leaked_bytes", SS_COLUMN_BYTES, "memory that leaking lines kept from completed steps",
	  SS_COLUMN_DETAIL },
	{ "line", SS_COLUMN_TEXT, "source line that requested it", 0 },
	{ "why", SS_COLUMN_TEXT, "why the allocation failed", SS_COLUMN_WRAP },
	{ "would_help", SS_COLUMN_TEXT, "what would have made it fit", SS_COLUMN_WRAP },
	{ "stack", SS_COLUMN_TEXT, "stack, innermost frame first",
	  SS_COLUMN_DETAIL | SS_COLUMN_WRAP },
};

static const char *oom_help(const struct ss_out_of_memory *shortage, struct ss_table *out)
{
	const char *list = "";

	if (shortage->helps_leak_fix)
		list = ss_table_print(out, "freeing the memory that earlier steps keep (%s%s)",
				      shortage->leaked_at_least ? "at least " : "",
				      ss_amount_text(shortage->leaked_bytes, out));
	if (shortage->helps_expandable)
		list = ss_table_print(out,
				      "%s%sexpandable_segments:True, otherwise max_split_size_mb",
				      list, *list ? "; " : "");
	if (shortage->helps_split_size)
		list = ss_table_print(out, "%s%sthe same sizes in every step, or max_split_size_mb",
				      list, *list ? "; " : "");
	if (shortage->helps_checkpoint)
		list = ss_table_print(
			out, "%s%sactivation checkpointing or a smaller batch (activations: %s)",
			list, *list ? "; " : "",
			ss_amount_text(shortage->purpose_bytes[SS_PURPOSE_ACTIVATION], out));
	if (!*list && shortage->missing_bytes)
		return ss_table_print(out,
				      "%s less memory in use: a smaller batch or model, or "
				      "sharding",
				      ss_amount_text(shortage->missing_bytes, out));
	return *list ? list : NULL;
}

static void oom_add_row(const struct ss_snapshot_subject *subject,
			const struct ss_device_memory *device,
			const struct ss_out_of_memory *shortage, struct ss_table *out)
{
	const struct ss_oom *oom = shortage->oom;
	uint32_t stack = subject->snapshot->events.stack[oom->row];

	ss_row_begin(out);
	ss_row_text(out, ss_snapshot_device_name(device, out));
	ss_row_int(out, oom->row - device->first);
	ss_row_int_known(out, ss_snapshot_time_ns(subject->snapshot, device, oom->row));
	ss_row_int(out, shortage->asked_bytes);
	ss_row_int_known(out, shortage->device_free_bytes);
	ss_row_int_known(out, oom->has_free ? oom->free_bytes : -1);
	ss_row_int_known(out, oom->has_free ? oom->largest_bytes : -1);
	ss_row_int_known(out, oom->has_free ? shortage->missing_bytes : -1);
	ss_row_int(out, oom->active_bytes);
	ss_row_int_known(out, oom->reserved_bytes);
	ss_row_int(out, shortage->purpose_bytes[SS_PURPOSE_ACTIVATION]);
	ss_row_int(out, shortage->leaked_bytes);
	ss_row_text(out, ss_snapshot_places_line(subject->spots, stack));
	ss_row_text(out, ss_out_of_memory_cause_text(shortage->cause));
	ss_row_text(out, oom_help(shortage, out));
	ss_row_text(out, ss_snapshot_stack(subject, stack, out));
	ss_row_end(out);
}

static enum ss_status oom_run(const struct ss_snapshot_subject *subject, struct ss_table *out,
			      struct ss_error *err)
{
	for (uint32_t i = 0; i < subject->history->device_count; i++) {
		const struct ss_device_memory *device = &subject->history->devices[i];

		for (uint32_t k = 0; k < device->oom_count; k++) {
			struct ss_out_of_memory shortage;

			SS_TRY(ss_out_of_memory_find(subject, device, &device->ooms[k], &shortage,
						     err));
			oom_add_row(subject, device, &shortage, out);
		}
		if (device->action_counts[SS_ACTION_OOM] > device->oom_count)
			ss_table_note(out,
				      "Device %s: only the last %u of %llu failures are listed.",
				      ss_snapshot_device_name(device, out), device->oom_count,
				      (unsigned long long)device->action_counts[SS_ACTION_OOM]);
	}
	ss_snapshot_notes(subject, out);
	return SS_OK;
}

const struct ss_view ss_snapshot_view_oom = {
	.name = "snapshot-oom",
	.summary = "Failed allocations: why, and what would have helped",
	.empty = "No allocation failed in the recorded events.",
	SS_TABLE_COLUMNS(columns),
	.rankless = true,
	.run_snapshot = oom_run,
};
