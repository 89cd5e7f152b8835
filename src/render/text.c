/*
 * text.c - format: text for a terminal.
 *
 * A table is as wide as the terminal at most: details are left out, columns that
 * say the same in every row are said once above it, then the widest text column
 * is shortened, and at last columns from the right are left out, which is said.
 * One row of a table with many columns is turned into a list of its cells.
 */
#include <inttypes.h>
#include <string.h>

#include "render/render.h"

#define COLUMNS_MAX 64
#define GAP 2

/* A text column is not cut to less than this; rather columns go. */
#define TEXT_WIDTH_MIN 12

/* Nor to less than this while there are figures to spare: names have to be readable. */
#define TEXT_WIDTH_GOOD 20
#define FIGURES_MIN 3

#define BOLD "\033[1m"
#define DIM "\033[2m"
#define RED "\033[31m"
#define YELLOW "\033[33m"
#define PLAIN "\033[0m"

struct layout {
	const struct ss_table *table;
	const struct ss_render_options *options;
	uint32_t rows;
	bool shown[COLUMNS_MAX];
	size_t width[COLUMNS_MAX];
	uint32_t left_out;
	uint32_t bar;     /* the column that is drawn, or COLUMNS_MAX */
	size_t bar_width; /* of the longest bar */
};

static const struct ss_cell *cell_at(const struct layout *layout, uint32_t row, uint32_t column)
{
	return ss_table_cell(layout->table, row, column, layout->table->view->column_count);
}

static bool same_cell(const struct ss_column *column, const struct ss_cell *a,
		      const struct ss_cell *b)
{
	if (a->is_null || b->is_null)
		return a->is_null == b->is_null;
	return column->type == SS_COLUMN_TEXT ? strcmp(a->value.text, b->value.text) == 0
					      : a->value.integer == b->value.integer;
}

static bool is_constant(const struct layout *layout, uint32_t column)
{
	for (uint32_t row = 1; row < layout->rows; row++)
		if (!same_cell(&layout->table->view->columns[column], cell_at(layout, 0, column),
			       cell_at(layout, row, column)))
			return false;
	return true;
}

/* Recorded in no row: a column of dashes says nothing. */
static bool is_absent(const struct layout *layout, uint32_t column)
{
	for (uint32_t row = 0; row < layout->rows; row++)
		if (!cell_at(layout, row, column)->is_null)
			return false;
	return true;
}

/* The heading: the column's name without its unit, which stands in the cells. */
static size_t heading(const struct ss_column *column, char *out, size_t room)
{
	static const char *const units[] = { "_ns", "_bytes", "_percent" };
	size_t length = strlen(column->name);

	for (size_t i = 0; i < SS_COUNT(units); i++) {
		size_t unit = strlen(units[i]);

		if (length > unit && strcmp(column->name + length - unit, units[i]) == 0) {
			length -= unit;
			break;
		}
	}
	if (length >= room)
		length = room - 1;
	for (size_t i = 0; i < length; i++)
		out[i] = column->name[i] == '_' ? ' ' : column->name[i];
	out[length] = '\0';
	return length;
}

static size_t cell_width(const struct layout *layout, uint32_t row, uint32_t column,
			 struct ss_text *scratch)
{
	scratch->length = 0;
	ss_render_cell(&layout->table->view->columns[column], cell_at(layout, row, column),
		       scratch);
	return ss_text_columns(scratch->data, scratch->length);
}

static void measure(struct layout *layout, struct ss_text *scratch)
{
	const struct ss_view *view = layout->table->view;
	char name[64];

	for (uint32_t i = 0; i < view->column_count; i++) {
		const struct ss_column *column = &view->columns[i];

		layout->shown[i] = !(column->flags & SS_COLUMN_DETAIL) &&
				   !((column->flags & SS_COLUMN_CONTEXT) &&
				     is_constant(layout, i)) &&
				   !is_absent(layout, i);
		if (!layout->shown[i])
			continue;
		layout->width[i] = heading(column, name, sizeof(name));
		for (uint32_t row = 0; row < layout->rows; row++) {
			size_t width = cell_width(layout, row, i, scratch);

			if (width > layout->width[i])
				layout->width[i] = width;
		}
	}
}

