/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.h - cells that several views of dumps have.
 */
#ifndef SS_HANG_VIEWS_ROWS_H
#define SS_HANG_VIEWS_ROWS_H

#include "hang/hang.h"
#include "table/table.h"

/* "0-2, 5"; null if there are none. */
void ss_hang_row_ranks(const struct ss_hang *hang, const uint32_t *ranks, uint32_t count,
		       struct ss_table *out);

/* Four cells: operation, group, number and line. SS_NO_ROW: not known. */
void ss_hang_row_call(const struct ss_hang *hang, uint32_t rank, uint32_t entry, uint32_t group,
		      struct ss_table *out);

/* When it was called. */
void ss_hang_row_since(const struct ss_hang *hang, uint32_t rank, uint32_t entry,
		       struct ss_table *out);

/* The id of a made text, which is released; SS_NO_ID: no memory. */
uint32_t ss_hang_take_text(struct ss_strings *texts, struct ss_text *text);

/* What cannot be known, below the table. */
void ss_hang_table_notes(const struct ss_hang *hang, struct ss_table *out);

#endif
