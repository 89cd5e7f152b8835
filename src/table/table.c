/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.c - the table that a view fills: columns of cells, and notes below them.
 */
#include "table/table.h"

#include <math.h>
#include <string.h>

#include "base/hash/hash.h"

void ss_table_init(struct ss_table *table, const struct ss_view *view, struct ss_arena *arena)
{
	*table = (struct ss_table){ .view = view, .arena = arena, .rank = -1 };
}

void ss_table_release(struct ss_table *table)
{
	struct ss_memory *memory = table->arena ? table->arena->memory : NULL;

	if (!memory)
		return;
	for (uint32_t i = 0; i < table->cells_count; i++)
		ss_cells_release(&table->cells[i], memory);
	SS_FREE(memory, table->cells, table->cells_count);
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

/* Makes empty columns. The view may change until the first row begins. */
static bool table_make_cells(struct ss_table *table)
{
	uint32_t count = table->schema->column_count;

	if (table->cells)
		return true;
	if (!SS_MEMORY_NEW(table->arena->memory, table->cells, count))
		return false;
	table->cells_count = count;
	for (uint32_t i = 0; i < count; i++)
		table->cells[i] = (struct ss_cells){ .is_text = table->schema->columns[i].type ==
								SS_COLUMN_TEXT };
	return true;
}

/* The first capacity of a table. */
#define ROWS_FIRST 64
#define ROWS_MAX (UINT32_MAX - 1)

/* Reserves memory for `count` more rows; grows by at least half. False: no memory. */
static bool table_reserve(struct ss_table *table, uint32_t count)
{
	uint64_t rows = (uint64_t)table->row_capacity + table->row_capacity / 2;
	uint64_t wanted = (uint64_t)table->row_count + count;

	if (wanted > ROWS_MAX || !table_make_cells(table))
		return false;
	if (wanted <= table->row_capacity)
		return true;
	rows = rows < wanted ? wanted : rows;
	rows = rows < ROWS_FIRST ? ROWS_FIRST : rows > ROWS_MAX ? ROWS_MAX : rows;
	for (uint32_t i = 0; i < table->cells_count; i++)
		if (!ss_cells_reserve(&table->cells[i], table->arena->memory, (uint32_t)rows))
			return false;
	table->row_capacity = (uint32_t)rows;
	return true;
}

void ss_row_begin(struct ss_table *table)
{
	assert(table->next == 0);
	if (table->row_count == table->row_capacity && !table->failed && !table_reserve(table, 1))
		table->failed = true;
	if (!table->schema->rankless)
		ss_row_int_known(table, table->rank);
}

/* The next column to be filled; NULL: no memory. */
static inline struct ss_cells *row_next_cells(struct ss_table *table)
{
	uint32_t column = table->next++;

	assert(column < table->schema->column_count);
	return table->failed ? NULL : &table->cells[column];
}

/* Keeps more of a long text than a cell may show, so that ss_table_limit_texts() cuts it. */
static size_t text_length_cut(const char *text, size_t length)
{
	if (length <= SS_TEXT_MAX + 4)
		return length;
	length = SS_TEXT_MAX + 4;
	while (((unsigned char)text[length] & 0xc0) == 0x80 && length > SS_TEXT_MAX + 1)
		length--;
	return length;
}

void ss_row_text_part(struct ss_table *table, const char *text, size_t length)
{
	struct ss_cells *cells;
	uint32_t id;

	assert(table->schema->columns[table->next].type == SS_COLUMN_TEXT);
	if (!length) {
		ss_row_null(table);
		return;
	}
	cells = row_next_cells(table);
	if (!cells)
		return;
	if (length > SS_TEXT_MAX)
		length = text_length_cut(text, length);
	id = ss_dictionary_add(&cells->texts, table->arena->memory, text, length);
	if (id == SS_NO_ID)
		table->failed = true;
	else
		ss_cells_ids(cells)[table->row_count] = (int32_t)id;
}

void ss_row_text(struct ss_table *table, const char *text)
{
	ss_row_text_part(table, text, text ? strnlen(text, SS_TEXT_MAX + 5) : 0);
}

void ss_row_int(struct ss_table *table, int64_t value)
{
	struct ss_cells *cells;

	assert(table->schema->columns[table->next].type != SS_COLUMN_TEXT);
	assert(!ss_column_has_fraction(&table->schema->columns[table->next]));
	cells = row_next_cells(table);
	if (cells)
		ss_cells_integers(cells)[table->row_count] = value;
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
	struct ss_cells *cells;

	assert(ss_column_has_fraction(&table->schema->columns[table->next]));
	if (!isfinite(value)) {
		ss_row_null(table);
		return;
	}
	cells = row_next_cells(table);
	if (cells)
		ss_cells_numbers(cells)[table->row_count] = value;
}

void ss_row_null(struct ss_table *table)
{
	struct ss_cells *cells = row_next_cells(table);

	if (cells &&
	    !ss_cells_clear(cells, table->arena->memory, table->row_count, table->row_capacity))
		table->failed = true;
}

void ss_row_nulls(struct ss_table *table, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		ss_row_null(table);
}

void ss_row_end(struct ss_table *table)
{
	assert(table->next == table->schema->column_count);
	table->next = 0;
	table->row_count += !table->failed;
}

void ss_rows_begin(struct ss_table *table, uint32_t count)
{
	int64_t *ranks;

	assert(table->next == 0 && count);
	if (!table->failed && !table_reserve(table, count))
		table->failed = true;
	if (table->schema->rankless)
		return;
	ranks = ss_rows_integers(table);
	for (uint32_t i = 0; ranks && i < count; i++) {
		ranks[i] = table->rank;
		if (table->rank < 0)
			ss_rows_null(table, i);
	}
}

int64_t *ss_rows_integers(struct ss_table *table)
{
	struct ss_cells *cells = row_next_cells(table);

	return cells ? ss_cells_integers(cells) + table->row_count : NULL;
}

int32_t *ss_rows_texts(struct ss_table *table)
{
	struct ss_cells *cells = row_next_cells(table);

	return cells ? ss_cells_ids(cells) + table->row_count : NULL;
}

int32_t ss_rows_text(struct ss_table *table, const char *text)
{
	struct ss_cells *cells = &table->cells[table->next - 1];
	size_t length = text ? strnlen(text, SS_TEXT_MAX + 5) : 0;
	uint32_t id;

	if (!length)
		return SS_TEXT_NULL;
	id = ss_dictionary_add(&cells->texts, table->arena->memory, text,
			       text_length_cut(text, length));
	table->failed |= id == SS_NO_ID;
	return id == SS_NO_ID ? SS_TEXT_NULL : (int32_t)id;
}

void ss_rows_null(struct ss_table *table, uint32_t row)
{
	struct ss_cells *cells = &table->cells[table->next - 1];

	if (!table->failed && !ss_cells_clear(cells, table->arena->memory, table->row_count + row,
					      table->row_capacity))
		table->failed = true;
}

void ss_rows_end(struct ss_table *table, uint32_t count)
{
	assert(table->next == table->schema->column_count);
	table->next = 0;
	table->row_count += table->failed ? 0 : count;
}

void ss_row_cell(struct ss_table *table, const struct ss_cell *cell)
{
	const struct ss_column *column = &table->schema->columns[table->next];

	if (cell->is_null)
		ss_row_null(table);
	else if (column->type == SS_COLUMN_TEXT)
		ss_row_text_part(table, cell->value.text, cell->length);
	else if (ss_column_has_fraction(column))
		ss_row_number(table, cell->value.number);
	else
		ss_row_int(table, cell->value.integer);
}

bool ss_cell_is_text(const struct ss_cell *cell, const char *text)
{
	return !cell->is_null && strlen(text) == cell->length &&
	       memcmp(cell->value.text, text, cell->length) == 0;
}

bool ss_table_same(const struct ss_table *table, uint32_t column, uint32_t a, uint32_t b)
{
	const struct ss_cells *cells = &table->cells[column];

	if (ss_cells_is_null(cells, a) || ss_cells_is_null(cells, b))
		return ss_cells_is_null(cells, a) == ss_cells_is_null(cells, b);
	return cells->is_text ? ss_cells_ids(cells)[a] == ss_cells_ids(cells)[b]
			      : ss_cells_integers(cells)[a] == ss_cells_integers(cells)[b];
}

/* --- rows of a finished table ---------------------------------------------------------- */

static void table_copy_row(struct ss_table *table, uint32_t to, uint32_t from)
{
	for (uint32_t i = 0; to != from && i < table->cells_count; i++)
		ss_cells_copy(&table->cells[i], to, from);
}

void ss_table_shorten(struct ss_table *table, uint32_t rows)
{
	for (uint32_t i = 0; i < table->cells_count; i++)
		ss_cells_shorten(&table->cells[i], rows, table->row_count);
	table->row_count = rows;
}

void ss_table_filter(struct ss_table *table,
		     bool (*keeps)(const struct ss_table *table, uint32_t row, void *context),
		     void *context)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < table->row_count; i++)
		if (keeps(table, i, context))
			table_copy_row(table, kept++, i);
	ss_table_shorten(table, kept);
}

