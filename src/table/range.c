/* SPDX-License-Identifier: Apache-2.0 */
/*
 * range.c - compares two sentences figure by figure.
 */
#include "table/range.h"

#include <string.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/*
 * How long the figure is that begins here: digits with or without decimals, and nothing of a
 * word or a name around them. 0: none.
 */
static size_t figure_at(const char *text, const char *at)
{
	size_t length = 0;

	if (at > text && (is_word(at[-1]) || strchr(".#:-/", at[-1])))
		return 0;
	while (is_digit(at[length]))
		length++;
	if (length && at[length] == '.' && is_digit(at[length + 1]))
		for (length++; is_digit(at[length]);)
			length++;
	if (is_word(at[length]) || (at[length] && strchr("#:-/", at[length])) ||
	    (at[length] == '.' && is_digit(at[length + 1])))
		return 0;
	return length;
}

static size_t whole_digits(const char *figure, size_t length)
{
	const char *point = memchr(figure, '.', length);

	return point ? (size_t)(point - figure) : length;
}

/* Figures have no zeros in front: the longer whole part is the larger. */
static bool is_less(const char *a, size_t a_length, const char *b, size_t b_length)
{
	size_t a_whole = whole_digits(a, a_length), b_whole = whole_digits(b, b_length);
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
		size_t x_length = figure_at(a, x), y_length = figure_at(b, y);

		if (x_length && y_length) {
			x += x_length;
			y += y_length;
		} else if (*x++ != *y++) {
			return false;
		}
	}
	return *x == *y;
}

struct writer {
	char *text;
	size_t length;
};

static void put(struct writer *writer, const char *bytes, size_t length)
{
	memcpy(writer->text + writer->length, bytes, length);
	writer->length += length;
}

enum form { FORM_LOW, FORM_HIGH, FORM_BOTH };

static const char *combine(struct ss_arena *arena, const char *a, const char *b, enum form form)
{
	static const char gap[] = " to ";
	const char *x = a, *y = b;
	struct writer writer = { 0 };

	/* a figure of one digit grows most */
	writer.text = ss_arena_alloc(arena, strlen(a) * sizeof(gap) + strlen(b) + 1, 1);
	if (!writer.text)
		return NULL;
	while (*x) {
		size_t x_length = figure_at(a, x), y_length = figure_at(b, y);
		bool y_less = is_less(y, y_length, x, x_length);

		if (!x_length || !y_length) {
			put(&writer, x++, 1);
			y++;
			continue;
		}
		if (form != FORM_BOTH)
			put(&writer, y_less == (form == FORM_LOW) ? y : x,
			    y_less == (form == FORM_LOW) ? y_length : x_length);
		else {
			put(&writer, x, x_length);
			if (x_length != y_length || memcmp(x, y, x_length) != 0) {
				put(&writer, gap, sizeof(gap) - 1);
				put(&writer, y, y_length);
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
	return combine(arena, a, b, higher ? FORM_HIGH : FORM_LOW);
}

const char *ss_range_print(struct ss_arena *arena, const char *low, const char *high)
{
	return combine(arena, low, high, FORM_BOTH);
}
