/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arrange.h - filters and sorts the rows of a finished table.
 */
#ifndef SS_VIEW_ARRANGE_H
#define SS_VIEW_ARRANGE_H

#include "view/view.h"

/*
 * Whether a text has the pattern. With '*' or '?' it is the form of the whole text, without
 * it is a part; letters of both cases are the same.
 */
bool ss_pattern_matches(const char *pattern, const char *text, size_t length);

/*
 * Keeps the rows that have the pattern in one of their texts. What is the same in all rows
 * by nature (SS_COLUMN_CONTEXT) is not looked at. False: the view has no texts.
 */
bool ss_table_keep(struct ss_table *table, const char *pattern);

/*
 * The same for a table whose ranks are compared afterwards: only texts that say what a row is
 * about are looked at, so that a thing stays on all ranks or on none.
 */
bool ss_table_keep_keys(struct ss_table *table, const char *pattern);

/* Of a table about all ranks, whose first column is the rank: keeps the rows of one. */
void ss_table_keep_rank(struct ss_table *table, int64_t rank);

/* Keeps the rows about a device of that name ("0", "host"); all where rows are about none. */
void ss_table_keep_device(struct ss_table *table, const char *device);

/*
 * Keeps the first N rows of each rank; rows of a rank are adjacent. Where no rank has
 * several the table stays as it is.
 */
void ss_table_cut(struct ss_table *table, uint32_t top);

/*
 * Sorts by a column, named with or without its unit: numbers downwards, texts
 * upwards, a '-' before the name turns it round. Rows that are equal stay in their
 * order, what is not recorded comes last. SS_ERR_USAGE names the columns there are.
 */
SS_MUST_USE
enum ss_status ss_table_sort(struct ss_table *table, const char *column, struct ss_error *err);

#endif
