/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history_replay.c - replays the events of a device on the blocks that it began with.
 *
 * A block that was in use at the beginning and is gone at the end had at least the size that
 * was asked for; it had all up to its neighbour where the allocator would not have kept the
 * rest apart. Its neighbour is known by what is allocated there while the block is in use.
 *
 * What is kept apart is a setting and differs between versions, so both rules are tried: only
 * one of them leads to the blocks of the file.
 */
#include <string.h>

#include "base/search.h"
#include "base/sort.h"
#include "memory/history/history.h"
#include "memory/history/layout.h"
#include "read/number.h"

/* --- what was reserved at the beginning ---------------------------------------------- */

struct reserved_range {
	uint64_t address, end;
	bool is_pages; /* of expandable segments */
};

/*
 * The addresses that a device had reserved when its events begin. Of segments: what is there at
 * the end and was not added on the way, and what is removed on the way and was not added before.
 * Pages of expandable segments come and go in ranges; of those, what is there at the end, less
 * what was mapped, plus what was unmapped.
 */
struct reserved_ranges {
	struct ss_memory *memory;
	struct reserved_range *ranges; /* by address */
	uint32_t count, capacity;
};

/* Where pages begin or end, and by how much what is reserved there changes. */
struct reserved_edge {
	uint64_t address;
	int32_t change;
};

struct reserved_search {
	const struct ss_history *history;
	const struct ss_device_memory *device;
	struct reserved_ranges *out;
	struct reserved_edge *edges;
	uint32_t edge_count, edge_capacity;
};

static bool reserved_add_range(struct reserved_search *search, uint64_t address, int64_t bytes,
			       bool is_pages)
{
	if (bytes <= 0 || address + (uint64_t)bytes < address)
		return true;
	if (!SS_GROW(search->out->memory, search->out->ranges, search->out->capacity,
		     search->out->count))
		return false;
	search->out->ranges[search->out->count++] =
		(struct reserved_range){ address, address + (uint64_t)bytes, is_pages };
	return true;
}

static bool reserved_add_edges(struct reserved_search *search, uint64_t address, int64_t bytes,
			       int32_t change)
{
	if (bytes <= 0 || address + (uint64_t)bytes < address)
		return true;
	if (!SS_RESERVE(search->out->memory, search->edges, search->edge_capacity,
			(size_t)search->edge_count + 2))
		return false;
	search->edges[search->edge_count++] = (struct reserved_edge){ address, change };
	search->edges[search->edge_count++] = (struct reserved_edge){ address + (uint64_t)bytes,
								      -change };
	return true;
}

/* Segments and pages that the events add and remove. */
static bool reserved_collect_events(struct reserved_search *search, struct ss_pointer_map *seen)
{
	const struct ss_snapshot_events *events = &search->history->snapshot->events;
	const struct ss_device_memory *device = search->device;

	for (uint32_t row = device->first; row < device->first + device->count; row++) {
		uint64_t address = events->address[row];
		uint8_t action = events->action[row];
		bool is_new;

		if (action == SS_ACTION_SEGMENT_MAP || action == SS_ACTION_SEGMENT_UNMAP) {
			if (!reserved_add_edges(search, address, events->bytes[row],
						action == SS_ACTION_SEGMENT_MAP ? -1 : 1))
				return false;
			continue;
		}
		if (action != SS_ACTION_SEGMENT_ALLOC && action != SS_ACTION_SEGMENT_FREE)
			continue;
		is_new = ss_pointer_map_find(seen, address, SS_NO_ROW) == SS_NO_ROW;
		if (!is_new)
			continue;
		if (!ss_pointer_map_put(seen, address, row) ||
		    (action == SS_ACTION_SEGMENT_FREE &&
		     !reserved_add_range(search, address, events->bytes[row], false)))
			return false;
	}
	return true;
}

