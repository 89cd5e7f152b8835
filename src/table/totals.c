/* SPDX-License-Identifier: Apache-2.0 */
/*
 * totals.c - the sums of a table's rows, for the columns that the view declares.
 */
#include "table/totals.h"

/* Columns of the table that add up; NULL: none. */
static const char *sums_of(const struct ss_table *table)
{
	const struct ss_view *view = table->view;

	return view->nested & 1u << ss_view_group(view, table->group) ? NULL : view->sums;
}

/* Adds the row to the sums; what is not known adds nothing. */
static void add(const struct ss_view *view, struct ss_cell *sums, const struct ss_cell *row)
{
	for (uint32_t i = 0; i < view->column_count; i++) {
		const struct ss_column *column = &view->columns[i];
		int64_t *sum = &sums[i].value.integer;

		if (row[i].is_null || !ss_view_lists(view->sums, column->name))
			continue;
		if (sums[i].is_null)
			sums[i] = row[i];
		else if (ss_column_has_fraction(column))
			sums[i].value.number += row[i].value.number;
		else if (__builtin_add_overflow(*sum, row[i].value.integer, sum))
			*sum = row[i].value.integer > 0 ? INT64_MAX : INT64_MIN;
	}
}

static struct ss_cell *no_sums(const struct ss_table *table)
{
	struct ss_cell *sums = SS_ARENA_NEW(table->arena, struct ss_cell,
					    table->view->column_count);

	for (uint32_t i = 0; sums && i < table->view->column_count; i++)
		sums[i].is_null = true;
	return sums;
}

bool ss_table_add_up(struct ss_table *table)
{
	size_t width = table->view->column_count;

	if (!sums_of(table) || !table->row_count)
		return true;
	table->totals = no_sums(table);
	for (uint32_t i = 0; table->totals && i < table->row_count; i++)
		add(table->view, table->totals, &table->cells[i * width]);
	return table->totals;
}

static bool is_same_rank(const struct ss_cell *a, const struct ss_cell *b)
{
	return a->is_null ? b->is_null : !b->is_null && a->value.integer == b->value.integer;
}

/* Cells of the sums, as a row of the table. */
static void put(struct ss_table *out, const struct ss_cell *rank, const struct ss_cell *sums)
{
	out->rank = rank->is_null ? -1 : rank->value.integer;
	ss_row_begin(out);
	for (uint32_t i = 1; i < out->view->column_count; i++) {
		if (sums[i].is_null)
			ss_row_null(out);
		else if (ss_column_has_fraction(&out->view->columns[i]))
			ss_row_number(out, sums[i].value.number);
		else
			ss_row_int(out, sums[i].value.integer);
	}
	ss_row_end(out);
}

bool ss_table_rank_sums(const struct ss_table *table, struct ss_table *out)
{
	size_t width = table->view->column_count;

	ss_table_init(out, table->view, table->arena);
	for (uint32_t from = 0, to; sums_of(table) && from < table->row_count; from = to) {
		const struct ss_cell *rank = &table->cells[from * width];
		struct ss_cell *sums = no_sums(table);

		if (!sums)
			return false;
		for (to = from; to < table->row_count; to++) {
			if (!is_same_rank(rank, &table->cells[to * width]))
				break;
			add(table->view, sums, &table->cells[to * width]);
		}
		put(out, rank, sums);
	}
	return !out->failed;
}
