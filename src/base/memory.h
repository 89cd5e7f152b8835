/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h - the only place that allocates memory from the system.
 *
 * A struct ss_memory is an account: everything that belongs to one session is
 * charged to it and refused beyond its limit, so a hostile file ends in a
 * sentence. Blocks that grow (columns, buffers) use ss_memory_resize(), which
 * moves the pages of large blocks instead of copying them; memory that is freed
 * all at once comes from an arena on top of the account.
 *
 * Threads may share the account, but not a block of it.
 */
#ifndef SS_BASE_MEMORY_H
#define SS_BASE_MEMORY_H

#include <stdatomic.h>

#include "base/error.h"

struct ss_memory {
	_Atomic size_t used_bytes;
	_Atomic size_t peak_bytes;
	size_t limit_bytes;   /* 0: none */
	_Atomic size_t calls; /* growing requests so far */
	size_t fail_call;     /* tests: the request with this number fails; 0: none */
};

void ss_memory_init(struct ss_memory *memory, size_t limit_bytes);

/*
 * Makes a block of `old_bytes` (0 with block NULL: a new one) `new_bytes` long;
 * 0 frees it. Returns NULL at the limit, and the old block stays as it was.
 * New bytes are not cleared.
 */
SS_MUST_USE
void *ss_memory_resize(struct ss_memory *memory, void *block, size_t old_bytes, size_t new_bytes);

/* A new block of zeros. A large one takes memory only where it is written. */
SS_MUST_USE void *ss_memory_zeroed(struct ss_memory *memory, size_t bytes);

/* Zeros that no account counts: an object that has its own account, memory that a caller owns. */
SS_MUST_USE void *ss_memory_outside(size_t bytes);
void ss_memory_free_outside(void *block);

/* Says that all of a large block will be written: a hint that makes it cheaper. */
void ss_memory_populate(void *block, size_t bytes);

/* NULL is fine, whatever `bytes` says. */
void ss_memory_free(struct ss_memory *memory, void *block, size_t bytes);

/* Takes these bytes off the account: they have another owner now (table/cells.h). */
void ss_memory_forget(struct ss_memory *memory, size_t bytes);

/*
 * Memory that is freed all at once. Nothing in an arena is freed alone, so
 * nothing allocated from one needs a destructor.
 */
struct ss_arena {
	struct ss_memory *memory;
	struct ss_arena_block *blocks; /* newest first */
};

void ss_arena_init(struct ss_arena *arena, struct ss_memory *memory);
void ss_arena_release(struct ss_arena *arena);

/* Declares the arena of a block of code: it is released where the block is left. */
#define SS_SCRATCH(name, account) \
	SS_OWNED(ss_arena_release) struct ss_arena name = { .memory = (account) }

/* Returns zeroed memory for `count` items of `size`, or NULL at the limit. */
SS_MUST_USE
void *ss_arena_alloc(struct ss_arena *arena, size_t count, size_t size);

/* Cleared bytes in a block of exactly that size; NULL: no memory. */
SS_MUST_USE void *ss_arena_alloc_alone(struct ss_arena *arena, size_t bytes);

/* Returns a NUL-terminated copy, or NULL at the limit. */
SS_MUST_USE
char *ss_arena_copy(struct ss_arena *arena, const char *text, size_t length);

#define SS_ARENA_NEW(arena, type, count) ((type *)ss_arena_alloc((arena), (count), sizeof(type)))

/* As ss_memory_reserve(): what the array leaves when it moves stays in the arena. */
SS_MUST_USE
bool ss_arena_reserve(struct ss_arena *arena, void **items, uint32_t *capacity, size_t count,
		      size_t item_bytes);
#define SS_ARENA_GROW(arena, items, capacity, count)                                   \
	ss_arena_reserve((arena), (void **)&(items), &(capacity), (size_t)(count) + 1, \
			 sizeof(*(items)))

/* Makes `items` point to a new array, of zeros; NULL, which is false, at the limit. */
#define SS_ALLOC(arena, items, count) ((items) = ss_arena_alloc((arena), (count), sizeof(*(items))))

/*
 * Makes sure that a growing array, `struct { T *items; uint32_t count, capacity; }`,
 * has capacity for `count` items. Returns false at the limit.
 */
SS_MUST_USE
bool ss_memory_reserve(struct ss_memory *memory, void **items, uint32_t *capacity, size_t count,
		       size_t item_bytes);

/* The same for an array that is named: with capacity for `wanted` items, for one behind `count`. */
#define SS_RESERVE(memory, items, capacity, wanted) \
	ss_memory_reserve((memory), (void **)&(items), &(capacity), (wanted), sizeof(*(items)))
#define SS_GROW(memory, items, capacity, count) \
	SS_RESERVE(memory, items, capacity, (size_t)(count) + 1)

/* Makes `items` point to a new array, which is not cleared; NULL, which is false, at the limit. */
#define SS_MEMORY_NEW(memory, items, count) \
	((items) = ss_memory_resize((memory), NULL, 0, (size_t)(count) * sizeof(*(items))))

/* Frees an array that has `capacity` items. */
#define SS_FREE(memory, items, capacity) \
	ss_memory_free((memory), (items), (size_t)(capacity) * sizeof(*(items)))

/* Shrinks the array to `count` items. */
void ss_memory_fit(struct ss_memory *memory, void **items, uint32_t *capacity, uint32_t count,
		   size_t item_bytes);

#endif