static size_t total_width(const struct layout *layout)
{
	size_t total = 0;

	for (uint32_t i = 0; i < layout->table->view->column_count; i++)
		if (layout->shown[i])
			total += layout->width[i] + GAP;
	return total ? total - GAP : 0;
}

static uint32_t last_shown(const struct layout *layout)
{
	uint32_t last = 0;

	for (uint32_t i = 0; i < layout->table->view->column_count; i++)
		if (layout->shown[i])
			last = i;
	return last;
}

/* The column to be made narrower: the widest text above the least width; COLUMNS_MAX: none. */
static uint32_t widest_text(const struct layout *layout, size_t least, uint32_t *text_columns)
{
	const struct ss_view *view = layout->table->view;
	uint32_t widest = COLUMNS_MAX;

	*text_columns = 0;
	for (uint32_t i = 0; i < view->column_count; i++) {
		if (!layout->shown[i] || view->columns[i].type != SS_COLUMN_TEXT)
			continue;
		(*text_columns)++;
		if (layout->width[i] > least &&
		    (widest == COLUMNS_MAX || layout->width[i] > layout->width[widest]))
			widest = i;
	}
	return widest;
}

/* The last figure, when there are enough before it; COLUMNS_MAX: none to spare. */
static uint32_t spare_figure(const struct layout *layout)
{
	const struct ss_view *view = layout->table->view;
	uint32_t last = COLUMNS_MAX, figures = 0;

	for (uint32_t i = 0; i < view->column_count; i++)
		if (layout->shown[i] && view->columns[i].type != SS_COLUMN_TEXT) {
			last = i;
			figures++;
		}
	return figures > FIGURES_MIN ? last : COLUMNS_MAX;
}

static void narrow(struct layout *layout, uint32_t column, size_t least, uint32_t text_columns,
		   size_t room)
{
	size_t over = total_width(layout) - room, spare = layout->width[column] - least;

	/* little by little, so that two long columns share the loss */
	if (text_columns > 1 && over > 4)
		over = 4;
	layout->width[column] -= over < spare ? over : spare;
}

static void leave_out(struct layout *layout, uint32_t column)
{
	layout->shown[column] = false;
	layout->left_out++;
}

/* Makes the table fit: narrower texts, fewer figures, then narrower and fewer still. */
static void fit(struct layout *layout, size_t room)
{
	while (total_width(layout) > room) {
		uint32_t texts, column = widest_text(layout, TEXT_WIDTH_GOOD, &texts);

		if (column != COLUMNS_MAX) {
			narrow(layout, column, TEXT_WIDTH_GOOD, texts, room);
			continue;
		}
		column = texts > 1 ? spare_figure(layout) : COLUMNS_MAX;
		if (column != COLUMNS_MAX) {
			leave_out(layout, column);
			continue;
		}
		column = widest_text(layout, TEXT_WIDTH_MIN, &texts);
		if (column != COLUMNS_MAX)
			narrow(layout, column, TEXT_WIDTH_MIN, texts, room);
		else if (last_shown(layout) > 0)
			leave_out(layout, last_shown(layout));
		else
			break;
	}
}

/* Narrower than this bars do not tell anything; wider ones tell no more. */
#define BAR_WIDTH_MIN 8
#define BAR_WIDTH_MAX 24

/* A text is not made narrower than this for the sake of a bar. */
#define BAR_TEXT_MIN 32

/* Bars get what is left, and take a little from long texts. */
static void fit_with_bar(struct layout *layout)
{
	const struct ss_view *view = layout->table->view;
	size_t room = layout->options->width, width;
	struct layout slim = *layout;
	uint32_t text_columns, widest;

	layout->bar = COLUMNS_MAX;
	for (uint32_t i = 0; i < view->column_count; i++)
		if (layout->shown[i] && (view->columns[i].flags & SS_COLUMN_BAR))
			layout->bar = i;
	if (layout->bar == COLUMNS_MAX || layout->rows < 2 || room < 40) {
		layout->bar = COLUMNS_MAX;
		fit(layout, room);
		return;
	}
	fit(&slim, room - GAP - BAR_WIDTH_MIN);
	widest = widest_text(&slim, TEXT_WIDTH_MIN, &text_columns);
	if (!slim.left_out && (widest == COLUMNS_MAX || slim.width[widest] >= BAR_TEXT_MIN ||
			       slim.width[widest] == layout->width[widest])) {
		slim.bar = layout->bar;
		*layout = slim;
		width = room - GAP - total_width(layout);
		layout->bar_width = width > BAR_WIDTH_MAX ? BAR_WIDTH_MAX : width;
		return;
	}
	layout->bar = COLUMNS_MAX;
	fit(layout, room);
}

