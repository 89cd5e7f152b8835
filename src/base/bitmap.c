/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bitmap.c - one bit per row, and one count per word of bits.
 */
#include "base/bitmap.h"

static size_t bitmap_word_count(const struct ss_bitmap *set)
{
	return (size_t)set->row_count / 64 + 1;
}

bool ss_bitmap_init(struct ss_bitmap *set, uint32_t row_count, struct ss_memory *memory)
{
	*set = (struct ss_bitmap){ .memory = memory, .row_count = row_count };
	set->bits = ss_memory_zeroed(memory, bitmap_word_count(set) * sizeof(*set->bits));
	set->before = ss_memory_zeroed(memory, bitmap_word_count(set) * sizeof(*set->before));
	if (set->bits && set->before)
		return true;
	ss_bitmap_release(set);
	return false;
}

void ss_bitmap_release(struct ss_bitmap *set)
{
	if (!set->memory)
		return;
	ss_memory_free(set->memory, set->bits, bitmap_word_count(set) * sizeof(*set->bits));
	ss_memory_free(set->memory, set->before, bitmap_word_count(set) * sizeof(*set->before));
	*set = (struct ss_bitmap){ 0 };
}

void ss_bitmap_finish(struct ss_bitmap *set)
{
	set->count = 0;
	for (size_t i = 0; i < bitmap_word_count(set); i++) {
		set->before[i] = set->count;
		set->count += ss_bit_count(set->bits[i]);
	}
}
