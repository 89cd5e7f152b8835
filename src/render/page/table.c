/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.c - a table of Markdown in columns; cells that are too wide have several lines.
 */
#include <string.h>

#include "render/page/page.h"

#define COLUMNS_MAX 16
#define GAP 2

/* A column is not made narrower than this: then the table is wider than the terminal. */
#define WIDTH_MIN 6

struct page_row {
	struct ss_text words; /* of all cells */
	size_t from[COLUMNS_MAX], to[COLUMNS_MAX];
	size_t count;
};

/* Cells stand between bars that are not escaped. */
static void page_row_read(const char *line, size_t length, struct page_row *row)
{
	const char *at = line + 1, *end = line + length;

	row->words.length = 0;
	row->count = 0;
	while (at < end && row->count < COLUMNS_MAX) {
		const char *bar = at, *cell_end;

		while (bar < end && (*bar != '|' || bar[-1] == '\\'))
			bar++;
		for (cell_end = bar; cell_end > at && cell_end[-1] == ' ';)
			cell_end--;
		while (at < cell_end && *at == ' ')
			at++;
		row->from[row->count] = row->words.length;
		ss_page_words(at, (size_t)(cell_end - at), &row->words);
		row->to[row->count++] = row->words.length;
		at = bar + 1;
	}
}

/* "|---|---:|" */
static bool page_is_rule_line(const char *line, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!strchr("|-: ", line[i]))
			return false;
	return true;
}

struct page_columns {
	size_t width[COLUMNS_MAX];
	bool is_right[COLUMNS_MAX];
	size_t count;
};

static void page_row_measure(const struct page_row *row, struct page_columns *table)
{
	for (size_t i = 0; i < row->count; i++) {
		size_t width = row->words.data ? ss_page_columns(row->words.data + row->from[i],
								 row->to[i] - row->from[i])
					       : 0;

		if (width > table->width[i])
			table->width[i] = width;
	}
	if (row->count > table->count)
		table->count = row->count;
}

/* Makes the widest columns narrower until the table fits. */
static void page_columns_fit(struct page_columns *table, size_t width)
{
	for (;;) {
		size_t sum = GAP * (table->count - 1), widest = 0;

		for (size_t i = 0; i < table->count; i++) {
			sum += table->width[i];
			widest = table->width[i] > table->width[widest] ? i : widest;
		}
		if (sum <= width || table->width[widest] <= WIDTH_MIN)
			return;
		table->width[widest]--;
	}
}

/* Line by line, until no cell has more. */
static void page_row_add(const struct page_row *row, const struct page_columns *table, bool is_head,
			 bool color, struct ss_text *out)
{
	const char *at[COLUMNS_MAX], *end[COLUMNS_MAX];
	char style[COLUMNS_MAX];
	bool has_more = row->count > 0 && row->words.data;

	for (size_t i = 0; i < row->count && has_more; i++) {
		at[i] = row->words.data + row->from[i];
		end[i] = row->words.data + row->to[i];
		style[i] = is_head ? SS_PAGE_BOLD : SS_PAGE_PLAIN;
	}
	while (has_more) {
		/* spaces to write before the next cell: lines do not end in spaces */
		size_t owed = 0;

		has_more = false;
		for (size_t i = 0; i < row->count; i++) {
			struct ss_text cell = { 0 };
			size_t used = at[i] < end[i] ? ss_page_line(&at[i], end[i], table->width[i],
								    true, &style[i], color, &cell)
						     : 0;
			size_t pad = used < table->width[i] ? table->width[i] - used : 0;

			owed += table->is_right[i] ? pad : 0;
			if (cell.length) {
				ss_text_fill(out, ' ', owed);
				ss_text_add(out, cell.data, cell.length);
				owed = 0;
			} else {
				owed += used;
			}
			owed += (table->is_right[i] ? 0 : pad) + GAP;
			has_more |= at[i] < end[i];
			ss_text_end(&cell, out);
		}
		ss_text_add_string(out, "\n");
	}
}

/* Which columns have their figures at the right. */
static void page_columns_read_rule(const char *line, size_t length, struct page_columns *table)
{
	size_t column = 0;

	for (size_t i = 1; i < length && column < COLUMNS_MAX; i++)
		if (line[i] == '|')
			table->is_right[column++] = line[i - 1] == ':';
}

static void page_columns_add_rule(const struct page_columns *table, struct ss_text *out)
{
	for (size_t i = 0; i < table->count; i++) {
		ss_text_fill(out, '-', table->width[i]);
		ss_text_fill(out, ' ', i + 1 < table->count ? GAP : 0);
	}
	ss_text_add_string(out, "\n");
}

void ss_page_table(const char *text, size_t length, const struct ss_render_options *options,
		   struct ss_text *out)
{
	const char *end = text + length;
	struct page_columns table = { 0 };
	struct page_row row = { 0 };
	bool is_head = true;

	for (const char *at = text; at < end; at = ss_page_line_end(at, end) + 1) {
		size_t own = (size_t)(ss_page_line_end(at, end) - at);

		if (page_is_rule_line(at, own)) {
			page_columns_read_rule(at, own, &table);
			continue;
		}
		page_row_read(at, own, &row);
		page_row_measure(&row, &table);
	}
	if (table.count)
		page_columns_fit(&table, options->width);
	for (const char *at = text; at < end; at = ss_page_line_end(at, end) + 1) {
		size_t own = (size_t)(ss_page_line_end(at, end) - at);

		if (page_is_rule_line(at, own)) {
			page_columns_add_rule(&table, out);
			is_head = false;
			continue;
		}
		page_row_read(at, own, &row);
		page_row_add(&row, &table, is_head, options->color, out);
	}
	ss_text_end(&row.words, out);
}
