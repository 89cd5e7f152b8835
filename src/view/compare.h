/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.h - merges the tables of one view of two runs: matching rows side by side, with
 * the change.
 */
#ifndef SS_VIEW_COMPARE_H
#define SS_VIEW_COMPARE_H

#include "view/view.h"

/*
 * Joins rows by their texts and ids; where several rows of a run have the same ones the first
 * meets the first. Of several ranks the medians are compared. Each figure X becomes X_a, X_b
 * and X_change (b less a), with the unit last. The main column is the first figure of time:
 * rows stand by the size of its change. What only one run has is null in the other; its change
 * is null, too, but in the main column, where what is not there took no time.
 *
 * `out` is a table of a view that is made here, called "NAME.diff"; it lives as long as the
 * arenas of both. False: no memory.
 */
SS_MUST_USE
bool ss_table_compare(const struct ss_table *a, const struct ss_table *b, struct ss_table *out);

#endif
