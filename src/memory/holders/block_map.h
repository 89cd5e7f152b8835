/* SPDX-License-Identifier: Apache-2.0 */
/*
 * block_map.h - the segments of a device and their blocks, at the end or after any event.
 *
 * At the end, they come from the file. Earlier, the segments are those of the end, minus
 * those added since, plus those removed since; blocks in use are those that were allocated
 * and not freed by then, and the space between them is free.
 */
#ifndef SS_MEMORY_HOLDERS_BLOCK_MAP_H
#define SS_MEMORY_HOLDERS_BLOCK_MAP_H

#include "memory/holders/held_blocks.h"

struct ss_map_block {
	uint64_t address;
	int64_t bytes, requested_bytes; /* -1: not recorded; free blocks have none */
	uint32_t stack;
	uint32_t row;    /* of its allocation; SS_NO_ROW: before the events, or free */
	uint8_t state;   /* enum ss_block_state */
	uint8_t purpose; /* enum ss_purpose; of free ones of no meaning */
};

struct ss_map_segment {
	uint64_t address;
	int64_t bytes;
	uint32_t first, count; /* in blocks */
	uint32_t segment;      /* in ss_snapshot.segments; SS_NO_ID: not one of the end */
};

struct ss_block_map {
	struct ss_memory *memory;
	struct ss_map_segment *segments; /* by address */
	uint32_t segment_count, segment_capacity;
	struct ss_map_block *blocks; /* by address */
	uint32_t block_count, block_capacity;
};

/* After the event `row`, or SS_LIVE_AT_END. Release it also when this failed. */
SS_MUST_USE
enum ss_status ss_block_map_make(struct ss_block_map *map,
				 const struct ss_snapshot_subject *subject,
				 const struct ss_device_memory *device, uint32_t row,
				 struct ss_error *err);
void ss_block_map_release(struct ss_block_map *map);

#endif
