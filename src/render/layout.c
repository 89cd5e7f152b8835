/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout.c - measures the cells, then makes the table fit.
 */
#include "render/layout.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* Texts are not cut to less than this while there are figures to spare. */
#define TEXT_WIDTH_GOOD 20
#define FIGURES_MIN 3

/* A place is not kept whole where it is wider than this: half of a narrow terminal. */
#define PLACE_WIDTH_MAX 40

/* How far texts may be shortened. */
struct text_limit {
	size_t width;
	bool keeps_places;
};

static const struct text_limit limit_good = { TEXT_WIDTH_GOOD, true };
static const struct text_limit limit_short = { SS_RENDER_TEXT_MIN, true };
static const struct text_limit limit_any = { SS_RENDER_TEXT_MIN, false };

bool ss_render_layout_is_constant(const struct ss_render_layout *layout, uint32_t column)
{
	for (uint32_t row = 1; row < layout->rows; row++)
		if (!ss_table_same(layout->table, column, 0, row))
			return false;
	return true;
}

/* Recorded in no row: a column of dashes says nothing. */
static bool table_layout_is_absent(const struct ss_render_layout *layout, uint32_t column)
{
	for (uint32_t row = 0; row < layout->rows; row++)
		if (!ss_table_is_null(layout->table, row, column))
			return false;
	return true;
}

size_t ss_render_layout_heading(const struct ss_column *column, char *out, size_t capacity)
{
	size_t length = ss_column_stem(column->name);
	/* "idle %" and "idle" are two columns of one table */
	const char *sign = strcmp(column->name + length, "_percent") == 0 ? " %" : "";

	if (length + strlen(sign) >= capacity)
		length = capacity - 1 - strlen(sign);
	for (size_t i = 0; i < length; i++)
		out[i] = column->name[i] == '_' ? ' ' : column->name[i];
	memcpy(out + length, sign, strlen(sign) + 1);
	return length + strlen(sign);
}

size_t ss_render_layout_width(const struct ss_render_layout *layout, uint32_t row, uint32_t column,
			      struct ss_text *scratch)
{
	struct ss_cell cell = ss_table_cell(layout->table, row, column);

	scratch->length = 0;
	ss_render_cell(&layout->table->view->columns[column], &cell, scratch);
	return ss_text_columns(scratch->data, scratch->length);
}

const struct ss_cell *ss_render_layout_totals(const struct ss_render_layout *layout,
					      uint32_t *label)
{
	const struct ss_table *table = layout->table;
	bool any = false;

	*label = SS_RENDER_COLUMNS_MAX;
	if (!table->totals || ss_table_all_rows(table) < 2)
		return NULL;
	for (uint32_t i = 0; i < table->view->column_count; i++) {
		if (!layout->shown[i] || (table->view->columns[i].flags & SS_COLUMN_WRAP))
			continue;
		/* the first name, which is wide enough; else the first that has no sum */
		if (table->totals[i].is_null &&
		    (*label == SS_RENDER_COLUMNS_MAX ||
		     (table->view->columns[i].type == SS_COLUMN_TEXT &&
		      table->view->columns[*label].type != SS_COLUMN_TEXT)))
			*label = i;
		any |= !table->totals[i].is_null;
	}
	return any ? table->totals : NULL;
}

void ss_render_layout_total_words(const struct ss_render_layout *layout, size_t width, char *out,
				  size_t capacity)
{
	uint32_t all = ss_table_all_rows(layout->table);

	snprintf(out, capacity, "total of %u", all);
	if (layout->rows == all || strlen(out) > width)
		snprintf(out, capacity, "total");
}

static void table_layout_widen_for(struct ss_render_layout *layout, uint32_t column, size_t width)
{
	if (width > layout->width[column])
		layout->width[column] = width;
}

