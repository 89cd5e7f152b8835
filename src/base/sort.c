/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sort.c - comparators of plain values, the merge of sorted runs, the counting sort by class.
 */
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

int ss_sort_compare_int64(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

int ss_sort_compare_uint32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

int ss_sort_compare_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

int ss_sort_compare_strings(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* --- runs -------------------------------------------------------------------------- */

/* With more runs than this, merging is not faster than qsort(). */
#define RUNS_MAX 256

struct run_merge {
	size_t size; /* of an item */
	int (*compare)(const void *, const void *);
	size_t ends[RUNS_MAX]; /* of the runs, in bytes */
	uint32_t run_count;
};

/* False: more runs than RUNS_MAX. */
static bool sort_find_runs(struct run_merge *sorting, const char *items, size_t bytes)
{
	for (size_t at = sorting->size; at <= bytes; at += sorting->size) {
		if (at < bytes && sorting->compare(items + at - sorting->size, items + at) <= 0)
			continue;
		if (sorting->run_count == RUNS_MAX)
			return false;
		sorting->ends[sorting->run_count++] = at;
	}
	return true;
}

/* Merges two adjacent runs; items in a row from one run are copied as one piece. */
static void sort_merge_two(const struct run_merge *sorting, const char *first, const char *second,
			   const char *end, char *out)
{
	const char *stop = second;

	while (first < stop && second < end) {
		const char *from = first;

		while (first < stop && sorting->compare(first, second) <= 0)
			first += sorting->size;
		memcpy(out, from, (size_t)(first - from));
		out += first - from;
		from = second;
		while (first < stop && second < end && sorting->compare(second, first) < 0)
			second += sorting->size;
		memcpy(out, from, (size_t)(second - from));
		out += second - from;
	}
	memcpy(out, first, (size_t)(stop - first));
	memcpy(out + (stop - first), second, (size_t)(end - second));
}

/* Merges each run with the next one; an odd last run is copied. */
static void sort_merge_pairs(struct run_merge *sorting, const char *from, char *to)
{
	uint32_t kept = 0;
	size_t start = 0;

	for (uint32_t i = 0; i < sorting->run_count; i += 2) {
		size_t middle = sorting->ends[i];
		size_t end = i + 1 < sorting->run_count ? sorting->ends[i + 1] : middle;

		sort_merge_two(sorting, from + start, from + middle, from + end, to + start);
		sorting->ends[kept++] = end;
		start = end;
	}
	sorting->run_count = kept;
}

bool ss_sort_runs(void *items, size_t count, size_t size,
		  int (*compare)(const void *, const void *), struct ss_memory *memory)
{
	struct run_merge sorting = { .size = size, .compare = compare };
	size_t bytes = count * size;
	char *from = items, *to, *block;

	if (count < 2)
		return true;
	if (!sort_find_runs(&sorting, items, bytes)) {
		qsort(items, count, size, compare);
		return true;
	}
	if (sorting.run_count == 1)
		return true;
	block = ss_memory_resize(memory, NULL, 0, bytes);
	if (!block)
		return false;
	for (to = block; sorting.run_count > 1;) {
		char *sorted = to;

		sort_merge_pairs(&sorting, from, to);
		to = from;
		from = sorted;
	}
	if (from == block)
		memcpy(items, block, bytes);
	ss_memory_free(memory, block, bytes);
	return true;
}

/* --- classes ----------------------------------------------------------------------- */

bool ss_class_lists_make(struct ss_class_lists *classes, const uint32_t *class_of, uint32_t count,
			 uint32_t class_count, struct ss_arena *arena)
{
	/* two more: while items are placed, from[c + 1] is where the next one of class c goes */
	if (!SS_ALLOC(arena, classes->from, (size_t)class_count + 2) ||
	    !SS_ALLOC(arena, classes->items, (size_t)count + 1))
		return false;
	for (uint32_t i = 0; i < count; i++)
		classes->from[class_of[i] + 2]++;
	for (uint32_t c = 2; c < class_count + 2; c++)
		classes->from[c] += classes->from[c - 1];
	for (uint32_t i = 0; i < count; i++)
		classes->items[classes->from[class_of[i] + 1]++] = i;
	return true;
}
