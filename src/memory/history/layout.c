/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout.c - splits and merges blocks by the rules of CUDACachingAllocator.cpp.
 */
#include "memory/history/layout.h"

#include <string.h>

#include "memory/events/pools.h"

/* kMinBlockSize and kSmallSize of the allocator. */
#define BLOCK_BYTES_MIN 512
#define SMALL_BYTES (INT64_C(1) << 20)
/* Pages are returned a few hundred times in a run; a file that does nothing else would make the
 * search for their blocks quadratic. */
#define LOOKED_AT_MAX (UINT64_C(1) << 28)
/* Beyond any device; sums of two still fit. */
#define BLOCK_BYTES_MAX (INT64_C(1) << 61)

void ss_block_layout_init(struct ss_block_layout *layout, struct ss_memory *memory)
{
	*layout = (struct ss_block_layout){ .memory = memory,
					    .free_place = SS_NO_BLOCK,
					    .next_segment = SS_LAYOUT_PAGES + 1,
					    .max_split_bytes = INT64_MAX };
	ss_pointer_map_init(&layout->starts, memory);
	ss_pointer_map_init(&layout->ends, memory);
}

void ss_block_layout_release(struct ss_block_layout *layout)
{
	ss_pointer_map_release(&layout->starts);
	ss_pointer_map_release(&layout->ends);
	SS_FREE(layout->memory, layout->blocks, layout->capacity);
	layout->blocks = NULL;
	layout->count = layout->capacity = 0;
}

int64_t ss_block_layout_round(int64_t requested)
{
	if (requested < BLOCK_BYTES_MIN)
		return BLOCK_BYTES_MIN;
	return (requested + BLOCK_BYTES_MIN - 1) / BLOCK_BYTES_MIN * BLOCK_BYTES_MIN;
}

bool ss_block_layout_splits(const struct ss_block_layout *layout, int64_t rounded, int64_t left)
{
	if (rounded <= SMALL_BYTES || layout->splits_all)
		return left >= BLOCK_BYTES_MIN;
	return rounded < layout->max_split_bytes && left > SMALL_BYTES;
}

const struct ss_block_layout_item *ss_block_layout_at(const struct ss_block_layout *layout,
						      uint64_t address)
{
	uint32_t index = ss_pointer_map_find(&layout->starts, address, SS_NO_BLOCK);

	return index == SS_NO_BLOCK ? NULL : &layout->blocks[index];
}

static uint64_t layout_block_end(const struct ss_block_layout_item *block)
{
	return block->address + (uint64_t)block->bytes;
}

static bool layout_take_slot(struct ss_block_layout *layout, uint32_t *out)
{
	if (layout->free_place != SS_NO_BLOCK) {
		*out = layout->free_place;
		layout->free_place = layout->blocks[*out].row;
		return true;
	}
	if (!SS_GROW(layout->memory, layout->blocks, layout->capacity, layout->count))
		return false;
	*out = layout->count++;
	return true;
}

enum ss_block_layout_answer ss_block_layout_place(struct ss_block_layout *layout,
						  const struct ss_block_layout_item *block)
{
	uint32_t index;

	/* none of no bytes, none beyond the end of all addresses, no two at one place */
	if (block->bytes <= 0 || block->bytes > BLOCK_BYTES_MAX ||
	    block->address + (uint64_t)block->bytes < block->address ||
	    ss_block_layout_at(layout, block->address) ||
	    ss_pointer_map_find(&layout->ends, layout_block_end(block), SS_NO_BLOCK) != SS_NO_BLOCK)
		return SS_LAYOUT_ODD;
	if (!layout_take_slot(layout, &index))
		return SS_LAYOUT_FULL;
	layout->blocks[index] = *block;
	layout->blocks[index].is_used = true;
	layout->live_count++;
	if (block->segment >= layout->next_segment)
		layout->next_segment = block->segment + 1;
	return ss_pointer_map_put(&layout->starts, block->address, index) &&
			       ss_pointer_map_put(&layout->ends, layout_block_end(block), index)
		       ? SS_LAYOUT_FITS
		       : SS_LAYOUT_FULL;
}

