/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.c - joins the rows of two tables by a hash of what they are about.
 */
#include "view/arrange.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

/* Of each figure: both runs, and the change. */
#define FIGURE_COLUMNS 3

struct compared_row {
	uint64_t hash;
	uint32_t number; /* in its table */
	uint32_t run;    /* 0, 1 */
	uint32_t nth;    /* among the rows of its run with equal keys */
};

struct row_pair {
	uint32_t rows[2]; /* of each run; SS_NO_ROW: the run has none */
	uint32_t first;   /* number among the rows of both, to break ties */
	double weight;    /* size of the change in the main column */
};

struct run_pair {
	const struct ss_view *view; /* of both tables */
	const struct ss_table *runs[2];
	enum ss_view_column_role *roles;
	uint32_t main; /* column; UINT32_MAX: no figure */
};

/* --- what the columns are -------------------------------------------------------------- */

/* In views of one rank, the rank does not say what a row is about. */
static bool rows_have_rank(const struct ss_view *view)
{
	return !view->rankless && !ss_view_of_job(view);
}

static bool column_is_null(const struct ss_table *table, uint32_t column)
{
	for (uint32_t i = 0; i < table->row_count; i++)
		if (!ss_table_is_null(table, i, column))
			return false;
	return true;
}

static void compare_find_roles(const struct ss_table *a, const struct ss_table *b,
			       enum ss_view_column_role *roles)
{
	for (uint32_t i = 0; i < a->view->column_count; i++) {
		enum ss_view_column_role role = ss_view_column_role(a, i);

		if (role == SS_ROLE_NONE)
			role = ss_view_column_role(b, i);
		roles[i] = role;
	}
	if (a->view->rankless)
		return;
	roles[0] = rows_have_rank(a->view) || (column_is_null(a, 0) && column_is_null(b, 0))
			   ? SS_ROLE_NONE
			   : SS_ROLE_KEY;
}

static bool has_several_ranks(const struct ss_table *table)
{
	for (uint32_t i = 1; i < table->row_count; i++)
		if (!ss_table_same(table, 0, 0, i))
			return true;
	return false;
}

static bool figure_is_shown(const struct run_pair *versus, uint32_t column)
{
	return versus->roles[column] == SS_ROLE_FIGURE &&
	       !(versus->view->columns[column].flags & SS_COLUMN_DETAIL) &&
	       !(column_is_null(versus->runs[0], column) &&
		 column_is_null(versus->runs[1], column));
}

/* The first time that is shown, else the first figure. */
static uint32_t find_main_figure(const struct run_pair *versus)
{
	uint32_t main = UINT32_MAX;

	for (uint32_t i = versus->view->column_count; i-- > 0;) {
		bool is_time = versus->view->columns[i].type == SS_COLUMN_NS;

		if (figure_is_shown(versus, i) &&
		    (main == UINT32_MAX || is_time ||
		     versus->view->columns[main].type != SS_COLUMN_NS))
			main = i;
	}
	return main;
}

/* --- the view -------------------------------------------------------------------------- */

/* "total_ns" and "change" make "total_change_ns": the unit stays last. */
static const char *diff_column_name(struct ss_table *out, const char *name, const char *what)
{
	size_t stem = ss_column_stem(name);

	return ss_table_print(out, "%.*s_%s%s", (int)stem, name, what, name + stem);
}

static void diff_add_columns(struct ss_table *out, struct ss_column *columns,
			     const struct ss_column *from, bool shown)
{
	static const char *const what[] = { "a", "b", "change" };
	static const char *const about[] = { "first run", "second run", "second minus first" };

	for (uint32_t i = 0; i < FIGURE_COLUMNS; i++)
		columns[i] =
			(struct ss_column){ diff_column_name(out, from->name, what[i]), from->type,
					    ss_table_print(out, "%s: %s", about[i], from->about),
					    shown ? 0 : SS_COLUMN_DETAIL };
}

