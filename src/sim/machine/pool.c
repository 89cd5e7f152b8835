/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.c - blocks by size, segments from the device.
 */
#include "sim/machine/pool.h"

/* The figures of torch's CUDACachingAllocator. */
#define ROUND_BYTES 512u
#define SMALL_BYTES (UINT64_C(1) << 20) /* below: from 2 MiB segments */
#define SMALL_SEGMENT_BYTES (UINT64_C(2) << 20)
#define MEDIUM_BYTES (UINT64_C(10) << 20) /* below: from 20 MiB segments */
#define MEDIUM_SEGMENT_BYTES (UINT64_C(20) << 20)
#define LARGE_ROUND_BYTES (UINT64_C(2) << 20) /* above: rounded up to this */

#define FIRST_ADDRESS UINT64_C(0x7f0a00000000)

void ss_sim_pool_init(struct ss_sim_pool *pool, struct ss_memory *memory, uint64_t limit_bytes)
{
	*pool = (struct ss_sim_pool){ .memory = memory,
				      .limit_bytes = limit_bytes,
				      .next_address = FIRST_ADDRESS };
}

void ss_sim_pool_release(struct ss_sim_pool *pool)
{
	if (!pool->memory)
		return;
	SS_FREE(pool->memory, pool->blocks, pool->block_capacity);
	SS_FREE(pool->memory, pool->sizes, pool->size_capacity);
	*pool = (struct ss_sim_pool){ 0 };
}

static uint64_t round_up_bytes(uint64_t bytes, uint64_t unit)
{
	return (bytes + unit - 1) / unit * unit;
}

static struct ss_sim_pool_size *pool_size_of(struct ss_sim_pool *pool, uint64_t bytes)
{
	for (uint32_t i = 0; i < pool->size_count; i++)
		if (pool->sizes[i].bytes == bytes)
			return &pool->sizes[i];
	if (!SS_GROW(pool->memory, pool->sizes, pool->size_capacity, pool->size_count)) {
		pool->failed = true;
		return NULL;
	}
	pool->sizes[pool->size_count] = (struct ss_sim_pool_size){ .bytes = bytes };
	return &pool->sizes[pool->size_count++];
}

/* Frees every cached block that has a segment of its own; returns how many. */
static uint32_t pool_empty(struct ss_sim_pool *pool)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < pool->size_count; i++) {
		struct ss_sim_pool_size *size = &pool->sizes[i];

		if (!size->free || !pool->blocks[size->free - 1].alone)
			continue;
		for (uint32_t at = size->free; at; at = pool->blocks[at - 1].next) {
			pool->reserved_bytes -= round_up_bytes(size->bytes, LARGE_ROUND_BYTES);
			count++;
		}
		size->free = 0;
	}
	return count;
}

static void pool_grow(struct ss_sim_pool *pool, uint64_t bytes, struct ss_sim_pool_calls *calls)
{
	if (pool->reserved_bytes + bytes > pool->limit_bytes)
		calls->free_count += pool_empty(pool);
	pool->reserved_bytes += bytes;
	calls->malloc_count++;
	if (pool->reserved_bytes > pool->reserved_peak_bytes)
		pool->reserved_peak_bytes = pool->reserved_bytes;
}

/* The address of a new block, from an open segment or a new one. */
static uint64_t pool_cut_block(struct ss_sim_pool *pool, uint64_t bytes,
			       struct ss_sim_pool_calls *calls)
{
	uint32_t which = bytes > SMALL_BYTES;
	uint64_t segment = which ? MEDIUM_SEGMENT_BYTES : SMALL_SEGMENT_BYTES;
	uint64_t address;

	if (bytes >= MEDIUM_BYTES) {
		segment = round_up_bytes(bytes, LARGE_ROUND_BYTES);
		pool_grow(pool, segment, calls);
		address = pool->next_address;
		pool->next_address += segment;
		return address;
	}
	if (pool->open[which].left_bytes < bytes) {
		pool_grow(pool, segment, calls);
		pool->open[which].at = pool->next_address;
		pool->open[which].left_bytes = segment;
		pool->next_address += segment;
	}
	address = pool->open[which].at;
	pool->open[which].at += bytes;
	pool->open[which].left_bytes -= bytes;
	return address;
}

uint32_t ss_sim_pool_take(struct ss_sim_pool *pool, uint64_t bytes, struct ss_sim_pool_calls *calls)
{
	uint64_t rounded = round_up_bytes(bytes ? bytes : 1, ROUND_BYTES);
	struct ss_sim_pool_size *size = pool_size_of(pool, rounded);
	uint32_t index;

	*calls = (struct ss_sim_pool_calls){ 0 };
	if (!size)
		return 0;
	pool->allocated_bytes += rounded;
	if (pool->allocated_bytes > pool->allocated_peak_bytes)
		pool->allocated_peak_bytes = pool->allocated_bytes;
	if (size->free) {
		index = size->free - 1;
		size->free = pool->blocks[index].next;
		return index;
	}
	if (!SS_GROW(pool->memory, pool->blocks, pool->block_capacity, pool->block_count)) {
		pool->failed = true;
		return 0;
	}
	index = pool->block_count++;
	pool->blocks[index] = (struct ss_sim_pool_block){
		.address = pool_cut_block(pool, rounded, calls),
		.bytes = rounded,
		.alone = rounded >= MEDIUM_BYTES,
	};
	return index;
}

void ss_sim_pool_give(struct ss_sim_pool *pool, uint32_t block)
{
	struct ss_sim_pool_size *size = pool_size_of(pool, pool->blocks[block].bytes);

	if (!size)
		return;
	pool->allocated_bytes -= size->bytes;
	pool->blocks[block].next = size->free;
	size->free = block + 1;
}