static void layout_drop_block(struct ss_block_layout *layout, uint32_t index)
{
	struct ss_block_layout_item *block = &layout->blocks[index];

	ss_pointer_map_take(&layout->starts, block->address, SS_NO_BLOCK);
	ss_pointer_map_take(&layout->ends, layout_block_end(block), SS_NO_BLOCK);
	block->is_used = false;
	block->row = layout->free_place;
	layout->free_place = index;
	layout->live_count--;
}

/* Makes the block shorter; the end of all of it is free for another one. */
static bool layout_shorten_block(struct ss_block_layout *layout, uint32_t index, int64_t bytes)
{
	struct ss_block_layout_item *block = &layout->blocks[index];

	ss_pointer_map_take(&layout->ends, layout_block_end(block), SS_NO_BLOCK);
	block->bytes = bytes;
	return ss_pointer_map_put(&layout->ends, layout_block_end(block), index);
}

enum ss_block_layout_answer ss_block_layout_alloc(struct ss_block_layout *layout, uint64_t address,
						  int64_t requested, uint32_t row, int64_t *bytes)
{
	uint32_t index = ss_pointer_map_find(&layout->starts, address, SS_NO_BLOCK);
	int64_t rounded = ss_block_layout_round(requested), left;
	struct ss_block_layout_item *block;

	if (index == SS_NO_BLOCK)
		return SS_LAYOUT_ODD;
	block = &layout->blocks[index];
	left = block->bytes - rounded;
	if (block->state != SS_BLOCK_INACTIVE || left < 0)
		return SS_LAYOUT_ODD;
	block->state = SS_BLOCK_ALLOCATED;
	block->row = row;
	*bytes = block->bytes;
	if (ss_block_layout_splits(layout, rounded, left)) {
		struct ss_block_layout_item rest = { .address = address + (uint64_t)rounded,
						     .bytes = left,
						     .row = SS_NO_BLOCK,
						     .segment = block->segment };

		*bytes = rounded;
		if (!layout_shorten_block(layout, index, rounded))
			return SS_LAYOUT_FULL;
		return ss_block_layout_place(layout, &rest);
	}
	return SS_LAYOUT_FITS;
}

enum ss_block_layout_answer ss_block_layout_let_go(struct ss_block_layout *layout, uint64_t address)
{
	uint32_t index = ss_pointer_map_find(&layout->starts, address, SS_NO_BLOCK);

	if (index == SS_NO_BLOCK || layout->blocks[index].state != SS_BLOCK_ALLOCATED)
		return SS_LAYOUT_ODD;
	layout->blocks[index].state = SS_BLOCK_PENDING;
	return SS_LAYOUT_FITS;
}

/* Joins the free block with the one behind it, if that is free, too. */
static bool layout_join_next(struct ss_block_layout *layout, uint32_t index)
{
	struct ss_block_layout_item *block = &layout->blocks[index];
	uint32_t next = ss_pointer_map_find(&layout->starts, layout_block_end(block), SS_NO_BLOCK);
	int64_t bytes;

	if (next == SS_NO_BLOCK || layout->blocks[next].state != SS_BLOCK_INACTIVE ||
	    layout->blocks[next].segment != block->segment ||
	    layout->blocks[next].bytes > BLOCK_BYTES_MAX - block->bytes)
		return true;
	bytes = layout->blocks[next].bytes;
	layout_drop_block(layout, next);
	ss_pointer_map_take(&layout->ends, layout_block_end(block), SS_NO_BLOCK);
	block->bytes += bytes;
	return ss_pointer_map_put(&layout->ends, layout_block_end(block), index);
}

/* Joins the free block with its neighbours. */
static bool layout_join_blocks(struct ss_block_layout *layout, uint32_t index)
{
	uint32_t before = ss_pointer_map_find(&layout->ends, layout->blocks[index].address,
					      SS_NO_BLOCK);

	if (!layout_join_next(layout, index))
		return false;
	if (before == SS_NO_BLOCK || layout->blocks[before].state != SS_BLOCK_INACTIVE ||
	    layout->blocks[before].segment != layout->blocks[index].segment)
		return true;
	return layout_join_next(layout, before);
}

enum ss_block_layout_answer ss_block_layout_free(struct ss_block_layout *layout, uint64_t address,
						 int64_t *bytes)
{
	uint32_t index = ss_pointer_map_find(&layout->starts, address, SS_NO_BLOCK);

	if (index == SS_NO_BLOCK || layout->blocks[index].state == SS_BLOCK_INACTIVE)
		return SS_LAYOUT_ODD;
	*bytes = layout->blocks[index].bytes;
	layout->blocks[index].state = SS_BLOCK_INACTIVE;
	return layout_join_blocks(layout, index) ? SS_LAYOUT_FITS : SS_LAYOUT_FULL;
}

