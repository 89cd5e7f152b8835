/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bound.h - cuts texts that are too long for a table.
 *
 * The name of an operator can have a megabyte and appear in the row of each kernel that it
 * launched: the table could be many times longer than the file.
 */
#ifndef SS_TABLE_BOUND_H
#define SS_TABLE_BOUND_H

#include "table/table.h"

/*
 * Cuts texts that are longer than SS_TEXT_MAX, and if all texts together are too long for the
 * number of rows, all but the beginnings of the long ones. A note says so. False: no memory.
 */
SS_MUST_USE
bool ss_table_bound(struct ss_table *table);

#endif
