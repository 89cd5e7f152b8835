/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_summary.h - merges the tables of several ranks: minimum, median and maximum of each
 * figure, and the rank with the maximum.
 */
#ifndef SS_VIEW_RANK_SUMMARY_H
#define SS_VIEW_RANK_SUMMARY_H

#include "view/view.h"

/* What a column is: it says what a row is about, it is a figure, or neither. */
enum ss_column_role { SS_ROLE_NONE, SS_ROLE_KEY, SS_ROLE_FIGURE };

/*
 * Texts and ids are keys, but those that never change on a rank, and figures that say what a row
 * is about; evidence is neither.
 */
enum ss_column_role ss_column_role(const struct ss_table *table, uint32_t column);

/* Of what a row is about: the cells of its keys, from column `first` on. */
uint64_t ss_row_hash(const struct ss_table *table, const enum ss_column_role *roles, uint32_t first,
		     uint32_t row);

/*
 * Rows of `table` with equal keys (but the rank) are the same thing on different ranks;
 * of several on one rank the first belong together, then the second ..., so that nothing
 * of a rank is lost. They stand in the order of the view (`order`, by the medians), else in
 * that in which they first appear. `out` is a table
 * of a view that is made here, called "NAME.ranks"; it lives as long as `table`'s
 * arena. False: no memory.
 */
SS_MUST_USE
bool ss_table_sum_up_ranks(const struct ss_table *table, struct ss_table *out);

/*
 * The same with a role for each column but the first, and of each figure the median alone,
 * under its own name.
 */
SS_MUST_USE
bool ss_table_medians(const struct ss_table *table, const enum ss_column_role *roles,
		      struct ss_table *out);

#endif
