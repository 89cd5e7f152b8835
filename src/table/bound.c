/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bound.c - measures the texts of a table, and cuts those that are too long.
 */
#include "table/bound.h"

#include <string.h>

#include "table/view.h"

/* What texts of a row may have on average, and of any table beside it. */
#define ROW_BYTES 2048
#define TABLE_BYTES (16 << 20)

/* What is left of texts where all of them have more. */
#define SHORT_BYTES 256

#define ELLIPSIS "\xe2\x80\xa6"

static uint64_t measure(const struct ss_table *table, uint32_t column, bool *has_long)
{
	const uint32_t width = table->view->column_count;
	uint64_t bytes = 0;

	for (uint32_t row = 0; row < table->row_count; row++) {
		const struct ss_cell *cell = ss_table_cell(table, row, column, width);
		size_t length = cell->is_null ? 0 : strnlen(cell->value.text, SS_TEXT_MAX + 1);

		bytes += length;
		*has_long |= length > SS_TEXT_MAX;
	}
	return bytes;
}

/* The first bytes of a text, whole letters. */
static const char *cut(struct ss_table *table, const char *text, size_t length)
{
	while (length && ((unsigned char)text[length] & 0xc0) == 0x80)
		length--;
	return ss_table_print(table, "%.*s" ELLIPSIS, (int)length, text);
}

static bool shorten(struct ss_table *table, uint32_t column, size_t most)
{
	const uint32_t width = table->view->column_count;
	const char *before = NULL, *shorter = NULL; /* rows often have the text of the one before */

	for (uint32_t row = 0; row < table->row_count; row++) {
		struct ss_cell *cell = &table->cells[(size_t)row * width + column];

		if (cell->is_null || strnlen(cell->value.text, most + 1) <= most)
			continue;
		if (cell->value.text != before) {
			before = cell->value.text;
			shorter = cut(table, before, most);
		}
		cell->value.text = shorter;
	}
	return !table->failed;
}

bool ss_table_bound(struct ss_table *table)
{
	const struct ss_view *view = table->view;
	uint64_t bytes = 0;
	size_t most = SS_TEXT_MAX;
	bool has_long = false;

	for (uint32_t i = 0; i < view->column_count; i++)
		if (view->columns[i].type == SS_COLUMN_TEXT)
			bytes += measure(table, i, &has_long);
	if (bytes > TABLE_BYTES + (uint64_t)ROW_BYTES * table->row_count)
		most = SHORT_BYTES;
	else if (!has_long)
		return true;
	for (uint32_t i = 0; i < view->column_count; i++)
		if (view->columns[i].type == SS_COLUMN_TEXT && !shorten(table, i, most))
			return false;
	ss_table_note(table, "Texts of more than %zu bytes are cut.", most);
	return true;
}
