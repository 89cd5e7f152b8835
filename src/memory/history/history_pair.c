/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history_pair.c - matches frees with allocations, and finds what was in use before.
 *
 * One pass over the events with the addresses in use. A free of an address without an
 * allocation frees a block that existed when the events begin; blocks that the file has at
 * the end and no event allocated existed then, too. The rows of a trace are matched already
 * (memory/from_trace.c).
 */

#include "base/sort.h"
#include "memory/events/pools.h"
#include "memory/history/history.h"

struct pairing {
	struct ss_history *history;
	struct ss_device_memory *device;
	struct ss_pointer_map live; /* address -> row of its allocation */
	struct ss_pointer_map gone; /* addresses whose first event was met */
	uint8_t freeing;            /* the action that makes memory usable again */
};

static bool pairing_add_old(struct pairing *pairing, struct ss_old_block old)
{
	struct ss_device_memory *device = pairing->device;

	if (!SS_GROW(pairing->history->memory, device->old, device->old_capacity,
		     device->old_count))
		return false;
	device->old[device->old_count++] = old;
	return true;
}

static bool pair_alloc(struct pairing *pairing, uint32_t row)
{
	const struct ss_snapshot_events *events = &pairing->history->snapshot->events;
	uint64_t address = events->address[row];

	pairing->history->bytes[row] = events->bytes[row];
	if (ss_pointer_map_find(&pairing->live, address, SS_NO_ROW) != SS_NO_ROW)
		pairing->device->odd_events++;
	return ss_pointer_map_put(&pairing->gone, address, row) &&
	       ss_pointer_map_put(&pairing->live, address, row);
}

/* A free without an allocation frees a block that was there before, once. */
static bool pair_free(struct pairing *pairing, uint32_t row)
{
	const struct ss_snapshot_events *events = &pairing->history->snapshot->events;
	struct ss_history *history = pairing->history;
	uint64_t address = events->address[row];
	uint32_t made = ss_pointer_map_take(&pairing->live, address, SS_NO_ROW);

	if (made != SS_NO_ROW) {
		history->partner[row] = made;
		history->partner[made] = row;
		history->bytes[row] = history->bytes[made];
		return true;
	}
	if (ss_pointer_map_find(&pairing->gone, address, SS_NO_ROW) != SS_NO_ROW) {
		pairing->device->odd_events++; /* freed twice: nothing to free */
		return true;
	}
	history->bytes[row] = events->bytes[row];
	history->partner[row] = row;
	return ss_pointer_map_put(&pairing->gone, address, row) &&
	       pairing_add_old(pairing, (struct ss_old_block){ address, events->bytes[row],
							       events->bytes[row], row, SS_NO_ID });
}

/* The pairs of a trace; a row that is its own partner frees what was there before. */
static bool pairing_take_traced(struct pairing *pairing, uint32_t row)
{
	const struct ss_snapshot_events *events = &pairing->history->snapshot->events;
	uint32_t partner = pairing->history->snapshot->traced_rows[row].partner;
	int64_t bytes = events->bytes[row];

	pairing->history->partner[row] = partner;
	pairing->history->bytes[row] = bytes;
	return partner != row ||
	       pairing_add_old(pairing, (struct ss_old_block){ events->address[row], bytes, bytes,
							       row, SS_NO_ID });
}

/* What the file holds at the end: allocated in the events, or there all the time. */
static bool pair_end(struct pairing *pairing)
{
	const struct ss_snapshot *snapshot = pairing->history->snapshot;
	struct ss_device_memory *device = pairing->device;
	uint32_t matched = 0;

	for (uint32_t i = 0; i < device->segment_count; i++) {
		const struct ss_segment *segment = &snapshot->segments[device->segments[i]];

		for (uint32_t k = 0; k < segment->block_count; k++) {
			uint32_t index = segment->first_block + k, row;
			const struct ss_block *block = &snapshot->blocks[index];
			int64_t requested = block->requested_bytes < 0 ? block->bytes
								       : block->requested_bytes;

			if (block->state == SS_BLOCK_INACTIVE)
				continue;
			row = ss_pointer_map_find(&pairing->live, block->address, SS_NO_ROW);
			if (row != SS_NO_ROW) {
				matched++;
				/* the file has its true size */
				pairing->history->bytes[row] = block->bytes;
			} else if (ss_pointer_map_find(&pairing->gone, block->address, SS_NO_ROW) !=
				   SS_NO_ROW) {
				device->unmatched++; /* the events have freed it */
			} else if (!pairing_add_old(pairing,
						    (struct ss_old_block){ block->address,
									   block->bytes, requested,
									   SS_NO_ROW, index })) {
				return false;
			}
		}
	}
	device->unmatched += pairing->live.count - matched;
	return true;
}