/* Makes columns wide enough for the totals; overwrites the scratch. */
static void table_layout_measure_totals(struct ss_render_layout *layout, struct ss_text *scratch)
{
	const struct ss_view *view = layout->table->view;
	uint32_t label;
	const struct ss_cell *totals = ss_render_layout_totals(layout, &label);
	char words[32];

	for (uint32_t i = 0; totals && i < view->column_count; i++) {
		if (!layout->shown[i] || totals[i].is_null)
			continue;
		scratch->length = 0;
		ss_render_cell(&view->columns[i], &totals[i], scratch);
		table_layout_widen_for(layout, i, ss_text_columns(scratch->data, scratch->length));
	}
	if (totals && label != SS_RENDER_COLUMNS_MAX) {
		ss_render_layout_total_words(layout, 0, words, sizeof(words));
		table_layout_widen_for(layout, label, strlen(words));
	}
}

/* The scratch holds the cell's text. */
static void table_layout_measure_place(struct ss_render_layout *layout, uint32_t column,
				       const struct ss_text *scratch)
{
	size_t least;

	if (layout->table->view->columns[column].type != SS_COLUMN_TEXT)
		return;
	least = ss_shorten_least(scratch->data, scratch->length);
	if (least > PLACE_WIDTH_MAX)
		least = PLACE_WIDTH_MAX;
	if (least > layout->place[column])
		layout->place[column] = least;
}

/* Chooses the columns that are shown, and measures their cells. */
static void table_layout_measure(struct ss_render_layout *layout, struct ss_text *scratch)
{
	const struct ss_view *view = layout->table->view;
	char name[64];

	for (uint32_t i = 0; i < view->column_count; i++) {
		const struct ss_column *column = &view->columns[i];

		layout->shown[i] = !(column->flags & SS_COLUMN_DETAIL) &&
				   !((column->flags & SS_COLUMN_CONTEXT) &&
				     ss_render_layout_is_constant(layout, i)) &&
				   !table_layout_is_absent(layout, i);
		if (!layout->shown[i])
			continue;
		layout->width[i] = ss_render_layout_heading(column, name, sizeof(name));
		for (uint32_t row = 0; row < layout->rows; row++) {
			size_t width = ss_render_layout_width(layout, row, i, scratch);

			if (width > layout->width[i])
				layout->width[i] = width;
			table_layout_measure_place(layout, i, scratch);
		}
	}
}

static size_t table_layout_total_width(const struct ss_render_layout *layout)
{
	size_t total = 0;

	for (uint32_t i = 0; i < layout->table->view->column_count; i++)
		if (layout->shown[i])
			total += layout->width[i] + SS_RENDER_COLUMN_GAP;
	return total ? total - SS_RENDER_COLUMN_GAP : 0;
}

uint32_t ss_render_layout_last(const struct ss_render_layout *layout)
{
	uint32_t last = 0;

	for (uint32_t i = 0; i < layout->table->view->column_count; i++)
		if (layout->shown[i])
			last = i;
	return last;
}

/* The least width of a text column; a place stays whole if the limit says so. */
static size_t table_layout_least_width(const struct ss_render_layout *layout, uint32_t column,
				       struct text_limit limit)
{
	return limit.keeps_places && layout->place[column] > limit.width ? layout->place[column]
									 : limit.width;
}

/* The text to shorten: the widest above its least width; SS_RENDER_COLUMNS_MAX: none. */
static uint32_t table_layout_widest_text(const struct ss_render_layout *layout,
					 struct text_limit limit, uint32_t *text_columns)
{
	const struct ss_view *view = layout->table->view;
	uint32_t widest = SS_RENDER_COLUMNS_MAX;

	*text_columns = 0;
	for (uint32_t i = 0; i < view->column_count; i++) {
		if (!layout->shown[i] || view->columns[i].type != SS_COLUMN_TEXT)
			continue;
		(*text_columns)++;
		if (layout->width[i] > table_layout_least_width(layout, i, limit) &&
		    (widest == SS_RENDER_COLUMNS_MAX || layout->width[i] > layout->width[widest]))
			widest = i;
	}
	return widest;
}