/* NULL: no memory. */
static struct ss_view *diff_make_view(const struct run_pair *versus, struct ss_table *out)
{
	const struct ss_view *from = versus->view;
	struct ss_view *view = SS_ARENA_NEW(out->arena, struct ss_view, 1);
	struct ss_column *columns = SS_ARENA_NEW(out->arena, struct ss_column,
						 from->column_count * FIGURE_COLUMNS + 1);

	if (!view || !columns)
		return NULL;
	*view = *from;
	view->column_count = 0;
	view->rankless = true;
	for (uint32_t i = 0; i < from->column_count; i++)
		if (versus->roles[i] == SS_ROLE_KEY)
			columns[view->column_count++] = from->columns[i];
	for (uint32_t i = 0; i < from->column_count; i++) {
		if (versus->roles[i] != SS_ROLE_FIGURE)
			continue;
		/* a terminal has space for one figure beside the keys */
		diff_add_columns(out, &columns[view->column_count], &from->columns[i],
				 i == versus->main);
		view->column_count += FIGURE_COLUMNS;
	}
	view->columns = columns;
	view->name = ss_table_print(out, "%s.diff", from->name);
	return view;
}

/* --- rows ------------------------------------------------------------------------------ */

SS_COMPARATOR(compared_row_by_hash, struct compared_row,
	      SS_ASCENDING(hash) SS_ASCENDING(run) SS_ASCENDING(number))

/* Rows with equal keys stand together: the first of both runs, then the second ... */
SS_COMPARATOR(compared_row_by_nth, struct compared_row,
	      SS_ASCENDING(hash) SS_ASCENDING(nth) SS_ASCENDING(run))

/* All rows of both runs, those to be paired side by side; NULL: no memory. */
static struct compared_row *compare_sort_rows(const struct run_pair *versus, struct ss_arena *arena,
					      uint32_t *count)
{
	size_t all = (size_t)versus->runs[0]->row_count + versus->runs[1]->row_count;
	struct compared_row *rows = all < UINT32_MAX
					    ? SS_ARENA_NEW(arena, struct compared_row, all + 1)
					    : NULL;

	*count = 0;
	for (uint32_t run = 0; rows && run < 2; run++)
		for (uint32_t i = 0; i < versus->runs[run]->row_count; i++)
			rows[(*count)++] = (struct compared_row){
				ss_view_row_hash(versus->runs[run], versus->roles, 0, i), i, run, 0
			};
	if (!rows)
		return NULL;
	SS_SORT(rows, *count, compared_row_by_hash);
	for (uint32_t i = 1; i < *count; i++)
		if (rows[i].hash == rows[i - 1].hash && rows[i].run == rows[i - 1].run)
			rows[i].nth = rows[i - 1].nth + 1;
	SS_SORT(rows, *count, compared_row_by_nth);
	return rows;
}

static double cell_as_number(const struct ss_column *column, const struct ss_cell *cell)
{
	if (cell->is_null)
		return 0;
	return ss_column_has_fraction(column) ? cell->value.number : (double)cell->value.integer;
}

/* The cell of a column in a run: null where the run has no such row. */
static struct ss_cell pair_cell(const struct run_pair *versus, const struct row_pair *pair,
				uint32_t run, uint32_t column)
{
	return pair->rows[run] == SS_NO_ROW
		       ? (struct ss_cell){ .is_null = true }
		       : ss_table_cell(versus->runs[run], pair->rows[run], column);
}

static void pair_weigh(const struct run_pair *versus, struct row_pair *pair)
{
	const struct ss_column *column;
	struct ss_cell a, b;

	if (versus->main == UINT32_MAX)
		return;
	column = &versus->view->columns[versus->main];
	a = pair_cell(versus, pair, 0, versus->main);
	b = pair_cell(versus, pair, 1, versus->main);
	pair->weight = cell_as_number(column, &b) - cell_as_number(column, &a);
	if (pair->weight < 0)
		pair->weight = -pair->weight;
}

