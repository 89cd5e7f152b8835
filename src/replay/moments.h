/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moments.h - when the tasks of a run start, in 4 bytes each.
 *
 * Neighbours start within milliseconds of each other. So each counts from the base of its block,
 * which the first of the block that is set decides. Where a track ends and the next one begins, or
 * where a track is silent for long, the others of a block may be further away than 2 s: then the
 * block has 8 bytes for each.
 */
#ifndef SS_REPLAY_MOMENTS_H
#define SS_REPLAY_MOMENTS_H

#include "base/memory.h"

/* Tasks of a block. */
#define SS_MOMENTS_BLOCK 64

struct ss_moments_block {
	int64_t base_ns; /* INT64_MIN: nothing is set, or it is wide */
	uint32_t wide;   /* number + 1 of its moments in `wide_ns`; 0: they count from the base */
};

struct ss_moments {
	struct ss_memory *memory;
	uint32_t count;
	uint32_t *behind_ns;
	struct ss_moments_block *blocks;
	int64_t *wide_ns; /* SS_MOMENTS_BLOCK each */
	uint32_t wide_count, wide_capacity;
	bool failed; /* there was no memory for a wide block; stays until its reader resets it */
};

/* False: no memory. Release it in any case. */
SS_MUST_USE
bool ss_moments_init(struct ss_moments *moments, uint32_t count, struct ss_memory *memory);
void ss_moments_release(struct ss_moments *moments);

/* Before a run: nothing is set. */
void ss_moments_clear(struct ss_moments *moments);

/* Sets what does not fit in its block as it is. Moments lie within half of what fits in 8 bytes. */
void ss_moments_widen(struct ss_moments *moments, uint32_t number, int64_t ns);

static inline int64_t ss_moments_get(const struct ss_moments *moments, uint32_t number)
{
	const struct ss_moments_block *block = &moments->blocks[number / SS_MOMENTS_BLOCK];

	return !block->wide ? block->base_ns + moments->behind_ns[number]
			    : moments->wide_ns[(size_t)(block->wide - 1) * SS_MOMENTS_BLOCK +
					       number % SS_MOMENTS_BLOCK];
}

static inline void ss_moments_set(struct ss_moments *moments, uint32_t number, int64_t ns)
{
	const struct ss_moments_block *block = &moments->blocks[number / SS_MOMENTS_BLOCK];
	uint64_t behind_ns = (uint64_t)ns - (uint64_t)block->base_ns;

	if (behind_ns <= UINT32_MAX)
		moments->behind_ns[number] = (uint32_t)behind_ns;
	else
		ss_moments_widen(moments, number, ns);
}

#endif
