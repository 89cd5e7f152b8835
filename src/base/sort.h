/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sort.h - sorts data that is nearly in order: a few sorted runs, one after the other.
 *
 * Tasks of a graph stand thread by thread and stream by stream, each in the order of
 * time. Merging these runs takes a fraction of the comparisons of qsort().
 */
#ifndef SS_BASE_SORT_H
#define SS_BASE_SORT_H

#include "base/memory.h"

/*
 * Sorts like qsort(). Items that are equal for `compare` must be equal in all: then there is one
 * result, whatever the way to it. False: no memory, and the items are where they were.
 */
SS_MUST_USE
bool ss_sort_runs(void *items, size_t count, size_t size,
		  int (*compare)(const void *, const void *), struct ss_memory *memory);

#endif
