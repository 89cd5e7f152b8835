/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bound.h - cuts texts that are too long for a table.
 *
 * The name of an operator can have a megabyte and appear in the row of every kernel that it
 * launched, so a table could be many times larger than its file.
 */
#ifndef SS_TABLE_BOUND_H
#define SS_TABLE_BOUND_H

#include "table/table.h"

/*
 * Cuts texts that are longer than SS_TEXT_MAX. If all texts together are too long for the
 * number of rows, it keeps only the beginning of long ones. A note says so. False: no memory.
 */
SS_MUST_USE
bool ss_table_bound(struct ss_table *table);

#endif
