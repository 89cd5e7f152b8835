/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arrange.h - filters and sorts the rows of a finished table.
 */
#ifndef SS_VIEW_ARRANGE_H
#define SS_VIEW_ARRANGE_H

#include "view/view.h"

/*
 * Whether a text matches the pattern, ignoring case. A pattern with '*' or '?' must match the
 * whole text; any other pattern must be part of it.
 */
bool ss_pattern_matches(const char *pattern, const char *text, size_t length);

/*
 * Keeps the rows in which one of the texts matches the pattern. Context columns
 * (SS_COLUMN_CONTEXT) are not searched. False: the view has no texts.
 */
bool ss_table_keep(struct ss_table *table, const char *pattern);

/*
 * The same for a table whose ranks are compared afterwards: only texts that say what a row is
 * about are searched, so that a row stays for all ranks or for none.
 */
bool ss_table_keep_keys(struct ss_table *table, const char *pattern);

/* Keeps the rows of one rank; the first column of the table must be the rank. */
void ss_table_keep_rank(struct ss_table *table, int64_t rank);

/* Keeps the rows about a device ("0", "host"); all rows if the view has no devices. */
void ss_table_keep_device(struct ss_table *table, const char *device);

/*
 * Keeps the first N rows of each rank; rows of a rank are adjacent. If no rank has several
 * rows, the table does not change.
 */
void ss_table_cut(struct ss_table *table, uint32_t top);

/*
 * Sorts by a column, named with or without its unit: the largest number first, texts
 * alphabetically; a '-' before the name reverses the order. The sort is stable, and nulls
 * come last. SS_ERR_USAGE lists the columns.
 */
SS_MUST_USE
enum ss_status ss_table_sort(struct ss_table *table, const char *column, struct ss_error *err);

#endif