static bool collect_segments(struct reserved_search *search, const struct ss_pointer_map *seen)
{
	const struct ss_snapshot *snapshot = search->history->snapshot;
	const struct ss_device_memory *device = search->device;

	for (uint32_t i = 0; i < device->segment_count; i++) {
		const struct ss_segment *segment = &snapshot->segments[device->segments[i]];

		if (segment->is_expandable) {
			if (!reserved_add_edges(search, segment->address, segment->total_bytes, 1))
				return false;
		} else if (ss_pointer_map_find(seen, segment->address, SS_NO_ROW) == SS_NO_ROW &&
			   !reserved_add_range(search, segment->address, segment->total_bytes,
					       false)) {
			return false;
		}
	}
	return true;
}

SS_COMPARATOR(reserved_edge_compare, struct reserved_edge,
	      SS_ASCENDING(address) SS_ASCENDING(change))

SS_COMPARATOR(reserved_range_compare, struct reserved_range, SS_ASCENDING(address))

/* Pages that are reserved at the beginning, as ranges. */
static bool reserved_sweep_edges(struct reserved_search *search)
{
	int64_t depth = 0;
	uint64_t from = 0;

	SS_SORT(search->edges, search->edge_count, reserved_edge_compare);
	for (uint32_t i = 0; i < search->edge_count;) {
		uint64_t at = search->edges[i].address;
		int64_t before = depth;

		for (; i < search->edge_count && search->edges[i].address == at; i++)
			depth += search->edges[i].change;
		if (before <= 0 && depth > 0)
			from = at;
		else if (before > 0 && depth <= 0 &&
			 !reserved_add_range(search, from, (int64_t)(at - from), true))
			return false;
	}
	return true;
}

/* False at the limit; to be released either way. */
static bool reserved_find(struct reserved_ranges *out, const struct ss_history *history,
			  const struct ss_device_memory *device)
{
	struct reserved_search search = { .history = history, .device = device, .out = out };
	struct ss_pointer_map seen;
	bool whole;

	ss_pointer_map_init(&seen, out->memory);
	whole = reserved_collect_events(&search, &seen) && collect_segments(&search, &seen) &&
		reserved_sweep_edges(&search);
	ss_pointer_map_release(&seen);
	SS_FREE(out->memory, search.edges, search.edge_capacity);
	if (whole)
		SS_SORT(out->ranges, out->count, reserved_range_compare);
	return whole;
}

static void reserved_release(struct reserved_ranges *reserved)
{
	SS_FREE(reserved->memory, reserved->ranges, reserved->capacity);
	reserved->ranges = NULL;
	reserved->count = reserved->capacity = 0;
}

/* An address that something was allocated at, and the first row of that. */
struct allocation_start {
	uint64_t address;
	uint32_t row;
};

struct replay {
	struct ss_history *history;
	struct ss_device_memory *device;
	struct ss_block_layout layout;
	struct reserved_ranges reserved; /* at the beginning */
	struct allocation_start *starts; /* by address; none where no size is to be guessed */
	uint32_t start_count;
	uint32_t next_oom;
};

/* --- the state at the beginning ------------------------------------------------------ */

static enum ss_block_layout_answer replay_place(struct replay *replay, uint64_t address,
						uint64_t end, uint32_t segment,
						enum ss_block_state state)
{
	struct ss_block_layout_item block = { .address = address,
					      .bytes = (int64_t)(end - address),
					      .row = SS_NO_BLOCK,
					      .segment = segment,
					      .state = (uint8_t)state };

	return address == end ? SS_LAYOUT_FITS : ss_block_layout_place(&replay->layout, &block);
}

SS_COMPARATOR(allocation_start_compare, struct allocation_start, SS_ASCENDING(address))

