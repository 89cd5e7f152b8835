/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bound.c - measures the texts of a table, and cuts those that are too long.
 */
#include "table/bound.h"

#include <string.h>

/* All texts of a table may have this many bytes per row, and this many more. */
#define ROW_BYTES 2048
#define TABLE_BYTES (16 << 20)

/* Beyond that, each text is cut to this length. */
#define SHORT_BYTES 256

#define ELLIPSIS "\xe2\x80\xa6"

static uint64_t bound_text_bytes(const struct ss_table *table, uint32_t column, bool *has_long)
{
	const struct ss_cells *cells = &table->cells[column];
	uint64_t bytes = 0;

	for (uint32_t row = 0; row < table->row_count; row++) {
		uint32_t length;

		if (ss_cells_is_null(cells, row))
			continue;
		length = ss_dictionary_length(&cells->texts, ss_table_text_id(table, row, column));
		*has_long |= length > SS_TEXT_MAX;
		bytes += length > SS_TEXT_MAX ? SS_TEXT_MAX + 1 : length;
	}
	return bytes;
}

/* The id in `out` of a text that is cut to `most` bytes, at the end of a character. */
static uint32_t bound_add_text(struct ss_dictionary *out, struct ss_memory *memory,
			       const char *text, size_t length, size_t most)
{
	char shorter[SS_TEXT_MAX + sizeof(ELLIPSIS)];

	if (length <= most)
		return ss_dictionary_add(out, memory, text, length);
	length = most;
	while (length && ((unsigned char)text[length] & 0xc0) == 0x80)
		length--;
	memcpy(shorter, text, length);
	memcpy(shorter + length, ELLIPSIS, sizeof(ELLIPSIS) - 1);
	return ss_dictionary_add(out, memory, shorter, length + sizeof(ELLIPSIS) - 1);
}

/* Replaces the dictionary of a column by one with shorter texts; false: no memory. */
static bool bound_column(struct ss_table *table, uint32_t column, size_t most)
{
	struct ss_memory *memory = table->arena->memory;
	struct ss_cells *cells = &table->cells[column];
	struct ss_dictionary *texts = &cells->texts, shorter = { 0 };
	int32_t *ids = SS_ARENA_NEW(table->arena, int32_t, (size_t)texts->count + 1);
	bool whole = ids;

	for (uint32_t i = 0; whole && i < texts->count; i++) {
		uint32_t id = bound_add_text(&shorter, memory, ss_dictionary_text(texts, i),
					     ss_dictionary_length(texts, i), most);

		ids[i] = (int32_t)id;
		whole = id != SS_NO_ID;
	}
	for (uint32_t row = 0; whole && row < table->row_count; row++)
		ss_cells_ids(cells)[row] = ids[ss_cells_ids(cells)[row]];
	ss_dictionary_release(whole ? texts : &shorter, memory);
	if (whole)
		*texts = shorter;
	return whole;
}

bool ss_table_bound(struct ss_table *table)
{
	const struct ss_table_schema *schema = table->schema;
	uint64_t bytes = 0;
	size_t most = SS_TEXT_MAX;
	bool has_long = false;

	for (uint32_t i = 0; table->row_count && i < schema->column_count; i++)
		if (schema->columns[i].type == SS_COLUMN_TEXT)
			bytes += bound_text_bytes(table, i, &has_long);
	if (bytes > TABLE_BYTES + (uint64_t)ROW_BYTES * table->row_count)
		most = SHORT_BYTES;
	else if (!has_long)
		return true;
	for (uint32_t i = 0; i < schema->column_count; i++)
		if (schema->columns[i].type == SS_COLUMN_TEXT && !bound_column(table, i, most))
			return false;
	ss_table_note(table, "Texts longer than %zu bytes are cut off.", most);
	return true;
}