/* The last figure, when there are enough before it; SS_RENDER_COLUMNS_MAX: none to spare. */
static uint32_t table_layout_last_figure(const struct ss_render_layout *layout, uint32_t least)
{
	const struct ss_view *view = layout->table->view;
	uint32_t last = SS_RENDER_COLUMNS_MAX, figures = 0;

	for (uint32_t i = 0; i < view->column_count; i++)
		if (layout->shown[i] && view->columns[i].type != SS_COLUMN_TEXT) {
			last = i;
			figures++;
		}
	return figures > least ? last : SS_RENDER_COLUMNS_MAX;
}

/* The last column of times, bytes or counts that is all 0; SS_RENDER_COLUMNS_MAX: none. */
static uint32_t table_layout_zero_figure(const struct ss_render_layout *layout)
{
	const struct ss_view *view = layout->table->view;

	for (uint32_t i = view->column_count; i-- > 0;) {
		enum ss_column_type type = view->columns[i].type;

		if (layout->shown[i] &&
		    (type == SS_COLUMN_NS || type == SS_COLUMN_BYTES || type == SS_COLUMN_COUNT) &&
		    !ss_table_is_null(layout->table, 0, i) && !ss_table_int(layout->table, 0, i) &&
		    ss_render_layout_is_constant(layout, i))
			return i;
	}
	return SS_RENDER_COLUMNS_MAX;
}

static void table_layout_narrow(struct ss_render_layout *layout, uint32_t column,
				struct text_limit limit, uint32_t text_columns, size_t available)
{
	size_t over = table_layout_total_width(layout) - available,
	       spare = layout->width[column] - table_layout_least_width(layout, column, limit);

	/* little by little, so that two long columns share the loss */
	if (text_columns > 1 && over > 4)
		over = 4;
	layout->width[column] -= over < spare ? over : spare;
}

static void table_layout_leave_out(struct ss_render_layout *layout, uint32_t column)
{
	layout->shown[column] = false;
	layout->left_out++;
}

/* Gives the space of columns that were left out back to texts, the most shortened first. */
static void table_layout_widen_texts(struct ss_render_layout *layout, const size_t *whole,
				     size_t available)
{
	const struct ss_view *view = layout->table->view;

	for (size_t total = table_layout_total_width(layout); total < available; total++) {
		uint32_t most = SS_RENDER_COLUMNS_MAX;

		for (uint32_t i = 0; i < view->column_count; i++)
			if (layout->shown[i] && layout->width[i] < whole[i] &&
			    (most == SS_RENDER_COLUMNS_MAX ||
			     whole[i] - layout->width[i] > whole[most] - layout->width[most]))
				most = i;
		if (most == SS_RENDER_COLUMNS_MAX)
			return;
		layout->width[most]++;
	}
}

/* Makes one text narrower. False: none is wider than the limit. */
static bool table_layout_narrow_one(struct ss_render_layout *layout, struct text_limit limit,
				    size_t available)
{
	uint32_t texts, column = table_layout_widest_text(layout, limit, &texts);

	if (column == SS_RENDER_COLUMNS_MAX)
		return false;
	table_layout_narrow(layout, column, limit, texts, available);
	return true;
}

/* Leaves out one figure that can be spared, those that are all 0 first. */
static bool table_layout_drop_figure(struct ss_render_layout *layout, uint32_t least)
{
	uint32_t texts, column = table_layout_zero_figure(layout);

	table_layout_widest_text(layout, limit_any, &texts);
	if (column == SS_RENDER_COLUMNS_MAX && texts > 1)
		column = table_layout_last_figure(layout, least);
	if (column == SS_RENDER_COLUMNS_MAX)
		return false;
	table_layout_leave_out(layout, column);
	return true;
}

static bool table_layout_has_places(const struct ss_render_layout *layout)
{
	for (uint32_t i = 0; i < layout->table->view->column_count; i++)
		if (layout->shown[i] && layout->place[i])
			return true;
	return false;
}

/*
 * Makes the table fit: narrower texts, without figures that are all 0, fewer figures,
 * then narrower and fewer still. One figure is enough where a place would be cut.
 */