/* The largest cell of the column is a whole bar; eighths of a block say the rest. */
static void add_bar(const struct layout *layout, uint32_t row, struct ss_text *out)
{
	static const char *const eighths[] = { "",
					       "\xe2\x96\x8f",
					       "\xe2\x96\x8e",
					       "\xe2\x96\x8d",
					       "\xe2\x96\x8c",
					       "\xe2\x96\x8b",
					       "\xe2\x96\x8a",
					       "\xe2\x96\x89" };
	const struct ss_cell *cell = cell_at(layout, row, layout->bar);
	double largest = 0;
	size_t units;

	for (uint32_t i = 0; i < layout->rows; i++)
		if (!cell_at(layout, i, layout->bar)->is_null &&
		    cell_at(layout, i, layout->bar)->value.number > largest)
			largest = cell_at(layout, i, layout->bar)->value.number;
	if (cell->is_null || largest <= 0 || cell->value.number <= 0)
		return;
	units = (size_t)(cell->value.number / largest * (double)layout->bar_width * 8 + 0.5);
	ss_text_fill(out, ' ', GAP);
	for (size_t i = 0; i < units / 8; i++)
		ss_text_add_string(out, "\xe2\x96\x88");
	ss_text_add_string(out, eighths[units % 8]);
}

static void add_style(const struct layout *layout, const char *style, struct ss_text *out)
{
	if (layout->options->color)
		ss_text_add_string(out, style);
}

/* Paths and names are told apart by their ends more than by their beginnings. */
static void add_shortened(const char *text, size_t length, size_t width, struct ss_text *out)
{
	size_t columns = ss_text_columns(text, length);
	size_t head = width > 1 ? (width - 1) / 3 : 0,
	       tail = width > head + 1 ? width - head - 1 : 0;
	size_t skip;

	if (columns <= width) {
		ss_text_add(out, text, length);
		return;
	}
	ss_text_add(out, text, ss_text_prefix(text, length, head));
	ss_text_add_string(out, "\xe2\x80\xa6");
	skip = ss_text_prefix(text, length, columns - tail);
	ss_text_add(out, text + skip, length - skip);
}

static void pad(struct ss_text *out, size_t used, size_t width)
{
	if (used < width)
		ss_text_fill(out, ' ', width - used);
}

/* Prints one line of wrapped text and returns what is left of it. */
static const char *add_wrapped(const char *text, size_t width, struct ss_text *out)
{
	size_t length = strlen(text), cut = ss_text_prefix(text, length, width);

	if (cut < length) {
		size_t space = cut;

		while (space > 0 && text[space] != ' ')
			space--;
		if (space)
			cut = space;
	}
	ss_text_add(out, text, cut);
	for (text += cut; *text == ' ';)
		text++;
	return text;
}

static const char *severity_color(const struct ss_cell *cell)
{
	if (cell->is_null)
		return NULL;
	if (strcmp(cell->value.text, "lost") == 0)
		return RED;
	return strcmp(cell->value.text, "mended") == 0 ? YELLOW : NULL;
}

static void add_cell(const struct layout *layout, uint32_t row, uint32_t i, bool is_last,
		     struct ss_text *scratch, struct ss_text *out)
{
	const struct ss_column *column = &layout->table->view->columns[i];
	const struct ss_cell *cell = cell_at(layout, row, i);
	const char *color = strcmp(column->name, "severity") == 0 ? severity_color(cell) : NULL;
	size_t width;

	scratch->length = 0;
	ss_render_cell(column, cell, scratch);
	width = ss_text_columns(scratch->data, scratch->length);
	if (column->type != SS_COLUMN_TEXT)
		pad(out, width, layout->width[i]);
	if (color)
		add_style(layout, color, out);
	add_shortened(scratch->data, scratch->length, layout->width[i], out);
	if (color)
		add_style(layout, PLAIN, out);
	if (column->type == SS_COLUMN_TEXT && !is_last)
		pad(out, width, layout->width[i]);
}

