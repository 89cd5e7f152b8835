/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arrange.h - operations on finished tables of views: filter and sort rows, add totals, summarize
 * ranks, compare two runs.
 */
#ifndef SS_VIEW_ARRANGE_H
#define SS_VIEW_ARRANGE_H

#include "view/view.h"

/* --- rows ----------------------------------------------------------------------------- */

/*
 * Whether a text matches the pattern, ignoring case. A pattern with '*' or '?' must match the
 * whole text; any other pattern must be part of it.
 */
bool ss_view_pattern_matches(const char *pattern, const char *text, size_t length);

/*
 * Keeps the rows in which one of the texts matches the pattern. Context columns
 * (SS_COLUMN_CONTEXT) are not searched. False: the view has no texts.
 */
bool ss_view_keep_matching(struct ss_table *table, const char *pattern);

/*
 * The same for a table whose ranks are compared afterwards: only texts that say what a row is
 * about are searched, so that a row stays for all ranks or for none.
 */
bool ss_view_keep_keys(struct ss_table *table, const char *pattern);

/* Keeps the rows of one rank; the first column of the table must be the rank. */
void ss_view_keep_rank(struct ss_table *table, int64_t rank);

/* Keeps the rows about a device ("0", "host"); all rows if the view has no devices. */
void ss_view_keep_device(struct ss_table *table, const char *device);

/*
 * Keeps the first N rows of each rank; rows of a rank are adjacent. If no rank has several
 * rows, the table does not change.
 */
void ss_view_keep_top(struct ss_table *table, uint32_t top);

/*
 * Sorts by a column, named with or without its unit: the largest number first, texts
 * alphabetically; a '-' before the name reverses the order. The sort is stable, and nulls
 * come last. SS_ERR_USAGE lists the columns.
 */
SS_MUST_USE
enum ss_status ss_view_sort_rows(struct ss_table *table, const char *column, struct ss_error *err);

/* --- totals --------------------------------------------------------------------------- */

/*
 * Sums all rows into the totals; null if all cells are. A table without rows, or in which
 * nothing adds up, gets no totals. False: no memory.
 */
SS_MUST_USE
bool ss_view_add_totals(struct ss_table *table);

/*
 * A table of the same view with the sums of each rank, everything else null. Rows of a rank
 * must be adjacent. False: no memory.
 */
SS_MUST_USE
bool ss_view_rank_totals(const struct ss_table *table, struct ss_table *out);

/* --- ranks: minimum, median and maximum of each figure -------------------------------- */

/* A column says what a row is about (a key), is a figure, or neither. */
enum ss_view_column_role { SS_ROLE_NONE, SS_ROLE_KEY, SS_ROLE_FIGURE };

/*
 * Keys are texts, ids that change within a rank, and SS_COLUMN_ABOUT figures; evidence is
 * neither key nor figure.
 */
enum ss_view_column_role ss_view_column_role(const struct ss_table *table, uint32_t column);

/* The hash of the keys of a row, from column `first` on. */
uint64_t ss_view_row_hash(const struct ss_table *table, const enum ss_view_column_role *roles,
			  uint32_t first, uint32_t row);

/*
 * Rows of `table` with equal keys (apart from the rank) are the same thing on different
 * ranks. If a rank has several, its first row belongs to the first rows of the other ranks,
 * its second row to their second rows, and so on. The order is that of the view, by the
 * medians; without one, that of first appearance. `out` has a view that is made here, called
 * "NAME.ranks"; it lives as long as the arena of `table`. False: no memory.
 */
SS_MUST_USE
bool ss_view_summarize_ranks(const struct ss_table *table, struct ss_table *out);

/*
 * The same with given roles for all columns after the first, and only the median of each
 * figure, under its own name.
 */
SS_MUST_USE
bool ss_view_rank_medians(const struct ss_table *table, const enum ss_view_column_role *roles,
			  struct ss_table *out);

/* --- two runs side by side ------------------------------------------------------------ */

/*
 * Pairs rows with equal texts and ids; of several equal rows, the first of one run with the
 * first of the other. Of several ranks, the medians are compared. Each figure X becomes X_a,
 * X_b and X_change (b - a), with the unit last. Rows are sorted by the size of the change of
 * the main column, the first time. What only one run has is null in the other, and so is its
 * change, except in the main column: there, a missing row took no time.
 *
 * `out` has a view that is made here, called "NAME.diff". It lives as long as the arenas of
 * both tables. False: no memory.
 */
SS_MUST_USE
bool ss_view_compare_runs(const struct ss_table *a, const struct ss_table *b, struct ss_table *out);

/* Ends such a table, whose largest changes come first, where they do not matter beside these. */
void ss_view_hide_unchanged(struct ss_table *table);

#endif
