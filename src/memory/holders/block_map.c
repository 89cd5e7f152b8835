/* SPDX-License-Identifier: Apache-2.0 */
/*
 * block_map.c - segments by counting how often each address is covered, blocks by address.
 */
#include "memory/holders/block_map.h"

#include "base/search.h"
#include "base/sort.h"

/* Where reserved memory begins or ends. */
struct map_edge {
	uint64_t address;
	int32_t depth;  /* by how much what is reserved there changes */
	int32_t starts; /* segments that begin here: neighbours are not joined */
};

struct map_making {
	struct ss_block_map *map;
	const struct ss_snapshot_subject *subject;
	const struct ss_device_memory *device;
	uint32_t row;
	struct map_edge *edges;
	uint32_t edge_count, edge_capacity;
	struct ss_map_block *used; /* in use, by address */
	uint32_t used_count, used_capacity;
};

static bool map_blocks_append(struct ss_memory *memory, struct ss_map_block **blocks,
			      uint32_t *count, uint32_t *capacity, struct ss_map_block block)
{
	void *items = *blocks;

	if (!ss_memory_reserve(memory, &items, capacity, (size_t)*count + 1, sizeof(**blocks)))
		return false;
	*blocks = items;
	(*blocks)[(*count)++] = block;
	return true;
}

static bool map_add_block(struct ss_block_map *map, struct ss_map_block block)
{
	return map_blocks_append(map->memory, &map->blocks, &map->block_count, &map->block_capacity,
				 block);
}

static bool map_add_segment(struct ss_block_map *map, struct ss_map_segment segment)
{
	if (!SS_GROW(map->memory, map->segments, map->segment_capacity, map->segment_count))
		return false;
	map->segments[map->segment_count++] = segment;
	return true;
}

/* --- the end ------------------------------------------------------------------------- */

/* The blocks at the end, as the file has them. */
static bool map_copy_end(struct map_making *work)
{
	const struct ss_snapshot *snapshot = work->subject->snapshot;
	const struct ss_history *history = work->subject->history;

	for (uint32_t i = 0; i < work->device->segment_count; i++) {
		uint32_t index = work->device->segments[i];
		const struct ss_segment *segment = &snapshot->segments[index];
		uint64_t at = segment->address;

		if (!map_add_segment(work->map,
				     (struct ss_map_segment){
					     segment->address, segment->total_bytes,
					     work->map->block_count, segment->block_count, index }))
			return false;
		for (uint32_t k = 0; k < segment->block_count; k++) {
			uint32_t number = segment->first_block + k;
			const struct ss_block *block = &snapshot->blocks[number];
			struct ss_old_block old = { .block = number, .freed_row = SS_NO_ROW };
			struct ss_map_block copy = { .address = block->has_address ? block->address
										   : at,
						     .bytes = block->bytes,
						     .requested_bytes = block->requested_bytes,
						     .stack = block->stack,
						     .row = SS_NO_ROW,
						     .state = block->state };

			copy.purpose = (uint8_t)ss_purpose_of_old(history, work->subject->spots,
								  &old);
			at = copy.address + (uint64_t)block->bytes;
			if (!map_add_block(work->map, copy))
				return false;
		}
	}
	return true;
}

/* The block at this address; SS_NO_ID: none begins there. */
static uint32_t map_find_block(const struct ss_block_map *map, uint64_t address)
{
	uint32_t low = 0, high = map->block_count;

	SS_SEARCH(low, high, at, map->blocks[at].address < address);
	return low < map->block_count && map->blocks[low].address == address ? low : SS_NO_ID;
}

/* Which allocation the blocks of the end come from: the last one there that was not freed. */
static void map_find_rows(const struct map_making *work)
{
	const struct ss_snapshot_events *events = &work->subject->snapshot->events;
	uint32_t first = work->device->first, end = first + work->device->count;

	for (uint32_t row = first; row < end; row++) {
		uint32_t block;

		if (events->action[row] != SS_ACTION_ALLOC ||
		    work->subject->history->partner[row] != SS_NO_ROW)
			continue;
		block = map_find_block(work->map, events->address[row]);
		if (block != SS_NO_ID && work->map->blocks[block].state != SS_BLOCK_INACTIVE)
			work->map->blocks[block].row = row;
	}
}

