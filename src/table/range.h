/* SPDX-License-Identifier: Apache-2.0 */
/*
 * range.h - merges sentences of several ranks that differ only in their figures.
 */
#ifndef SS_TABLE_RANGE_H
#define SS_TABLE_RANGE_H

#include "base/memory.h"

/* The same sentence with other figures: "12.5 % of 3 files" and "7 % of 3 files". */
bool ss_range_alike(const char *a, const char *b);

/* The sentence with the lower (or higher) of each pair of figures; NULL: no memory. */
const char *ss_range_pick(struct ss_arena *arena, const char *a, const char *b, bool higher);

/* The sentence with ranges: "7 to 12.5 % of 3 files"; NULL: no memory. */
const char *ss_range_print(struct ss_arena *arena, const char *low, const char *high);

#endif
