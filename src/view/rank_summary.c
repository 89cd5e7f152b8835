/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_summary.c - sorts rows by what they are about, then summarizes each figure.
 */
#include <string.h>

#include "base/hash/hash.h"
#include "base/sort.h"
#include "view/arrange.h"

/* Of each figure: minimum, median, maximum, and the rank with the maximum. */
#define FIGURE_COLUMNS 4

/* Further figures are details: a terminal has no space for them. */
#define FIGURES_SHOWN 2

/* An id that never changes within a rank (its device) does not distinguish rows. */
static bool column_is_fixed(const struct ss_table *table, uint32_t column)
{
	for (uint32_t i = 1; i < table->row_count; i++)
		if ((table->schema->rankless ||
		     ss_table_int(table, i - 1, 0) == ss_table_int(table, i, 0)) &&
		    !ss_table_same(table, column, i - 1, i))
			return false;
	return true;
}

enum ss_view_column_role ss_view_column_role(const struct ss_table *table, uint32_t column)
{
	const struct ss_column *own = &table->view->columns[column];

	if ((own->flags & SS_COLUMN_EVIDENCE) &&
	    !(table->group && strcmp(table->group, own->name) == 0))
		return SS_ROLE_NONE;
	if (own->flags & SS_COLUMN_ABOUT)
		return SS_ROLE_KEY;
	switch (own->type) {
	case SS_COLUMN_TEXT:
		return SS_ROLE_KEY;
	case SS_COLUMN_ID:
		return column_is_fixed(table, column) ? SS_ROLE_NONE : SS_ROLE_KEY;
	default:
		return SS_ROLE_FIGURE;
	}
}

struct rank_summary {
	const struct ss_table *table;
	const enum ss_view_column_role *roles; /* of the columns */
	bool medians;                          /* only the median of each figure */
	uint32_t *figures;                     /* columns, those that rows are ordered by first */
	uint32_t figure_count;
	uint32_t order_count; /* of the figures: those that rows are ordered by */
};

static void summary_list_figure(struct rank_summary *across, uint32_t column)
{
	for (uint32_t i = 0; i < across->figure_count; i++)
		if (across->figures[i] == column)
			return;
	across->figures[across->figure_count++] = column;
}

/* Medians keep the order of their columns; a summary begins with the columns of `order`. */
static bool summary_list_figures(struct rank_summary *across)
{
	const struct ss_table *table = across->table;
	const struct ss_view *view = table->view;
	bool ordered = !across->medians &&
		       ss_view_is_ordered(view, ss_view_group(view, table->group));

	if (!SS_ALLOC(table->arena, across->figures, view->column_count))
		return false;
	for (uint32_t k = 0; ordered && k < SS_ORDER_MAX && view->order[k]; k++)
		for (uint32_t i = 1; i < view->column_count; i++)
			if (across->roles[i] == SS_ROLE_FIGURE &&
			    strcmp(view->columns[i].name, view->order[k]) == 0)
				summary_list_figure(across, i);
	across->order_count = across->figure_count;
	for (uint32_t i = 1; i < view->column_count; i++)
		if (across->roles[i] == SS_ROLE_FIGURE)
			summary_list_figure(across, i);
	return true;
}

/* "total_ns" and "min" make "total_min_ns": the unit stays last. */
static const char *summary_column_name(struct ss_table *out, const char *name, const char *what)
{
	size_t stem = ss_column_stem(name);

	return ss_table_print(out, "%.*s_%s%s", (int)stem, name, what, name + stem);
}

/* A rank has no unit: "total_worst"; if the view also has total_percent, "total_ns_worst". */
static const char *summary_worst_name(struct ss_table *out, const struct ss_view *view,
				      const struct ss_column *from)
{
	size_t stem = ss_column_stem(from->name);

	for (uint32_t i = 0; i < view->column_count; i++) {
		const char *name = view->columns[i].name;

		if (&view->columns[i] != from && ss_column_stem(name) == stem &&
		    memcmp(name, from->name, stem) == 0)
			stem = strlen(from->name);
	}
	return ss_table_print(out, "%.*s_worst", (int)stem, from->name);
}

static void summary_add_columns(struct ss_table *out, const struct ss_view *view,
				struct ss_column *columns, const struct ss_column *from, bool shown)
{
	unsigned detail = shown ? 0 : SS_COLUMN_DETAIL;

