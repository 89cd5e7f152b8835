/* SPDX-License-Identifier: Apache-2.0 */
/*
 * totals.h - the sums of the columns of a table that add up, as its view declares.
 */
#ifndef SS_VIEW_TOTALS_H
#define SS_VIEW_TOTALS_H

#include "view/view.h"

/*
 * Sums all rows into the totals; null if all cells are. A table without rows, or in which
 * nothing adds up, gets no totals. False: no memory.
 */
SS_MUST_USE
bool ss_table_add_up(struct ss_table *table);

/*
 * A table of the same view with the sums of each rank, everything else null. Rows of a rank
 * must be adjacent. False: no memory.
 */
SS_MUST_USE
bool ss_table_rank_sums(const struct ss_table *table, struct ss_table *out);

#endif
