/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.h - merges the tables of one view of two runs: matching rows side by side, with
 * the change.
 */
#ifndef SS_VIEW_COMPARE_H
#define SS_VIEW_COMPARE_H

#include "view/view.h"

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
bool ss_table_compare(const struct ss_table *a, const struct ss_table *b, struct ss_table *out);

#endif
