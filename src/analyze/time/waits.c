/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waits.c - one pass over the device rows finds copies that blocked, the gaps show what
 * host syncs cost, and one pass over the host rows collects them.
 */
#include <string.h>

#include "analyze/time/waits.h"

void ss_waits_release(struct ss_waits *waits)
{
	if (!waits->memory)
		return;
	SS_FREE(waits->memory, waits->wait, (size_t)waits->row_count + 1);
	SS_FREE(waits->memory, waits->idle, waits->idle_capacity);
	*waits = (struct ss_waits){ 0 };
}

enum copy_wait_kind { COPY_NEW = 0, COPY_FREE, COPY_BLOCKING };

/*
 * Finds copy calls that blocked the host while the device copied. From pageable memory, the
 * call returns when the last piece is on its way, a little before the copy ends; so a call
 * that lasts until the middle of the copy counts.
 */
static void waits_find_copies(struct ss_waits *waits, const struct ss_trace *trace, uint8_t *kinds)
{
	const struct ss_slices *slices = &trace->slices;

	for (uint32_t row = trace->device_from; row < trace->device_to; row++) {
		uint32_t call = ss_slice_launch(slices, row), name = slices->name[row];

		if (slices->kind[row] != SS_KIND_MEMCPY || call >= waits->row_count ||
		    !(ss_slice_flags(trace, call) & SS_NAME_COPY_CALL) ||
		    ss_slice_end(slices, call) < slices->start_ns[row] + slices->dur_ns[row] / 2)
			continue;
		if (kinds[name] == COPY_NEW)
			kinds[name] = ss_copy_never_waits(trace, row) ? COPY_FREE : COPY_BLOCKING;
		if (kinds[name] == COPY_BLOCKING)
			waits->wait[call] = call;
	}
}

static bool waits_add_idle(struct ss_waits *waits, uint32_t step, const struct ss_idle_piece *piece)
{
	uint32_t sync = piece->guilty;

	if (waits->idle_count == waits->idle_capacity &&
	    !SS_GROW(waits->memory, waits->idle, waits->idle_capacity, waits->idle_count))
		return false;
	waits->idle[waits->idle_count++] = (struct ss_wait_idle){ sync, step, piece->ns };
	waits->wait[sync] = sync;
	return true;
}

static bool waits_add_gaps(struct ss_waits *waits, const struct ss_idle *idle)
{
	for (uint32_t i = 0; i < idle->gap_count; i++) {
		const struct ss_idle_gap *gap = &idle->gaps[i];

		for (uint32_t k = gap->piece_from; k < gap->piece_to; k++)
			if (idle->pieces[k].cause == SS_IDLE_SYNC &&
			    !waits_add_idle(waits, gap->step, &idle->pieces[k]))
				return false;
	}
	return true;
}

/* Merges waits with the outermost wait around them; parents come before children. */
static void waits_merge_nested(struct ss_waits *waits, const struct ss_trace *trace)
{
	const struct ss_slices *slices = &trace->slices;

	for (uint32_t row = 0; row < waits->row_count; row++) {
		uint32_t parent = slices->parent[row];

		if (ss_kind_is_call(slices->kind[row]) &&
		    (ss_slice_flags(trace, row) & SS_NAME_SYNC_CALL))
			waits->wait[row] = row;
		if (parent != SS_NO_ROW && waits->wait[parent] != SS_NO_ROW)
			waits->wait[row] = waits->wait[parent];
	}
	for (uint32_t i = 0; i < waits->idle_count; i++)
		waits->idle[i].row = waits->wait[waits->idle[i].row];
}

enum ss_status ss_waits_init(struct ss_waits *waits, const struct ss_idle *idle,
			     struct ss_memory *memory, struct ss_error *err)
{
	const struct ss_trace *trace = idle->trace;
	SS_SCRATCH(scratch, memory);
	uint8_t *kinds;
	size_t bytes;
	bool whole;

	*waits = (struct ss_waits){ .memory = memory, .row_count = trace->device_from };
	bytes = ((size_t)waits->row_count + 1) * sizeof(*waits->wait);
	kinds = SS_ARENA_NEW(&scratch, uint8_t, (size_t)trace->names.count + 1);
	waits->wait = ss_memory_resize(memory, NULL, 0, bytes);
	whole = kinds && waits->wait;
	if (whole) {
		memset(waits->wait, 0xff, bytes); /* SS_NO_ROW */
		waits_find_copies(waits, trace, kinds);
		whole = waits_add_gaps(waits, idle);
	}
	if (!whole) {
		ss_waits_release(waits);
		return ss_fail_memory(err, "the waits for the device");
	}
	waits_merge_nested(waits, trace);
	return SS_OK;
}