/* Where something is allocated, and when first: that bounds old blocks of unknown size. */
static bool collect_starts(struct replay *replay)
{
	const struct ss_snapshot_events *events = &replay->history->snapshot->events;
	const struct ss_device_memory *device = replay->device;
	struct ss_pointer_map first;
	bool guesses = false, whole = true;

	for (uint32_t i = 0; i < device->old_count; i++)
		guesses |= device->old[i].block == SS_NO_ID;
	if (!guesses)
		return true;
	ss_pointer_map_init(&first, replay->history->memory);
	for (uint32_t row = device->first; row < device->first + device->count && whole; row++)
		if (events->action[row] == SS_ACTION_ALLOC &&
		    ss_pointer_map_find(&first, events->address[row], SS_NO_ROW) == SS_NO_ROW)
			whole = ss_pointer_map_put(&first, events->address[row], row);
	replay->starts = ss_memory_resize(replay->history->memory, NULL, 0,
					  ((size_t)first.count + 1) * sizeof(*replay->starts));
	whole = whole && replay->starts;
	for (uint32_t i = 0; i < first.slot_count && whole; i++)
		if (first.slots[i].is_used)
			replay->starts[replay->start_count++] = (struct allocation_start){
				first.slots[i].address, first.slots[i].value
			};
	if (!whole && replay->starts)
		SS_FREE(replay->history->memory, replay->starts, (size_t)first.count + 1);
	if (!whole)
		replay->starts = NULL;
	ss_pointer_map_release(&first);
	SS_SORT(replay->starts, replay->start_count, allocation_start_compare);
	return whole;
}

/* The first address from `from` on, and before `limit`, that is allocated before the row. */
static uint64_t next_start(const struct replay *replay, uint64_t from, uint64_t limit, uint32_t row)
{
	uint32_t low = 0, high = replay->start_count;

	SS_SEARCH(low, high, at, replay->starts[at].address < from);
	for (; low < replay->start_count && replay->starts[low].address < limit; low++)
		if (replay->starts[low].row < row)
			return replay->starts[low].address;
	return limit;
}

/* The most that is not kept apart, whatever the rule. */
#define REST_BYTES_MAX (UINT64_C(1) << 20)

/* What an old block had: its size is known, or follows from what lies behind it. */
static uint64_t old_end(const struct replay *replay, struct ss_old_block *old, uint64_t limit)
{
	int64_t space = (int64_t)(limit - old->address), rounded;
	uint64_t end, next_address;

	if (old->block == SS_NO_ID) {
		rounded = ss_block_layout_round(old->requested_bytes);
		old->bytes = rounded;
		if (rounded > space)
			return 0;
		end = old->address + (uint64_t)rounded;
		next_address = limit - end > REST_BYTES_MAX ? end + REST_BYTES_MAX + 1 : limit;
		next_address = next_start(replay, end, next_address, old->freed_row);
		if (next_address < limit || limit - end <= REST_BYTES_MAX)
			space = (int64_t)(next_address - old->address);
		if (!ss_block_layout_splits(&replay->layout, rounded, space - rounded))
			old->bytes = space;
	}
	return old->bytes > space ? 0 : old->address + (uint64_t)old->bytes;
}

/* Places the old blocks of a reserved range, and free blocks between them. */
static enum ss_block_layout_answer place_range(struct replay *replay, uint32_t index,
					       uint32_t *next)
{
	const struct reserved_range *range = &replay->reserved.ranges[index];
	uint32_t segment = range->is_pages ? SS_LAYOUT_PAGES : SS_LAYOUT_PAGES + 1 + index;
	struct ss_device_memory *device = replay->device;
	uint64_t at = range->address;
	enum ss_block_layout_answer answer;

	while (*next < device->old_count && device->old[*next].address < range->end) {
		struct ss_old_block *old = &device->old[(*next)++];
		uint64_t limit = range->end, end;

		if (*next < device->old_count && device->old[*next].address < limit)
			limit = device->old[*next].address;
		if (old->address < at || limit <= old->address)
			return SS_LAYOUT_ODD;
		end = old_end(replay, old, limit);
		if (!end)
			return SS_LAYOUT_ODD;
		answer = replay_place(replay, at, old->address, segment, SS_BLOCK_INACTIVE);
		if (answer == SS_LAYOUT_FITS)
			answer = replay_place(replay, old->address, end, segment,
					      SS_BLOCK_ALLOCATED);
		if (answer != SS_LAYOUT_FITS)
			return answer;
		at = end;
	}
	return replay_place(replay, at, range->end, segment, SS_BLOCK_INACTIVE);
}

