/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_summary.h - merges the tables of several ranks: minimum, median and maximum of each
 * figure, and the rank with the maximum.
 */
#ifndef SS_VIEW_RANK_SUMMARY_H
#define SS_VIEW_RANK_SUMMARY_H

#include "view/view.h"

/* A column says what a row is about (a key), is a figure, or neither. */
enum ss_column_role { SS_ROLE_NONE, SS_ROLE_KEY, SS_ROLE_FIGURE };

/*
 * Keys are texts, ids that change within a rank, and SS_COLUMN_ABOUT figures; evidence is
 * neither key nor figure.
 */
enum ss_column_role ss_column_role(const struct ss_table *table, uint32_t column);

/* The hash of the keys of a row, from column `first` on. */
uint64_t ss_row_hash(const struct ss_table *table, const enum ss_column_role *roles, uint32_t first,
		     uint32_t row);

/*
 * Rows of `table` with equal keys (apart from the rank) are the same thing on different
 * ranks. If a rank has several, its first row belongs to the first rows of the other ranks,
 * its second row to their second rows, and so on. The order is that of the view, by the
 * medians; without one, that of first appearance. `out` has a view that is made here, called
 * "NAME.ranks"; it lives as long as the arena of `table`. False: no memory.
 */
SS_MUST_USE
bool ss_table_sum_up_ranks(const struct ss_table *table, struct ss_table *out);

/*
 * The same with given roles for all columns after the first, and only the median of each
 * figure, under its own name.
 */
SS_MUST_USE
bool ss_table_medians(const struct ss_table *table, const enum ss_column_role *roles,
		      struct ss_table *out);

#endif
