/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shorten.c - finds the place in a text, and cuts around it.
 */
#include "render/layout.h"

#include <string.h>

#include "base/text.h"

#define ELLIPSIS "\xe2\x80\xa6"

/* Narrower, the three letters of a beginning ("ate" of aten::) would tell nothing. */
#define HEAD_WIDTH 24

/* The longest ends of source files' names: .cuda, .hpp, .py. */
#define ENDING_MAX 4

/* What follows a name's dot: py:14 or py(14). Where it ends, or `dot`: no line is there. */
static size_t shorten_line_end(const char *text, size_t length, size_t dot)
{
	size_t at = dot + 1, first;
	bool bracket;

	while (at < length && at <= dot + ENDING_MAX && ss_char_is_letter(text[at]))
		at++;
	if (at == dot + 1 || at >= length || (text[at] != ':' && text[at] != '('))
		return dot;
	bracket = text[at] == '(';
	first = ++at;
	while (at < length && ss_char_is_digit(text[at]))
		at++;
	if (at == first)
		return dot;
	if (!bracket)
		return at;
	return at < length && text[at] == ')' ? at + 1 : dot;
}

/* From the file's name to its line. False: there is no place, or several, as in a stack. */
static bool shorten_find_place(const char *text, size_t length, size_t *first, size_t *end)
{
	bool found = false;
	size_t name = 0;

	for (size_t i = 0; i < length; i++) {
		size_t stop;

		if (strchr("/\\ ;(", text[i]))
			name = i + 1;
		if (text[i] != '.')
			continue;
		stop = shorten_line_end(text, length, i);
		if (stop == i)
			continue;
		if (found)
			return false;
		found = true;
		*first = name;
		*end = stop;
		i = stop - 1;
	}
	return found;
}

size_t ss_shorten_least(const char *text, size_t length)
{
	size_t first, end;

	if (!shorten_find_place(text, length, &first, &end))
		return 0;
	return ss_text_columns(text + first, end - first) + (first > 0) + (end < length);
}

/* The last `width` columns; one less if a wide letter is at the cut. */
static void shorten_add_tail(const char *text, size_t length, size_t width, struct ss_text *out)
{
	size_t over = ss_text_columns(text, length) - width;
	size_t skip = ss_text_prefix(text, length, over);

	if (ss_text_columns(text, skip) < over)
		skip = ss_text_prefix(text, length, over + 1);

	ss_text_add(out, text + skip, length - skip);
}

/* False: with its end the place fits as any other text. */
static bool shorten_add_place(const char *text, size_t length, size_t width, size_t tail,
			      struct ss_text *out)
{
	size_t first, end, available;

	if (!shorten_find_place(text, length, &first, &end) ||
	    ss_text_columns(text + first, length - first) <= tail)
		return false;
	if (ss_text_columns(text + first, length - first) + 1 <= width) {
		ss_text_add_string(out, ELLIPSIS);
		shorten_add_tail(text, length, width - 1, out);
		return true;
	}
	if (ss_shorten_least(text, length) > width) { /* the end of the name and the line */
		ss_text_add_string(out, ELLIPSIS);
		shorten_add_tail(text, end, width - 1, out);
		return true;
	}
	available = width - 1 - (first > 0);
	if (first)
		ss_text_add_string(out, ELLIPSIS);
	ss_text_add(out, text + first, ss_text_prefix(text + first, length - first, available));
	ss_text_add_string(out, ELLIPSIS);
	return true;
}

void ss_shorten(const char *text, size_t length, size_t width, struct ss_text *out)
{
	size_t head = width >= HEAD_WIDTH ? (width - 1) / 5 : 0,
	       tail = width > head + 1 ? width - head - 1 : 0;

	if (ss_text_columns(text, length) <= width) {
		ss_text_add(out, text, length);
		return;
	}
	if (width > 1 && shorten_add_place(text, length, width, tail, out))
		return;
	ss_text_add(out, text, ss_text_prefix(text, length, head));
	ss_text_add_string(out, ELLIPSIS);
	shorten_add_tail(text, length, tail, out);
}
