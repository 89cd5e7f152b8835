/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history_state.c - the final state: sums over the segments of the file.
 */
#include "memory/events/pools.h"
#include "base/search.h"
#include "memory/history/history.h"

struct segment_sums {
	int64_t active_bytes, inactive_bytes;
};

static void sum_block(const struct ss_block *block, struct ss_memory_state *out,
		      struct segment_sums *sums)
{
	out->blocks++;
	if (block->state == SS_BLOCK_INACTIVE) {
		sums->inactive_bytes = ss_bytes_add(sums->inactive_bytes, block->bytes);
		if (block->bytes > out->largest_free_bytes)
			out->largest_free_bytes = block->bytes;
		return;
	}
	sums->active_bytes = ss_bytes_add(sums->active_bytes, block->bytes);
	if (block->state == SS_BLOCK_ALLOCATED)
		out->allocated_bytes = ss_bytes_add(out->allocated_bytes, block->bytes);
	if (block->requested_bytes < 0) {
		out->has_requested = false;
		return;
	}
	out->requested_bytes = ss_bytes_add(out->requested_bytes, block->requested_bytes);
	out->internal_bytes = ss_bytes_add(out->internal_bytes,
					   block->bytes - block->requested_bytes);
}

void ss_history_sum(const struct ss_snapshot *snapshot, struct ss_device_memory *device)
{
	struct ss_memory_state *out = &device->end;

	*out = (struct ss_memory_state){ .has_requested = true };
	for (uint32_t i = 0; i < device->segment_count; i++) {
		const struct ss_segment *segment = &snapshot->segments[device->segments[i]];
		struct segment_sums sums = { 0 };

		out->segments++;
		out->reserved_bytes = ss_bytes_add(out->reserved_bytes, segment->total_bytes);
		for (uint32_t k = 0; k < segment->block_count; k++)
			sum_block(&snapshot->blocks[segment->first_block + k], out, &sums);
		out->active_bytes = ss_bytes_add(out->active_bytes, sums.active_bytes);
		out->inactive_bytes = ss_bytes_add(out->inactive_bytes, sums.inactive_bytes);
		if (sums.active_bytes)
			out->external_bytes = ss_bytes_add(out->external_bytes,
							   sums.inactive_bytes);
		else
			out->releasable_bytes = ss_bytes_add(out->releasable_bytes,
							     sums.inactive_bytes);
	}
}

int64_t ss_history_loose_bytes(const struct ss_history *history,
			       const struct ss_device_memory *device, uint32_t row)
{
	int64_t bytes = 0;

	for (uint32_t at = device->first; at <= row && at < device->first + device->count; at++)
		if (ss_history_is_loose(history, at))
			bytes = ss_bytes_add(bytes, ss_history_change(history, at));
	return bytes;
}

const struct ss_old_block *ss_history_old(const struct ss_device_memory *device, uint64_t address)
{
	uint32_t low = 0, high = device->old_count;

	SS_SEARCH(low, high, at, device->old[at].address < address);
	return low < device->old_count && device->old[low].address == address ? &device->old[low]
									      : NULL;
}
