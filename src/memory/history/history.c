/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history.c - the devices of a snapshot, the final state of each, and its curve: initial state
 * and peaks.
 */
#include "memory/history/history.h"

#include <string.h>

#include "base/search.h"
#include "base/sort.h"
#include "memory/events/pools.h"

struct segment_sums {
	int64_t active_bytes, inactive_bytes;
};

static void sum_block(const struct ss_block *block, struct ss_device_state *out,
		      struct segment_sums *sums)
{
	out->blocks++;
	if (block->state == SS_BLOCK_INACTIVE) {
		sums->inactive_bytes = ss_amount_add(sums->inactive_bytes, block->bytes);
		if (block->bytes > out->largest_free_bytes)
			out->largest_free_bytes = block->bytes;
		return;
	}
	sums->active_bytes = ss_amount_add(sums->active_bytes, block->bytes);
	if (block->state == SS_BLOCK_ALLOCATED)
		out->allocated_bytes = ss_amount_add(out->allocated_bytes, block->bytes);
	if (block->requested_bytes < 0) {
		out->has_requested = false;
		return;
	}
	out->requested_bytes = ss_amount_add(out->requested_bytes, block->requested_bytes);
	out->internal_bytes = ss_amount_add(out->internal_bytes,
					    block->bytes - block->requested_bytes);
}

static void history_sum_segments(const struct ss_snapshot *snapshot,
				 struct ss_device_memory *device)
{
	struct ss_device_state *out = &device->end;

	*out = (struct ss_device_state){ .has_requested = true };
	for (uint32_t i = 0; i < device->segment_count; i++) {
		const struct ss_segment *segment = &snapshot->segments[device->segments[i]];
		struct segment_sums sums = { 0 };

		out->segments++;
		out->reserved_bytes = ss_amount_add(out->reserved_bytes, segment->total_bytes);
		for (uint32_t k = 0; k < segment->block_count; k++)
			sum_block(&snapshot->blocks[segment->first_block + k], out, &sums);
		out->active_bytes = ss_amount_add(out->active_bytes, sums.active_bytes);
		out->inactive_bytes = ss_amount_add(out->inactive_bytes, sums.inactive_bytes);
		if (sums.active_bytes)
			out->external_bytes = ss_amount_add(out->external_bytes,
							    sums.inactive_bytes);
		else
			out->releasable_bytes = ss_amount_add(out->releasable_bytes,
							      sums.inactive_bytes);
	}
}

int64_t ss_history_loose_bytes(const struct ss_history *history,
			       const struct ss_device_memory *device, uint32_t row)
{
	int64_t bytes = 0;

	for (uint32_t at = device->first; at <= row && at < device->first + device->count; at++)
		if (ss_history_is_loose(history, at))
			bytes = ss_amount_add(bytes, ss_history_change(history, at));
	return bytes;
}

const struct ss_old_block *ss_history_old(const struct ss_device_memory *device, uint64_t address)
{
	uint32_t low = 0, high = device->old_count;

	SS_SEARCH(low, high, at, device->old[at].address < address);
	return low < device->old_count && device->old[low].address == address ? &device->old[low]
									      : NULL;
}

/* --- devices ------------------------------------------------------------------------- */

/* In the order in which devices are shown. */
enum device_kind { ACCELERATOR, PINNED, CPU, KINDS };

/* Where each device is in the list, + 1. */
struct device_index {
	uint32_t at[KINDS][SS_SNAPSHOT_DEVICES];
};

static enum device_kind device_kind_of(const struct ss_device_memory *device)
{
	return device->is_cpu ? CPU : device->is_host ? PINNED : ACCELERATOR;
}

static struct ss_device_memory *history_find_device(struct ss_history *history,
						    struct device_index *index, int32_t device,
						    enum device_kind kind)
{
	struct ss_device_memory *found;

	if (index->at[kind][device])
		return &history->devices[index->at[kind][device] - 1];
	if (!SS_GROW(history->memory, history->devices, history->device_capacity,
		     history->device_count))
		return NULL;
	found = &history->devices[history->device_count++];
	index->at[kind][device] = history->device_count;
	*found = (struct ss_device_memory){ .device = device,
					    .is_host = kind == PINNED,
					    .is_cpu = kind == CPU,
					    .peak_row = SS_NO_ROW,
					    .peak_requested_row = SS_NO_ROW };
	return found;
}

