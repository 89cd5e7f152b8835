/* SPDX-License-Identifier: Apache-2.0 */
/*
 * totals.c - the sums of a table's rows, for the columns that the view declares.
 */
#include "view/totals.h"

/* Columns of the table that add up; NULL: none. */
static const char *columns_with_sums(const struct ss_table *table)
{
	const struct ss_view *view = table->view;

	return view->nested & 1u << ss_view_group(view, table->group) ? NULL : view->sums;
}

/* Adds the row to the sums; nulls add nothing. */
static void totals_add_row(const struct ss_table *table, struct ss_cell *sums, uint32_t row)
{
	const struct ss_view *view = table->view;

	for (uint32_t i = 0; i < view->column_count; i++) {
		int64_t *sum = &sums[i].value.integer, more;

		if (ss_table_is_null(table, row, i) ||
		    !ss_view_lists(view->sums, view->columns[i].name))
			continue;
		if (sums[i].is_null) {
			sums[i] = ss_table_cell(table, row, i);
		} else if (ss_column_has_fraction(&view->columns[i])) {
			sums[i].value.number += ss_table_number(table, row, i);
		} else {
			more = ss_table_int(table, row, i);
			if (__builtin_add_overflow(*sum, more, sum))
				*sum = more > 0 ? INT64_MAX : INT64_MIN;
		}
	}
}

static struct ss_cell *totals_make_empty(const struct ss_table *table)
{
	struct ss_cell *sums = SS_ARENA_NEW(table->arena, struct ss_cell,
					    table->view->column_count);

	for (uint32_t i = 0; sums && i < table->view->column_count; i++)
		sums[i].is_null = true;
	return sums;
}

bool ss_table_add_up(struct ss_table *table)
{
	if (!columns_with_sums(table) || !table->row_count)
		return true;
	table->totals = totals_make_empty(table);
	for (uint32_t i = 0; table->totals && i < table->row_count; i++)
		totals_add_row(table, table->totals, i);
	return table->totals;
}

bool ss_table_rank_sums(const struct ss_table *table, struct ss_table *out)
{
	ss_table_init(out, table->view, table->arena);
	for (uint32_t from = 0, to; columns_with_sums(table) && from < table->row_count;
	     from = to) {
		struct ss_cell *sums = totals_make_empty(table);

		if (!sums)
			return false;
		for (to = from; to < table->row_count && ss_table_same(table, 0, from, to); to++)
			totals_add_row(table, sums, to);
		out->rank = ss_table_is_null(table, from, 0) ? -1 : ss_table_int(table, from, 0);
		ss_row_begin(out);
		for (uint32_t i = 1; i < table->view->column_count; i++)
			ss_row_cell(out, &sums[i]);
		ss_row_end(out);
	}
	return !out->failed;
}
