/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bitmap.h - a bitmap over rows that numbers the rows in it.
 *
 * Values that only one row in ten has are stored for those rows alone, in the order of the rows,
 * and found by this number. The bitmap itself takes 1.5 bits per row.
 */
#ifndef SS_BASE_BITMAP_H
#define SS_BASE_BITMAP_H

#include "base/memory.h"

struct ss_bitmap {
	struct ss_memory *memory;
	uint64_t *bits;
	uint32_t *before;   /* per 64 rows: how many are in the set before them */
	uint32_t row_count; /* rows from there on are not in it */
	uint32_t count;     /* of rows in it; after ss_bitmap_finish() */
};

/* An empty set; false: no memory. */
SS_MUST_USE
bool ss_bitmap_init(struct ss_bitmap *set, uint32_t row_count, struct ss_memory *memory);
void ss_bitmap_release(struct ss_bitmap *set);

static inline void ss_bitmap_add(struct ss_bitmap *set, uint32_t row)
{
	set->bits[row / 64] |= UINT64_C(1) << (row % 64);
}

/* Numbers the rows. Nothing may be added afterwards. */
void ss_bitmap_finish(struct ss_bitmap *set);

/* The number of 1 bits. Without an instruction for it, the compiler's builtin is a call. */
static inline uint32_t ss_bit_count(uint64_t bits)
{
#if defined(__POPCNT__) || defined(__aarch64__) || defined(__wasm__)
	return (uint32_t)__builtin_popcountll(bits);
#else
	bits -= bits >> 1 & UINT64_C(0x5555555555555555);
	bits = (bits & UINT64_C(0x3333333333333333)) + (bits >> 2 & UINT64_C(0x3333333333333333));
	bits = (bits + (bits >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	return (uint32_t)(bits * UINT64_C(0x0101010101010101) >> 56);
#endif
}

static inline bool ss_bitmap_has(const struct ss_bitmap *set, uint32_t row)
{
	return row < set->row_count && (set->bits[row / 64] >> (row % 64) & 1);
}

/* How many before a row are in it; the row may be the one behind the last. */
static inline uint32_t ss_bitmap_before(const struct ss_bitmap *set, uint32_t row)
{
	uint64_t bit = UINT64_C(1) << (row % 64);

	return set->before[row / 64] + ss_bit_count(set->bits[row / 64] & (bit - 1));
}

/* The number of a row among those in the set, or UINT32_MAX if it is not in it. */
static inline uint32_t ss_bitmap_find(const struct ss_bitmap *set, uint32_t row)
{
	uint64_t word, bit = UINT64_C(1) << (row % 64);

	if (row >= set->row_count)
		return UINT32_MAX;
	word = set->bits[row / 64];
	if (!(word & bit))
		return UINT32_MAX;
	return set->before[row / 64] + ss_bit_count(word & (bit - 1));
}

#endif