static int device_memory_compare(const void *left, const void *right)
{
	const struct ss_device_memory *a = left, *b = right;

	if (device_kind_of(a) != device_kind_of(b))
		return device_kind_of(a) < device_kind_of(b) ? -1 : 1;
	return a->device < b->device ? -1 : a->device > b->device;
}

struct placed_segment {
	uint64_t address;
	uint32_t segment;
};

SS_COMPARATOR(placed_segment_compare, struct placed_segment,
	      SS_ASCENDING(address) SS_ASCENDING(segment))

/* The segments of each device, by address. */
static bool share_segments(struct ss_history *history, struct device_index *index,
			   struct placed_segment *order)
{
	const struct ss_snapshot *snapshot = history->snapshot;

	for (uint32_t i = 0; i < snapshot->segment_count; i++)
		order[i] = (struct placed_segment){ snapshot->segments[i].address, i };
	SS_SORT(order, snapshot->segment_count, placed_segment_compare);
	for (uint32_t i = 0; i < history->device_count; i++) {
		struct ss_device_memory *device = &history->devices[i];
		uint32_t count = device->segment_count;

		device->segments = ss_memory_resize(history->memory, NULL, 0,
						    ((size_t)count + 1) * sizeof(uint32_t));
		if (!device->segments)
			return false;
		device->segment_capacity = count + 1;
		device->segment_count = 0;
		index->at[device_kind_of(device)][device->device] = i + 1;
	}
	for (uint32_t i = 0; i < snapshot->segment_count; i++) {
		const struct ss_segment *segment = &snapshot->segments[order[i].segment];
		struct ss_device_memory *device =
			history_find_device(history, index, segment->device,
					    segment->is_host ? PINNED : ACCELERATOR);

		device->segments[device->segment_count++] = order[i].segment;
	}
	return true;
}

/* Lists devices with segments or events, and the segments of each by address. */
static bool history_find_devices(struct ss_history *history)
{
	const struct ss_snapshot *snapshot = history->snapshot;
	size_t order_bytes = ((size_t)snapshot->segment_count + 1) * sizeof(struct placed_segment);
	struct device_index index = { 0 };
	struct ss_device_memory *device;
	struct placed_segment *order;
	bool whole;

	for (uint32_t i = 0; i < snapshot->segment_count; i++) {
		device = history_find_device(history, &index, snapshot->segments[i].device,
					     snapshot->segments[i].is_host ? PINNED : ACCELERATOR);
		if (!device)
			return false;
		device->segment_count++;
	}
	for (uint32_t i = 0; i < snapshot->trace_count; i++) {
		const struct ss_device_trace *trace = &snapshot->traces[i];
		const struct ss_traced_device *traced = snapshot->traced ? &snapshot->traced[i]
									 : NULL;

		device = history_find_device(history, &index, trace->device,
					     traced && traced->is_cpu ? CPU
					     : trace->is_host         ? PINNED
								      : ACCELERATOR);
		if (!device)
			return false;
		device->traced = traced;
		device->first = trace->first;
		device->count = trace->count;
	}
	SS_SORT(history->devices, history->device_count, device_memory_compare);
	order = ss_memory_resize(history->memory, NULL, 0, order_bytes);
	whole = order && share_segments(history, &index, order);
	ss_memory_free(history->memory, order, order_bytes);
	return whole;
}

/* --- the curve ----------------------------------------------------------------------- */

static void count_actions(const struct ss_snapshot *snapshot, struct ss_device_memory *device)
{
	uint64_t skipped, seen = 0;

	for (uint32_t row = device->first; row < device->first + device->count; row++)
		device->action_counts[snapshot->events.action[row]]++;
	skipped = device->action_counts[SS_ACTION_OOM] > SS_OOMS_MAX
			  ? device->action_counts[SS_ACTION_OOM] - SS_OOMS_MAX
			  : 0;
	for (uint32_t row = device->first; row < device->first + device->count; row++)
		if (snapshot->events.action[row] == SS_ACTION_OOM && seen++ >= skipped)
			device->ooms[device->oom_count++] = (struct ss_oom){ .row = row };
}

