/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digest_tables.c - cuts tables of views, writes them as a part of a digest, and fills tables
 * from there.
 *
 * Tables follow each other, each behind a head with its length: a view reads its own alone.
 */
#include "load/digest_tables.h"

#include <math.h>
#include <string.h>

#include "base/hash/hash.h"
#include "base/sort.h"
#include "base/text.h"
#include "ranks/digest.h"
#include "trace/digest/digest_file.h"

/* Of a rank of which all rows are kept: with ten views, 1,024 ranks take at most 640 MB. */
#define WHOLE_TABLE_BYTES ((size_t)64 << 10)

/* Before each table. */
struct table_head {
	uint32_t view, group; /* index into ss_views; of its groups */
	uint32_t bytes;       /* that follow */
};

struct kept_note {
	uint32_t text;
};

/* A text is its id, a number with a fraction its bits. */
struct kept_cell {
	bool is_known;
	int64_t value;
};

struct kept_table {
	struct ss_strings texts;
	uint32_t row_count;
	uint32_t all_count; /* rows of the trace */
	struct kept_note *notes;
	uint32_t note_count, note_capacity;
	struct kept_cell *cells; /* column by column, without the rank */
	uint32_t cell_count, cell_capacity;
};

static const struct ss_field table_fields[] = {
	SS_FIELD(struct kept_table, row_count, SS_FIELD_U32),
	SS_FIELD(struct kept_table, all_count, SS_FIELD_U32),
};

static const struct ss_field note_fields[] = {
	SS_FIELD(struct kept_note, text, SS_FIELD_U32,
		 .below = offsetof(struct kept_table, texts.count)),
};

static const struct ss_field cell_fields[] = {
	SS_FIELD(struct kept_cell, is_known, SS_FIELD_BOOL),
	SS_FIELD(struct kept_cell, value, SS_FIELD_I64),
};

