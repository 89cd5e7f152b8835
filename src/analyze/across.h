/*
 * across.h - a table of several ranks as one: each figure's least, median and most
 * over the ranks, and the rank with the most.
 */
#ifndef SS_ANALYZE_ACROSS_H
#define SS_ANALYZE_ACROSS_H

#include "analyze/view.h"

/*
 * Rows of `table` with equal texts and ids (but the rank) are the same thing on
 * different ranks; they keep the order in which they first appear. `out` is a table
 * of a view that is made here, called "NAME.ranks"; it lives as long as `table`'s
 * arena. False: no memory.
 */
SS_MUST_USE
bool ss_table_across(const struct ss_table *table, struct ss_table *out);

#endif