/* What of the requested bytes changes with an event. */
static int64_t requested_change(const struct ss_history *history, uint32_t row)
{
	const struct ss_snapshot_events *events = &history->snapshot->events;

	if (events->action[row] == SS_ACTION_ALLOC)
		return events->bytes[row];
	if (history->partner[row] == SS_NO_ROW)
		return ss_history_change(history, row); /* loose, or nothing */
	return -events->bytes[history->partner[row]];
}

/* What was in use and reserved before the first event. */
static void history_find_start(const struct ss_history *history, struct ss_device_memory *device)
{
	int64_t change = 0;

	for (uint32_t i = 0; i < device->old_count; i++) {
		device->first_active_bytes = ss_amount_add(device->first_active_bytes,
							   device->old[i].bytes);
		device->first_requested_bytes = ss_amount_add(device->first_requested_bytes,
							      device->old[i].requested_bytes);
	}
	for (uint32_t row = device->first; row < device->first + device->count; row++)
		change = ss_amount_add(change, ss_history_reserved_change(history->snapshot, row));
	if (device->traced)
		device->first_reserved_bytes = device->traced->first_reserved_bytes;
	else if (device->is_compared || !device->count)
		device->first_reserved_bytes = ss_amount_subtract(device->end.reserved_bytes,
								  change);
	else
		device->first_reserved_bytes = -1;
	device->peak_active_bytes = device->first_active_bytes;
	device->peak_requested_bytes = device->first_requested_bytes;
	device->peak_reserved_bytes = device->first_reserved_bytes;
}

/* Follows the events from the initial state: peaks, and the state at each failure. */
static void history_find_peaks(const struct ss_history *history, struct ss_device_memory *device)
{
	int64_t active = device->first_active_bytes, requested = device->first_requested_bytes;
	int64_t reserved = device->first_reserved_bytes;
	uint32_t next_oom = 0;

	for (uint32_t row = device->first; row < device->first + device->count; row++) {
		active = ss_amount_add(active, ss_history_change(history, row));
		requested = ss_amount_add(requested, requested_change(history, row));
		if (active > device->peak_active_bytes) {
			device->peak_active_bytes = active;
			device->peak_row = row;
		}
		if (requested > device->peak_requested_bytes) {
			device->peak_requested_bytes = requested;
			device->peak_requested_row = row;
		}
		if (device->first_reserved_bytes >= 0)
			reserved = ss_amount_add(reserved,
						 ss_history_reserved_change(history->snapshot,
									    row));
		if (reserved > device->peak_reserved_bytes)
			device->peak_reserved_bytes = reserved;
		if (next_oom < device->oom_count && device->ooms[next_oom].row == row) {
			device->ooms[next_oom].active_bytes = active;
			device->ooms[next_oom++].reserved_bytes = reserved;
		}
	}
	if (device->traced) { /* what a trace says of the end */
		device->end.active_bytes = device->end.allocated_bytes = active;
		device->end.reserved_bytes = reserved;
	}
}

static enum ss_status history_read_device(struct ss_history *history,
					  struct ss_device_memory *device, struct ss_error *err)
{
	history_sum_segments(history->snapshot, device);
	count_actions(history->snapshot, device);
	SS_TRY(ss_history_pair(history, device, err));
	SS_TRY(ss_history_replay(history, device, err));
	history_find_start(history, device);
	history_find_peaks(history, device);
	return SS_OK;
}

static bool reserve_columns(struct ss_history *history)
{
	size_t count = (size_t)history->snapshot->events.count + 1;

	if (!SS_MEMORY_NEW(history->memory, history->partner, count) ||
	    !SS_MEMORY_NEW(history->memory, history->bytes, count))
		return false;
	memset(history->partner, 0xff, count * sizeof(*history->partner));
	memset(history->bytes, 0, count * sizeof(*history->bytes));
	return true;
}

enum ss_status ss_history_init(struct ss_history *history, const struct ss_snapshot *snapshot,
			       struct ss_memory *memory, struct ss_error *err)
{
	enum ss_status status = SS_OK;

