/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sort.h - what qsort() needs and what it cannot do: comparators, a sort for data that is nearly
 * in order, and lists of the items of each class.
 */
#ifndef SS_BASE_SORT_H
#define SS_BASE_SORT_H

#include <stdlib.h>

#include "base/memory.h"

/*
 * Defines a comparator for qsort() that compares one key after the other:
 *
 *     SS_COMPARATOR(tally_compare, struct tally, SS_DESCENDING(total_ns) SS_ASCENDING(name))
 *
 * A key is a field (key.name is fine) that < and > can compare; false comes before true. A macro,
 * because a list of keys that is read at run time would make every comparison slower.
 */
#define SS_COMPARATOR(name, type, keys)               \
	static int name(const void *a, const void *b) \
	{                                             \
		const type *x = a, *y = b;            \
                                                      \
		keys return 0;                        \
	}
#define SS_ASCENDING(key)         \
	if ((x->key) != (y->key)) \
		return (x->key) < (y->key) ? -1 : 1;
#define SS_DESCENDING(key)        \
	if ((x->key) != (y->key)) \
		return (x->key) > (y->key) ? -1 : 1;
/* A key that a function compares: SS_ORDERED(strcmp, name) */
#define SS_ORDERED(compare, key)                      \
	{                                             \
		int order_ = compare(x->key, y->key); \
		if (order_ != 0)                      \
			return order_;                \
	}

/* Sorts an array that may be empty, and NULL then, which qsort() does not allow. */
#define SS_SORT(items, count, compare) \
	((count) ? qsort((items), (count), sizeof(*(items)), (compare)) : (void)0)

/* Comparators for arrays of int64_t, uint32_t, double and const char *. */
int ss_sort_compare_int64(const void *a, const void *b);
int ss_sort_compare_uint32(const void *a, const void *b);
int ss_sort_compare_double(const void *a, const void *b);
int ss_sort_compare_strings(const void *a, const void *b);

/*
 * Sorts like qsort() where the data consists of a few sorted runs: tasks of a graph stand thread
 * by thread and stream by stream, each in the order of time. Merging the runs takes a fraction of
 * the comparisons of qsort(). Items that `compare` finds equal must be equal in every byte, so
 * that there is only one result. False: no memory, and the items are unchanged.
 */
SS_MUST_USE
bool ss_sort_runs(void *items, size_t count, size_t size,
		  int (*compare)(const void *, const void *), struct ss_memory *memory);

/*
 * The items of each class, for items that know their class: the ranks of each host, the
 * collectives of each group. Without it, each class would look at all items.
 *
 * The items of class c are items[from[c]] .. items[from[c + 1] - 1], in their order.
 */
struct ss_class_lists {
	uint32_t *from;
	uint32_t *items;
};

/* `class_of` has the class of each item, below `class_count`. False: no memory. */
SS_MUST_USE
bool ss_class_lists_make(struct ss_class_lists *classes, const uint32_t *class_of, uint32_t count,
			 uint32_t class_count, struct ss_arena *arena);

#endif
