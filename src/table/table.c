/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.c - the table that a view fills: rows of cells, and notes below them.
 */
#include "table/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/hash/hash.h"
#include "table/range.h"
#include "table/view.h"

void ss_table_init(struct ss_table *table, const struct ss_view *view, struct ss_arena *arena)
{
	*table = (struct ss_table){ .view = view, .arena = arena, .rank = -1 };
}

void ss_table_release(struct ss_table *table)
{
	if (!table->arena)
		return;
	ss_memory_free(table->arena->memory, table->cells,
		       (size_t)table->row_capacity * table->view->column_count *
			       sizeof(*table->cells));
	*table = (struct ss_table){ 0 };
}

size_t ss_column_stem(const char *name)
{
	static const char *const units[] = { "_ns", "_bytes", "_percent" };
	size_t length = strlen(name);

	for (size_t i = 0; i < SS_COUNT(units); i++) {
		size_t unit = strlen(units[i]);

		if (length > unit && strcmp(name + length - unit, units[i]) == 0)
			return length - unit;
	}
	return length;
}

void ss_row_begin(struct ss_table *table)
{
	size_t row_bytes = table->view->column_count * sizeof(*table->cells);

	assert(table->next == 0);
	if (!ss_memory_reserve(table->arena->memory, (void **)&table->cells, &table->row_capacity,
			       (size_t)table->row_count + 1, row_bytes))
		table->failed = true;
	if (!table->view->rankless)
		ss_row_int_known(table, table->rank);
}

static void put(struct ss_table *table, struct ss_cell cell)
{
	uint32_t column = table->next++;

	assert(column < table->view->column_count);
	if (!table->failed)
		table->cells[(size_t)table->row_count * table->view->column_count + column] = cell;
}

void ss_row_text(struct ss_table *table, const char *text)
{
	assert(table->view->columns[table->next].type == SS_COLUMN_TEXT);
	put(table, (struct ss_cell){ .is_null = !text || !*text, .value.text = text });
}

void ss_row_int(struct ss_table *table, int64_t value)
{
	assert(table->view->columns[table->next].type != SS_COLUMN_TEXT);
	assert(!ss_column_has_fraction(&table->view->columns[table->next]));
	put(table, (struct ss_cell){ .value.integer = value });
}

void ss_row_int_known(struct ss_table *table, int64_t value)
{
	if (value < 0)
		ss_row_null(table);
	else
		ss_row_int(table, value);
}

void ss_row_number(struct ss_table *table, double value)
{
	assert(ss_column_has_fraction(&table->view->columns[table->next]));
	put(table, (struct ss_cell){ .is_null = !isfinite(value), .value.number = value });
}

void ss_row_null(struct ss_table *table)
{
	put(table, (struct ss_cell){ .is_null = true });
}

void ss_row_nulls(struct ss_table *table, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		ss_row_null(table);
}

void ss_row_end(struct ss_table *table)
{
	assert(table->next == table->view->column_count);
	table->next = 0;
	table->row_count += !table->failed;
}

static bool same_keys(const struct ss_view *view, const struct ss_cell *a, const struct ss_cell *b)
{
	for (uint32_t i = 0; i < view->column_count; i++)
		if ((view->columns[i].flags & SS_COLUMN_KEY) &&
		    strcmp(a[i].value.text, b[i].value.text) != 0)
			return false;
	return true;
}

static uint64_t hash_keys(const struct ss_view *view, const struct ss_cell *row)
{
	uint64_t hash = SS_HASH_SEED;

	for (uint32_t i = 0; i < view->column_count; i++)
		if (view->columns[i].flags & SS_COLUMN_KEY)
			hash = ss_hash_mix(hash, ss_hash_bytes(row[i].value.text,
							       strlen(row[i].value.text)));
	return hash;
}

static void add_counts(const struct ss_view *view, struct ss_cell *into, const struct ss_cell *row)
{
	for (uint32_t i = 0; i < view->column_count; i++)
		if (view->columns[i].type == SS_COLUMN_COUNT && !row[i].is_null)
			into[i].value.integer += row[i].value.integer;
}

static void clear_rest(const struct ss_view *view, struct ss_cell *row)
{
	for (uint32_t i = 0; i < view->column_count; i++) {
		const struct ss_column *column = &view->columns[i];

		row[i].is_null |= column->type != SS_COLUMN_COUNT &&
				  !(column->flags & (SS_COLUMN_KEY | SS_COLUMN_WRAP));
	}
}

