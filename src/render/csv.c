/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv.c - format: CSV as RFC 4180 has it: one table.
 */
#include <string.h>

#include "render/verdict/diagnosis.h"

static bool csv_has_only(const char *text, size_t length, const char *letters)
{
	for (size_t i = 0; i < length; i++)
		if (!strchr(letters, text[i]))
			return false;
	return true;
}

/* Would a spreadsheet run it? Negative numbers are harmless. Texts have no zero bytes. */
static bool csv_is_formula(const char *text, size_t length)
{
	return length && strchr("=+-@\t", *text) &&
	       !(*text == '-' && csv_has_only(text + 1, length - 1, "0123456789."));
}

static bool csv_needs_quotes(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (text[i] == ',' || text[i] == '"' || text[i] == '\r' || text[i] == '\n')
			return true;
	return false;
}

/* A cell that would be taken for a formula gets an apostrophe. */
static void csv_add_field(struct ss_text *out, const char *text, size_t length)
{
	bool formula = csv_is_formula(text, length);

	if (!formula && !csv_needs_quotes(text, length)) {
		ss_text_add(out, text, length);
		return;
	}
	ss_text_add_string(out, formula ? "\"'" : "\"");
	for (const char *end = text + length; text < end; text++)
		ss_text_add(out, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
	ss_text_add_string(out, "\"");
}

static void csv_rows(const struct ss_table *table, const struct ss_render_options *options,
		     struct ss_text *out)
{
	const struct ss_view *view = table->view;
	uint32_t rows = ss_render_rows(table, options);

	for (uint32_t row = 0; row < rows; row++) {
		for (uint32_t i = 0; i < view->column_count; i++) {
			struct ss_cell cell = ss_table_cell(table, row, i);

			if (i)
				ss_text_add(out, ",", 1);
			if (cell.is_null)
				continue;
			if (view->columns[i].type == SS_COLUMN_TEXT)
				csv_add_field(out, cell.value.text, cell.length);
			else
				ss_render_plain(&view->columns[i], &cell, out);
		}
		ss_text_add_string(out, "\r\n");
	}
}

static void csv_view(const struct ss_table *table, const struct ss_render_options *options,
		     struct ss_text *out)
{
	const struct ss_view *view = table->view;

	for (uint32_t i = 0; i < view->column_count; i++) {
		if (i)
			ss_text_add(out, ",", 1);
		csv_add_field(out, view->columns[i].name, strlen(view->columns[i].name));
	}
	ss_text_add_string(out, "\r\n");
	csv_rows(table, options, out);
}

static void csv_diagnosis(const struct ss_diagnosis *diagnosis,
			  const struct ss_render_options *options, struct ss_text *out)
{
	ss_render_findings(diagnosis, options, csv_view, out);
}

const struct ss_renderer ss_renderer_csv = {
	.name = "csv",
	.view = csv_view,
	.more = csv_rows,
	.diagnosis = csv_diagnosis,
};