enum ss_block_layout_answer ss_block_layout_add(struct ss_block_layout *layout, uint64_t address,
						int64_t bytes, bool is_map)
{
	struct ss_block_layout_item block = { .address = address,
					      .bytes = bytes,
					      .row = SS_NO_BLOCK,
					      .segment = is_map ? SS_LAYOUT_PAGES
								: layout->next_segment };
	enum ss_block_layout_answer answer = ss_block_layout_place(layout, &block);

	if (answer != SS_LAYOUT_FITS || !is_map)
		return answer;
	return layout_join_blocks(layout,
				  ss_pointer_map_find(&layout->starts, address, SS_NO_BLOCK))
		       ? SS_LAYOUT_FITS
		       : SS_LAYOUT_FULL;
}

/* The block that has these addresses inside of it. */
static uint32_t layout_find_around(struct ss_block_layout *layout, uint64_t address, uint64_t end)
{
	layout->looked_at += layout->count;
	if (layout->looked_at > LOOKED_AT_MAX)
		return SS_NO_BLOCK;
	for (uint32_t i = 0; i < layout->count; i++)
		if (layout->blocks[i].is_used && layout->blocks[i].address < address &&
		    end < layout_block_end(&layout->blocks[i]))
			return i;
	return SS_NO_BLOCK;
}

enum ss_block_layout_answer ss_block_layout_remove(struct ss_block_layout *layout, uint64_t address,
						   int64_t bytes, bool is_unmap)
{
	uint64_t end = address + (uint64_t)bytes;
	uint32_t index = ss_pointer_map_find(&layout->starts, address, SS_NO_BLOCK);
	struct ss_block_layout_item before, behind;
	enum ss_block_layout_answer answer = SS_LAYOUT_FITS;

	if (index == SS_NO_BLOCK && is_unmap) /* the beginning of the block stays */
		index = ss_pointer_map_find(&layout->ends, end, SS_NO_BLOCK);
	if (index == SS_NO_BLOCK && is_unmap)
		index = layout_find_around(layout, address, end);
	if (index == SS_NO_BLOCK || layout->blocks[index].state != SS_BLOCK_INACTIVE)
		return SS_LAYOUT_ODD;
	before = behind = layout->blocks[index];
	if (bytes <= 0 || before.bytes < bytes || (!is_unmap && before.bytes != bytes))
		return SS_LAYOUT_ODD;
	layout_drop_block(layout, index);
	before.bytes = (int64_t)(address - before.address);
	behind.bytes -= before.bytes + bytes;
	behind.address = end;
	if (before.bytes)
		answer = ss_block_layout_place(layout, &before);
	if (behind.bytes && answer == SS_LAYOUT_FITS)
		answer = ss_block_layout_place(layout, &behind);
	return answer;
}

bool ss_block_layout_sum(const struct ss_block_layout *layout, struct ss_block_layout_free *out)
{
	size_t bytes = ((size_t)layout->next_segment + 1) * sizeof(uint8_t);
	uint8_t *in_use = ss_memory_zeroed(layout->memory, bytes);

	*out = (struct ss_block_layout_free){ 0 };
	if (!in_use)
		return false;
	for (uint32_t i = 0; i < layout->count; i++)
		if (layout->blocks[i].is_used && layout->blocks[i].state != SS_BLOCK_INACTIVE)
			in_use[layout->blocks[i].segment] = 1;
	for (uint32_t i = 0; i < layout->count; i++) {
		const struct ss_block_layout_item *block = &layout->blocks[i];

		if (!block->is_used || block->state != SS_BLOCK_INACTIVE)
			continue;
		out->free_bytes = ss_amount_add(out->free_bytes, block->bytes);
		if (block->bytes > out->largest_bytes)
			out->largest_bytes = block->bytes;
		out->paged_bytes = ss_amount_add(out->paged_bytes,
						 ss_block_layout_pages(block->bytes));
		if (!in_use[block->segment])
			out->releasable_bytes = ss_amount_add(out->releasable_bytes, block->bytes);
	}
	ss_memory_free(layout->memory, in_use, bytes);
	return true;
}
