/* SPDX-License-Identifier: Apache-2.0 */
/*
 * totals.h - the sums of a table: of the columns whose rows add up, as the view declares.
 */
#ifndef SS_VIEW_TOTALS_H
#define SS_VIEW_TOTALS_H

#include "view/view.h"

/*
 * Fills the totals from all rows; null where no row knows the figure. Without rows, or where
 * nothing adds up, there are none. False: no memory.
 */
SS_MUST_USE
bool ss_table_add_up(struct ss_table *table);

/*
 * A table of the same view with a row for each rank: its sums, everything else null. Rows of a
 * rank stand together. False: no memory.
 */
SS_MUST_USE
bool ss_table_rank_sums(const struct ss_table *table, struct ss_table *out);

#endif