static void table_layout_fit(struct ss_render_layout *layout, size_t available)
{
	size_t whole[SS_RENDER_COLUMNS_MAX];

	memcpy(whole, layout->width, sizeof(whole));
	while (table_layout_total_width(layout) > available) {
		if (table_layout_narrow_one(layout, limit_good, available) ||
		    table_layout_drop_figure(layout, FIGURES_MIN) ||
		    table_layout_narrow_one(layout, limit_short, available) ||
		    (table_layout_has_places(layout) && table_layout_drop_figure(layout, 1)) ||
		    table_layout_narrow_one(layout, limit_any, available))
			continue;
		if (!ss_render_layout_last(layout))
			break;
		table_layout_leave_out(layout, ss_render_layout_last(layout));
	}
	table_layout_widen_texts(layout, whole, available);
}

/* Narrower bars show nothing; wider ones show no more. */
#define BAR_WIDTH_MIN 8
#define BAR_WIDTH_MAX 24

/* A text is not made narrower than this for the sake of a bar. */
#define BAR_TEXT_MIN 32

/* Terminals that hardly fit a table get no bars. */
#define BAR_ROOM_MIN 40

/* Whether no text of the table with a bar is much narrower than without it. */
static bool table_layout_spares_texts(const struct ss_render_layout *with,
				      const struct ss_render_layout *without)
{
	const struct ss_view *view = with->table->view;

	for (uint32_t i = 0; i < view->column_count; i++)
		if (with->shown[i] && view->columns[i].type == SS_COLUMN_TEXT &&
		    with->width[i] < BAR_TEXT_MIN && with->width[i] < without->width[i])
			return false;
	return true;
}

/* The column that is drawn, or SS_RENDER_COLUMNS_MAX, and its largest cell. */
static void table_layout_find_bar(struct ss_render_layout *layout)
{
	const struct ss_view *view = layout->table->view;

	layout->bar = SS_RENDER_COLUMNS_MAX;
	for (uint32_t i = 0; i < view->column_count; i++)
		if (layout->shown[i] && (view->columns[i].flags & SS_COLUMN_BAR))
			layout->bar = i;
	for (uint32_t row = 0; layout->bar != SS_RENDER_COLUMNS_MAX && row < layout->rows; row++) {
		double share = ss_table_number(layout->table, row, layout->bar);

		if (!ss_table_is_null(layout->table, row, layout->bar) && share > layout->largest)
			layout->largest = share;
	}
}

/* Bars get what is left, and take a little from long texts. */
static void table_layout_fit_with_bar(struct ss_render_layout *layout)
{
	size_t available = layout->options->width, width;
	struct ss_render_layout narrow;

	table_layout_find_bar(layout);
	narrow = *layout;
	table_layout_fit(layout, available);
	if (layout->bar == SS_RENDER_COLUMNS_MAX || layout->rows < 2 || available < BAR_ROOM_MIN) {
		layout->bar = SS_RENDER_COLUMNS_MAX;
		return;
	}
	table_layout_fit(&narrow, available - SS_RENDER_COLUMN_GAP - BAR_WIDTH_MIN);
	if (narrow.left_out || !table_layout_spares_texts(&narrow, layout)) {
		layout->bar = SS_RENDER_COLUMNS_MAX;
		return;
	}
	*layout = narrow;
	width = available - SS_RENDER_COLUMN_GAP - table_layout_total_width(layout);
	layout->bar_width = width > BAR_WIDTH_MAX ? BAR_WIDTH_MAX : width;
}

void ss_render_layout_make(struct ss_render_layout *layout, struct ss_text *scratch)
{
	const struct ss_view *view = layout->table->view;

	table_layout_measure(layout, scratch);
	table_layout_measure_totals(layout, scratch);
	for (uint32_t i = 0; i < view->column_count; i++)
		if (view->columns[i].flags & SS_COLUMN_WRAP)
			layout->width[i] = 0; /* it has lines of its own */
	table_layout_fit_with_bar(layout);
}

