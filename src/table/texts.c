/* SPDX-License-Identifier: Apache-2.0 */
/*
 * texts.c - the texts of a table: copies, notes below it with ranges of figures, and the limit of
 * their length.
 */
#include "table/table.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/hash/hash.h"
#include "base/text.h"

/* --- sentences with figures ----------------------------------------------------------- */

static bool note_is_word(char c)
{
	return ss_char_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/*
 * The length of the figure that begins here: digits, with or without decimals, that are not
 * part of a word or name. 0: no figure.
 */
static size_t note_figure_length(const char *text, const char *at)
{
	size_t length = 0;

	if (at > text && (note_is_word(at[-1]) || strchr(".#:-/", at[-1])))
		return 0;
	while (ss_char_is_digit(at[length]))
		length++;
	if (length && at[length] == '.' && ss_char_is_digit(at[length + 1]))
		for (length++; ss_char_is_digit(at[length]);)
			length++;
	if (note_is_word(at[length]) || (at[length] && strchr("#:-/", at[length])) ||
	    (at[length] == '.' && ss_char_is_digit(at[length + 1])))
		return 0;
	return length;
}

static size_t figure_whole_digits(const char *figure, size_t length)
{
	const char *point = memchr(figure, '.', length);

	return point ? (size_t)(point - figure) : length;
}

/* Figures have no leading zeros: the one with more digits before the point is larger. */
static bool figure_is_less(const char *a, size_t a_length, const char *b, size_t b_length)
{
	size_t a_whole = figure_whole_digits(a, a_length),
	       b_whole = figure_whole_digits(b, b_length);
	int order;

	if (a_whole != b_whole)
		return a_whole < b_whole;
	order = memcmp(a, b, a_length < b_length ? a_length : b_length);
	return order ? order < 0 : a_length < b_length;
}

bool ss_table_notes_alike(const char *a, const char *b)
{
	const char *x = a, *y = b;

	while (*x && *y) {
		size_t x_length = note_figure_length(a, x), y_length = note_figure_length(b, y);

		if (x_length && y_length) {
			x += x_length;
			y += y_length;
		} else if (*x++ != *y++) {
			return false;
		}
	}
	return *x == *y;
}

struct note_writer {
	char *text;
	size_t length;
};

static void note_write(struct note_writer *writer, const char *bytes, size_t length)
{
	memcpy(writer->text + writer->length, bytes, length);
	writer->length += length;
}

enum note_form { FORM_LOW, FORM_HIGH, FORM_BOTH };

/* Writes the words once and, for each figure, the lower, the higher, or "low to high". */
static const char *note_combine(struct ss_arena *arena, const char *a, const char *b,
				enum note_form form)
{
	static const char gap[] = " to ";
	const char *x = a, *y = b;
	struct note_writer writer = { 0 };

	/* the worst case: each figure has one digit and becomes "a to b" */
	writer.text = ss_arena_alloc(arena, strlen(a) * sizeof(gap) + strlen(b) + 1, 1);
	if (!writer.text)
		return NULL;
	while (*x) {
		size_t x_length = note_figure_length(a, x), y_length = note_figure_length(b, y);
		bool y_less = figure_is_less(y, y_length, x, x_length);

		if (!x_length || !y_length) {
			note_write(&writer, x++, 1);
			y++;
			continue;
		}
		if (form != FORM_BOTH)
			note_write(&writer, y_less == (form == FORM_LOW) ? y : x,
				   y_less == (form == FORM_LOW) ? y_length : x_length);
		else {
			note_write(&writer, x, x_length);
			if (x_length != y_length || memcmp(x, y, x_length) != 0) {
				note_write(&writer, gap, sizeof(gap) - 1);
				note_write(&writer, y, y_length);
			}
		}
		x += x_length;
		y += y_length;
	}
	writer.text[writer.length] = '\0';
	return writer.text;
}

const char *ss_table_note_extreme(struct ss_arena *arena, const char *a, const char *b, bool higher)
{
	return note_combine(arena, a, b, higher ? FORM_HIGH : FORM_LOW);
}

const char *ss_table_note_range(struct ss_arena *arena, const char *low, const char *high)
{
	return note_combine(arena, low, high, FORM_BOTH);
}

/* --- copies and notes ----------------------------------------------------------------- */

static const char *table_print_args(struct ss_table *table, const char *format, va_list args)
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

/* The bytes of a text that its place among the copies depends on. */
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
	text = table_print_args(table, format, args);
	va_end(args);
	return text;
}

/* Merges a sentence with the same one of another rank into a range; false: they differ. */
static bool note_widen(struct ss_table *table, uint32_t note, const char *text)
{
	struct ss_note_range *range = &table->ranges[note];
	const char *low, *high, *both;

	if (!range->low || range->rank == table->rank || !ss_table_notes_alike(range->low, text))
		return false;
	low = ss_table_note_extreme(table->arena, range->low, text, false);
	high = ss_table_note_extreme(table->arena, range->high, text, true);
	both = low && high ? ss_table_note_range(table->arena, low, high) : NULL;
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
	text = table_print_args(table, format, args);
	va_end(args);
	for (uint32_t i = 0; i < table->note_count; i++)
		if (strcmp(table->notes[i], text) == 0 || note_widen(table, i, text))
			return;
	if (table->failed || table->note_count == SS_NOTES_MAX)
		return;
	table->ranges[table->note_count] = (struct ss_note_range){ text, text, table->rank };
	table->notes[table->note_count++] = text;
}

/* --- limits --------------------------------------------------------------------------- */

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

bool ss_table_limit_texts(struct ss_table *table)
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
