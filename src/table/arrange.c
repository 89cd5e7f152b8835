/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arrange.c - a merge sort of row numbers, and a matcher without recursion.
 */
#include <string.h>

#include "base/find_part.h"
#include "base/text.h"
#include "table/arrange.h"
#include "table/rank_summary.h"

static bool same_rank(const struct ss_cell *a, const struct ss_cell *b)
{
	return a->is_null == b->is_null && (a->is_null || a->value.integer == b->value.integer);
}

/* Where each rank has one row there is nothing to cut of a rank. */
static bool has_rank_of_several(const struct ss_table *table)
{
	size_t width = table->view->column_count;

	for (uint32_t i = 1; i < table->row_count; i++)
		if (same_rank(&table->cells[i * width], &table->cells[(i - 1) * width]))
			return true;
	return false;
}

void ss_table_cut(struct ss_table *table, uint32_t top)
{
	size_t width = table->view->column_count;
	uint32_t kept = 0, of_rank = 0;
	struct ss_cell rank = { 0 };

	if (!has_rank_of_several(table))
		return;
	for (uint32_t i = 0; i < table->row_count; i++) {
		const struct ss_cell *cells = &table->cells[i * width];

		if (i && !same_rank(cells, &rank))
			of_rank = 0;
		rank = cells[0];
		if (of_rank++ < top)
			memmove(&table->cells[kept++ * width], cells, width * sizeof(*cells));
	}
	table->uncut_count = table->row_count;
	table->row_count = kept;
}

/* --- matching ------------------------------------------------------------------ */

/* Behind one letter: those that are not ASCII have more bytes than one. */
static const char *after_letter(const char *text)
{
	for (text++; ((unsigned char)*text & 0xc0) == 0x80;)
		text++;
	return text;
}

/* After a '*' fails, only the last one has to be tried further on. */
static bool has_form(const char *text, const char *form)
{
	const char *star = NULL, *retry = NULL;

	while (*text) {
		if (*form == '*') {
			star = form++;
			retry = text;
		} else if (*form == '?') {
			form++;
			text = after_letter(text);
		} else if (ss_lower(*form) == ss_lower(*text)) {
			form++;
			text++;
		} else if (star) {
			form = star + 1;
			text = retry = after_letter(retry);
		} else {
			return false;
		}
	}
	while (*form == '*')
		form++;
	return !*form;
}

/* Longer forms are names that hold stars, as pointers do; a '?' in them is itself. */
#define FORM_SHORT_MAX 256

static bool begins_with(const char *text, const char *end, const char *part, size_t length)
{
	return (size_t)(end - text) >= length && ss_find_part(text, length, part, length);
}

/* The same for long ones, in linear time: what stands between stars is sought one by one. */
static bool has_long_form(const char *text, const char *form)
{
	const char *end = text + strlen(text);
	size_t length = strcspn(form, "*");

	if (!begins_with(text, end, form, length))
		return false;
	text += length;
	for (form += length; *form; form += length) {
		const char *found;

		length = strcspn(++form, "*");
		if (!form[length])
			return (size_t)(end - text) >= length &&
			       begins_with(end - length, end, form, length);
		found = ss_find_part(text, (size_t)(end - text), form, length);
		if (!found)
			return false;
		text = found + length;
	}
	return text == end;
}

bool ss_pattern_matches(const char *pattern, const char *text)
{
	size_t length = strlen(pattern);

	if (!strpbrk(pattern, "*?"))
		return ss_find_part(text, strlen(text), pattern, length) != NULL;
	return length > FORM_SHORT_MAX ? has_long_form(text, pattern) : has_form(text, pattern);
}

static bool is_searched(const struct ss_table *table, bool keys, uint32_t column)
{
	const struct ss_column *own = &table->view->columns[column];

	return ss_column_has_names(own) && (!keys || ss_column_role(table, column) == SS_ROLE_KEY);
}

static bool matches(const struct ss_table *table, bool keys, uint32_t row, const char *pattern)
{
	uint32_t width = table->view->column_count;

	for (uint32_t i = 0; i < width; i++) {
		const struct ss_cell *cell = ss_table_cell(table, row, i, width);

		if (is_searched(table, keys, i) && !cell->is_null &&
		    ss_pattern_matches(pattern, cell->value.text))
			return true;
	}
	return false;
}

static bool keep(struct ss_table *table, bool keys, const char *pattern)
{
	size_t width = table->view->column_count;
	bool searched = false;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < width; i++)
		searched |= is_searched(table, keys, i);
	for (uint32_t i = 0; searched && i < table->row_count; i++)
		if (matches(table, keys, i, pattern))
			memmove(&table->cells[kept++ * width], &table->cells[i * width],
				width * sizeof(*table->cells));
	if (searched)
		table->row_count = kept;
	return searched;
}

bool ss_table_keep(struct ss_table *table, const char *pattern)
{
	return keep(table, false, pattern);
}

