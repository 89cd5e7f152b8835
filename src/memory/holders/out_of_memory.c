/* SPDX-License-Identifier: Apache-2.0 */
/*
 * out_of_memory.c - compares the requested size with what was free and what was kept.
 */
#include "memory/holders/out_of_memory.h"

#include <string.h>

#include "memory/events/pools.h"
#include "memory/history/layout.h"
#include "memory/holders/retained.h"

static const char *const causes[] = {
	[SS_OOM_UNKNOWN] = "unknown: how much memory was free is not recorded",
	[SS_OOM_FRAGMENTS] = "enough memory was free, but fragmented into small blocks",
	[SS_OOM_LEAK] = "memory kept by earlier steps exceeds what was missing",
	[SS_OOM_TOO_MUCH] = "the program needs more memory than the GPU has",
};

const char *ss_out_of_memory_cause_text(enum ss_out_of_memory_cause cause)
{
	return causes[cause];
}

bool ss_out_of_memory_has_expandable(const struct ss_snapshot *snapshot)
{
	for (uint32_t i = 0; i < snapshot->setting_count; i++)
		if (strcmp(ss_strings_text(&snapshot->texts, snapshot->settings[i].name),
			   "expandable_segments") == 0)
			return strcmp(ss_strings_text(&snapshot->texts,
						      snapshot->settings[i].value),
				      "True") == 0;
	return false;
}

/* What lines that leak had kept by then; -1: no memory. */
static int64_t leaked_before(const struct ss_retained *retained, const struct ss_held_blocks *held,
			     const struct ss_snapshot_places *spots)
{
	size_t count = (size_t)spots->texts.count + 1;
	uint8_t *leaks = ss_memory_zeroed(held->memory, count);
	int64_t bytes = 0;

	if (!leaks)
		return -1;
	for (uint32_t i = 0; i < retained->count && retained->lines[i].leak_steps; i++)
		leaks[retained->lines[i].line] = 1;
	for (uint32_t i = 0; i < held->count; i++) {
		const struct ss_held_block *block = &held->items[i];

		/* what the running step made may still be needed */
		if (block->row != SS_NO_ROW && leaks[spots->line[block->stack]] &&
		    ss_snapshot_steps_round(&retained->rounds, block->row) <
			    retained->complete_steps)
			bytes = ss_amount_add(bytes, block->bytes);
	}
	ss_memory_free(held->memory, leaks, count);
	return bytes;
}

/* Compares what was missing with what each remedy would free; the cause follows. */
static void find_oom_cause(const struct ss_snapshot *snapshot, struct ss_out_of_memory *out)
{
	int64_t device_free = out->device_free_bytes < 0 ? 0 : out->device_free_bytes;
	bool expandable = ss_out_of_memory_has_expandable(snapshot);
	int64_t pages;

	if (!out->oom->has_free) {
		out->cause = out->leaked_bytes ? SS_OOM_LEAK : SS_OOM_UNKNOWN;
		out->helps_leak_fix = out->leaked_bytes > 0;
		return;
	}
	out->missing_bytes = out->asked_bytes - ss_amount_add(out->oom->free_bytes, device_free);
	if (out->missing_bytes < 0)
		out->missing_bytes = 0;
	/* a page of theirs is used again when all of it is free: smaller pieces stay pieces */
	pages = ss_amount_add(ss_block_layout_pages(device_free), out->oom->paged_bytes);
	out->helps_expandable = !expandable && out->asked_bytes <= pages;
	out->helps_leak_fix = out->leaked_bytes > out->missing_bytes;
	out->helps_checkpoint = out->purpose_bytes[SS_PURPOSE_ACTIVATION] > out->missing_bytes &&
				out->missing_bytes > 0;
	/* the device had enough of it left, but less than a segment: it is full, not in pieces */
	if (!out->missing_bytes && device_free < out->asked_bytes)
		out->cause = SS_OOM_FRAGMENTS;
	else
		out->cause = out->helps_leak_fix ? SS_OOM_LEAK : SS_OOM_TOO_MUCH;
	out->helps_split_size = out->cause == SS_OOM_FRAGMENTS && !expandable &&
				!out->helps_expandable;
}

enum ss_status ss_out_of_memory_find(const struct ss_snapshot_subject *subject,
				     const struct ss_device_memory *device,
				     const struct ss_oom *oom, struct ss_out_of_memory *out,
				     struct ss_error *err)
{
	const struct ss_snapshot_events *events = &subject->snapshot->events;
	struct ss_held_blocks held;
	struct ss_retained retained;
	enum ss_status status;

	*out = (struct ss_out_of_memory){ .oom = oom,
					  .asked_bytes = events->bytes[oom->row],
					  .device_free_bytes = (int64_t)events->address[oom->row] };
	SS_TRY(ss_held_blocks_init(&held, subject, device, oom->row, err));
	for (uint32_t i = 0; i < held.count; i++) {
		int64_t *bytes = &out->purpose_bytes[held.items[i].purpose];

		*bytes = ss_amount_add(*bytes, held.items[i].bytes);
	}
	status = ss_retained_init(&retained, subject, device, err);
	if (status == SS_OK) {
		out->leaked_bytes = leaked_before(&retained, &held, subject->spots);
		ss_retained_release(&retained);
		out->leaked_at_least = device->begins_in_middle;
		find_oom_cause(subject->snapshot, out);
		if (out->leaked_bytes < 0)
			status = ss_fail_memory(err, "what is kept");
	}
	ss_held_blocks_release(&held);
	return status;
}
