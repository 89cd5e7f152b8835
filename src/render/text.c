/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.c - format: text for a terminal.
 *
 * A column with the same value in every row is shown once, above the table. One row of
 * a table with many columns is turned into a list of its cells.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "render/layout.h"
#include "render/verdict/diagnosis.h"

#define BOLD "\033[1m"
#define DIM "\033[2m"
#define RED "\033[31m"
#define YELLOW "\033[33m"
#define PLAIN "\033[0m"

/* The largest cell of the column is a full bar; the end of a bar is drawn in eighths of a block. */
static void text_add_bar(const struct ss_render_layout *layout, uint32_t row, struct ss_text *out)
{
	static const char *const eighths[] = { "",
					       "\xe2\x96\x8f",
					       "\xe2\x96\x8e",
					       "\xe2\x96\x8d",
					       "\xe2\x96\x8c",
					       "\xe2\x96\x8b",
					       "\xe2\x96\x8a",
					       "\xe2\x96\x89" };
	double share = ss_table_number(layout->table, row, layout->bar);
	size_t units;

	if (ss_table_is_null(layout->table, row, layout->bar) || share <= 0)
		return;
	units = (size_t)(share / layout->largest * (double)layout->bar_width * 8 + 0.5);
	ss_text_fill(out, ' ', SS_RENDER_COLUMN_GAP);
	for (size_t i = 0; i < units / 8; i++)
		ss_text_add_string(out, "\xe2\x96\x88");
	ss_text_add_string(out, eighths[units % 8]);
}

static void text_add_style(const struct ss_render_layout *layout, const char *style,
			   struct ss_text *out)
{
	if (layout->options->color)
		ss_text_add_string(out, style);
}

static void text_pad(struct ss_text *out, size_t used, size_t width)
{
	if (used < width)
		ss_text_fill(out, ' ', width - used);
}

/* Prints one line of wrapped text, which ends at `end`, and returns what is left of it. */
static const char *text_add_wrapped(const char *text, const char *end, size_t width,
				    struct ss_text *out)
{
	/* a letter can be two columns wide, and at least one must be printed */
	size_t length = (size_t)(end - text);
	size_t cut = ss_text_prefix(text, length, width > 2 ? width : 2);

	if (cut < length) {
		size_t space = cut;

		while (space > 0 && text[space] != ' ')
			space--;
		if (space)
			cut = space;
	}
	ss_text_add(out, text, cut);
	for (text += cut; text < end && *text == ' ';)
		text++;
	return text;
}

static const char *severity_color(const struct ss_cell *cell)
{
	if (ss_cell_is_text(cell, "lost"))
		return RED;
	return ss_cell_is_text(cell, "mended") ? YELLOW : NULL;
}

/* A cell with its padding; numbers are right-aligned. */
static void text_add_cell(const struct ss_render_layout *layout, uint32_t row, uint32_t i,
			  bool is_last, struct ss_text *scratch, struct ss_text *out)
{
	const struct ss_column *column = &layout->table->view->columns[i];
	struct ss_cell cell = ss_table_cell(layout->table, row, i);
	const char *color = strcmp(column->name, "severity") == 0 ? severity_color(&cell) : NULL;
	size_t width;

	scratch->length = 0;
	ss_render_cell(column, &cell, scratch);
	width = ss_text_columns(scratch->data, scratch->length);
	if (column->type != SS_COLUMN_TEXT)
		text_pad(out, width, layout->width[i]);
	if (color)
		text_add_style(layout, color, out);
	ss_shorten(scratch->data, scratch->length, layout->width[i], out);
	if (color)
		text_add_style(layout, PLAIN, out);
	if (column->type == SS_COLUMN_TEXT && !is_last)
		text_pad(out, width, layout->width[i]);
}

static void text_trim_line(struct ss_text *out)
{
	while (out->length && out->data[out->length - 1] == ' ')
		out->data[--out->length] = '\0';
}