static enum ss_block_layout_answer place_all(struct replay *replay)
{
	enum ss_block_layout_answer answer = SS_LAYOUT_FITS;
	uint32_t next = 0;

	for (uint32_t i = 0; i < replay->reserved.count && answer == SS_LAYOUT_FITS; i++) {
		if (i + 1 < replay->reserved.count &&
		    replay->reserved.ranges[i].end > replay->reserved.ranges[i + 1].address)
			return SS_LAYOUT_ODD;
		if (next < replay->device->old_count &&
		    replay->device->old[next].address < replay->reserved.ranges[i].address)
			return SS_LAYOUT_ODD;
		answer = place_range(replay, i, &next);
	}
	return answer == SS_LAYOUT_FITS && next < replay->device->old_count ? SS_LAYOUT_ODD
									    : answer;
}

/* --- the events ---------------------------------------------------------------------- */

static enum ss_block_layout_answer replay_see_oom(struct replay *replay, uint32_t row)
{
	struct ss_device_memory *device = replay->device;
	struct ss_block_layout_free sums;
	struct ss_oom *oom;

	if (replay->next_oom == device->oom_count || device->ooms[replay->next_oom].row != row)
		return SS_LAYOUT_FITS; /* one of too many */
	if (!ss_block_layout_sum(&replay->layout, &sums))
		return SS_LAYOUT_FULL;
	oom = &device->ooms[replay->next_oom++];
	oom->has_free = true;
	oom->free_bytes = sums.free_bytes;
	oom->largest_bytes = sums.largest_bytes;
	oom->releasable_bytes = sums.releasable_bytes;
	oom->paged_bytes = sums.paged_bytes;
	return SS_LAYOUT_FITS;
}

static enum ss_block_layout_answer replay_apply(struct replay *replay, uint32_t row)
{
	const struct ss_snapshot_events *events = &replay->history->snapshot->events;
	struct ss_block_layout *layout = &replay->layout;
	uint64_t address = events->address[row];
	int64_t *bytes = &replay->history->bytes[row];

	switch (events->action[row]) {
	case SS_ACTION_ALLOC:
		return ss_block_layout_alloc(layout, address, events->bytes[row], row, bytes);
	case SS_ACTION_FREE_REQUESTED:
		return ss_block_layout_let_go(layout, address);
	case SS_ACTION_FREE_COMPLETED:
		return ss_block_layout_free(layout, address, bytes);
	case SS_ACTION_SEGMENT_ALLOC:
	case SS_ACTION_SEGMENT_MAP:
		return ss_block_layout_add(layout, address, events->bytes[row],
					   events->action[row] == SS_ACTION_SEGMENT_MAP);
	case SS_ACTION_SEGMENT_FREE:
	case SS_ACTION_SEGMENT_UNMAP:
		return ss_block_layout_remove(layout, address, events->bytes[row],
					      events->action[row] == SS_ACTION_SEGMENT_UNMAP);
	case SS_ACTION_OOM:
		return replay_see_oom(replay, row);
	default:
		return SS_LAYOUT_FITS;
	}
}

static enum ss_block_layout_answer replay_apply_all(struct replay *replay)
{
	const struct ss_device_memory *device = replay->device;
	enum ss_block_layout_answer answer = SS_LAYOUT_FITS;

	for (uint32_t row = device->first;
	     row < device->first + device->count && answer == SS_LAYOUT_FITS; row++)
		answer = replay_apply(replay, row);
	return answer;
}

