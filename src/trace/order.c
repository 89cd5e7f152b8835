/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order.c - natural merge sort of row numbers.
 */
#include "trace/order.h"

#include <string.h>

#include "base/search.h"

/* Does row b come before row a, which was earlier in the file? */
static inline bool order_must_swap(const struct ss_order *order, uint32_t a, uint32_t b)
{
	if (order->start_ns[a] != order->start_ns[b])
		return order->start_ns[b] < order->start_ns[a];
	if (order->dur_ns && order->dur_ns[a] != order->dur_ns[b])
		return order->dur_ns[b] > order->dur_ns[a];
	return order->id && order->id[b] < order->id[a];
}

/* The end of the sorted run that begins at `from`. */
static uint32_t order_run_end(const struct ss_order *order, const uint32_t *rows, uint32_t from,
			      uint32_t count)
{
	uint32_t at = from + 1;

	while (at < count && !order_must_swap(order, rows[at - 1], rows[at]))
		at++;
	return at;
}

/* Merges the runs [from, middle) and [middle, end) of rows, with spare for the first. */
static void order_merge_runs(const struct ss_order *order, uint32_t *rows, uint32_t *spare,
			     uint32_t from, uint32_t middle, uint32_t end)
{
	uint32_t low = from, high = middle, left, right, out;

	if (!order_must_swap(order, rows[middle - 1], rows[middle]))
		return;
	/* rows of the first run that precede the whole second run stay where they are */
	SS_SEARCH(low, high, at, !order_must_swap(order, rows[at], rows[middle]));
	memcpy(spare, rows + low, (middle - low) * sizeof(*spare));
	left = 0;
	right = middle;
	for (out = low; left < middle - low && right < end; out++) {
		if (order_must_swap(order, spare[left], rows[right]))
			rows[out] = rows[right++];
		else
			rows[out] = spare[left++];
	}
	memcpy(rows + out, spare + left, (middle - low - left) * sizeof(*rows));
}

/*
 * Sorts the runs from `from` on that make up at most `depth` doublings and
 * returns where they end: recursion over runs, not over rows, so its depth is
 * that of the number of runs.
 */
static uint32_t order_sort_runs(const struct ss_order *order, uint32_t *rows, uint32_t *spare,
				uint32_t from, uint32_t count, uint32_t depth)
{
	uint32_t middle, end;

	if (depth == 0)
		return order_run_end(order, rows, from, count);
	middle = order_sort_runs(order, rows, spare, from, count, depth - 1);
	if (middle == count)
		return middle;
	end = order_sort_runs(order, rows, spare, middle, count, depth - 1);
	order_merge_runs(order, rows, spare, from, middle, end);
	return end;
}

void ss_order_sort(const struct ss_order *order, uint32_t *rows, uint32_t *spare, uint32_t count)
{
	uint32_t sorted = count ? order_run_end(order, rows, 0, count) : 0;

	for (uint32_t depth = 0; sorted < count; depth++) {
		uint32_t end = order_sort_runs(order, rows, spare, sorted, count, depth);

		order_merge_runs(order, rows, spare, 0, sorted, end);
		sorted = end;
	}
}