static void add_heading(const struct layout *layout, struct ss_text *out)
{
	const struct ss_view *view = layout->table->view;
	uint32_t last = last_shown(layout);
	const char *gap = "";
	char name[64];

	add_style(layout, DIM, out);
	for (uint32_t i = 0; i < view->column_count; i++) {
		size_t length;

		if (!layout->shown[i] || (view->columns[i].flags & SS_COLUMN_WRAP))
			continue;
		ss_text_add_string(out, gap);
		gap = "  ";
		length = heading(&view->columns[i], name, sizeof(name));
		if (view->columns[i].type != SS_COLUMN_TEXT)
			pad(out, length, layout->width[i]);
		ss_text_add(out, name, length);
		if (view->columns[i].type == SS_COLUMN_TEXT && i != last)
			pad(out, length, layout->width[i]);
	}
	add_style(layout, PLAIN, out);
	ss_text_add_string(out, "\n");
}

/* One row, the wrapped column on lines of its own below it. */
static void add_row(const struct layout *layout, uint32_t row, struct ss_text *scratch,
		    struct ss_text *out)
{
	const struct ss_view *view = layout->table->view;
	uint32_t last = last_shown(layout), wrapped = COLUMNS_MAX;
	const char *gap = "";

	for (uint32_t i = 0; i < view->column_count; i++) {
		if (!layout->shown[i])
			continue;
		if (view->columns[i].flags & SS_COLUMN_WRAP) {
			wrapped = i;
			continue;
		}
		ss_text_add_string(out, gap);
		add_cell(layout, row, i, i == last, scratch, out);
		gap = "  ";
	}
	if (layout->bar != COLUMNS_MAX) {
		/* texts at the end of a row are not padded */
		if (view->columns[last].type == SS_COLUMN_TEXT)
			pad(out, cell_width(layout, row, last, scratch), layout->width[last]);
		add_bar(layout, row, out);
	}
	while (out->length && out->data[out->length - 1] == ' ')
		out->data[--out->length] = '\0';
	ss_text_add_string(out, "\n");
	if (wrapped != COLUMNS_MAX && !cell_at(layout, row, wrapped)->is_null) {
		const char *text = cell_at(layout, row, wrapped)->value.text;

		while (*text) {
			ss_text_add_string(out, "    ");
			text = add_wrapped(text, layout->options->width - 4, out);
			ss_text_add_string(out, "\n");
		}
	}
}

/* What is the same in all rows, said once. */
static void add_context(const struct layout *layout, struct ss_text *scratch, struct ss_text *out)
{
	const struct ss_view *view = layout->table->view;
	char name[64];

	for (uint32_t i = 0; i < view->column_count; i++) {
		const struct ss_cell *cell = cell_at(layout, 0, i);

		if (!(view->columns[i].flags & SS_COLUMN_CONTEXT) || layout->shown[i] ||
		    (view->columns[i].flags & SS_COLUMN_QUIET) || cell->is_null ||
		    !is_constant(layout, i))
			continue;
		heading(&view->columns[i], name, sizeof(name));
		scratch->length = 0;
		ss_render_cell(&view->columns[i], cell, scratch);
		ss_text_addf(out, "%s: %s\n", name, scratch->data);
	}
}

/* A single row of a wide table: one line a cell. */
static void add_list(const struct layout *layout, struct ss_text *scratch, struct ss_text *out)
{
	const struct ss_view *view = layout->table->view;
	size_t widest = 0;
	char name[64];

	for (uint32_t i = 0; i < view->column_count; i++) {
		size_t length = heading(&view->columns[i], name, sizeof(name));

		if (length > widest && !cell_at(layout, 0, i)->is_null)
			widest = length;
	}
	for (uint32_t i = 0; i < view->column_count; i++) {
		size_t length = heading(&view->columns[i], name, sizeof(name));

		if (cell_at(layout, 0, i)->is_null)
			continue;
		add_style(layout, DIM, out);
		ss_text_add(out, name, length);
		add_style(layout, PLAIN, out);
		pad(out, length, widest + GAP);
		scratch->length = 0;
		ss_render_cell(&view->columns[i], cell_at(layout, 0, i), scratch);
		add_shortened(scratch->data, scratch->length,
			      layout->options->width > widest + GAP + TEXT_WIDTH_MIN
				      ? layout->options->width - widest - GAP
				      : TEXT_WIDTH_MIN,
			      out);
		ss_text_add_string(out, "\n");
	}
}

