/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout.h - the blocks of a device, as the caching allocator splits and merges them.
 *
 * Events give the requested size; the size of the block follows from its place: an
 * allocation takes the beginning of a free block, or all of it if the remainder is too
 * small to keep. Free neighbours in one segment become one block.
 *
 * SS_LAYOUT_ODD means that the event does not fit: this is not the history of a caching
 * allocator, or part of it is unknown. The layout is then useless.
 */
#ifndef SS_MEMORY_HISTORY_LAYOUT_H
#define SS_MEMORY_HISTORY_LAYOUT_H

#include "memory/history/address_map.h"
#include "memory/load/snapshot.h"

enum ss_block_layout_answer { SS_LAYOUT_FITS, SS_LAYOUT_ODD, SS_LAYOUT_FULL /* no memory */ };

#define SS_NO_BLOCK UINT32_MAX

/*
 * The segment of all pages of expandable ones: they are far apart, and those that touch are of
 * one segment, however often pages between them came and went. Others count from 1.
 */
#define SS_LAYOUT_PAGES 0u

struct ss_block_layout_item {
	uint64_t address;
	int64_t bytes;
	uint32_t row;     /* of its allocation, or what the caller calls it */
	uint32_t segment; /* blocks of different ones are never joined */
	uint8_t state;    /* enum ss_block_state */
	bool is_used;     /* false: no block, its place can be used again */
};

struct ss_block_layout {
	struct ss_memory *memory;
	struct ss_block_layout_item *blocks;
	uint32_t count, capacity;
	uint32_t free_place; /* list of places that can be used again, by row */
	uint32_t live_count;
	struct ss_pointer_map starts, ends; /* block by its first, and by the byte behind it */
	uint32_t next_segment;
	uint64_t looked_at;      /* blocks, in searches for the one around an address */
	int64_t max_split_bytes; /* larger requests get whole blocks */
	bool splits_all;         /* expandable segments: whatever is left is kept */
};

void ss_block_layout_init(struct ss_block_layout *layout, struct ss_memory *memory);
void ss_block_layout_release(struct ss_block_layout *layout);

/* A block as it is at the beginning. */
enum ss_block_layout_answer ss_block_layout_place(struct ss_block_layout *layout,
						  const struct ss_block_layout_item *block);

/* The size of the block that a request gets is left in `bytes`. */
enum ss_block_layout_answer ss_block_layout_alloc(struct ss_block_layout *layout, uint64_t address,
						  int64_t requested, uint32_t row, int64_t *bytes);
enum ss_block_layout_answer ss_block_layout_let_go(struct ss_block_layout *layout,
						   uint64_t address);
enum ss_block_layout_answer ss_block_layout_free(struct ss_block_layout *layout, uint64_t address,
						 int64_t *bytes);

/* A segment, or pages of an expandable one. */
enum ss_block_layout_answer ss_block_layout_add(struct ss_block_layout *layout, uint64_t address,
						int64_t bytes, bool is_map);
enum ss_block_layout_answer ss_block_layout_remove(struct ss_block_layout *layout, uint64_t address,
						   int64_t bytes, bool is_unmap);

/* What is given for a request where a whole block is not: multiples of 512 bytes. */
int64_t ss_block_layout_round(int64_t requested);

/* Whether so much that would be left of a block is kept apart. */
bool ss_block_layout_splits(const struct ss_block_layout *layout, int64_t rounded, int64_t left);

/* The block that begins there, or NULL. */
const struct ss_block_layout_item *ss_block_layout_at(const struct ss_block_layout *layout,
						      uint64_t address);

/* kLargeBuffer of the allocator: the pages of expandable segments, but for small blocks. */
#define SS_LAYOUT_PAGE_BYTES (INT64_C(20) << 20)

/* The part of the bytes that is whole pages. */
static inline int64_t ss_block_layout_pages(int64_t bytes)
{
	return bytes / SS_LAYOUT_PAGE_BYTES * SS_LAYOUT_PAGE_BYTES;
}

/* What is free now. */
struct ss_block_layout_free {
	int64_t free_bytes, largest_bytes;
	int64_t releasable_bytes; /* segments that are wholly free */
	int64_t paged_bytes;      /* whole pages of expandable segments that would fit into them */
};

/* False at the limit. */
SS_MUST_USE bool ss_block_layout_sum(const struct ss_block_layout *layout,
				     struct ss_block_layout_free *out);

#endif
