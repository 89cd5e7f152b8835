/* SPDX-License-Identifier: Apache-2.0 */
/*
 * median.c - a radix select: counts the numbers by their highest byte that differs, keeps those
 * with the byte in which the median lies, and goes on with the next byte. At most eight passes;
 * few numbers are sorted instead.
 */
#include "base/median.h"

#include "base/sort.h"

static uint32_t key_byte(int64_t value, int shift)
{
	/* negative numbers come first */
	return ((uint64_t)value ^ UINT64_C(1) << 63) >> shift & 0xff;
}

/* Up to this many numbers, sorting is cheaper than counting bytes. */
#define FEW 16

static void insertion_sort(int64_t *values, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		int64_t value = values[i];
		size_t at = i;

		for (; at > 0 && values[at - 1] > value; at--)
			values[at] = values[at - 1];
		values[at] = value;
	}
}

/* The shift of the highest byte that differs; 0 also when all numbers are equal. */
static int highest_differing_shift(const int64_t *values, size_t count)
{
	uint64_t differ = 0;
	int shift = 56;

	for (size_t i = 1; i < count; i++)
		differ |= (uint64_t)values[i] ^ (uint64_t)values[0];
	while (shift && !(differ >> shift))
		shift -= 8;
	return shift;
}

int64_t ss_nth_smallest(int64_t *values, size_t count, size_t rank)
{
	if (count <= FEW) {
		insertion_sort(values, count);
		return values[rank];
	}
	for (int shift = highest_differing_shift(values, count); shift >= 0 && count > 1;
	     shift -= 8) {
		size_t counts[256] = { 0 }, kept = 0;
		uint32_t byte = 0;

		for (size_t i = 0; i < count; i++)
			counts[key_byte(values[i], shift)]++;
		while (rank >= counts[byte])
			rank -= counts[byte++];
		if (counts[byte] == count)
			continue;
		for (size_t i = 0; i < count; i++) {
			int64_t value = values[i];

			if (key_byte(value, shift) != byte)
				continue;
			values[i] = values[kept];
			values[kept++] = value;
		}
		count = kept;
	}
	return values[0];
}

/* The number after the one at `rank`, which is `low`. */
static int64_t next_value_up(const int64_t *values, size_t count, size_t rank, int64_t low)
{
	int64_t high = INT64_MAX;
	size_t least = 0;

	for (size_t i = 0; i < count; i++) {
		least += values[i] <= low;
		if (values[i] > low && values[i] < high)
			high = values[i];
	}
	return least > rank + 1 ? low : high;
}

int64_t ss_median(int64_t *values, size_t count)
{
	size_t rank = (count - 1) / 2;
	int64_t low = ss_nth_smallest(values, count, rank), high;

	if (count % 2)
		return low;
	high = next_value_up(values, count, rank, low);
	/* the difference may be beyond 63 bits */
	return low + (int64_t)(((uint64_t)high - (uint64_t)low) / 2);
}

double ss_median_double(double *values, size_t count)
{
	SS_SORT(values, count, ss_sort_compare_double);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

struct ss_middle ss_middle_of(int64_t *values, size_t count)
{
	struct ss_middle middle = { .count = count };

	if (count < 2) {
		middle.low = middle.high = count ? values[0] : 0;
		return middle;
	}
	middle.low = ss_nth_smallest(values, count, count / 2 - 1);
	middle.high = next_value_up(values, count, count / 2 - 1, middle.low);
	return middle;
}

int64_t ss_middle_median(const struct ss_middle *middle)
{
	return middle->count % 2 ? middle->high : middle->low;
}

int64_t ss_middle_without(const struct ss_middle *middle, int64_t value)
{
	if (middle->count < 2)
		return 0;
	return value <= middle->low ? middle->high : middle->low;
}