static bool has_details(const struct ss_view *view)
{
	uint32_t details = 0;

	for (uint32_t i = 0; i < view->column_count; i++)
		details += (view->columns[i].flags & SS_COLUMN_DETAIL) != 0;
	return details > view->column_count / 2;
}

static void add_table(struct layout *layout, struct ss_text *scratch, struct ss_text *out)
{
	const struct ss_view *view = layout->table->view;

	measure(layout, scratch);
	for (uint32_t i = 0; i < view->column_count; i++)
		if (view->columns[i].flags & SS_COLUMN_WRAP)
			layout->width[i] = 0; /* it has lines of its own */
	fit_with_bar(layout);
	add_context(layout, scratch, out);
	add_heading(layout, out);
	for (uint32_t row = 0; row < layout->rows; row++)
		add_row(layout, row, scratch, out);
	if (layout->rows < layout->table->row_count)
		ss_text_addf(out, "(%u of %u rows; --top 0 shows all)\n", layout->rows,
			     layout->table->row_count);
	if (layout->left_out)
		ss_text_addf(out, "(%u column%s not fit; --format csv has all)\n", layout->left_out,
			     layout->left_out == 1 ? " does" : "s do");
}

/* What a reader must know before trusting a figure. */
static void add_trust(const struct ss_render_options *options, struct ss_text *out)
{
	const struct ss_trust *trust = &options->trust;

	if (!trust->lost && !trust->mended && !trust->unreadable_files)
		return;
	ss_text_add_string(out, "Data quality:");
	if (trust->unreadable_files)
		ss_text_addf(out, " %" PRIu64 " of %" PRIu64 " files unreadable,",
			     trust->unreadable_files, trust->files);
	ss_text_addf(out, " %" PRIu64 " lost, %" PRIu64 " mended; stepscope quality says what\n",
		     trust->lost, trust->mended);
}

static void add_notes(const struct ss_table *table, const struct ss_render_options *options,
		      struct ss_text *out)
{
	for (uint32_t i = 0; i < table->note_count; i++) {
		const char *text = table->notes[i];

		while (*text) {
			text = add_wrapped(text, options->width, out);
			ss_text_add_string(out, "\n");
		}
	}
}

static void text_table(const struct ss_table *table, const struct ss_render_options *options,
		       struct ss_text *out)
{
	struct layout layout = { .table = table, .options = options };
	struct ss_text scratch = { 0 };

	assert(table->view->column_count <= COLUMNS_MAX);
	layout.rows = ss_render_rows(table, options);
	ss_text_add_string(&scratch, "");
	if (!layout.rows)
		ss_text_addf(out, "%s\n", table->view->empty);
	else if (table->row_count == 1 && has_details(table->view))
		add_list(&layout, &scratch, out);
	else
		add_table(&layout, &scratch, out);
	add_notes(table, options, out);
	ss_text_release(&scratch);
}

static void text_view(const struct ss_table *table, const struct ss_render_options *options,
		      struct ss_text *out)
{
	text_table(table, options, out);
	add_trust(options, out);
}

static void text_report(const struct ss_report_parts *parts,
			const struct ss_render_options *options, struct ss_text *out)
{
	ss_text_add_string(out, parts->headline);
	for (uint32_t i = 0; i < parts->table_count; i++) {
		const struct ss_table *table = &parts->tables[i];
		bool grouped = table->group && table->group != table->view->groups[0];

		ss_text_addf(out, "\n%s%s%s%s%s\n", options->color ? BOLD : "",
			     table->view->summary, grouped ? ", by " : "",
			     grouped ? table->group : "", options->color ? PLAIN : "");
		text_table(&parts->tables[i], options, out);
	}
	add_trust(options, out);
}

const struct ss_renderer ss_renderer_text = {
	.name = "text",
	.view = text_view,
	.report = text_report,
};