/* Every block of the file has come out, with its size and state, and no other. */
static bool is_as_recorded(const struct replay *replay)
{
	const struct ss_snapshot *snapshot = replay->history->snapshot;
	const struct ss_device_memory *device = replay->device;
	uint32_t blocks = 0;

	for (uint32_t i = 0; i < device->segment_count; i++) {
		const struct ss_segment *segment = &snapshot->segments[device->segments[i]];

		for (uint32_t k = 0; k < segment->block_count; k++, blocks++) {
			const struct ss_block *block = &snapshot->blocks[segment->first_block + k];
			const struct ss_block_layout_item *ours =
				ss_block_layout_at(&replay->layout, block->address);

			if (!ours || ours->bytes != block->bytes || ours->state != block->state)
				return false;
		}
	}
	return replay->layout.live_count == blocks;
}

static const char *allocator_setting(const struct ss_snapshot *snapshot, const char *name)
{
	for (uint32_t i = 0; i < snapshot->setting_count; i++)
		if (strcmp(ss_strings_text(&snapshot->texts, snapshot->settings[i].name), name) ==
		    0)
			return ss_strings_text(&snapshot->texts, snapshot->settings[i].value);
	return "";
}

static enum ss_block_layout_answer replay_run(struct replay *replay, bool splits_all)
{
	const struct ss_snapshot *snapshot = replay->history->snapshot;
	const char *text = allocator_setting(snapshot, "max_split_size");
	enum ss_block_layout_answer answer;
	int64_t bytes;

	ss_block_layout_init(&replay->layout, replay->history->memory);
	replay->layout.splits_all = splits_all;
	if (ss_number_i64(text, strlen(text), &bytes) && bytes > 0)
		replay->layout.max_split_bytes = bytes;
	replay->next_oom = 0;
	answer = place_all(replay);
	if (answer == SS_LAYOUT_FITS)
		answer = replay_apply_all(replay);
	if (answer == SS_LAYOUT_FITS && !is_as_recorded(replay))
		answer = SS_LAYOUT_ODD;
	ss_block_layout_release(&replay->layout);
	return answer;
}

static enum ss_block_layout_answer replay_try_rules(struct replay *replay)
{
	const struct ss_snapshot *snapshot = replay->history->snapshot;
	bool splits_all = strcmp(allocator_setting(snapshot, "expandable_segments"), "True") == 0;
	enum ss_block_layout_answer answer;

	if (!reserved_find(&replay->reserved, replay->history, replay->device) ||
	    !collect_starts(replay))
		return SS_LAYOUT_FULL;
	answer = replay_run(replay, splits_all);
	return answer == SS_LAYOUT_ODD ? replay_run(replay, !splits_all) : answer;
}

/* No rule leads to the blocks of the file: requested sizes stand for those of blocks. */
static enum ss_status replay_give_up(struct ss_history *history, struct ss_device_memory *device,
				     struct ss_error *err)
{
	for (uint32_t i = 0; i < device->oom_count; i++)
		device->ooms[i].has_free = false;
	for (uint32_t row = device->first; row < device->first + device->count; row++) {
		history->partner[row] = SS_NO_ROW;
		history->bytes[row] = 0;
	}
	return ss_history_pair(history, device, err);
}

enum ss_status ss_history_replay(struct ss_history *history, struct ss_device_memory *device,
				 struct ss_error *err)
{
	struct replay replay = { .history = history,
				 .device = device,
				 .reserved = { .memory = history->memory } };
	enum ss_block_layout_answer answer;

	/* without the end the beginning is unknown; old recordings do not say what is freed */
	if (!device->is_compared || device->unmatched || device->odd_events ||
	    device->frees_by_request)
		return SS_OK;
	answer = replay_try_rules(&replay);
	reserved_release(&replay.reserved);
	SS_FREE(history->memory, replay.starts, (size_t)replay.start_count + 1);
	if (answer == SS_LAYOUT_FULL)
		return ss_fail_memory(err, "the history");
	device->is_exact = answer == SS_LAYOUT_FITS;
	return device->is_exact ? SS_OK : replay_give_up(history, device, err);
}