/* Finds the place in a text, and cuts around it. */

#define ELLIPSIS "\xe2\x80\xa6"

/* Narrower, the three letters of a beginning ("ate" of aten::) would tell nothing. */
#define HEAD_WIDTH 24

/* The longest ends of source files' names: .cuda, .hpp, .py. */
#define ENDING_MAX 4

/* What follows a name's dot: py:14 or py(14). Where it ends, or `dot`: no line is there. */
static size_t shorten_line_end(const char *text, size_t length, size_t dot)
{
	size_t at = dot + 1, first;
	bool bracket;

	while (at < length && at <= dot + ENDING_MAX && ss_char_is_letter(text[at]))
		at++;
	if (at == dot + 1 || at >= length || (text[at] != ':' && text[at] != '('))
		return dot;
	bracket = text[at] == '(';
	first = ++at;
	while (at < length && ss_char_is_digit(text[at]))
		at++;
	if (at == first)
		return dot;
	if (!bracket)
		return at;
	return at < length && text[at] == ')' ? at + 1 : dot;
}

/* From the file's name to its line. False: there is no place, or several, as in a stack. */
static bool shorten_find_place(const char *text, size_t length, size_t *first, size_t *end)
{
	bool found = false;
	size_t name = 0;

	for (size_t i = 0; i < length; i++) {
		size_t stop;

		if (strchr("/\\ ;(", text[i]))
			name = i + 1;
		if (text[i] != '.')
			continue;
		stop = shorten_line_end(text, length, i);
		if (stop == i)
			continue;
		if (found)
			return false;
		found = true;
		*first = name;
		*end = stop;
		i = stop - 1;
	}
	return found;
}

size_t ss_shorten_least(const char *text, size_t length)
{
	size_t first, end;

	if (!shorten_find_place(text, length, &first, &end))
		return 0;
	return ss_text_columns(text + first, end - first) + (first > 0) + (end < length);
}

/* The last `width` columns; one less if a wide letter is at the cut. */
static void shorten_add_tail(const char *text, size_t length, size_t width, struct ss_text *out)
{
	size_t over = ss_text_columns(text, length) - width;
	size_t skip = ss_text_prefix(text, length, over);

	if (ss_text_columns(text, skip) < over)
		skip = ss_text_prefix(text, length, over + 1);

	ss_text_add(out, text + skip, length - skip);
}

/* False: with its end the place fits as any other text. */
static bool shorten_add_place(const char *text, size_t length, size_t width, size_t tail,
			      struct ss_text *out)
{
	size_t first, end, available;

	if (!shorten_find_place(text, length, &first, &end) ||
	    ss_text_columns(text + first, length - first) <= tail)
		return false;
	if (ss_text_columns(text + first, length - first) + 1 <= width) {
		ss_text_add_string(out, ELLIPSIS);
		shorten_add_tail(text, length, width - 1, out);
		return true;
	}
	if (ss_shorten_least(text, length) > width) { /* the end of the name and the line */
		ss_text_add_string(out, ELLIPSIS);
		shorten_add_tail(text, end, width - 1, out);
		return true;
	}
	available = width - 1 - (first > 0);
	if (first)
		ss_text_add_string(out, ELLIPSIS);
	ss_text_add(out, text + first, ss_text_prefix(text + first, length - first, available));
	ss_text_add_string(out, ELLIPSIS);
	return true;
}

void ss_shorten(const char *text, size_t length, size_t width, struct ss_text *out)
{
	size_t head = width >= HEAD_WIDTH ? (width - 1) / 5 : 0,
	       tail = width > head + 1 ? width - head - 1 : 0;

	if (ss_text_columns(text, length) <= width) {
		ss_text_add(out, text, length);
		return;
	}
	if (width > 1 && shorten_add_place(text, length, width, tail, out))
		return;
	ss_text_add(out, text, ss_text_prefix(text, length, head));
	ss_text_add_string(out, ELLIPSIS);
	shorten_add_tail(text, length, tail, out);
}
