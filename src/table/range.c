/* SPDX-License-Identifier: Apache-2.0 */
/*
 * range.c - compares two sentences figure by figure.
 */
#include "table/range.h"

#include <string.h>

static bool note_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool note_is_word(char c)
{
	return note_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
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
	while (note_is_digit(at[length]))
		length++;
	if (length && at[length] == '.' && note_is_digit(at[length + 1]))
		for (length++; note_is_digit(at[length]);)
			length++;
	if (note_is_word(at[length]) || (at[length] && strchr("#:-/", at[length])) ||
	    (at[length] == '.' && note_is_digit(at[length + 1])))
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

bool ss_range_alike(const char *a, const char *b)
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

const char *ss_range_pick(struct ss_arena *arena, const char *a, const char *b, bool higher)
{
	return note_combine(arena, a, b, higher ? FORM_HIGH : FORM_LOW);
}

const char *ss_range_print(struct ss_arena *arena, const char *low, const char *high)
{
	return note_combine(arena, low, high, FORM_BOTH);
}
