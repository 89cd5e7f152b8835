/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arrange.c - filters, sorts and sums rows: a merge sort of row numbers, and a matcher without
 * recursion.
 */
#include "view/arrange.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"

/* If each rank has one row, there is nothing to cut. */
static bool has_rank_with_rows(const struct ss_table *table)
{
	for (uint32_t i = 1; i < table->row_count; i++)
		if (ss_table_same(table, 0, i, i - 1))
			return true;
	return false;
}

/* Rows of one rank so far, and how many of them stay. */
struct rank_cut {
	struct ss_cell rank;
	uint32_t of_rank, top;
};

static bool cell_is_same_rank(const struct ss_cell *a, const struct ss_cell *b)
{
	return a->is_null == b->is_null && (a->is_null || a->value.integer == b->value.integer);
}

static bool row_is_before_cut(const struct ss_table *table, uint32_t row, void *context)
{
	struct rank_cut *cut = context;
	struct ss_cell rank = ss_table_cell(table, row, 0);

	if (row && !cell_is_same_rank(&rank, &cut->rank))
		cut->of_rank = 0;
	cut->rank = rank;
	return cut->of_rank++ < cut->top;
}

void ss_view_keep_top(struct ss_table *table, uint32_t top)
{
	struct rank_cut cut = { .top = top };
	uint32_t count = table->row_count;

	if (!has_rank_with_rows(table))
		return;
	ss_table_filter(table, row_is_before_cut, &cut);
	table->uncut_count = count;
}

/* --- matching ------------------------------------------------------------------ */

/* The end of the character that begins here: UTF-8 has up to four bytes. */
static const char *after_letter(const char *text, const char *end)
{
	for (text++; text < end && ((unsigned char)*text & 0xc0) == 0x80;)
		text++;
	return text;
}

/* On a mismatch, only the last '*' has to take one more character. */
static bool matches_wildcards(const char *text, const char *end, const char *form)
{
	const char *star = NULL, *retry = NULL;

	while (text < end) {
		if (*form == '*') {
			star = form++;
			retry = text;
		} else if (*form == '?') {
			form++;
			text = after_letter(text, end);
		} else if (ss_char_lower(*form) == ss_char_lower(*text)) {
			form++;
			text++;
		} else if (star) {
			form = star + 1;
			text = retry = after_letter(retry, end);
		} else {
			return false;
		}
	}
	while (*form == '*')
		form++;
	return !*form;
}

/* Longer patterns are names of C++ functions with pointers: a '?' in them is literal. */
#define FORM_SHORT_MAX 256

static bool begins_with_part(const char *text, const char *end, const char *part, size_t length)
{
	return (size_t)(end - text) >= length && ss_text_search(text, length, part, length);
}

/* The same in linear time: finds the parts between the stars one after the other. */
static bool matches_long_wildcards(const char *text, const char *end, const char *form)
{
	size_t length = strcspn(form, "*");

	if (!begins_with_part(text, end, form, length))
		return false;
	text += length;
	for (form += length; *form; form += length) {
		const char *found;

		length = strcspn(++form, "*");
		if (!form[length])
			return (size_t)(end - text) >= length &&
			       begins_with_part(end - length, end, form, length);
		found = ss_text_search(text, (size_t)(end - text), form, length);
		if (!found)
			return false;
		text = found + length;
	}
	return text == end;
}

bool ss_view_pattern_matches(const char *pattern, const char *text, size_t length)
{
	size_t pattern_length = strlen(pattern);

	if (!strpbrk(pattern, "*?"))
		return ss_text_search(text, length, pattern, pattern_length) != NULL;
	return pattern_length > FORM_SHORT_MAX
		       ? matches_long_wildcards(text, text + length, pattern)
		       : matches_wildcards(text, text + length, pattern);
}

static bool column_is_searched(const struct ss_table *table, bool keys, uint32_t column)
{
	const struct ss_column *own = &table->view->columns[column];

	return ss_column_has_names(own) &&
	       (!keys || ss_view_column_role(table, column) == SS_ROLE_KEY);
}

struct row_search {
	const char *pattern;
	bool keys;
};

static bool row_matches_pattern(const struct ss_table *table, uint32_t row, void *context)
{
	const struct row_search *search = context;

	for (uint32_t i = 0; i < table->view->column_count; i++) {
		struct ss_cell cell;

		if (!column_is_searched(table, search->keys, i))
			continue;
		cell = ss_table_cell(table, row, i);
		if (!cell.is_null &&
		    ss_view_pattern_matches(search->pattern, cell.value.text, cell.length))
			return true;
	}
	return false;
}

static bool keep_matching_rows(struct ss_table *table, bool keys, const char *pattern)
{
	struct row_search search = { pattern, keys };
	bool searched = false;

	for (uint32_t i = 0; i < table->view->column_count; i++)
		searched |= column_is_searched(table, keys, i);
	if (searched)
		ss_table_filter(table, row_matches_pattern, &search);
	return searched;
}

bool ss_view_keep_matching(struct ss_table *table, const char *pattern)
{
	return keep_matching_rows(table, false, pattern);
}

bool ss_view_keep_keys(struct ss_table *table, const char *pattern)
{
	return keep_matching_rows(table, true, pattern);
}

static bool row_is_of_rank(const struct ss_table *table, uint32_t row, void *context)
{
	const int64_t *rank = context;

	return !ss_table_is_null(table, row, 0) && ss_table_int(table, row, 0) == *rank;
}

void ss_view_keep_rank(struct ss_table *table, int64_t rank)
{
	uint32_t had = table->row_count;

	ss_table_filter(table, row_is_of_rank, &rank);
	if (had && !table->row_count)
		table->empty = ss_table_print(table,
					      "No row is about rank %" PRId64
					      "; other ranks have %" PRIu32 ".",
					      rank, had);
}