bool ss_table_keep_keys(struct ss_table *table, const char *pattern)
{
	return keep(table, true, pattern);
}

void ss_table_keep_rank(struct ss_table *table, int64_t rank)
{
	size_t width = table->view->column_count;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < table->row_count; i++)
		if (!table->cells[i * width].is_null &&
		    table->cells[i * width].value.integer == rank)
			memmove(&table->cells[kept++ * width], &table->cells[i * width],
				width * sizeof(*table->cells));
	table->row_count = kept;
}

void ss_table_keep_device(struct ss_table *table, const char *device)
{
	uint32_t columns = table->view->column_count, at = 0, kept = 0;

	while (at < columns && strcmp(table->view->columns[at].name, "device") != 0)
		at++;
	if (at == columns)
		return;
	for (uint32_t row = 0; row < table->row_count; row++) {
		const struct ss_cell *cell = ss_table_cell(table, row, at, columns);

		if (cell->is_null || strcmp(cell->value.text, device) != 0)
			continue;
		memmove(&table->cells[(size_t)kept++ * columns],
			&table->cells[(size_t)row * columns], columns * sizeof(*table->cells));
	}
	table->row_count = kept;
}

/* --- sorting ------------------------------------------------------------------- */

/* "total" names total_ns. */
static bool is_named_without_unit(const struct ss_column *column, const char *name)
{
	size_t stem = ss_column_stem(column->name);

	return stem == strlen(name) && memcmp(column->name, name, stem) == 0;
}

static enum ss_status find_column(const struct ss_view *view, const char *name, uint32_t *out,
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
	return ss_fail(err, SS_ERR_USAGE, "view '%s' has no column '%s'; it has %s", view->name,
		       name, list);
}

struct order {
	const struct ss_table *table;
	const struct ss_column *column;
	uint32_t index;
	bool turned;
};

/* Whether row b has to stand before row a. */
static bool is_before(const struct order *order, uint32_t b, uint32_t a)
{
	uint32_t width = order->table->view->column_count;
	const struct ss_cell *x = ss_table_cell(order->table, b, order->index, width);
	const struct ss_cell *y = ss_table_cell(order->table, a, order->index, width);
	int sign;

	if (x->is_null || y->is_null)
		return y->is_null && !x->is_null;
	if (order->column->type == SS_COLUMN_TEXT)
		sign = strcmp(x->value.text, y->value.text);
	else if (ss_column_has_fraction(order->column))
		sign = (x->value.number < y->value.number) - (x->value.number > y->value.number);
	else
		sign = (x->value.integer < y->value.integer) -
		       (x->value.integer > y->value.integer);
	return order->turned ? sign > 0 : sign < 0;
}

/* Merges runs of `run` rows each. */
static void merge_runs(const struct order *order, const uint32_t *from, uint32_t *to, uint32_t run)
{
	uint32_t count = order->table->row_count;

	for (uint32_t start = 0; start < count;) {
		uint32_t middle = count - start < run ? count : start + run;
		uint32_t end = count - middle < run ? count : middle + run;
		uint32_t left = start, right = middle;

		for (uint32_t i = start; i < end; i++)
			to[i] = right < end && (left == middle ||
						is_before(order, from[right], from[left]))
					? from[right++]
					: from[left++];
		start = end;
	}
}

/* The numbers of the rows in their order; they lie in one half or the other of `rows`. */
static uint32_t *sort_rows(const struct order *order, uint32_t *rows)
{
	uint32_t count = order->table->row_count;
	uint32_t *from = rows, *to = rows + count;

	for (uint32_t i = 0; i < count; i++)
		from[i] = i;
	for (uint64_t run = 1; run < count; run *= 2) {
		uint32_t *sorted = to;

		merge_runs(order, from, to, (uint32_t)run);
		to = from;
		from = sorted;
	}
	return from;
}

enum ss_status ss_table_sort(struct ss_table *table, const char *column, struct ss_error *err)
{
	struct order order = { .table = table, .turned = column[0] == '-' };
	size_t width = table->view->column_count;
	struct ss_cell *cells;
	uint32_t *rows;

	SS_TRY(find_column(table->view, column + order.turned, &order.index, err));
	if (!table->row_count)
		return SS_OK;
	order.column = &table->view->columns[order.index];
	rows = SS_ARENA_NEW(table->arena, uint32_t, (size_t)table->row_count * 2 + 1);
	cells = SS_ARENA_NEW(table->arena, struct ss_cell, table->row_count * width + 1);
	if (!rows || !cells)
		return ss_fail_memory(err, "the table");
	rows = sort_rows(&order, rows);
	for (uint32_t i = 0; i < table->row_count; i++)
		memcpy(&cells[i * width], &table->cells[rows[i] * width], width * sizeof(*cells));
	memcpy(table->cells, cells, table->row_count * width * sizeof(*cells));
	return SS_OK;
}
