/* SPDX-License-Identifier: Apache-2.0 */
/*
 * held_blocks.c - the blocks in use at a moment, found in one pass over the events.
 */
#include "memory/holders/held_blocks.h"

#include <string.h>

#include "base/sort.h"
#include "memory/events/pools.h"

static bool held_blocks_add(struct ss_held_blocks *held, struct ss_held_block block)
{
	if (!SS_GROW(held->memory, held->items, held->capacity, held->count))
		return false;
	held->items[held->count++] = block;
	return true;
}

static bool held_blocks_add_old(struct ss_held_blocks *held,
				const struct ss_snapshot_subject *subject,
				const struct ss_old_block *old)
{
	const struct ss_snapshot *snapshot = subject->snapshot;

	return held_blocks_add(held,
			       (struct ss_held_block){
				       .bytes = old->bytes,
				       .requested_bytes = old->requested_bytes,
				       .stack = old->block == SS_NO_ID
							? 0
							: snapshot->blocks[old->block].stack,
				       .row = SS_NO_ROW,
				       .purpose = (uint8_t)ss_purpose_of_old(subject->history,
									     subject->spots, old),
			       });
}

/* If the events do not lead to the end of the file: what its segments hold. */
static bool held_blocks_add_segments(struct ss_held_blocks *held,
				     const struct ss_snapshot_subject *subject,
				     const struct ss_device_memory *device)
{
	const struct ss_snapshot *snapshot = subject->snapshot;

	for (uint32_t i = 0; i < device->segment_count; i++) {
		const struct ss_segment *segment = &snapshot->segments[device->segments[i]];

		for (uint32_t k = 0; k < segment->block_count; k++) {
			uint32_t index = segment->first_block + k;
			const struct ss_block *block = &snapshot->blocks[index];
			struct ss_old_block old = { block->address, block->bytes,
						    block->requested_bytes < 0
							    ? block->bytes
							    : block->requested_bytes,
						    SS_NO_ROW, index };

			if (block->state != SS_BLOCK_INACTIVE &&
			    !held_blocks_add_old(held, subject, &old))
				return false;
		}
	}
	return true;
}

/* Blocks allocated up to the moment and not freed by then. */
static bool held_blocks_add_allocated(struct ss_held_blocks *held,
				      const struct ss_snapshot_subject *subject,
				      const struct ss_device_memory *device, uint32_t moment)
{
	const struct ss_snapshot_events *events = &subject->snapshot->events;
	const struct ss_history *history = subject->history;
	uint32_t end = device->first + device->count;

	if (moment == SS_NO_ROW)
		return true;
	if (moment != SS_LIVE_AT_END && moment + 1 < end)
		end = moment + 1;
	for (uint32_t row = device->first; row < end; row++) {
		uint32_t freed = history->partner[row];

		if (events->action[row] != SS_ACTION_ALLOC || freed < end ||
		    ss_history_is_loose(history, row))
			continue;
		if (!held_blocks_add(held,
				     (struct ss_held_block){
					     .bytes = history->bytes[row],
					     .requested_bytes = events->bytes[row],
					     .stack = events->stack[row],
					     .row = row,
					     .purpose = (uint8_t)ss_purpose_of(history,
									       subject->spots, row),
				     }))
			return false;
	}
	return true;
}

/* Amounts without known blocks become one block. */
static bool held_blocks_add_loose(struct ss_held_blocks *held,
				  const struct ss_snapshot_subject *subject,
				  const struct ss_device_memory *device, uint32_t moment)
{
	int64_t bytes;

	if (!device->traced || moment == SS_NO_ROW)
		return true;
	bytes = ss_history_loose_bytes(subject->history, device, moment);
	return bytes <= 0 ||
	       held_blocks_add(held, (struct ss_held_block){ .bytes = bytes,
							     .requested_bytes = bytes,
							     .row = SS_NO_ROW,
							     .purpose = SS_PURPOSE_UNKNOWN });
}

enum ss_status ss_held_blocks_init(struct ss_held_blocks *held,
				   const struct ss_snapshot_subject *subject,
				   const struct ss_device_memory *device, uint32_t row,
				   struct ss_error *err)
{
	bool from_segments = row == SS_LIVE_AT_END && device->count && !device->is_compared &&
			     !device->traced;
	bool whole = true;

	*held = (struct ss_held_blocks){ .memory = subject->history->memory };
	for (uint32_t i = 0; i < device->old_count && whole && !from_segments; i++) {
		const struct ss_old_block *old = &device->old[i];
		bool is_there = old->freed_row == SS_NO_ROW || row == SS_NO_ROW ||
				(row != SS_LIVE_AT_END && old->freed_row > row);

		whole = !is_there || held_blocks_add_old(held, subject, old);
	}
	whole = whole && held_blocks_add_loose(held, subject, device, row);
	if (whole)
		whole = from_segments ? held_blocks_add_segments(held, subject, device)
				      : held_blocks_add_allocated(held, subject, device, row);
	if (whole)
		return SS_OK;
	ss_held_blocks_release(held);
	return ss_fail_memory(err, "the blocks in use");
}

void ss_held_blocks_release(struct ss_held_blocks *held)
{
	SS_FREE(held->memory, held->items, held->capacity);
	held->items = NULL;
	held->count = held->capacity = 0;
}

/* --- sums ---------------------------------------------------------------------------- */

bool ss_holders_init(struct ss_holders *tally, struct ss_memory *memory, uint32_t count)
{
	size_t bytes = ((size_t)count + 1) * sizeof(*tally->rows);

	*tally = (struct ss_holders){ .memory = memory, .count = count, .capacity = count };
	tally->rows = ss_memory_zeroed(memory, bytes);
	if (!tally->rows)
		return false;
	for (uint32_t i = 0; i < count; i++)
		tally->rows[i].id = i;
	return true;
}

void ss_holders_release(struct ss_holders *tally)
{
	SS_FREE(tally->memory, tally->rows, (size_t)tally->capacity + 1);
	tally->rows = NULL;
}

void ss_holders_add(struct ss_holders *tally, uint32_t id, int moment, int64_t bytes,
		    uint32_t stack)
{
	struct ss_holder *row = &tally->rows[id];

	row->bytes[moment] = ss_amount_add(row->bytes[moment], bytes);
	row->blocks[moment]++;
	if (bytes > row->largest_bytes || !row->largest_bytes) {
		row->largest_bytes = bytes;
		row->stack = stack;
	}
}

SS_COMPARATOR(tally_row_compare, struct ss_holder,
	      SS_DESCENDING(bytes[0]) SS_DESCENDING(bytes[1]) SS_ASCENDING(id))

void ss_holders_sort(struct ss_holders *tally)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < tally->count; i++)
		if (tally->rows[i].blocks[0] || tally->rows[i].blocks[1])
			tally->rows[kept++] = tally->rows[i];
	tally->count = kept;
	SS_SORT(tally->rows, kept, tally_row_compare);
}
