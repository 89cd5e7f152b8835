/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.c - accounts and arenas.
 */
#define _DEFAULT_SOURCE /* madvise() */

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

/* Small enough to waste little per trace, large enough that a name costs no malloc. */
#ifndef SS_BLOCK_BYTES /* tests: with 64 every allocation of an arena can fail by itself */
#define SS_BLOCK_BYTES 65536
#endif
#define BLOCK_BYTES ((size_t)SS_BLOCK_BYTES)

/* Every scalar type that we store is aligned to at most this. */
#define ALIGN_BYTES ((size_t)16)

/* Rows are numbered with 32 bits. */
#define ITEMS_MAX ((size_t)UINT32_MAX - 1)

struct ss_arena_block {
	struct ss_arena_block *next;
	size_t size_bytes; /* the whole block, this header included */
	size_t used_bytes;
};

void ss_memory_init(struct ss_memory *memory, size_t limit_bytes)
{
	*memory = (struct ss_memory){ .limit_bytes = limit_bytes };
}

static bool memory_charge(struct ss_memory *memory, size_t bytes)
{
	size_t used = atomic_fetch_add(&memory->used_bytes, bytes) + bytes;
	size_t peak = atomic_load(&memory->peak_bytes);
	size_t call = atomic_fetch_add(&memory->calls, 1) + 1;

	if ((memory->limit_bytes && used > memory->limit_bytes) ||
	    (memory->fail_call && call == memory->fail_call)) {
		atomic_fetch_sub(&memory->used_bytes, bytes);
		return false;
	}
	while (used > peak && !atomic_compare_exchange_weak(&memory->peak_bytes, &peak, used))
		;
	return true;
}

void *ss_memory_resize(struct ss_memory *memory, void *block, size_t old_bytes, size_t new_bytes)
{
	void *moved;

	assert(block || old_bytes == 0);
	if (new_bytes == 0) {
		ss_memory_free(memory, block, old_bytes);
		return NULL;
	}
	if (new_bytes > PTRDIFF_MAX)
		return NULL;
	if (new_bytes > old_bytes && !memory_charge(memory, new_bytes - old_bytes))
		return NULL;
	moved = realloc(block, new_bytes);
	if (new_bytes < old_bytes) {
		/* a block that cannot shrink stays: its owner frees it by the smaller size */
		atomic_fetch_sub(&memory->used_bytes, old_bytes - new_bytes);
		return moved ? moved : block;
	}
	if (!moved)
		atomic_fetch_sub(&memory->used_bytes, new_bytes - old_bytes);
	return moved;
}

void *ss_memory_zeroed(struct ss_memory *memory, size_t bytes)
{
	void *block;

	if (bytes > PTRDIFF_MAX || !memory_charge(memory, bytes))
		return NULL;
	block = calloc(1, bytes);
	if (!block)
		atomic_fetch_sub(&memory->used_bytes, bytes);
	return block;
}

void *ss_memory_outside(size_t bytes)
{
	struct ss_memory outside = { 0 };

	return ss_memory_zeroed(&outside, bytes);
}

void ss_memory_free_outside(void *block)
{
	struct ss_memory outside = { 0 };

	ss_memory_free(&outside, block, 0);
}

/* Of all machines that we know; with larger pages only the ends are coarser. */
#define PAGE_BYTES ((uintptr_t)4096)

/*
 * A page fault costs more than all later work on the page, above all on virtual machines;
 * requesting the pages together costs half.
 */
