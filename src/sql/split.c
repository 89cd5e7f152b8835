/* SPDX-License-Identifier: Apache-2.0 */
/*
 * split.c - finds the end of a statement: a semicolon outside of quotes and comments.
 */
#include <string.h>

#include "sql/sql.h"

static bool sql_is_name_char(char letter)
{
	return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
	       (letter >= '0' && letter <= '9') || letter == '_' || (unsigned char)letter >= 0x80;
}

/*
 * The position after the closing quote. A doubled quote reads as two adjacent texts, which is fine.
 */
static size_t skip_quoted(const char *text, size_t length, size_t at, bool has_escapes)
{
	char quote = text[at++];

	for (; at < length && text[at] != quote; at++)
		if (has_escapes && text[at] == '\\')
			at++;
	return at < length ? at + 1 : SIZE_MAX;
}

/* $$ ... $$ and $tag$ ... $tag$; any other dollar sign begins a parameter. */
static size_t skip_dollars(const char *text, size_t length, size_t at)
{
	size_t tag = at + 1;

	while (tag < length && sql_is_name_char(text[tag]))
		tag++;
	if (tag >= length || text[tag] != '$')
		return at + 1;
	tag = tag + 1 - at;
	for (size_t end = at + tag; end + tag <= length; end++)
		if (memcmp(text + end, text + at, tag) == 0)
			return end + tag;
	return SIZE_MAX;
}

/* Block comments can be nested. */
static size_t skip_comment(const char *text, size_t length, size_t at)
{
	size_t depth = 0;

	for (; at + 1 < length; at++) {
		if (text[at] == '/' && text[at + 1] == '*') {
			depth++;
			at++;
		} else if (text[at] == '*' && text[at + 1] == '/') {
			at++;
			if (--depth == 0)
				return at + 1;
		}
	}
	return SIZE_MAX;
}

static size_t sql_skip_line(const char *text, size_t length, size_t at)
{
	const char *end = memchr(text + at, '\n', length - at);

	return end ? (size_t)(end - text) : length;
}

/*
 * The position after the token at `at`; SIZE_MAX: it has no end. Sets *is_word unless it is a
 * comment.
 */
static size_t sql_skip_token(const char *text, size_t length, size_t at, bool *is_word)
{
	bool has_next = at + 1 < length;

	if (has_next && text[at] == '-' && text[at + 1] == '-')
		return sql_skip_line(text, length, at);
	if (has_next && text[at] == '/' && text[at + 1] == '*')
		return skip_comment(text, length, at);
	if (text[at] == ' ' || (text[at] >= '\t' && text[at] <= '\r'))
		return at + 1;
	*is_word = true;
	if (text[at] == '\'')
		return skip_quoted(text, length, at,
				   at && (text[at - 1] | 0x20) == 'e' &&
					   (at < 2 || !sql_is_name_char(text[at - 2])));
	if (text[at] == '"')
		return skip_quoted(text, length, at, false);
	if (text[at] == '$' && !(at && sql_is_name_char(text[at - 1])))
		return skip_dollars(text, length, at);
	return at + 1;
}

bool ss_sql_split(struct ss_sql_text *rest, struct ss_sql_text *statement, bool *is_ended)
{
	const char *text = rest->text;
	size_t length = rest->length, at = 0;
	bool is_word = false;

	*is_ended = false;
	while (at < length) {
		if (text[at] == ';') {
			*statement = (struct ss_sql_text){ text, at };
			*rest = (struct ss_sql_text){ text + at + 1, length - at - 1 };
			*is_ended = true;
			if (is_word)
				return true;
			/* an empty statement: continue after it */
			text = rest->text;
			length = rest->length;
			at = 0;
			continue;
		}
		at = sql_skip_token(text, length, at, &is_word);
	}
	*is_ended = false;
	*statement = (struct ss_sql_text){ text, length };
	*rest = (struct ss_sql_text){ text + length, 0 };
	return is_word;
}