/* --- a moment before ----------------------------------------------------------------- */

static bool map_add_edges(struct map_making *work, uint64_t address, int64_t bytes, int32_t sign,
			  bool is_whole)
{
	if (bytes <= 0 || address + (uint64_t)bytes < address)
		return true;
	if (!SS_RESERVE(work->map->memory, work->edges, work->edge_capacity,
			(size_t)work->edge_count + 2))
		return false;
	work->edges[work->edge_count++] = (struct map_edge){ address, sign, is_whole ? sign : 0 };
	work->edges[work->edge_count++] = (struct map_edge){ address + (uint64_t)bytes, -sign, 0 };
	return true;
}

/* What is reserved at the row: the end, with later changes undone. */
static bool collect_edges(struct map_making *work)
{
	const struct ss_snapshot *snapshot = work->subject->snapshot;
	const struct ss_device_memory *device = work->device;
	const struct ss_snapshot_events *events = &snapshot->events;
	bool whole = true;

	for (uint32_t i = 0; i < device->segment_count && whole; i++) {
		const struct ss_segment *segment = &snapshot->segments[device->segments[i]];

		whole = map_add_edges(work, segment->address, segment->total_bytes, 1,
				      !segment->is_expandable);
	}
	for (uint32_t row = work->row + 1; row < device->first + device->count && whole; row++) {
		uint8_t action = events->action[row];
		bool is_whole = action == SS_ACTION_SEGMENT_ALLOC ||
				action == SS_ACTION_SEGMENT_FREE;
		int64_t change = ss_history_reserved_change(snapshot, row);

		if (change)
			whole = map_add_edges(work, events->address[row], events->bytes[row],
					      change > 0 ? -1 : 1, is_whole);
	}
	return whole;
}

SS_COMPARATOR(map_edge_compare, struct map_edge, SS_ASCENDING(address))

SS_COMPARATOR(map_block_compare, struct ss_map_block, SS_ASCENDING(address))

/* The purpose of old blocks is that of the end; ss_held_blocks_init() has both, too. */
static bool collect_used(struct map_making *work)
{
	const struct ss_snapshot_events *events = &work->subject->snapshot->events;
	const struct ss_history *history = work->subject->history;
	const struct ss_device_memory *device = work->device;
	bool whole = true;

	for (uint32_t i = 0; i < device->old_count && whole; i++) {
		const struct ss_old_block *old = &device->old[i];
		uint32_t stack = old->block == SS_NO_ID
					 ? 0
					 : work->subject->snapshot->blocks[old->block].stack;

		if (old->freed_row != SS_NO_ROW && old->freed_row <= work->row)
			continue;
		whole = map_blocks_append(
			work->map->memory, &work->used, &work->used_count, &work->used_capacity,
			(struct ss_map_block){
				old->address, old->bytes, old->requested_bytes, stack, SS_NO_ROW,
				SS_BLOCK_ALLOCATED,
				(uint8_t)ss_purpose_of_old(history, work->subject->spots, old) });
	}
	for (uint32_t row = device->first; row <= work->row && whole; row++) {
		uint32_t freed = history->partner[row];

		if (events->action[row] != SS_ACTION_ALLOC || freed <= work->row)
			continue;
		whole = map_blocks_append(
			work->map->memory, &work->used, &work->used_count, &work->used_capacity,
			(struct ss_map_block){
				events->address[row], history->bytes[row], events->bytes[row],
				events->stack[row], row, SS_BLOCK_ALLOCATED,
				(uint8_t)ss_purpose_of(history, work->subject->spots, row) });
	}
	return whole;
}