	*history = (struct ss_history){ .snapshot = snapshot, .memory = memory };
	if (!reserve_columns(history) || !history_find_devices(history))
		status = ss_fail_memory(err, "the history");
	for (uint32_t i = 0; i < history->device_count && status == SS_OK; i++)
		status = history_read_device(history, &history->devices[i], err);
	if (status != SS_OK)
		ss_history_release(history);
	return status;
}

void ss_history_release(struct ss_history *history)
{
	struct ss_memory *memory = history->memory;
	size_t count;

	if (!memory)
		return;
	count = (size_t)history->snapshot->events.count + 1;
	SS_FREE(memory, history->partner, count);
	SS_FREE(memory, history->bytes, count);
	for (uint32_t i = 0; i < history->device_count; i++) {
		struct ss_device_memory *device = &history->devices[i];

		ss_memory_free(memory, device->segments,
			       device->segment_capacity * sizeof(uint32_t));
		SS_FREE(memory, device->old, device->old_capacity);
	}
	SS_FREE(memory, history->devices, history->device_capacity);
	*history = (struct ss_history){ 0 };
}

/* Follows the curve up and down, and turns when it has changed enough. */

/* Of the device's peak: less is no rise and no fall. */
#define SWING_PART 20

struct climb {
	int64_t swing_bytes;
	int64_t low_bytes, top_bytes;
	int64_t top_event; /* -1: before the first one, which is no event to go to */
	bool falls;        /* the last peak is passed, and nothing has risen since */
	int64_t event;     /* asked: what is the peak before and after it? */
	struct ss_summits *out;
};

/*
 * Counts the top as a peak if it rose enough, and notes where it lies: before the asked event, at
 * it (its number is then known), or after it.
 */
static void climb_add_summit(struct climb *climb)
{
	struct ss_summits *out = climb->out;

	if (climb->top_event < 0 ||
	    ss_amount_subtract(climb->top_bytes, climb->low_bytes) < climb->swing_bytes)
		return;
	out->count++;
	if (climb->top_event < climb->event)
		out->before = climb->top_event;
	else if (climb->top_event == climb->event)
		out->number = out->count;
	else if (out->after < 0)
		out->after = climb->top_event;
}

/* Looks for a rise and a fall of at least `swing_bytes`; the top between them is a peak. */
static void climb_take_event(struct climb *climb, int64_t event, int64_t active_bytes)
{
	bool fell = ss_amount_subtract(climb->top_bytes, active_bytes) >= climb->swing_bytes;

	if (climb->falls) {
		if (active_bytes < climb->low_bytes)
			climb->low_bytes = active_bytes;
		if (ss_amount_subtract(active_bytes, climb->low_bytes) < climb->swing_bytes)
			return;
		climb->falls = false;
	} else if (fell) {
		climb_add_summit(climb);
		climb->falls = true;
		climb->low_bytes = active_bytes;
		return;
	} else if (active_bytes < climb->low_bytes) {
		climb->low_bytes = active_bytes;
	} else if (active_bytes <= climb->top_bytes) {
		return;
	}
	climb->top_bytes = active_bytes;
	climb->top_event = event;
}

void ss_summits_find(const struct ss_history *history, const struct ss_device_memory *device,
		     int64_t event, struct ss_summits *out)
{
	int64_t active = device->first_active_bytes, reserved = device->first_reserved_bytes;
	int64_t swing = device->peak_active_bytes / SWING_PART;
	struct climb climb = { .swing_bytes = swing > 0 ? swing : 1,
			       .low_bytes = active,
			       .top_bytes = active,
			       .top_event = -1,
			       .event = event,
			       .out = out };

	*out = (struct ss_summits){ -1, -1, 0, 0, active, reserved };
	for (uint32_t i = 0; i < device->count; i++) {
		uint32_t row = device->first + i;

		active = ss_amount_add(active, ss_history_change(history, row));
		if (reserved >= 0)
			reserved = ss_amount_add(reserved,
						 ss_history_reserved_change(history->snapshot,
									    row));
		climb_take_event(&climb, i, active);
		if (i <= event) {
			out->active_bytes = active;
			out->reserved_bytes = reserved;
		}
	}
	if (!climb.falls)
		climb_add_summit(&climb);
}
