/* SPDX-License-Identifier: Apache-2.0 */
/*
 * markdown.c - format: tables for a pull request or an issue.
 */
#include <string.h>

#include "render/verdict/diagnosis.h"

/* Names can contain markup of Markdown and HTML. */
static void markdown_add_escaped(struct ss_text *out, const char *text, size_t length)
{
	for (const char *end = text + length; text < end; text++) {
		if (*text == '|' || *text == '*' || *text == '_' || *text == '`' || *text == '\\' ||
		    *text == '[' || *text == '#')
			ss_text_add(out, "\\", 1);
		if (*text == '<')
			ss_text_add_string(out, "&lt;");
		else if (*text == '&')
			ss_text_add_string(out, "&amp;");
		else
			ss_text_add(out, text, 1);
	}
}

void ss_render_escaped(struct ss_text *out, const char *text)
{
	markdown_add_escaped(out, text, strlen(text));
}

static bool markdown_shows_column(const struct ss_column *column)
{
	return !(column->flags & SS_COLUMN_DETAIL);
}

static void markdown_add_cell(const struct ss_column *column, const struct ss_cell *cell,
			      struct ss_text *out)
{
	ss_text_add_string(out, "| ");
	if (!cell->is_null && column->type == SS_COLUMN_TEXT)
		markdown_add_escaped(out, cell->value.text, cell->length);
	else if (!cell->is_null)
		ss_render_cell(column, cell, out);
	ss_text_add_string(out, " ");
}

/* The sums, in the last row; the first cell says what it is. */
static void markdown_add_totals(const struct ss_table *table, struct ss_text *out)
{
	const struct ss_view *view = table->view;
	bool first = true;

	for (uint32_t i = 0; i < view->column_count; i++) {
		if (!markdown_shows_column(&view->columns[i]))
			continue;
		if (first && table->totals[i].is_null)
			ss_text_add_string(out, "| **total** ");
		else
			markdown_add_cell(&view->columns[i], &table->totals[i], out);
		first = false;
	}
	ss_text_add_string(out, "|\n");
}

static void markdown_add_rows(const struct ss_table *table, uint32_t rows, struct ss_text *out)
{
	const struct ss_view *view = table->view;

	for (uint32_t i = 0; i < view->column_count; i++)
		if (markdown_shows_column(&view->columns[i])) {
			ss_text_add_string(out, "| ");
			ss_render_escaped(out, view->columns[i].name);
			ss_text_add_string(out, " ");
		}
	ss_text_add_string(out, "|\n");
	for (uint32_t i = 0; i < view->column_count; i++)
		if (markdown_shows_column(&view->columns[i]))
			ss_text_add_string(out, view->columns[i].type == SS_COLUMN_TEXT ? "|---"
											: "|---:");
	ss_text_add_string(out, "|\n");
	for (uint32_t row = 0; row < rows; row++) {
		for (uint32_t i = 0; i < view->column_count; i++) {
			struct ss_cell cell = ss_table_cell(table, row, i);

			if (markdown_shows_column(&view->columns[i]))
				markdown_add_cell(&view->columns[i], &cell, out);
		}
		ss_text_add_string(out, "|\n");
	}
	if (table->totals && ss_table_all_rows(table) > 1)
		markdown_add_totals(table, out);
	if (rows < ss_table_all_rows(table))
		ss_text_addf(out, "\n%u of %u rows\n", rows, ss_table_all_rows(table));
}

static void markdown_add_table(const struct ss_table *table,
			       const struct ss_render_options *options, struct ss_text *out)
{
	if (table->row_count)
		markdown_add_rows(table, ss_render_rows(table, options), out);
	else
		ss_text_addf(out, "%s\n", ss_table_empty(table));
	for (uint32_t i = 0; i < table->note_count; i++) {
		ss_text_add_string(out, "\n");
		ss_render_escaped(out, table->notes[i]);
		ss_text_add_string(out, "\n");
	}
}

void ss_render_markdown_run(const struct ss_identity *run, struct ss_text *out)
{
	struct ss_text line = { 0 };

	ss_render_run_line(run, 0, &line);
	if (line.length) {
		markdown_add_escaped(out, line.data, line.length);
		ss_text_add_string(out, "\n");
	}
	ss_text_end(&line, out);
}

static void markdown_view(const struct ss_table *table, const struct ss_render_options *options,
			  struct ss_text *out)
{
	if (table->lead)
		ss_text_addf(out, "%s\n\n", table->lead);
	ss_text_addf(out, "### %s\n\n", table->view->summary);
	ss_render_markdown_run(&options->run, out);
	markdown_add_table(table, options, out);
}

static void markdown_report(const struct ss_report_parts *parts,
			    const struct ss_render_options *options, struct ss_text *out)
{
	for (const char *at = parts->headline; *at; at++)
		ss_text_add(out, *at == '\n' ? "  \n" : at, *at == '\n' ? 3 : 1);
	ss_render_markdown_run(&options->run, out);
	for (uint32_t i = 0; i < parts->table_count; i++) {
		ss_text_add_string(out, "\n");
		ss_text_addf(out, "### %s\n\n", parts->tables[i].view->summary);
		markdown_add_table(&parts->tables[i], options, out);
	}
}

const struct ss_renderer ss_renderer_markdown = {
	.name = "markdown",
	.view = markdown_view,
	.report = markdown_report,
	.diagnosis = ss_render_verdict_markdown,
};