static bool map_add_free(struct ss_block_map *map, uint64_t from, uint64_t to)
{
	return from >= to ||
	       map_add_block(map, (struct ss_map_block){ .address = from,
							 .bytes = (int64_t)(to - from),
							 .requested_bytes = -1,
							 .row = SS_NO_ROW,
							 .state = SS_BLOCK_INACTIVE });
}

/* The end's segment that begins there; SS_NO_ID: none. */
static uint32_t map_segment_at(const struct map_making *work, uint64_t address)
{
	const struct ss_segment *segments = work->subject->snapshot->segments;
	uint32_t low = 0, high = work->device->segment_count;

	SS_SEARCH(low, high, at, segments[work->device->segments[at]].address < address);
	return low < work->device->segment_count &&
			       segments[work->device->segments[low]].address == address
		       ? work->device->segments[low]
		       : SS_NO_ID;
}

/* A segment, with the blocks in it and what is free between them. */
static bool close_segment(struct map_making *work, uint64_t from, uint64_t to, uint32_t *next)
{
	struct ss_block_map *map = work->map;
	uint32_t first = map->block_count;
	uint64_t at = from;

	while (*next < work->used_count && work->used[*next].address < from)
		(*next)++;
	for (; *next < work->used_count && work->used[*next].address < to; (*next)++) {
		const struct ss_map_block *block = &work->used[*next];

		if (!map_add_free(map, at, block->address) || !map_add_block(map, *block))
			return false;
		at = block->address + (uint64_t)block->bytes;
	}
	return map_add_free(map, at, to) &&
	       map_add_segment(map, (struct ss_map_segment){ from, (int64_t)(to - from), first,
							     map->block_count - first,
							     map_segment_at(work, from) });
}

/* Closes a segment wherever nothing is reserved any more, or another segment begins. */
static bool map_sweep_edges(struct map_making *work)
{
	int64_t depth = 0;
	uint64_t from = 0;
	uint32_t next = 0;

	for (uint32_t i = 0; i < work->edge_count;) {
		uint64_t address = work->edges[i].address;
		int64_t before = depth, starts = 0;

		for (; i < work->edge_count && work->edges[i].address == address; i++) {
			depth += work->edges[i].depth;
			starts += work->edges[i].starts;
		}
		if (before > 0 && (depth <= 0 || starts > 0) &&
		    !close_segment(work, from, address, &next))
			return false;
		if (depth > 0 && (before <= 0 || starts > 0))
			from = address;
	}
	return true;
}

enum ss_status ss_block_map_make(struct ss_block_map *map,
				 const struct ss_snapshot_subject *subject,
				 const struct ss_device_memory *device, uint32_t row,
				 struct ss_error *err)
{
	struct map_making work = { map, subject, device, row, NULL, 0, 0, NULL, 0, 0 };
	bool whole;

	*map = (struct ss_block_map){ .memory = subject->history->memory };
	if (row == SS_LIVE_AT_END) {
		if (!map_copy_end(&work))
			return ss_fail_memory(err, "the blocks");
		map_find_rows(&work);
		return SS_OK;
	}
	if (!device->is_exact)
		return ss_fail(err, SS_ERR_MISSING,
			       "the events do not match the recorded segments, so blocks are "
			       "known only at the end");
	whole = collect_edges(&work) && collect_used(&work);
	if (whole)
		SS_SORT(work.edges, work.edge_count, map_edge_compare);
	if (whole)
		SS_SORT(work.used, work.used_count, map_block_compare);
	whole = whole && map_sweep_edges(&work);
	SS_FREE(map->memory, work.edges, work.edge_capacity);
	SS_FREE(map->memory, work.used, work.used_capacity);
	return whole ? SS_OK : ss_fail_memory(err, "the blocks");
}

void ss_block_map_release(struct ss_block_map *map)
{
	if (!map->memory)
		return;
	SS_FREE(map->memory, map->segments, map->segment_capacity);
	SS_FREE(map->memory, map->blocks, map->block_capacity);
	*map = (struct ss_block_map){ 0 };
}
