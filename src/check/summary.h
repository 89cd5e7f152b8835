/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary.h - a run in one row: the columns that a condition of --fail-if can name without a view.
 *
 * After the columns that are declared there is one for each rule: what its findings cost, in
 * percent of the mean step.
 */
#ifndef SS_CHECK_SUMMARY_H
#define SS_CHECK_SUMMARY_H

#include "check/check.h"

/* The view with all columns; NULL: no memory. */
const struct ss_view *ss_check_summary_view(struct ss_arena *arena);

/* Fills a table of that view with the row; the noise is known only with a baseline. */
void ss_check_summary_fill(const struct ss_check *check, struct ss_table *table);

#endif