	columns[0] = (struct ss_column){ summary_column_name(out, from->name, "min"), from->type,
					 ss_table_print(out, "minimum: %s", from->about),
					 SS_COLUMN_DETAIL };
	columns[1] = (struct ss_column){ summary_column_name(out, from->name, "median"), from->type,
					 ss_table_print(out, "median: %s", from->about), detail };
	columns[2] = (struct ss_column){ summary_column_name(out, from->name, "max"), from->type,
					 ss_table_print(out, "maximum: %s", from->about), detail };
	columns[3] = (struct ss_column){ summary_worst_name(out, view, from), SS_COLUMN_ID,
					 "rank with the maximum", detail };
}

/* Nothing to compare: null or 0 in all rows. */
static bool column_is_zero(const struct ss_table *table, uint32_t column)
{
	bool fraction = ss_column_has_fraction(&table->view->columns[column]);

	for (uint32_t i = 0; i < table->row_count; i++)
		if (!ss_table_is_null(table, i, column) &&
		    (fraction ? ss_table_number(table, i, column) != 0
			      : ss_table_int(table, i, column) != 0))
			return false;
	return true;
}

/* The columns of the new view; NULL: no memory. */
static struct ss_view *summary_make_view(const struct rank_summary *across, struct ss_table *out)
{
	const struct ss_table *table = across->table;
	const struct ss_view *from = table->view;
	struct ss_view *view = SS_ARENA_NEW(table->arena, struct ss_view, 1);
	struct ss_column *columns = SS_ARENA_NEW(table->arena, struct ss_column,
						 from->column_count * FIGURE_COLUMNS + 1);
	uint32_t figures = 0;

	if (!view || !columns)
		return NULL;
	*view = *from;
	view->column_count = 0;
	view->rankless = true;
	for (uint32_t i = 1; i < from->column_count; i++)
		if (across->roles[i] == SS_ROLE_KEY) {
			columns[view->column_count] = from->columns[i];
			columns[view->column_count++].flags &= ~(unsigned)SS_COLUMN_BAR;
		}
	if (!across->medians)
		columns[view->column_count++] = (struct ss_column){ "ranks", SS_COLUMN_COUNT,
								    "number of ranks that have it",
								    SS_COLUMN_CONTEXT };
	for (uint32_t i = 0; i < across->figure_count; i++) {
		const struct ss_column *figure = &from->columns[across->figures[i]];
		/* times and shares are compared first */
		bool shown = !(figure->flags & SS_COLUMN_DETAIL) &&
			     figure->type != SS_COLUMN_COUNT &&
			     !column_is_zero(table, across->figures[i]);

		if (across->medians) {
			columns[view->column_count++] = *figure;
			continue;
		}
		summary_add_columns(out, from, &columns[view->column_count], figure,
				    shown && figures < FIGURES_SHOWN);
		view->column_count += FIGURE_COLUMNS;
		figures += shown;
	}
	view->columns = columns;
	if (!across->medians)
		view->name = ss_table_print(out, "%s.ranks", from->name);
	return view;
}

/* --- rows ------------------------------------------------------------------------------ */

struct summary_row {
	uint64_t hash;
	uint32_t number;
	uint32_t nth;   /* among the rows of its rank with equal keys, from 0 */
	uint32_t first; /* the first row with equal keys and the same nth */
};

uint64_t ss_view_row_hash(const struct ss_table *table, const enum ss_view_column_role *roles,
			  uint32_t first, uint32_t row)
{
	uint64_t hash = SS_HASH_SEED;

	for (uint32_t i = first; i < table->view->column_count; i++) {
		struct ss_cell cell;

		if (roles[i] != SS_ROLE_KEY)
			continue;
		cell = ss_table_cell(table, row, i);
		hash = ss_hash_mix(hash, cell.is_null);
		if (cell.is_null)
			continue;
		/* the bits of a double, too */
		hash = ss_hash_mix(hash, table->cells[i].is_text
						 ? ss_hash_bytes(cell.value.text, cell.length)
						 : (uint64_t)cell.value.integer);
	}
	return hash;
}

SS_COMPARATOR(summary_row_by_hash, struct summary_row, SS_ASCENDING(hash) SS_ASCENDING(number))

SS_COMPARATOR(summary_row_by_nth, struct summary_row,
	      SS_ASCENDING(hash) SS_ASCENDING(nth) SS_ASCENDING(number))

