/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.h - a text buffer that grows, and questions about characters and texts.
 *
 * Renderers write to a struct ss_text. A failed append is remembered and leaves the text
 * unchanged: append freely and check ss_text_failed() once at the end.
 */
#ifndef SS_BASE_TEXT_H
#define SS_BASE_TEXT_H

#include <string.h>

#include "base/error.h"

/* Declares an empty text that is released where its block is left. */
#define SS_TEXT(name) SS_OWNED(ss_text_release) struct ss_text name = { 0 }

bool ss_text_grow(struct ss_text *text, size_t more);

/*
 * Reserves space for that number of bytes and a NUL; false: no memory.
 * Inlined, as the next two are: tables have millions of cells, and most are short.
 */
static inline bool ss_text_reserve(struct ss_text *text, size_t more)
{
	return (text->data && more < text->capacity - text->length) || ss_text_grow(text, more);
}

static inline void ss_text_add(struct ss_text *text, const char *bytes, size_t length)
{
	if (!ss_text_reserve(text, length))
		return;
	if (length)
		memcpy(text->data + text->length, bytes, length);
	text->length += length;
	text->data[text->length] = '\0';
}

static inline void ss_text_add_string(struct ss_text *text, const char *string)
{
	ss_text_add(text, string, strlen(string));
}

void ss_text_fill(struct ss_text *text, char byte, size_t count);
void ss_text_add_int(struct ss_text *text, int64_t value);
/* With six decimals, as printf("%.6f") writes it. */
void ss_text_add_number(struct ss_text *text, double value);
/* As a string of JSON: in quotes, with escapes. Bytes that are not UTF-8 stay. */
void ss_text_add_quoted(struct ss_text *text, const char *bytes, size_t length);
__attribute__((format(printf, 2, 3))) void ss_text_addf(struct ss_text *text, const char *format,
							...);

/* --- characters: ASCII, whatever the locale -------------------------------------------- */

static inline char ss_char_lower(char letter)
{
	return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

static inline bool ss_char_is_digit(char letter)
{
	return letter >= '0' && letter <= '9';
}

static inline bool ss_char_is_letter(char letter)
{
	return ss_char_lower(letter) >= 'a' && ss_char_lower(letter) <= 'z';
}

/* 0 to 15, of either case; -1: not a hexadecimal digit. */
static inline int ss_char_hex_value(char letter)
{
	if (ss_char_is_digit(letter))
		return letter - '0';
	letter = ss_char_lower(letter);
	return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

static inline bool ss_char_is_hex(char letter)
{
	return ss_char_hex_value(letter) >= 0;
}

/* Reads exactly `digits` hexadecimal digits. */
static inline bool ss_chars_read_hex(const char *at, const char *end, int digits, uint32_t *out)
{
	*out = 0;
	if (end - at < digits)
		return false;
	for (int i = 0; i < digits; i++) {
		int digit = ss_char_hex_value(at[i]);

		if (digit < 0)
			return false;
		*out = *out << 4 | (uint32_t)digit;
	}
	return true;
}

/* --- parts of a text: with its length, or of a string that ends with NUL ----------------- */

static inline bool ss_text_begins_with(const char *text, size_t length, const char *begin)
{
	size_t wanted = strlen(begin);

	return length >= wanted && memcmp(text, begin, wanted) == 0;
}

static inline bool ss_text_ends_with(const char *text, size_t length, const char *end)
{
	size_t wanted = strlen(end);

	return length >= wanted && memcmp(text + length - wanted, end, wanted) == 0;
}

static inline bool ss_string_begins_with(const char *string, const char *begin)
{
	return strncmp(string, begin, strlen(begin)) == 0;
}

static inline bool ss_string_ends_with(const char *string, const char *end)
{
	return ss_text_ends_with(string, strlen(string), end);
}

/* Whether the string has one of the parts. */
bool ss_string_has_one_of(const char *string, const char *const *parts, size_t count);

/* Whether the text has the part, which is not empty. */
bool ss_text_has(const char *text, size_t length, const char *part, size_t part_length);

/*
 * Where the part first begins in the text, ignoring ASCII case, in linear time;
 * NULL: nowhere. An empty part is everywhere.
 */
const char *ss_text_search(const char *text, size_t text_length, const char *part, size_t length);

/* Appends ", " and an item to a list in a buffer; an item that does not fit is left out. */
void ss_text_list(char *list, size_t room, const char *item);

/* True when an append found no memory. */
bool ss_text_failed(const struct ss_text *text);

/* Marks the text as failed because something else found no memory. */
void ss_text_fail(struct ss_text *text);

/* Releases a text that was made for `whole`; if it failed, `whole` fails too. */
void ss_text_end(struct ss_text *part, struct ss_text *whole);

/* The columns that the UTF-8 text takes on a terminal. */
size_t ss_text_columns(const char *bytes, size_t length);

/* The bytes of the first `columns` columns. */
size_t ss_text_prefix(const char *bytes, size_t length, size_t columns);

#endif