struct device_filter {
	const char *device;
	uint32_t column;
};

static bool row_is_on_device(const struct ss_table *table, uint32_t row, void *context)
{
	const struct device_filter *only = context;
	struct ss_cell cell = ss_table_cell(table, row, only->column);

	return ss_cell_is_text(&cell, only->device);
}

void ss_view_keep_device(struct ss_table *table, const char *device)
{
	uint32_t columns = table->view->column_count;
	struct device_filter only = { device, 0 };

	while (only.column < columns &&
	       strcmp(table->view->columns[only.column].name, "device") != 0)
		only.column++;
	if (only.column < columns)
		ss_table_filter(table, row_is_on_device, &only);
}

/* --- sorting ------------------------------------------------------------------- */

/* "total" names total_ns. */
static bool is_named_without_unit(const struct ss_column *column, const char *name)
{
	size_t stem = ss_column_stem(column->name);

	return stem == strlen(name) && memcmp(column->name, name, stem) == 0;
}

static enum ss_status sort_find_column(const struct ss_view *view, const char *name, uint32_t *out,
				       struct ss_error *err)
{
	char list[400] = "";

	for (*out = 0; *out < view->column_count; (*out)++)
		if (strcmp(view->columns[*out].name, name) == 0)
			return SS_OK;
	for (*out = 0; *out < view->column_count; (*out)++)
		if (is_named_without_unit(&view->columns[*out], name))
			return SS_OK;
	for (uint32_t i = 0; i < view->column_count; i++)
		ss_text_list(list, sizeof(list), view->columns[i].name);
	return ss_fail(err, SS_ERR_USAGE, "view '%s' has no column '%s'; its columns: %s",
		       view->name, name, list);
}

struct row_order {
	const struct ss_table *table;
	const struct ss_column *column;
	uint32_t index;
	bool turned;
};

static int row_compare_texts(const struct ss_cells *cells, uint32_t a, uint32_t b)
{
	const struct ss_dictionary *texts = &cells->texts;
	uint32_t x = (uint32_t)ss_cells_ids(cells)[a], y = (uint32_t)ss_cells_ids(cells)[b];
	uint32_t x_length, y_length;
	int sign;

	if (x == y)
		return 0;
	x_length = ss_dictionary_length(texts, x);
	y_length = ss_dictionary_length(texts, y);
	sign = memcmp(ss_dictionary_text(texts, x), ss_dictionary_text(texts, y),
		      x_length < y_length ? x_length : y_length);
	return sign ? sign : (x_length > y_length) - (x_length < y_length);
}

/* Whether row b sorts before row a. */
static bool row_is_before(const struct row_order *order, uint32_t b, uint32_t a)
{
	const struct ss_cells *cells = &order->table->cells[order->index];
	bool b_null = ss_cells_is_null(cells, b), a_null = ss_cells_is_null(cells, a);
	int sign;

	if (a_null || b_null)
		return a_null && !b_null;
	if (cells->is_text) {
		sign = row_compare_texts(cells, b, a);
	} else if (ss_column_has_fraction(order->column)) {
		double x = ss_cells_numbers(cells)[b], y = ss_cells_numbers(cells)[a];

		sign = (x < y) - (x > y);
	} else {
		int64_t x = ss_cells_integers(cells)[b], y = ss_cells_integers(cells)[a];

		sign = (x < y) - (x > y);
	}
	return order->turned ? sign > 0 : sign < 0;
}

/* Merges runs of `run` rows each. */
static void merge_row_runs(const struct row_order *order, const uint32_t *from, uint32_t *to,
			   uint32_t run)
{
	uint32_t count = order->table->row_count;

	for (uint32_t start = 0; start < count;) {
		uint32_t middle = count - start < run ? count : start + run;
		uint32_t end = count - middle < run ? count : middle + run;
		uint32_t left = start, right = middle;

		for (uint32_t i = start; i < end; i++)
			to[i] = right < end && (left == middle ||
						row_is_before(order, from[right], from[left]))
					? from[right++]
					: from[left++];
		start = end;
	}
}

/* The row numbers in sorted order: one of the halves of `rows`. */
static uint32_t *sort_row_numbers(const struct row_order *order, uint32_t *rows)
{
	uint32_t count = order->table->row_count;
	uint32_t *from = rows, *to = rows + count;

	for (uint32_t i = 0; i < count; i++)
		from[i] = i;
	for (uint64_t run = 1; run < count; run *= 2) {
		uint32_t *sorted = to;

		merge_row_runs(order, from, to, (uint32_t)run);
		to = from;
		from = sorted;
	}
	return from;
}

enum ss_status ss_view_sort_rows(struct ss_table *table, const char *column, struct ss_error *err)
{
	struct row_order order = { .table = table, .turned = column[0] == '-' };
	uint32_t *rows;

	SS_TRY(sort_find_column(table->view, column + order.turned, &order.index, err));
	if (!table->row_count)
		return SS_OK;
	order.column = &table->view->columns[order.index];
	if (!SS_ALLOC(table->arena, rows, (size_t)table->row_count * 2 + 1) ||
	    !ss_table_gather(table, sort_row_numbers(&order, rows)))
		return ss_fail_memory(err, "the table");
	return SS_OK;
}

/* --- totals --------------------------------------------------------------------------- */

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

bool ss_view_add_totals(struct ss_table *table)
{
	if (!columns_with_sums(table) || !table->row_count)
		return true;
	table->totals = totals_make_empty(table);
	for (uint32_t i = 0; table->totals && i < table->row_count; i++)
		totals_add_row(table, table->totals, i);
	return table->totals;
}

bool ss_view_rank_totals(const struct ss_table *table, struct ss_table *out)
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