SS_COMPARATOR(pair_by_weight, struct row_pair, SS_DESCENDING(weight) SS_ASCENDING(first))

/* Pairs the rows, the largest change of the main figure first; NULL: no memory. */
static struct row_pair *compare_make_pairs(const struct run_pair *versus, struct ss_arena *arena,
					   uint32_t *count)
{
	uint32_t rows_count;
	struct compared_row *rows = compare_sort_rows(versus, arena, &rows_count);
	struct row_pair *pairs = rows ? SS_ARENA_NEW(arena, struct row_pair, (size_t)rows_count + 1)
				      : NULL;

	*count = 0;
	for (uint32_t i = 0; pairs && i < rows_count; i++) {
		const struct compared_row *row = &rows[i];
		bool meets = i && row->hash == rows[i - 1].hash && row->nth == rows[i - 1].nth;
		struct row_pair *pair = meets ? &pairs[*count - 1] : &pairs[(*count)++];

		if (!meets) {
			pair->first = row->number + (row->run ? versus->runs[0]->row_count : 0);
			pair->rows[!row->run] = SS_NO_ROW;
		}
		pair->rows[row->run] = row->number;
	}
	for (uint32_t i = 0; pairs && i < *count; i++)
		pair_weigh(versus, &pairs[i]);
	if (pairs)
		SS_SORT(pairs, *count, pair_by_weight);
	return pairs;
}

/* --- cells ----------------------------------------------------------------------------- */

/* b - a, saturated. */
static int64_t difference_saturated(int64_t a, int64_t b)
{
	if (a < 0 ? b > INT64_MAX + a : b < INT64_MIN + a)
		return a < 0 ? INT64_MAX : INT64_MIN;
	return b - a;
}

static void diff_put_change(struct ss_table *out, const struct ss_column *column,
			    const struct ss_cell *a, const struct ss_cell *b, bool is_main)
{
	bool has_a = !a->is_null, has_b = !b->is_null;

	if (!(has_a && has_b) && !(is_main && (has_a || has_b)))
		ss_row_null(out);
	else if (ss_column_has_fraction(column))
		ss_row_number(out, cell_as_number(column, b) - cell_as_number(column, a));
	else
		ss_row_int(out, difference_saturated(has_a ? a->value.integer : 0,
						     has_b ? b->value.integer : 0));
}

static void diff_add_row(const struct run_pair *versus, const struct row_pair *pair,
			 struct ss_table *out)
{
	const struct ss_view *view = versus->view;
	uint32_t run = pair->rows[0] == SS_NO_ROW;

	ss_row_begin(out);
	for (uint32_t i = 0; i < view->column_count; i++)
		if (versus->roles[i] == SS_ROLE_KEY) {
			struct ss_cell key = pair_cell(versus, pair, run, i);

			ss_row_cell(out, &key);
		}
	for (uint32_t i = 0; i < view->column_count; i++) {
		struct ss_cell a, b;

		if (versus->roles[i] != SS_ROLE_FIGURE)
			continue;
		a = pair_cell(versus, pair, 0, i);
		b = pair_cell(versus, pair, 1, i);
		ss_row_cell(out, &a);
		ss_row_cell(out, &b);
		diff_put_change(out, &view->columns[i], &a, &b, i == versus->main);
	}
	ss_row_end(out);
}

/* Adds the notes that `out` does not have yet. */
static void diff_add_notes(const struct ss_table *from, struct ss_table *out)
{
	for (uint32_t i = 0; i < from->note_count; i++) {
		bool known = out->note_count == SS_NOTES_MAX;

		for (uint32_t k = 0; k < out->note_count; k++)
			known = known || strcmp(out->notes[k], from->notes[i]) == 0;
		if (!known)
			out->notes[out->note_count++] = from->notes[i];
	}
}