static void text_add_heading(const struct ss_render_layout *layout, struct ss_text *out)
{
	const struct ss_view *view = layout->table->view;
	uint32_t last = ss_render_layout_last(layout);
	const char *gap = "";
	char name[64];

	text_add_style(layout, DIM, out);
	for (uint32_t i = 0; i < view->column_count; i++) {
		size_t length;

		if (!layout->shown[i] || (view->columns[i].flags & SS_COLUMN_WRAP))
			continue;
		ss_text_add_string(out, gap);
		gap = "  ";
		length = ss_render_layout_heading(&view->columns[i], name, sizeof(name));
		if (view->columns[i].type != SS_COLUMN_TEXT)
			text_pad(out, length, layout->width[i]);
		ss_text_add(out, name, length);
		if (view->columns[i].type == SS_COLUMN_TEXT && i != last)
			text_pad(out, length, layout->width[i]);
	}
	text_trim_line(out);
	text_add_style(layout, PLAIN, out);
	ss_text_add_string(out, "\n");
}

/* A wrapped cell, on lines of its own below its row. */
static void text_add_wrapped_cell(const struct ss_render_layout *layout, uint32_t row,
				  uint32_t column, struct ss_text *out)
{
	struct ss_cell cell = ss_table_cell(layout->table, row, column);
	const char *text = cell.is_null ? "" : cell.value.text, *end = text + cell.length;

	while (text < end) {
		ss_text_add_string(out, "    ");
		text = text_add_wrapped(text, end, layout->options->width - 4, out);
		ss_text_add_string(out, "\n");
	}
}

/* One row, wrapped columns below it. */
static void text_add_row(const struct ss_render_layout *layout, uint32_t row,
			 struct ss_text *scratch, struct ss_text *out)
{
	const struct ss_view *view = layout->table->view;
	uint32_t last = ss_render_layout_last(layout);
	const char *gap = "";

	for (uint32_t i = 0; i < view->column_count; i++) {
		if (!layout->shown[i] || (view->columns[i].flags & SS_COLUMN_WRAP))
			continue;
		ss_text_add_string(out, gap);
		text_add_cell(layout, row, i, i == last, scratch, out);
		gap = "  ";
	}
	if (layout->bar != SS_RENDER_COLUMNS_MAX) {
		/* texts at the end of a row are not padded */
		if (view->columns[last].type == SS_COLUMN_TEXT)
			text_pad(out, ss_render_layout_width(layout, row, last, scratch),
				 layout->width[last]);
		text_add_bar(layout, row, out);
	}
	text_trim_line(out);
	ss_text_add_string(out, "\n");
	for (uint32_t i = 0; i < view->column_count; i++)
		if (layout->shown[i] && (view->columns[i].flags & SS_COLUMN_WRAP))
			text_add_wrapped_cell(layout, row, i, out);
}

/* Columns with one value in all rows, printed once. */
static void text_add_context(const struct ss_render_layout *layout, struct ss_text *scratch,
			     struct ss_text *out)
{
	const struct ss_view *view = layout->table->view;
	char name[64];

	for (uint32_t i = 0; i < view->column_count; i++) {
		struct ss_cell cell = ss_table_cell(layout->table, 0, i);

		if (!(view->columns[i].flags & SS_COLUMN_CONTEXT) || layout->shown[i] ||
		    (view->columns[i].flags & SS_COLUMN_QUIET) || cell.is_null ||
		    !ss_render_layout_is_constant(layout, i))
			continue;
		ss_render_layout_heading(&view->columns[i], name, sizeof(name));
		scratch->length = 0;
		ss_render_cell(&view->columns[i], &cell, scratch);
		ss_text_addf(out, "%s: ", name);
		ss_text_add(out, scratch->data, scratch->length);
		ss_text_add_string(out, "\n");
	}
}

/* A single row of a wide table: one line per cell. */
static void text_add_list(const struct ss_render_layout *layout, struct ss_text *scratch,
			  struct ss_text *out)
{
	const struct ss_view *view = layout->table->view;
	size_t widest = 0;
	char name[64];