SS_COMPARATOR(summary_row_by_first, struct summary_row, SS_ASCENDING(first) SS_ASCENDING(number))

/* Whether two rows are of one rank; rows of unknown rank are of different files. */
static bool rows_same_rank(const struct ss_table *table, uint32_t a, uint32_t b)
{
	return !ss_table_is_null(table, a, 0) && ss_table_same(table, 0, a, b);
}

/* The rows, those with equal keys together; NULL: no memory. */
static struct summary_row *summary_sort_rows(const struct rank_summary *across)
{
	const struct ss_table *table = across->table;
	struct summary_row *rows = SS_ARENA_NEW(table->arena, struct summary_row,
						(size_t)table->row_count + 1);

	for (uint32_t i = 0; rows && i < table->row_count; i++)
		rows[i] = (struct summary_row){ ss_view_row_hash(table, across->roles, 1, i), i, 0,
						i };
	if (!rows)
		return NULL;
	SS_SORT(rows, table->row_count, summary_row_by_hash);
	for (uint32_t i = 1; i < table->row_count; i++)
		if (rows[i].hash == rows[i - 1].hash &&
		    rows_same_rank(table, rows[i].number, rows[i - 1].number))
			rows[i].nth = rows[i - 1].nth + 1;
	SS_SORT(rows, table->row_count, summary_row_by_nth);
	for (uint32_t i = 1; i < table->row_count; i++)
		if (rows[i].hash == rows[i - 1].hash && rows[i].nth == rows[i - 1].nth)
			rows[i].first = rows[i - 1].first;
	SS_SORT(rows, table->row_count, summary_row_by_first);
	return rows;
}

/* --- figures ---------------------------------------------------------------------------- */

struct rank_value {
	double number;   /* to compare ... */
	int64_t integer; /* ... where doubles are too coarse: moments in ns; 0 with fractions */
	uint32_t row;
};

SS_COMPARATOR(rank_value_compare, struct rank_value,
	      SS_ASCENDING(number) SS_ASCENDING(integer) SS_ASCENDING(row))

/* Appends the cell of another table. */
static void put_cell_of(struct ss_table *out, const struct ss_table *from, uint32_t row,
			uint32_t column)
{
	struct ss_cell cell = ss_table_cell(from, row, column);

	ss_row_cell(out, &cell);
}

/* Minimum, median, maximum and its rank; of several ranks with the maximum, the first. */
static void summary_put_figure(const struct rank_summary *across, const struct summary_row *rows,
			       uint32_t count, uint32_t column, struct rank_value *values,
			       struct ss_table *out)
{
	const struct ss_table *table = across->table;
	bool fraction = ss_column_has_fraction(&table->view->columns[column]);
	uint32_t known = 0, most;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t row = rows[i].number;
		int64_t integer = fraction ? 0 : ss_table_int(table, row, column);

		if (!ss_table_is_null(table, row, column))
			values[known++] = (struct rank_value){
				fraction ? ss_table_number(table, row, column) : (double)integer,
				integer, row
			};
	}
	if (!known) {
		ss_row_nulls(out, across->medians ? 1 : FIGURE_COLUMNS);
		return;
	}
	SS_SORT(values, known, rank_value_compare);
	if (across->medians) {
		put_cell_of(out, table, values[(known - 1) / 2].row, column);
		return;
	}
	put_cell_of(out, table, values[0].row, column);
	put_cell_of(out, table, values[(known - 1) / 2].row, column);
	most = known - 1;
	while (most && values[most - 1].number == values[known - 1].number &&
	       values[most - 1].integer == values[known - 1].integer)
		most--;
	put_cell_of(out, table, values[most].row, column);
	if (ss_table_is_null(table, values[most].row, 0))
		ss_row_null(out);
	else
		ss_row_int_known(out, ss_table_int(table, values[most].row, 0));
}

/* The number of ranks; rows of unknown rank are of different files. */
static uint32_t summary_count_ranks(const struct ss_table *table, const struct summary_row *rows,
				    uint32_t count)
{
	uint32_t ranks = 0;

	for (uint32_t i = 0; i < count; i++)
		ranks += !i || !rows_same_rank(table, rows[i].number, rows[i - 1].number);
	return ranks;
}

