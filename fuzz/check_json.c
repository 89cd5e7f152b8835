/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_json.c - is a text strict JSON? Written apart from src/read/json.c, which forgives.
 */
#include <string.h>

#include "base/utf8.h"
#include "check.h"
#include "read/json.h"

/* A value as deep as it may be, of an event, in a list. */
#define DEPTH_MAX (SS_STRICT_DEPTH_MAX + 2)

struct cursor {
	const char *at, *end;
	int depth;
};

static void skip_space(struct cursor *cursor)
{
	while (cursor->at < cursor->end && strchr(" \t\r\n", *cursor->at) && *cursor->at)
		cursor->at++;
}

static char peek(const struct cursor *cursor)
{
	CHECK(cursor->at < cursor->end);
	return *cursor->at;
}

static void expect(struct cursor *cursor, char byte)
{
	CHECK(peek(cursor) == byte);
	cursor->at++;
}

static void read_string(struct cursor *cursor)
{
	expect(cursor, '"');
	for (; peek(cursor) != '"'; cursor->at++) {
		CHECK((unsigned char)peek(cursor) >= 0x20);
		if (peek(cursor) != '\\')
			continue;
		cursor->at++;
		CHECK(peek(cursor) && strchr("\"\\/bfnrtu", peek(cursor)));
		for (int i = 0; peek(cursor) == 'u' && i < 4; i++)
			CHECK(cursor->end - cursor->at > 4 &&
			      strchr("0123456789abcdefABCDEF", cursor->at[1 + i]));
	}
	cursor->at++;
}

static void read_digits(struct cursor *cursor)
{
	CHECK(peek(cursor) >= '0' && peek(cursor) <= '9');
	while (cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9')
		cursor->at++;
}

static void read_number(struct cursor *cursor)
{
	if (peek(cursor) == '-')
		cursor->at++;
	if (peek(cursor) == '0')
		cursor->at++;
	else
		read_digits(cursor);
	if (cursor->at < cursor->end && *cursor->at == '.') {
		cursor->at++;
		read_digits(cursor);
	}
	if (cursor->at < cursor->end && (*cursor->at == 'e' || *cursor->at == 'E')) {
		cursor->at++;
		if (peek(cursor) == '-' || peek(cursor) == '+')
			cursor->at++;
		read_digits(cursor);
	}
}

static bool read_word(struct cursor *cursor)
{
	static const char *const words[] = { "true", "false", "null" };

	for (size_t i = 0; i < SS_COUNT(words); i++) {
		size_t length = strlen(words[i]);

		if ((size_t)(cursor->end - cursor->at) < length ||
		    memcmp(cursor->at, words[i], length) != 0)
			continue;
		cursor->at += length;
		return true;
	}
	return false;
}

static void read_value(struct cursor *cursor);

/* The items of an object (keys) or an array up to the closing byte. */
static void read_items(struct cursor *cursor, char closing, bool keys)
{
	cursor->at++;
	CHECK(++cursor->depth <= DEPTH_MAX);
	skip_space(cursor);
	for (bool first = true; peek(cursor) != closing; first = false) {
		if (!first) {
			expect(cursor, ',');
			skip_space(cursor);
		}
		if (keys) {
			read_string(cursor);
			skip_space(cursor);
			expect(cursor, ':');
		}
		read_value(cursor);
		skip_space(cursor);
	}
	cursor->at++;
	cursor->depth--;
}

static void read_value(struct cursor *cursor)
{
	skip_space(cursor);
	if (peek(cursor) == '{')
		read_items(cursor, '}', true);
	else if (peek(cursor) == '[')
		read_items(cursor, ']', false);
	else if (peek(cursor) == '"')
		read_string(cursor);
	else if (!read_word(cursor))
		read_number(cursor);
}

void check_json(const char *text, size_t length)
{
	struct cursor cursor = { text, text + length, 0 };

	CHECK(length > 0);
	CHECK(!(ss_utf8_check(text, length) & SS_UTF8_BAD_BYTES));
	read_value(&cursor);
	skip_space(&cursor);
	CHECK(cursor.at == cursor.end);
}
