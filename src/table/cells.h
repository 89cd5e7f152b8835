/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cells.h - the cells of one column: a typed array, as in Arrow.
 *
 * Values are int64_t, double, or for texts int32_t: ids of the column's dictionary. A
 * bitmap marks the known cells, the first cell in the lowest bit, 1 for a known cell.
 * There is no bitmap until a cell is unknown; bits after the last row are set, so that a
 * known cell costs no more than its value.
 */
#ifndef SS_TABLE_CELLS_H
#define SS_TABLE_CELLS_H

#include "table/dictionary.h"

struct ss_cells {
	struct ss_buffer values;
	struct ss_buffer known; /* bits */
	bool is_text;
	struct ss_dictionary texts;
};

static inline size_t ss_cells_width(const struct ss_cells *cells)
{
	return cells->is_text ? sizeof(int32_t) : sizeof(int64_t);
}

static inline bool ss_cells_is_null(const struct ss_cells *cells, uint32_t row)
{
	const uint8_t *known = cells->known.data;

	return known && !(known[row / 8] >> row % 8 & 1);
}

static inline int64_t *ss_cells_integers(const struct ss_cells *cells)
{
	return cells->values.data;
}

static inline double *ss_cells_numbers(const struct ss_cells *cells)
{
	return cells->values.data;
}

static inline int32_t *ss_cells_ids(const struct ss_cells *cells)
{
	return cells->values.data;
}

/* Makes room for `rows` rows; false at the limit. */
SS_MUST_USE
bool ss_cells_reserve(struct ss_cells *cells, struct ss_memory *memory, uint32_t rows);

/* Makes the cell null. `rows` is the capacity; false at the limit. */
SS_MUST_USE
bool ss_cells_clear(struct ss_cells *cells, struct ss_memory *memory, uint32_t row, uint32_t rows);

/* Copies one cell over another one. */
void ss_cells_copy(struct ss_cells *cells, uint32_t to, uint32_t from);

/* Rows from `rows` up to `count` are no longer used. */
void ss_cells_shorten(struct ss_cells *cells, uint32_t rows, uint32_t count);

/* Row i becomes what row order[i] was. `scratch` has 8 bytes for each row. */
void ss_cells_gather(struct ss_cells *cells, const uint32_t *order, uint32_t count, void *scratch);

/* How many of the first rows are null. */
uint32_t ss_cells_count_nulls(const struct ss_cells *cells, uint32_t count);

void ss_cells_release(struct ss_cells *cells, struct ss_memory *memory);

#endif
