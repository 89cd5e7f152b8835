/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.h - the caching allocator of one rank, as far as its figures go.
 *
 * A free block is reused only for the same rounded size; other sizes take a new
 * segment from the device, and small ones share segments. That is how torch's
 * allocator behaves for a training loop that repeats itself, and how it fragments
 * for one that does not.
 */
#ifndef SS_SIM_MACHINE_POOL_H
#define SS_SIM_MACHINE_POOL_H

#include "base/memory.h"

struct ss_sim_pool_block {
	uint64_t address, bytes;
	uint32_t next;  /* of the free list, plus 1 */
	uint32_t alone; /* has a segment of its own */
};

struct ss_sim_pool_size {
	uint64_t bytes;
	uint32_t free; /* first free block, plus 1 */
	uint32_t unused;
};

struct ss_sim_pool {
	struct ss_memory *memory;
	struct ss_sim_pool_block *blocks;
	uint32_t block_count, block_capacity;
	struct ss_sim_pool_size *sizes;
	uint32_t size_count, size_capacity;
	uint64_t limit_bytes; /* of the device */
	uint64_t allocated_bytes, reserved_bytes;
	uint64_t allocated_peak_bytes, reserved_peak_bytes;
	uint64_t next_address;
	struct {
		uint64_t at, left_bytes;
	} open[2]; /* segments that small and medium blocks are cut from */
	bool failed;
};

void ss_sim_pool_init(struct ss_sim_pool *pool, struct ss_memory *memory, uint64_t limit_bytes);
void ss_sim_pool_release(struct ss_sim_pool *pool);

/* What an allocation asked of the device. */
struct ss_sim_pool_calls {
	uint32_t malloc_count; /* cudaMalloc */
	uint32_t free_count;   /* cudaFree of cached blocks, because the device was full */
};

/* Returns the block's index. */
uint32_t ss_sim_pool_take(struct ss_sim_pool *pool, uint64_t bytes,
			  struct ss_sim_pool_calls *calls);
void ss_sim_pool_give(struct ss_sim_pool *pool, uint32_t block);

#endif
