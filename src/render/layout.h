/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout.h - which columns of a table a terminal shows, and how wide.
 *
 * A table is at most as wide as the terminal. Details are left out first; then texts are
 * shortened (the file and line of a place last), columns that are 0 in every row are left out, and
 * finally columns from the right, with a note. Bars get the space that is left.
 */
#ifndef SS_RENDER_LAYOUT_H
#define SS_RENDER_LAYOUT_H

#include "render/render.h"

#define SS_RENDER_COLUMNS_MAX 64
#define SS_RENDER_COLUMN_GAP 2 /* between columns */

/* A text column is not cut to less than this; columns are left out instead. */
#define SS_RENDER_TEXT_MIN 12

struct ss_render_layout {
	const struct ss_table *table;
	const struct ss_render_options *options;
	uint32_t rows;
	bool shown[SS_RENDER_COLUMNS_MAX];
	size_t width[SS_RENDER_COLUMNS_MAX];
	size_t place[SS_RENDER_COLUMNS_MAX]; /* width of its files and lines; 0: it has none */
	uint32_t left_out;
	uint32_t bar;     /* the column that is drawn, or SS_RENDER_COLUMNS_MAX */
	size_t bar_width; /* of the longest bar */
	double largest;   /* cell of the column that is drawn */
};

/* The column says the same in all rows. */
bool ss_render_layout_is_constant(const struct ss_render_layout *layout, uint32_t column);

/* The heading: the column's name without its unit, which is in the cells; a share has a %. */
size_t ss_render_layout_heading(const struct ss_column *column, char *out, size_t capacity);

/*
 * The row of totals; NULL: it would be empty. `label` is the column of the word "total";
 * SS_RENDER_COLUMNS_MAX: no column is free for it.
 */
const struct ss_cell *ss_render_layout_totals(const struct ss_render_layout *layout,
					      uint32_t *label);

/* "total", or "total of 7" if not all rows are shown and it fits the width; at most 32 letters. */
void ss_render_layout_total_words(const struct ss_render_layout *layout, size_t width, char *out,
				  size_t room);

/* The width of a cell in the terminal; scratch has its text afterwards. */
size_t ss_render_layout_width(const struct ss_render_layout *layout, uint32_t row, uint32_t column,
			      struct ss_text *scratch);

/* The last column that is shown. */
uint32_t ss_render_layout_last(const struct ss_render_layout *layout);

/* Decides what is shown and how wide; table, options and rows are set. */
void ss_render_layout_make(struct ss_render_layout *layout, struct ss_text *scratch);

/* --- texts that are wider than their column -----------------------------------------
 *
 * Paths and names differ at their ends more than at their beginnings, so the end stays whole. In a
 * place in a program (model.py:14 (forward), /home/me/model.py(14): forward) file and line stay:
 * folders go first, then the end of the function's name.
 */

/* Adds the text, or what fits into `width` columns of it. */
void ss_shorten(const char *text, size_t length, size_t width, struct ss_text *out);

/* The width of file and line, if a text names one place; 0: it names none, or several. */
size_t ss_shorten_least(const char *text, size_t length);

#endif