static bool compare_runs(struct run_pair *versus, struct ss_table *out)
{
	const struct ss_view *view;
	struct row_pair *pairs;
	uint32_t count;

	versus->main = find_main_figure(versus);
	pairs = compare_make_pairs(versus, out->arena, &count);
	view = diff_make_view(versus, out);
	if (!pairs || !view || out->failed)
		return false;
	out->view = view;
	out->group = versus->runs[0]->group;
	for (uint32_t i = 0; i < count; i++)
		diff_add_row(versus, &pairs[i], out);
	diff_add_notes(versus->runs[0], out);
	diff_add_notes(versus->runs[1], out);
	return !out->failed;
}

/* The roles of a table of medians: keys first, then figures. */
static enum ss_view_column_role *median_roles(const struct ss_table *table,
					      const enum ss_view_column_role *roles,
					      const struct ss_view *medians)
{
	enum ss_view_column_role *out = SS_ARENA_NEW(table->arena, enum ss_view_column_role,
						     medians->column_count + 1);
	uint32_t keys = 0;

	for (uint32_t i = 1; i < table->view->column_count; i++)
		keys += roles[i] == SS_ROLE_KEY;
	for (uint32_t i = 0; out && i < medians->column_count; i++)
		out[i] = i < keys ? SS_ROLE_KEY : SS_ROLE_FIGURE;
	return out;
}

/* Of several ranks, the medians are compared. */
static bool compare_medians(const struct ss_table *a, const struct ss_table *b,
			    const enum ss_view_column_role *roles, struct ss_table *out)
{
	struct ss_table medians[2] = { 0 };
	struct run_pair versus = { .runs = { &medians[0], &medians[1] } };
	bool whole = ss_view_rank_medians(a, roles, &medians[0]) &&
		     ss_view_rank_medians(b, roles, &medians[1]);

	versus.view = medians[0].view;
	versus.roles = whole ? median_roles(a, roles, versus.view) : NULL;
	whole = versus.roles && compare_runs(&versus, out);
	ss_table_release(&medians[0]);
	ss_table_release(&medians[1]);
	return whole;
}

bool ss_view_compare_runs(const struct ss_table *a, const struct ss_table *b, struct ss_table *out)
{
	struct run_pair versus = { .view = a->view, .runs = { a, b } };

	assert(a->view == b->view);
	ss_table_init(out, a->view, a->arena);
	if (!SS_ALLOC(a->arena, versus.roles, a->view->column_count + 1))
		return false;
	compare_find_roles(a, b, versus.roles);
	if (rows_have_rank(a->view) && (has_several_ranks(a) || has_several_ranks(b)))
		return compare_medians(a, b, versus.roles, out);
	return compare_runs(&versus, out);
}

/* A change of less than one part in 200 of the largest is noise beside it. */
#define LISTED_SHARE 200

void ss_view_hide_unchanged(struct ss_table *table)
{
	const struct ss_view *view = table->view;
	uint32_t rows = table->row_count, main = 0;
	int64_t largest, least;

	while (main < view->column_count && ((view->columns[main].flags & SS_COLUMN_DETAIL) ||
					     !strstr(view->columns[main].name, "_change_ns")))
		main++;
	if (main == view->column_count || !rows)
		return;
	largest = ss_table_is_null(table, 0, main) ? 0 : llabs(ss_table_int(table, 0, main));
	/* a single row would be written as a list of all of its columns */
	least = largest ? 2 : 0;
	while (table->row_count > least && !ss_table_is_null(table, table->row_count - 1, main) &&
	       llabs(ss_table_int(table, table->row_count - 1, main)) <= largest / LISTED_SHARE)
		table->row_count--;
	if (table->row_count < rows)
		ss_table_note(table, "Not listed: %" PRIu32 " row%s with no or hardly any change.",
			      rows - table->row_count, rows - table->row_count == 1 ? "" : "s");
}