bool ss_table_fold(struct ss_table *table)
{
	const struct ss_view *view = table->view;
	uint32_t count = view->column_count, kept = 0, slot_count = 64;
	uint32_t *slots;

	while (slot_count < table->row_count * 2)
		slot_count *= 2;
	slots = SS_ARENA_NEW(table->arena, uint32_t, slot_count);
	if (!slots)
		return false;
	for (uint32_t i = 0; i < table->row_count; i++) {
		struct ss_cell *row = &table->cells[(size_t)i * count];
		uint32_t slot = (uint32_t)(hash_keys(view, row) >> 32) & (slot_count - 1);

		while (slots[slot] &&
		       !same_keys(view, &table->cells[(size_t)(slots[slot] - 1) * count], row))
			slot = (slot + 1) & (slot_count - 1);
		if (slots[slot]) {
			add_counts(view, &table->cells[(size_t)(slots[slot] - 1) * count], row);
			continue;
		}
		clear_rest(view, row);
		memmove(&table->cells[(size_t)kept * count], row, count * sizeof(*row));
		slots[slot] = ++kept;
	}
	table->row_count = kept;
	return true;
}

static const char *print(struct ss_table *table, const char *format, va_list args)
{
	va_list again;
	char *text;
	int length;

	va_copy(again, args);
	length = vsnprintf(NULL, 0, format, again);
	va_end(again);
	text = length < 0 ? NULL : ss_arena_alloc(table->arena, (size_t)length + 1, 1);
	if (!text) {
		table->failed = true;
		return "";
	}
	vsnprintf(text, (size_t)length + 1, format, args);
	return text;
}

/* Of a text, to find its copy by. */
#define PLACE_BYTES 64

const char *ss_table_copy(struct ss_table *table, const char *text)
{
	const size_t length = strnlen(text, SS_TEXT_MAX + 1);
	const char **known =
		&table->copies[ss_hash_bytes(text, length < PLACE_BYTES ? length : PLACE_BYTES) %
			       SS_COPIES_KEPT];

	if (*known && strncmp(*known, text, SS_TEXT_MAX + 1) == 0)
		return *known;
	*known = ss_arena_copy(table->arena, text, length);
	if (*known)
		return *known;
	table->failed = true;
	return "";
}

const char *ss_table_print(struct ss_table *table, const char *format, ...)
{
	const char *text;
	va_list args;

	va_start(args, format);
	text = print(table, format, args);
	va_end(args);
	return text;
}

/* Takes a sentence into one that another rank said with other figures; false: it is another. */
static bool widen(struct ss_table *table, uint32_t note, const char *text)
{
	struct ss_note_range *range = &table->ranges[note];
	const char *low, *high, *both;

	if (!range->low || range->rank == table->rank || !ss_range_alike(range->low, text))
		return false;
	low = ss_range_pick(table->arena, range->low, text, false);
	high = ss_range_pick(table->arena, range->high, text, true);
	both = low && high ? ss_range_print(table->arena, low, high) : NULL;
	table->failed |= !both;
	if (!both)
		return true;
	*range = (struct ss_note_range){ low, high, table->rank };
	table->notes[note] = both;
	return true;
}

void ss_table_note(struct ss_table *table, const char *format, ...)
{
	const char *text;
	va_list args;

	va_start(args, format);
	text = print(table, format, args);
	va_end(args);
	for (uint32_t i = 0; i < table->note_count; i++)
		if (strcmp(table->notes[i], text) == 0 || widen(table, i, text))
			return;
	if (table->failed || table->note_count == SS_NOTES_MAX)
		return;
	table->ranges[table->note_count] = (struct ss_note_range){ text, text, table->rank };
	table->notes[table->note_count++] = text;
}

void ss_row_share(struct ss_table *table, double part, double whole)
{
	if (whole > 0)
		ss_row_number(table, 100.0 * part / whole);
	else
		ss_row_null(table);
}

void ss_row_rate(struct ss_table *table, double amount, double per)
{
	if (per > 0)
		ss_row_number(table, amount / per);
	else
		ss_row_null(table);
}

const char *ss_table_empty(const struct ss_table *table)
{
	return table->empty ? table->empty : table->view->empty;
}