void ss_memory_populate(void *block, size_t bytes)
{
#ifdef MADV_POPULATE_WRITE
	uintptr_t from = ((uintptr_t)block + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
	uintptr_t to = ((uintptr_t)block + bytes) & ~(PAGE_BYTES - 1);

	/* only a hint: kernels before 5.14 do not know it */
	if (to > from)
		(void)madvise((void *)from, to - from, MADV_POPULATE_WRITE);
#else
	(void)block;
	(void)bytes;
#endif
}

void ss_memory_free(struct ss_memory *memory, void *block, size_t bytes)
{
	if (!block) /* was never charged */
		return;
	free(block);
	atomic_fetch_sub(&memory->used_bytes, bytes);
}

void ss_memory_forget(struct ss_memory *memory, size_t bytes)
{
	atomic_fetch_sub(&memory->used_bytes, bytes);
}

/* Of an array that grows to hold `count` items; 0: too many. */
static size_t grown_capacity(size_t capacity, size_t count)
{
	size_t wanted = capacity ? capacity + capacity / 2 : 64;

	if (count > ITEMS_MAX)
		return 0;
	if (wanted < count)
		wanted = count;
	return wanted > ITEMS_MAX ? ITEMS_MAX : wanted;
}

bool ss_memory_reserve(struct ss_memory *memory, void **items, uint32_t *capacity, size_t count,
		       size_t item_bytes)
{
	size_t wanted;
	void *moved;

	if (count <= *capacity)
		return true;
	wanted = grown_capacity(*capacity, count);
	if (!wanted)
		return false;
	moved = ss_memory_resize(memory, *items, *capacity * item_bytes, wanted * item_bytes);
	if (!moved)
		return false;
	*items = moved;
	*capacity = (uint32_t)wanted;
	return true;
}

bool ss_arena_reserve(struct ss_arena *arena, void **items, uint32_t *capacity, size_t count,
		      size_t item_bytes)
{
	size_t wanted = grown_capacity(*capacity, count);
	void *moved;

	if (count <= *capacity)
		return true;
	moved = wanted ? ss_arena_alloc(arena, wanted, item_bytes) : NULL;
	if (!moved)
		return false;
	if (*capacity)
		memcpy(moved, *items, *capacity * item_bytes);
	*items = moved;
	*capacity = (uint32_t)wanted;
	return true;
}

void ss_memory_fit(struct ss_memory *memory, void **items, uint32_t *capacity, uint32_t count,
		   size_t item_bytes)
{
	if (count >= *capacity)
		return;
	*items = ss_memory_resize(memory, *items, *capacity * item_bytes, count * item_bytes);
	*capacity = count;
}

void ss_arena_init(struct ss_arena *arena, struct ss_memory *memory)
{
	*arena = (struct ss_arena){ .memory = memory };
}

void ss_arena_release(struct ss_arena *arena)
{
	while (arena->blocks) {
		struct ss_arena_block *block = arena->blocks;

		arena->blocks = block->next;
		ss_memory_free(arena->memory, block, block->size_bytes);
	}
}

/* A block made for one large item goes behind the head, which still has space for small ones. */
static void arena_link_block(struct ss_arena *arena, struct ss_arena_block *block,
			     size_t size_bytes, size_t header_bytes)
{
	struct ss_arena_block *head = arena->blocks;

	*block = (struct ss_arena_block){ head, size_bytes, header_bytes };
	if (head && size_bytes != BLOCK_BYTES) {
		block->next = head->next;
		head->next = block;
	} else {
		arena->blocks = block;
	}
}

void *ss_arena_alloc(struct ss_arena *arena, size_t count, size_t size)
{
	struct ss_arena_block *block = arena->blocks;
	size_t header = (sizeof(*block) + ALIGN_BYTES - 1) / ALIGN_BYTES * ALIGN_BYTES;
	size_t bytes, fresh;
	bool is_zero = false;
	void *start;

	if (size && count > (PTRDIFF_MAX / 2) / size)
		return NULL;
	bytes = (count * size + ALIGN_BYTES - 1) / ALIGN_BYTES * ALIGN_BYTES;
	if (!block || block->size_bytes - block->used_bytes < bytes) {
		fresh = bytes > BLOCK_BYTES / 4 ? header + bytes : BLOCK_BYTES;
		/* a block of its own comes cleared */
		is_zero = fresh > BLOCK_BYTES;
		block = is_zero ? ss_memory_zeroed(arena->memory, fresh)
				: ss_memory_resize(arena->memory, NULL, 0, fresh);
		if (!block)
			return NULL;
		arena_link_block(arena, block, fresh, header);
	}
	start = (char *)block + block->used_bytes;
	block->used_bytes += bytes;
	return is_zero ? start : memset(start, 0, bytes);
}

void *ss_arena_alloc_alone(struct ss_arena *arena, size_t bytes)
{
	size_t header = (sizeof(struct ss_arena_block) + ALIGN_BYTES - 1) / ALIGN_BYTES *
			ALIGN_BYTES;
	struct ss_arena_block *block = ss_memory_zeroed(arena->memory, header + bytes);

	if (!block)
		return NULL;
	arena_link_block(arena, block, header + bytes, header + bytes);
	return (char *)block + header;
}

char *ss_arena_copy(struct ss_arena *arena, const char *text, size_t length)
{
	char *copy = ss_arena_alloc(arena, length + 1, 1);

	if (copy && length)
		memcpy(copy, text, length);
	return copy;
}
