/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout.h - which columns of a table a terminal shows, and how wide.
 *
 * A table is as wide as the terminal at most: details are left out, texts are shortened (not
 * the file and line of a place, while there is anything else), columns that are 0 in every row
 * are left out, and at last columns from the right, with a note. Bars get what is left.
 */
#ifndef SS_RENDER_LAYOUT_H
#define SS_RENDER_LAYOUT_H

#include "render/render.h"

#define SS_LAYOUT_COLUMNS 64
#define SS_LAYOUT_GAP 2 /* between columns */

/* A text column is not cut to less than this; rather columns go. */
#define SS_LAYOUT_TEXT_MIN 12

struct ss_render_layout {
	const struct ss_table *table;
	const struct ss_render_options *options;
	uint32_t rows;
	bool shown[SS_LAYOUT_COLUMNS];
	size_t width[SS_LAYOUT_COLUMNS];
	size_t place[SS_LAYOUT_COLUMNS]; /* that files and lines in it need; 0: there are none */
	uint32_t left_out;
	uint32_t bar;     /* the column that is drawn, or SS_LAYOUT_COLUMNS */
	size_t bar_width; /* of the longest bar */
	double largest;   /* cell of the column that is drawn */
};

/* The column says the same in all rows. */
bool ss_layout_is_constant(const struct ss_render_layout *layout, uint32_t column);

/* The heading: the column's name without its unit, which stands in the cells; a share has a %. */
size_t ss_layout_heading(const struct ss_column *column, char *out, size_t room);

/*
 * The row of totals as text has it, NULL where nothing would stand in it; `label` is the column
 * in which it says what it is, SS_LAYOUT_COLUMNS: there is no room for that.
 */
const struct ss_cell *ss_layout_totals(const struct ss_render_layout *layout, uint32_t *label);

/*
 * "total", with how many rows it is of where not all are shown and the width has room for it;
 * fits in 32 letters.
 */
void ss_layout_total_words(const struct ss_render_layout *layout, size_t width, char *out,
			   size_t room);

/* Columns of the terminal that the cell takes; scratch holds its text then. */
size_t ss_layout_width(const struct ss_render_layout *layout, uint32_t row, uint32_t column,
		       struct ss_text *scratch);

/* The last column that is shown. */
uint32_t ss_layout_last(const struct ss_render_layout *layout);

/* Decides what is shown and how wide; table, options and rows are set. */
void ss_layout_make(struct ss_render_layout *layout, struct ss_text *scratch);

#endif