bool ss_table_gather(struct ss_table *table, const uint32_t *order)
{
	struct ss_memory *memory = table->arena->memory;
	size_t bytes = table->row_count * sizeof(int64_t);
	void *scratch = bytes ? ss_memory_resize(memory, NULL, 0, bytes) : NULL;

	if (bytes && !scratch)
		return false;
	for (uint32_t i = 0; bytes && i < table->cells_count; i++)
		ss_cells_gather(&table->cells[i], order, table->row_count, scratch);
	ss_memory_free(memory, scratch, bytes);
	return true;
}

/* --- the sum over files ---------------------------------------------------------------- */

static bool fold_same_keys(const struct ss_table *table, uint32_t a, uint32_t b)
{
	for (uint32_t i = 0; i < table->cells_count; i++)
		if ((table->schema->columns[i].flags & SS_COLUMN_KEY) &&
		    !ss_table_same(table, i, a, b))
			return false;
	return true;
}

static uint64_t fold_hash_keys(const struct ss_table *table, uint32_t row)
{
	uint64_t hash = SS_HASH_SEED;

	for (uint32_t i = 0; i < table->cells_count; i++)
		if (table->schema->columns[i].flags & SS_COLUMN_KEY)
			hash = ss_hash_mix(hash, ss_table_text_id(table, row, i));
	return hash * SS_HASH_FACTOR;
}