#define LIST(list, one, type, list_fields)                                 \
	{                                                                  \
		.name = #list, .items = offsetof(struct kept_table, list), \
		.count = offsetof(struct kept_table, one##_count),         \
		.capacity = offsetof(struct kept_table, one##_capacity),   \
		.item_bytes = sizeof(type), .fields = list_fields,         \
		.field_count = SS_COUNT(list_fields)                       \
	}

static const struct ss_field_list table_lists[] = {
	LIST(notes, note, struct kept_note, note_fields),
	LIST(cells, cell, struct kept_cell, cell_fields),
};

static const size_t table_texts[] = { offsetof(struct kept_table, texts) };

static const struct ss_field_layout table_layout = {
	.fields = table_fields,
	.field_count = SS_COUNT(table_fields),
	.texts = table_texts,
	.text_count = SS_COUNT(table_texts),
	.lists = table_lists,
	.list_count = SS_COUNT(table_lists),
};

static uint64_t view_hash(uint64_t hash, const struct ss_view *view)
{
	hash = ss_hash_mix(hash, ss_hash_bytes(view->name, strlen(view->name)));
	for (uint32_t i = 0; i < view->column_count; i++) {
		const struct ss_column *column = &view->columns[i];

		hash = ss_hash_mix(hash, ss_hash_bytes(column->name, strlen(column->name)));
		hash = ss_hash_mix(hash, column->type);
	}
	for (uint32_t i = 0; i < SS_GROUPS_MAX; i++)
		hash = ss_hash_mix(hash, view->kept[i]);
	return hash;
}

uint64_t ss_job_tables_layout(uint64_t hash)
{
	hash = ss_fields_hash(hash, &table_layout);
	for (uint32_t i = 0; i < ss_view_count; i++)
		for (uint32_t group = 0; group < SS_GROUPS_MAX; group++)
			if (ss_views[i]->kept[group]) {
				hash = view_hash(ss_hash_mix(hash, i), ss_views[i]);
				break;
			}
	return hash;
}

static void kept_table_release(struct kept_table *kept, struct ss_memory *memory)
{
	ss_strings_release(&kept->texts);
	SS_FREE(memory, kept->notes, kept->note_capacity);
	SS_FREE(memory, kept->cells, kept->cell_capacity);
}

/* --- which rows ------------------------------------------------------------------------ */

struct weighted_row {
	double weight;
	uint32_t row;
};

SS_COMPARATOR(weighted_row_compare, struct weighted_row, SS_DESCENDING(weight) SS_ASCENDING(row))

static bool table_is_nested(const struct ss_table *table, uint32_t group)
{
	return table->view->nested >> group & 1;
}

/* The first column that adds up, else the first time. */
static uint32_t weight_column(const struct ss_view *view)
{
	for (uint32_t i = 1; i < view->column_count; i++)
		if (view->columns[i].type != SS_COLUMN_TEXT &&
		    ss_view_lists(view->sums, view->columns[i].name))
			return i;
	for (uint32_t i = 1; i < view->column_count; i++)
		if (view->columns[i].type == SS_COLUMN_NS)
			return i;
	return 0;
}

static double row_weight(const struct ss_table *table, uint32_t row, uint32_t column)
{
	return ss_column_has_fraction(&table->view->columns[column])
		       ? ss_table_number(table, row, column)
		       : (double)ss_table_int(table, row, column);
}

/* The numbers of the `count` largest rows, in the order of the table; NULL: no memory. */
static uint32_t *largest_rows(const struct ss_table *table, uint32_t group, uint32_t count,
			      struct ss_arena *scratch)
{
	uint32_t *rows = SS_ARENA_NEW(scratch, uint32_t, (size_t)count + 1);
	struct weighted_row *all = NULL;
	uint32_t column = weight_column(table->view);

	if (rows && !ss_view_is_ordered(table->view, group) && count < table->row_count) {
		if (!SS_ALLOC(scratch, all, table->row_count))
			return NULL;
		for (uint32_t i = 0; i < table->row_count; i++)
			all[i] = (struct weighted_row){ row_weight(table, i, column), i };
		SS_SORT(all, table->row_count, weighted_row_compare);
	}
	for (uint32_t i = 0; rows && i < count; i++)
		rows[i] = all ? all[i].row : i;
	if (rows && all)
		SS_SORT(rows, count, ss_sort_compare_uint32);
	return rows;
}

/* --- writing ---------------------------------------------------------------------------- */

static bool kept_add_text(struct kept_table *kept, const char *text, size_t length, uint32_t *out)
{
	*out = ss_strings_add(&kept->texts, text, length);
	return *out != SS_NO_ID;
}

/* The cell of a row as it is kept; false: no memory. */
static bool keep_cell(struct kept_table *kept, const struct ss_table *table, uint32_t row,
		      uint32_t column, struct kept_cell *out)
{
	struct ss_cell cell = ss_table_cell(table, row, column);
	uint32_t id = 0;

	*out = (struct kept_cell){ .is_known = !cell.is_null };
	if (cell.is_null)
		return true;
	if (table->view->columns[column].type == SS_COLUMN_TEXT) {
		if (!kept_add_text(kept, cell.value.text, cell.length, &id))
			return false;
		out->value = id;
	} else if (ss_column_has_fraction(&table->view->columns[column])) {
		memcpy(&out->value, &cell.value.number, sizeof(out->value));
	} else {
		out->value = ss_moment_cut(cell.value.integer);
	}
	return true;
}

/* The sum of a column over the rows that are not kept; `is_kept` has one flag per row. */
static struct kept_cell rest_cell(const struct ss_table *table, const bool *is_kept,
				  uint32_t column)
{
	bool fraction = ss_column_has_fraction(&table->view->columns[column]);
	struct kept_cell sum = { 0 };
	double number = 0;

	for (uint32_t i = 0; i < table->row_count; i++) {
		if (is_kept[i] || ss_table_is_null(table, i, column))
			continue;
		sum.is_known = true;
		if (fraction)
			number += ss_table_number(table, i, column);
		else
			ss_ns_add(&sum.value, ss_table_int(table, i, column));
	}
	sum.value = ss_moment_cut(sum.value);
	if (fraction) {
		sum.is_known = sum.is_known && isfinite(number);
		memcpy(&sum.value, &number, sizeof(number));
	}
	return sum;
}

/* The column that says what a row is about: the first of texts. */
static uint32_t name_column(const struct ss_view *view)
{
	for (uint32_t i = 1; i < view->column_count; i++)
		if (ss_column_has_names(&view->columns[i]))
			return i;
	return 0;
}

/* The row of all others, behind the kept ones. */
static bool keep_rest(struct kept_table *kept, const struct ss_table *table, const uint32_t *rows,
		      uint32_t count, struct ss_arena *scratch)
{
	const struct ss_view *view = table->view;
	bool *is_kept = SS_ARENA_NEW(scratch, bool, table->row_count);
	uint32_t id;

	if (!is_kept || !kept_add_text(kept, SS_DIGEST_REST, strlen(SS_DIGEST_REST), &id))
		return false;
	for (uint32_t i = 0; i < count; i++)
		is_kept[rows[i]] = true;
	for (uint32_t column = 1; column < view->column_count; column++) {
		struct kept_cell *cell =
			&kept->cells[(size_t)(column - 1) * kept->row_count + count];

		if (column == name_column(view))
			*cell = (struct kept_cell){ true, id };
		else if (ss_view_lists(view->sums, view->columns[column].name))
			*cell = rest_cell(table, is_kept, column);
	}
	return true;
}

static bool keep_notes(struct kept_table *kept, const struct ss_table *table,
		       struct ss_memory *memory)
{
	if (!SS_GROW(memory, kept->notes, kept->note_capacity, table->note_count))
		return false;
	for (; kept->note_count < table->note_count; kept->note_count++) {
		const char *note = table->notes[kept->note_count];

		if (!kept_add_text(kept, note, strlen(note), &kept->notes[kept->note_count].text))
			return false;
	}
	return true;
}

/* Fills a cleared table with at most `most` rows; false: no memory. */
static bool keep_table(struct kept_table *kept, const struct ss_table *table, uint32_t group,
		       uint32_t most, struct ss_arena *scratch)
{
	struct ss_memory *memory = scratch->memory;
	bool is_cut = table->row_count > most, has_rest = is_cut && !table_is_nested(table, group);
	uint32_t count = is_cut ? most - has_rest : table->row_count;
	uint32_t columns = table->view->column_count - 1;
	uint32_t *rows = largest_rows(table, group, count, scratch);

	kept->row_count = count + has_rest;
	kept->all_count = table->row_count;
	if (!rows || !ss_strings_init(&kept->texts, memory) || !keep_notes(kept, table, memory) ||
	    !SS_RESERVE(memory, kept->cells, kept->cell_capacity,
			(size_t)kept->row_count * columns + 1))
		return false;
	kept->cell_count = kept->row_count * columns;
	if (kept->cell_count)
		memset(kept->cells, 0, kept->cell_count * sizeof(*kept->cells));
	for (uint32_t column = 0; column < columns; column++)
		for (uint32_t i = 0; i < count; i++)
			if (!keep_cell(kept, table, rows[i], column + 1,
				       &kept->cells[(size_t)column * kept->row_count + i]))
				return false;
	return !has_rest || keep_rest(kept, table, rows, count, scratch);
}

/* A table of a view that has been run. */
struct run_table {
	struct ss_table table;
	uint32_t view, group;
};

struct tables_running {
	struct run_table *items;
	uint32_t count;
	struct ss_arena arena; /* of the tables */
};

/* Adds a table of at most `rows` behind its head; false: no memory. */
static bool write_table(const struct run_table *from, uint32_t rows, struct ss_memory *memory,
			struct ss_text *out)
{
	struct table_head head = { from->view, from->group, 0 };
	size_t at = out->length;
	struct kept_table kept = { 0 };
	SS_SCRATCH(scratch, memory);
	bool whole;

	whole = keep_table(&kept, &from->table, from->group, rows ? rows : 1, &scratch);
	if (whole) {
		ss_text_add(out, (const char *)&head, sizeof(head));
		ss_fields_write(&table_layout, &kept, out);
	}
	kept_table_release(&kept, memory);
	if (!whole || ss_text_failed(out))
		return false;
	head.bytes = (uint32_t)(out->length - at - sizeof(head));
	memcpy(out->data + at, &head, sizeof(head));
	return true;
}

/* All tables within the limit: with fewer rows where names are long; false: no memory. */
static bool write_tables(const struct tables_running *running, struct ss_memory *memory,
			 struct ss_text *out)
{
	bool whole = true;

	for (uint32_t divisor = 1; whole && divisor <= 128; divisor *= 2) {
		out->length = 0;
		for (uint32_t i = 0; whole && i < running->count; i++)
			whole = write_table(
				&running->items[i],
				running->items[i].table.view->kept[running->items[i].group] /
					divisor,
				memory, out);
		if (out->length <= SS_DIGEST_TABLES_BYTES)
			return whole;
	}
	out->length = 0;
	return whole;
}

/* All rows; a table that is too large is left out. */
static bool write_whole_tables(const struct tables_running *running, struct ss_memory *memory,
			       struct ss_text *out)
{
	for (uint32_t i = 0; i < running->count; i++) {
		size_t before = out->length;

		if (!write_table(&running->items[i], UINT32_MAX, memory, out))
			return false;
		if (out->length - before > WHOLE_TABLE_BYTES)
			out->length = before;
	}
	return true;
}

static enum ss_status run_views(struct tables_running *running, const struct ss_subject *subject,
				struct ss_error *err)
{
	for (uint32_t i = 0; i < ss_view_count; i++)
		for (uint32_t group = 0; group < SS_GROUPS_MAX; group++) {
			struct run_table *next = &running->items[running->count];
			struct ss_subject own = *subject;

			if (!ss_views[i]->kept[group])
				continue;
			own.group = group;
			next->view = i;
			next->group = group;
			ss_table_init(&next->table, ss_views[i], &running->arena);
			next->table.group = ss_views[i]->groups[group];
			running->count++;
			SS_TRY(ss_views[i]->run(&own, &next->table, err));
			if (next->table.failed)
				return ss_fail_memory(err, "the tables of a digest");
		}
	return SS_OK;
}

static enum ss_status take_bytes(struct ss_job_tables *out, const struct ss_text *text,
				 struct ss_memory *memory, struct ss_error *err)
{
	*out = (struct ss_job_tables){ .memory = memory, .length = text->length };
	out->capacity = text->length;
	if (!text->length)
		return SS_OK;
	out->bytes = ss_memory_resize(memory, NULL, 0, text->length);
	if (!out->bytes) {
		*out = (struct ss_job_tables){ 0 };
		return ss_fail_memory(err, "the tables of a digest");
	}
	memcpy(out->bytes, text->data, text->length);
	return SS_OK;
}

enum ss_status ss_job_tables_make(struct ss_job_tables *out, const struct ss_subject *subject,
				  bool whole, struct ss_memory *memory, struct ss_error *err)
{
	bool (*write)(const struct tables_running *, struct ss_memory *,
		      struct ss_text *) = whole ? write_whole_tables : write_tables;
	struct tables_running running = { 0 };
	SS_TEXT(text);
	enum ss_status status = SS_OK;

	ss_job_tables_release(out);
	ss_arena_init(&running.arena, memory);
	if (!SS_ALLOC(&running.arena, running.items, ss_view_count * SS_GROUPS_MAX + 1))
		status = ss_fail_memory(err, "the tables of a digest");
	if (status == SS_OK)
		status = run_views(&running, subject, err);
	if (status == SS_OK)
		status = write(&running, memory, &text)
				 ? take_bytes(out, &text, memory, err)
				 : ss_fail_memory(err, "the tables of a digest");
	for (uint32_t i = 0; i < running.count; i++)
		ss_table_release(&running.items[i].table);
	ss_arena_release(&running.arena);
	return status;
}

void ss_job_tables_release(struct ss_job_tables *tables)
{
	if (tables->memory)
		ss_memory_free(tables->memory, tables->bytes, tables->capacity);
	*tables = (struct ss_job_tables){ 0 };
}

/* --- reading ---------------------------------------------------------------------------- */

/* The head at `at`, if it and its table lie before the end. */
static bool head_at(const struct ss_job_tables *tables, size_t at, struct table_head *out)
{
	if (tables->length - at < sizeof(*out))
		return false;
	memcpy(out, tables->bytes + at, sizeof(*out));
	return out->bytes <= tables->length - at - sizeof(*out);
}

bool ss_job_tables_are_sound(const struct ss_job_tables *tables)
{
	struct table_head head;
	size_t at = 0;

	for (; at < tables->length; at += sizeof(head) + head.bytes)
		if (!head_at(tables, at, &head))
			return false;
	return tables->length <= SS_DIGEST_TABLES_BYTES;
}

static bool value_fits(const struct kept_table *kept, const struct ss_column *column, int64_t value)
{
	double number;

	if (column->type == SS_COLUMN_TEXT)
		return value >= 0 && value < (int64_t)kept->texts.count;
	memcpy(&number, &value, sizeof(number));
	return ss_column_has_fraction(column) ? isfinite(number) : ss_moment_cut(value) == value;
}

/* What the declaration cannot say. */
static bool kept_is_sound(const struct kept_table *kept, const struct ss_view *view)
{
	uint32_t columns = view->column_count - 1;

	if ((uint64_t)kept->row_count * columns != kept->cell_count ||
	    kept->row_count > kept->all_count || kept->note_count > SS_NOTES_MAX)
		return false;
	for (uint32_t i = 0; i < kept->cell_count; i++)
		if (kept->cells[i].is_known &&
		    !value_fits(kept, &view->columns[1 + i / kept->row_count],
				kept->cells[i].value))
			return false;
	return true;
}

static void show_cell(const struct kept_table *kept, const struct ss_column *column,
		      const struct kept_cell *from, struct ss_table *out)
{
	struct ss_cell cell = { .is_null = !from->is_known };

	if (from->is_known && column->type == SS_COLUMN_TEXT) {
		cell.value.text = kept->texts.items[from->value].text;
		cell.length = kept->texts.items[from->value].length;
	} else {
		memcpy(&cell.value, &from->value, sizeof(from->value));
	}
	ss_row_cell(out, &cell);
}

static void show_table(const struct kept_table *kept, struct ss_table *out)
{
	const struct ss_view *view = out->view;

	for (uint32_t row = 0; row < kept->row_count; row++) {
		ss_row_begin(out);
		for (uint32_t i = 1; i < view->column_count; i++)
			show_cell(kept, &view->columns[i],
				  &kept->cells[(size_t)(i - 1) * kept->row_count + row], out);
		ss_row_end(out);
	}
	for (uint32_t i = 0; i < kept->note_count; i++)
		ss_table_note(out, "%s", ss_strings_text(&kept->texts, kept->notes[i].text));
}

enum ss_status ss_job_tables_show(const struct ss_job_tables *tables, const struct ss_view *view,
				  uint32_t group, struct ss_table *out, uint32_t *cut,
				  struct ss_error *err)
{
	struct kept_table kept = { 0 };
	struct ss_fields_reader reader = { .memory = tables->memory };
	struct ss_error why = { 0 };
	struct table_head head;
	enum ss_status status = SS_ERR_MISSING;

	for (size_t at = 0; head_at(tables, at, &head); at += sizeof(head) + head.bytes)
		if (head.view < ss_view_count && ss_views[head.view] == view &&
		    head.group == group) {
			reader.at = (const unsigned char *)tables->bytes + at + sizeof(head);
			reader.end = reader.at + head.bytes;
			status = ss_fields_read(&reader, &table_layout, &kept, &why);
			break;
		}
	if (status == SS_OK && !kept_is_sound(&kept, view))
		status = ss_fail(&why, SS_ERR_FORMAT, "a table contradicts itself");
	if (status == SS_OK) {
		show_table(&kept, out);
		if (kept.all_count > kept.row_count)
			*cut = kept.all_count;
	}
	kept_table_release(&kept, tables->memory);
	if (status == SS_ERR_FORMAT)
		return ss_trace_digest_fail(err, "%s", why.text);
	return status == SS_OK ? SS_OK : ss_fail(err, status, "%s", why.text);
}