/* Of a trace: what was there before and stays is known as one amount. */
static bool pairing_add_rest(struct pairing *pairing)
{
	const struct ss_traced_device *traced = pairing->device->traced;

	return !traced || !traced->rest_bytes ||
	       pairing_add_old(pairing,
			       (struct ss_old_block){ 0, traced->rest_bytes, traced->rest_bytes,
						      SS_NO_ROW, SS_NO_ID });
}

SS_COMPARATOR(old_block_compare, struct ss_old_block, SS_ASCENDING(address))

static void sum_old(const struct ss_snapshot *snapshot, struct ss_device_memory *device)
{
	for (uint32_t i = 0; i < device->old_count; i++) {
		const struct ss_old_block *old = &device->old[i];
		bool has_stack = old->block != SS_NO_ID && snapshot->blocks[old->block].stack;

		device->begins_in_middle |= device->count > 0;
		if (!has_stack) {
			device->lost_stacks++;
			device->lost_bytes = ss_amount_add(device->lost_bytes, old->bytes);
		}
	}
}

static bool has_pending(const struct ss_snapshot *snapshot, const struct ss_device_memory *device)
{
	for (uint32_t i = 0; i < device->segment_count; i++) {
		const struct ss_segment *segment = &snapshot->segments[device->segments[i]];

		for (uint32_t k = 0; k < segment->block_count; k++)
			if (snapshot->blocks[segment->first_block + k].state == SS_BLOCK_PENDING)
				return true;
	}
	return false;
}

/* Old recordings have only one of the two frees; else those that are let go are still pending. */
static bool is_freed_by_request(const struct ss_snapshot *snapshot,
				const struct ss_device_memory *device)
{
	return !device->action_counts[SS_ACTION_FREE_COMPLETED] &&
	       device->action_counts[SS_ACTION_FREE_REQUESTED] && !has_pending(snapshot, device);
}

static bool pairing_pair_events(struct pairing *pairing)
{
	const struct ss_snapshot_events *events = &pairing->history->snapshot->events;
	const struct ss_device_memory *device = pairing->device;

	for (uint32_t row = device->first; row < device->first + device->count; row++) {
		uint8_t action = events->action[row];
		bool allocates = action == SS_ACTION_ALLOC;
		bool whole = true;

		if (!allocates && action != pairing->freeing)
			continue;
		if (device->traced)
			whole = pairing_take_traced(pairing, row);
		else
			whole = allocates ? pair_alloc(pairing, row) : pair_free(pairing, row);
		if (!whole)
			return false;
	}
	return true;
}

enum ss_status ss_history_pair(struct ss_history *history, struct ss_device_memory *device,
			       struct ss_error *err)
{
	const struct ss_snapshot *snapshot = history->snapshot;
	struct pairing pairing = { .history = history, .device = device };
	bool whole;

	device->old_count = device->unmatched = device->odd_events = device->lost_stacks = 0;
	device->lost_bytes = 0;
	device->frees_by_request = is_freed_by_request(snapshot, device);
	pairing.freeing = device->frees_by_request ? SS_ACTION_FREE_REQUESTED
						   : SS_ACTION_FREE_COMPLETED;
	ss_pointer_map_init(&pairing.live, history->memory);
	ss_pointer_map_init(&pairing.gone, history->memory);
	/* the events of a file that is cut do not lead to its segments */
	device->is_compared = device->count && snapshot->has_segments && !snapshot->is_cut;
	whole = pairing_pair_events(&pairing) && pairing_add_rest(&pairing) &&
		(!(device->is_compared || !device->count) || pair_end(&pairing));
	ss_pointer_map_release(&pairing.live);
	ss_pointer_map_release(&pairing.gone);
	if (!whole)
		return ss_fail_memory(err, "the history");
	SS_SORT(device->old, device->old_count, old_block_compare);
	sum_old(snapshot, device);
	return SS_OK;
}