static void fold_add_counts(struct ss_table *table, uint32_t into, uint32_t row)
{
	for (uint32_t i = 0; i < table->cells_count; i++)
		if (table->schema->columns[i].type == SS_COLUMN_COUNT &&
		    !ss_table_is_null(table, row, i))
			ss_cells_integers(&table->cells[i])[into] += ss_table_int(table, row, i);
}

/* Clears cells that have no meaning for several files. */
static bool fold_clear_rest(struct ss_table *table)
{
	for (uint32_t i = 0; i < table->cells_count; i++) {
		const struct ss_column *column = &table->schema->columns[i];

		if (column->type == SS_COLUMN_COUNT ||
		    (column->flags & (SS_COLUMN_KEY | SS_COLUMN_WRAP)))
			continue;
		for (uint32_t row = 0; row < table->row_count; row++)
			if (!ss_cells_clear(&table->cells[i], table->arena->memory, row,
					    table->row_capacity))
				return false;
	}
	return true;
}

bool ss_table_fold(struct ss_table *table)
{
	uint32_t kept = 0, slot_count = 64;
	uint32_t *slots;

	while (slot_count < table->row_count * 2)
		slot_count *= 2;
	if (!SS_ALLOC(table->arena, slots, slot_count))
		return false;
	for (uint32_t i = 0; i < table->row_count; i++) {
		uint32_t slot = (uint32_t)(fold_hash_keys(table, i) >> 32) & (slot_count - 1);

		while (slots[slot] && !fold_same_keys(table, slots[slot] - 1, i))
			slot = (slot + 1) & (slot_count - 1);
		if (slots[slot]) {
			fold_add_counts(table, slots[slot] - 1, i);
			continue;
		}
		table_copy_row(table, kept, i);
		slots[slot] = ++kept;
	}
	ss_table_shorten(table, kept);
	return fold_clear_rest(table);
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
	return table->empty ? table->empty : table->schema->empty;
}
