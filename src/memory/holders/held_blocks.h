/* SPDX-License-Identifier: Apache-2.0 */
/*
 * held_blocks.h - the blocks in use at a moment, and sums over them.
 */
#ifndef SS_MEMORY_HOLDERS_HELD_BLOCKS_H
#define SS_MEMORY_HOLDERS_HELD_BLOCKS_H

#include "memory/subject.h"

struct ss_held_block {
	int64_t bytes, requested_bytes;
	uint32_t stack;
	uint32_t row;    /* of its allocation; SS_NO_ROW: before the events */
	uint8_t purpose; /* enum ss_purpose */
};

struct ss_held_blocks {
	struct ss_memory *memory;
	struct ss_held_block *items; /* those from before first, then by time */
	uint32_t count, capacity;
};

/* The moments that have a name. */
#define SS_LIVE_AT_END (UINT32_MAX - 1)

/*
 * Those in use after the event `row` of the device; SS_NO_ROW: before the first one;
 * SS_LIVE_AT_END: at the end, as the file has it.
 */
SS_MUST_USE
enum ss_status ss_held_blocks_init(struct ss_held_blocks *held,
				   const struct ss_snapshot_subject *subject,
				   const struct ss_device_memory *device, uint32_t row,
				   struct ss_error *err);
void ss_held_blocks_release(struct ss_held_blocks *held);

/* Sums by a number (a line, a stack, a purpose), at two moments. */
struct ss_holder {
	uint32_t id;
	uint32_t stack; /* of the largest block */
	int64_t largest_bytes;
	int64_t bytes[2];
	uint32_t blocks[2];
};

struct ss_holders {
	struct ss_memory *memory;
	struct ss_holder *rows; /* by id, until ss_holders_sort() */
	uint32_t count, capacity;
};

SS_MUST_USE bool ss_holders_init(struct ss_holders *tally, struct ss_memory *memory,
				 uint32_t count);
void ss_holders_release(struct ss_holders *tally);
void ss_holders_add(struct ss_holders *tally, uint32_t id, int moment, int64_t bytes,
		    uint32_t stack);

/* The largest first: by the first moment, then by the second; empty ones are dropped. */
void ss_holders_sort(struct ss_holders *tally);

#endif
