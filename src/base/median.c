/*
 * median.c - byte by byte from the highest on: numbers are counted by the byte, and only
 * those of the byte that the middle lies in go on. At most eight passes, whatever they are.
 */
#include "base/median.h"

static uint32_t byte_of(int64_t value, int shift)
{
	/* negative numbers come first */
	return ((uint64_t)value ^ UINT64_C(1) << 63) >> shift & 0xff;
}

int64_t ss_value_at(int64_t *values, size_t count, size_t rank)
{
	for (int shift = 56; shift >= 0 && count > 1; shift -= 8) {
		size_t counts[256] = { 0 }, kept = 0;
		uint32_t byte = 0;

		for (size_t i = 0; i < count; i++)
			counts[byte_of(values[i], shift)]++;
		while (rank >= counts[byte])
			rank -= counts[byte++];
		if (counts[byte] == count)
			continue;
		for (size_t i = 0; i < count; i++) {
			int64_t value = values[i];

			if (byte_of(value, shift) != byte)
				continue;
			values[i] = values[kept];
			values[kept++] = value;
		}
		count = kept;
	}
	return values[0];
}

int64_t ss_median(int64_t *values, size_t count)
{
	int64_t low = ss_value_at(values, count, (count - 1) / 2), high = INT64_MAX;
	size_t least = 0;

	if (count % 2)
		return low;
	for (size_t i = 0; i < count; i++) {
		least += values[i] <= low;
		if (values[i] > low && values[i] < high)
			high = values[i];
	}
	if (least > count / 2)
		return low;
	/* the difference may be beyond 63 bits */
	return low + (int64_t)(((uint64_t)high - (uint64_t)low) / 2);
}
