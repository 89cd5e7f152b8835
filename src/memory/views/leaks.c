/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leaks.c - view: what was allocated in the events and never freed, growing lines first.
 */
#include "memory/holders/retained.h"

static const struct ss_column columns[] = {
	SS_COLUMN_DEVICE,
	{ "line", SS_COLUMN_TEXT, "source line that allocated it", 0 },
	{ "grows", SS_COLUMN_TEXT, "yes: every step leaves blocks behind; empty: no sign of that",
	  0 },
	{ "step_bytes", SS_COLUMN_BYTES, "requested bytes that each step keeps, if it grows", 0 },
	{ "steps", SS_COLUMN_COUNT, "consecutive steps that keep some of it", 0 },
	{ "kept_bytes", SS_COLUMN_BYTES, "size of the blocks that were not freed", 0 },
	{ "kept_blocks", SS_COLUMN_COUNT, "number of blocks that were not freed", 0 },
	{ "allocations", SS_COLUMN_COUNT, "number of all allocations of the line", 0 },
	{ "category", SS_COLUMN_TEXT, "purpose, as far as the stack shows it", 0 },
	{ "first_ns", SS_COLUMN_NS, "time of its first allocation, from the first event",
	  SS_COLUMN_DETAIL },
	{ "last_ns", SS_COLUMN_NS, "time of its last allocation", SS_COLUMN_DETAIL },
	{ "stack", SS_COLUMN_TEXT, "stack that holds most of it, innermost frame first",
	  SS_COLUMN_DETAIL | SS_COLUMN_WRAP },
};

static void leaks_add_row(const struct ss_snapshot_subject *subject,
			  const struct ss_device_memory *device,
			  const struct ss_retained_line *line, struct ss_table *out)
{
	ss_row_begin(out);
	ss_row_text(out, ss_snapshot_device_name(device, out));
	ss_row_text(out, line->line ? ss_strings_text(&subject->spots->texts, line->line) : NULL);
	ss_row_text(out, line->leak_steps ? "yes" : NULL);
	ss_row_int_known(out, line->leak_steps ? line->leak_step_bytes : -1);
	ss_row_int_known(out, line->leak_steps ? (int64_t)line->leak_steps : -1);
	ss_row_int(out, line->bytes);
	ss_row_int(out, line->blocks);
	ss_row_int(out, line->made);
	ss_row_text(out, ss_purpose_name((enum ss_purpose)line->purpose));
	ss_row_int_known(out, ss_snapshot_time_ns(subject->snapshot, device, line->first_row));
	ss_row_int_known(out, ss_snapshot_time_ns(subject->snapshot, device, line->last_row));
	ss_row_text(out, ss_snapshot_stack(subject, line->stack, out));
	ss_row_end(out);
}

static void leaks_note(const struct ss_device_memory *device, const struct ss_retained *retained,
		       struct ss_table *out)
{
	const char *name = ss_snapshot_device_name(device, out);
	uint32_t steps = retained->complete_steps - retained->rounds.before;

	if (device->traced && !device->traced->has_addresses) {
		out->empty = "Addresses are not recorded, so it is unknown what was freed.";
		return;
	}
	if (!retained->rounds.has_steps)
		ss_table_note(out,
			      "Device %s: the stacks show no optimizer and no backward, so steps "
			      "and growth from step to step are unknown.",
			      name);
	else
		ss_table_note(out, "Device %s: %u %s complete in the events.", name, steps,
			      steps == 1 ? "step is" : "steps are");
}

static enum ss_status leaks_run(const struct ss_snapshot_subject *subject, struct ss_table *out,
				struct ss_error *err)
{
	for (uint32_t i = 0; i < subject->history->device_count; i++) {
		const struct ss_device_memory *device = &subject->history->devices[i];
		struct ss_retained retained;

		if (!device->count)
			continue;
		SS_TRY(ss_retained_init(&retained, subject, device, err));
		for (uint32_t k = 0; k < retained.count; k++)
			leaks_add_row(subject, device, &retained.lines[k], out);
		if (ss_snapshot_is_noted(subject->history, device))
			leaks_note(device, &retained, out);
		ss_retained_release(&retained);
	}
	ss_snapshot_notes(subject, out);
	return SS_OK;
}

const struct ss_view ss_snapshot_view_leaks = {
	.name = "snapshot-leaks",
	.summary = "Memory that was never freed, growing lines first",
	.empty = "Everything that was allocated in the recorded events was freed.",
	SS_TABLE_COLUMNS(columns),
	.rankless = true,
	.run_snapshot = leaks_run,
};