	for (uint32_t i = 0; i < view->column_count; i++) {
		size_t length = ss_render_layout_heading(&view->columns[i], name, sizeof(name));

		if (length > widest && !ss_table_is_null(layout->table, 0, i))
			widest = length;
	}
	for (uint32_t i = 0; i < view->column_count; i++) {
		size_t length = ss_render_layout_heading(&view->columns[i], name, sizeof(name));
		struct ss_cell cell = ss_table_cell(layout->table, 0, i);

		if (cell.is_null)
			continue;
		text_add_style(layout, DIM, out);
		ss_text_add(out, name, length);
		text_add_style(layout, PLAIN, out);
		text_pad(out, length, widest + SS_RENDER_COLUMN_GAP);
		scratch->length = 0;
		ss_render_cell(&view->columns[i], &cell, scratch);
		ss_shorten(scratch->data, scratch->length,
			   layout->options->width >
					   widest + SS_RENDER_COLUMN_GAP + SS_RENDER_TEXT_MIN
				   ? layout->options->width - widest - SS_RENDER_COLUMN_GAP
				   : SS_RENDER_TEXT_MIN,
			   out);
		ss_text_add_string(out, "\n");
	}
}

/* The sums, below the rows; what does not add up stays empty. */
static void text_add_totals(const struct ss_render_layout *layout, struct ss_text *scratch,
			    struct ss_text *out)
{
	const struct ss_view *view = layout->table->view;
	uint32_t label;
	const struct ss_cell *totals = ss_render_layout_totals(layout, &label);
	const char *gap = "";
	char words[32];

	ss_render_layout_total_words(layout,
				     label == SS_RENDER_COLUMNS_MAX ? 0 : layout->width[label],
				     words, sizeof(words));
	text_add_style(layout, totals ? BOLD : "", out);
	for (uint32_t i = 0; totals && i < view->column_count; i++) {
		bool left = view->columns[i].type == SS_COLUMN_TEXT;

		if (!layout->shown[i] || (view->columns[i].flags & SS_COLUMN_WRAP))
			continue;
		scratch->length = 0;
		if (i == label)
			ss_text_add_string(scratch, words);
		else if (!totals[i].is_null)
			ss_render_cell(&view->columns[i], &totals[i], scratch);
		ss_text_add_string(out, gap);
		gap = "  ";
		if (!left)
			text_pad(out, scratch->length, layout->width[i]);
		ss_shorten(scratch->data, scratch->length, layout->width[i], out);
		if (left)
			text_pad(out, scratch->length, layout->width[i]);
	}
	text_trim_line(out);
	text_add_style(layout, totals ? PLAIN : "", out);
	ss_text_add_string(out, totals ? "\n" : "");
}

static bool view_has_details(const struct ss_view *view)
{
	uint32_t details = 0;

	for (uint32_t i = 0; i < view->column_count; i++)
		details += (view->columns[i].flags & SS_COLUMN_DETAIL) != 0;
	return details > view->column_count / 2;
}

/* The table with what stands above and below it. */
static void text_add_table(struct ss_render_layout *layout, struct ss_text *scratch,
			   struct ss_text *out)
{
	ss_render_layout_make(layout, scratch);
	text_add_context(layout, scratch, out);
	text_add_heading(layout, out);
	for (uint32_t row = 0; row < layout->rows; row++)
		text_add_row(layout, row, scratch, out);
	text_add_totals(layout, scratch, out);
	if (layout->rows < ss_table_all_rows(layout->table)) {
		ss_text_add_string(out, "(");
		ss_render_count(layout->rows, out);
		ss_text_add_string(out, " of ");
		ss_render_count(ss_table_all_rows(layout->table), out);
		ss_text_add_string(out, " rows; --top 0 shows all)\n");
	}
	if (layout->options->top && layout->rows > layout->options->top)
		ss_text_addf(out,
			     "(at most %" PRIu32 " row%s of each rank; --rank all compares the "
			     "ranks in one table)\n",
			     layout->options->top, layout->options->top == 1 ? "" : "s");
	if (layout->left_out)
		ss_text_addf(out, "(%u column%s not fit; --format csv has all)\n", layout->left_out,
			     layout->left_out == 1 ? " does" : "s do");
}

/* One or more lines; what is broken off a line keeps its indent. */
static void text_add_sentence(const char *text, const struct ss_render_options *options,
			      struct ss_text *out)
{
	while (*text) {
		size_t indent = strspn(text, " ");
		const char *end = text + strcspn(text, "\n");

		text += indent;
		do {
			ss_text_fill(out, ' ', text < end ? indent : 0);
			text = text_add_wrapped(text, end, options->width - indent, out);
			ss_text_add_string(out, "\n");
		} while (text < end);
		text += *text == '\n';
	}
}

