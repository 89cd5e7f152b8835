/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moments.c - opens blocks of moments, and widens those that need it.
 */
#include "replay/moments.h"

/* The first moment of a block is in the middle of its range. */
#define MIDDLE_NS ((int64_t)1 << 31)

static size_t moments_block_count(uint32_t count)
{
	return (size_t)count / SS_MOMENTS_BLOCK + 1;
}

bool ss_moments_init(struct ss_moments *moments, uint32_t count, struct ss_memory *memory)
{
	*moments = (struct ss_moments){ .memory = memory, .count = count };
	moments->behind_ns = ss_memory_zeroed(memory,
					      ((size_t)count + 1) * sizeof(*moments->behind_ns));
	moments->blocks = ss_memory_zeroed(memory,
					   moments_block_count(count) * sizeof(*moments->blocks));
	return moments->behind_ns && moments->blocks;
}

void ss_moments_release(struct ss_moments *moments)
{
	if (!moments->memory)
		return;
	SS_FREE(moments->memory, moments->behind_ns, (size_t)moments->count + 1);
	ss_memory_free(moments->memory, moments->blocks,
		       moments_block_count(moments->count) * sizeof(*moments->blocks));
	SS_FREE(moments->memory, moments->wide_ns, moments->wide_capacity);
	*moments = (struct ss_moments){ 0 };
}

void ss_moments_clear(struct ss_moments *moments)
{
	for (size_t i = 0; i < moments_block_count(moments->count); i++)
		moments->blocks[i] = (struct ss_moments_block){ .base_ns = INT64_MIN };
	moments->wide_count = 0;
}

/* Makes a block wide; what is set so far moves there. */
static bool open_wide_block(struct ss_moments *moments, struct ss_moments_block *block,
			    uint32_t first)
{
	size_t from = (size_t)moments->wide_count * SS_MOMENTS_BLOCK;

	if (!SS_RESERVE(moments->memory, moments->wide_ns, moments->wide_capacity,
			from + SS_MOMENTS_BLOCK))
		return false;
	for (uint32_t i = 0; i < SS_MOMENTS_BLOCK; i++)
		moments->wide_ns[from + i] = first + i < moments->count
						     ? block->base_ns +
							       moments->behind_ns[first + i]
						     : 0;
	*block = (struct ss_moments_block){ INT64_MIN, ++moments->wide_count };
	return true;
}

void ss_moments_widen(struct ss_moments *moments, uint32_t number, int64_t ns)
{
	struct ss_moments_block *block = &moments->blocks[number / SS_MOMENTS_BLOCK];

	if (!block->wide && block->base_ns == INT64_MIN) {
		block->base_ns = ns > INT64_MIN + MIDDLE_NS ? ns - MIDDLE_NS : INT64_MIN + 1;
		moments->behind_ns[number] = (uint32_t)((uint64_t)ns - (uint64_t)block->base_ns);
		return;
	}
	if (!block->wide && !open_wide_block(moments, block, number - number % SS_MOMENTS_BLOCK)) {
		moments->failed = true;
		return;
	}
	moments->wide_ns[(size_t)(block->wide - 1) * SS_MOMENTS_BLOCK + number % SS_MOMENTS_BLOCK] =
		ns;
}