static void rank_summary_add_row(const struct rank_summary *across, const struct summary_row *rows,
				 uint32_t count, struct rank_value *values, struct ss_table *out)
{
	const struct ss_table *table = across->table;
	const struct ss_view *view = table->view;

	ss_row_begin(out);
	for (uint32_t i = 1; i < view->column_count; i++)
		if (across->roles[i] == SS_ROLE_KEY)
			put_cell_of(out, table, rows[0].number, i);
	if (!across->medians)
		ss_row_int(out, summary_count_ranks(table, rows, count));
	for (uint32_t i = 0; i < across->figure_count; i++)
		summary_put_figure(across, rows, count, across->figures[i], values, out);
	ss_row_end(out);
}

/* Sorts rows by the medians of the columns of `order`; sorts are stable, the first comes last. */
static bool summary_order_rows(const struct rank_summary *across, struct ss_table *out)
{
	struct ss_error err;

	for (uint32_t i = across->order_count; i-- > 0;) {
		const char *name = across->table->view->columns[across->figures[i]].name;
		const char *median = summary_column_name(out, name, "median");

		if (out->failed || ss_view_sort_rows(out, median, &err) != SS_OK)
			return false;
	}
	return true;
}

/* The totals: for each figure that adds up, the summary of the sums of the ranks. */
static bool summary_add_totals(const struct rank_summary *across, struct rank_value *values,
			       struct ss_table *out)
{
	struct rank_summary of = *across;
	struct ss_table sums;
	struct summary_row *rows;
	bool whole = ss_view_rank_totals(across->table, &sums);

	rows = SS_ARENA_NEW(out->arena, struct summary_row, (size_t)sums.row_count + 1);
	out->totals = SS_ARENA_NEW(out->arena, struct ss_cell, out->view->column_count);
	whole = whole && rows && out->totals;
	for (uint32_t i = 0; whole && i < sums.row_count; i++)
		rows[i].number = i;
	of.table = &sums;
	if (whole && sums.row_count)
		rank_summary_add_row(&of, rows, sums.row_count, values, out);
	whole = whole && !out->failed;
	if (whole && sums.row_count) {
		for (uint32_t i = 0; i < out->view->column_count; i++)
			out->totals[i] = ss_table_cell(out, out->row_count - 1, i);
		ss_table_shorten(out, out->row_count - 1);
	} else {
		out->totals = NULL;
	}
	ss_table_release(&sums);
	return whole;
}

/* Fills `out`, a table of the same view so far. */
static bool summarize_ranks(struct rank_summary *across, struct ss_table *out)
{
	const struct ss_table *table = across->table;
	struct rank_value *values;
	struct summary_row *rows = summary_sort_rows(across);
	struct ss_view *view = summary_list_figures(across) ? summary_make_view(across, out) : NULL;

	if (!SS_ALLOC(table->arena, values, (size_t)table->row_count + 1) || !view || !rows ||
	    out->failed)
		return false;
	out->view = view;
	out->group = table->group;
	out->basis = table->basis;
	out->figures = table->figures;
	out->lead = table->lead;
	for (uint32_t i = 0; i < table->note_count; i++)
		out->notes[out->note_count++] = table->notes[i];
	for (uint32_t from = 0, to; from < table->row_count; from = to) {
		for (to = from + 1; to < table->row_count && rows[to].first == rows[from].first;)
			to++;
		rank_summary_add_row(across, rows + from, to - from, values, out);
	}
	if (table->view->sums && !across->medians && !summary_add_totals(across, values, out))
		return false;
	return summary_order_rows(across, out) && !out->failed;
}

bool ss_view_summarize_ranks(const struct ss_table *table, struct ss_table *out)
{
	enum ss_view_column_role *roles = SS_ARENA_NEW(table->arena, enum ss_view_column_role,
						       table->view->column_count);
	struct rank_summary across = { .table = table, .roles = roles };

	ss_table_init(out, table->view, table->arena);
	for (uint32_t i = 1; roles && i < table->view->column_count; i++)
		roles[i] = ss_view_column_role(table, i);
	return roles && summarize_ranks(&across, out);
}

bool ss_view_rank_medians(const struct ss_table *table, const enum ss_view_column_role *roles,
			  struct ss_table *out)
{
	struct rank_summary across = { .table = table, .roles = roles, .medians = true };

	ss_table_init(out, table->view, table->arena);
	return summarize_ranks(&across, out);
}