/* What a reader must know before trusting a figure. */
static void text_add_trust(const struct ss_render_options *options, struct ss_text *out)
{
	const struct ss_trust *trust = &options->trust;
	char unreadable[64] = "", cut[64] = "", text[256];

	if (!trust->lost && !trust->repaired && !trust->unreadable_files)
		return;
	if (trust->unreadable_files)
		snprintf(unreadable, sizeof(unreadable),
			 " %" PRIu64 " of %" PRIu64 " files unreadable,", trust->unreadable_files,
			 trust->files);
	if (trust->cut_files == 1)
		snprintf(cut, sizeof(cut), " one file is truncated,");
	else if (trust->cut_files)
		snprintf(cut, sizeof(cut), " %" PRIu64 " files are truncated,", trust->cut_files);
	snprintf(text, sizeof(text),
		 "Data quality:%s%s %" PRIu64 " lost, %" PRIu64 " repaired; see stepscope quality",
		 unreadable, cut, trust->lost, trust->repaired);
	text_add_sentence(text, options, out);
}

/* At most `most` rows; 0: as the options say. */
static void text_table(const struct ss_table *table, const struct ss_render_options *options,
		       uint32_t most, struct ss_text *out)
{
	struct ss_render_layout layout = { .table = table, .options = options };
	struct ss_text scratch = { 0 };

	assert(table->view->column_count <= SS_RENDER_COLUMNS_MAX);
	layout.rows = ss_render_rows(table, options);
	if (most && most < layout.rows)
		layout.rows = most;
	ss_text_add_string(&scratch, "");
	if (!layout.rows)
		text_add_sentence(ss_table_empty(table), options, out);
	else if (table->row_count == 1 && view_has_details(table->view))
		text_add_list(&layout, &scratch, out);
	else
		text_add_table(&layout, &scratch, out);
	for (uint32_t i = 0; i < table->note_count; i++)
		text_add_sentence(table->notes[i], options, out);
	ss_text_end(&scratch, out);
}

static void text_view(const struct ss_table *table, const struct ss_render_options *options,
		      struct ss_text *out)
{
	if (table->lead)
		text_add_sentence(table->lead, options, out);
	ss_render_run_line(&options->run, options->width, out);
	if (table->figures && table->row_count && strncmp(table->figures, "one row", 7) != 0) {
		struct ss_text line = { 0 };

		ss_text_addf(&line, "figures: %s", table->figures);
		text_add_sentence(line.data ? line.data : "", options, out);
		ss_text_end(&line, out);
	}
	text_table(table, options, options->rows, out);
	text_add_trust(options, out);
}

/* An earlier table of the report is empty for the same reason, which need not be repeated. */
static bool report_has_said(const struct ss_report_parts *parts, uint32_t at)
{
	const struct ss_table *table = &parts->tables[at];

	for (uint32_t i = 0; i < at && !table->row_count && !table->note_count; i++)
		if (!parts->tables[i].row_count &&
		    strcmp(ss_table_empty(&parts->tables[i]), ss_table_empty(table)) == 0)
			return true;
	return false;
}

/* The headline, then every table under its own heading. */
static void text_report(const struct ss_report_parts *parts,
			const struct ss_render_options *options, struct ss_text *out)
{
	text_add_sentence(parts->headline, options, out);
	ss_render_run_line(&options->run, options->width, out);
	for (uint32_t i = 0; i < parts->table_count; i++) {
		const struct ss_table *table = &parts->tables[i];
		bool grouped = table->group && table->group != table->view->groups[0];

		if (report_has_said(parts, i))
			continue;
		ss_text_addf(out, "\n%s%s%s%s%s\n", options->color ? BOLD : "",
			     table->view->summary, grouped ? ", by " : "",
			     grouped ? table->group : "", options->color ? PLAIN : "");
		text_table(&parts->tables[i], options, 0, out);
	}
	text_add_trust(options, out);
}

const struct ss_renderer ss_renderer_text = {
	.name = "text",
	.view = text_view,
	.report = text_report,
	.diagnosis = ss_render_verdict_text,
};
