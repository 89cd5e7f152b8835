/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.h - a cursor over JSON text that never builds a tree.
 *
 * Made for event streams of gigabytes in which most values are skipped. It takes
 * bare words (NaN, inf, N/A) for values and control characters and NULs for bytes.
 * With `careful` set it is tolerant where old writers were careless: an unescaped
 * quote inside a string is part of it unless what follows can only follow a
 * closing quote. What was tolerated is counted.
 *
 * The text must be followed by SS_PAD_BYTES zero bytes. Every function answers
 *   SS_JSON_OK    the cursor stands behind what was read
 *   SS_JSON_MORE  the text ended first; ask again with more of it
 *   SS_JSON_BAD   this is not JSON, even with tolerance
 * and decides nothing by where the text happens to end: the same bytes give the
 * same answers however they are cut into pieces.
 */
#ifndef SS_READ_JSON_H
#define SS_READ_JSON_H

#include "base/error.h"
#include "read/bytes.h"
#include "base/text.h"

enum ss_json_result { SS_JSON_OK, SS_JSON_MORE, SS_JSON_BAD };

enum ss_json_type {
	SS_JSON_NONE, /* no value seen */
	SS_JSON_STRING,
	SS_JSON_BARE, /* number, true, false, null, or a word that is not JSON */
	SS_JSON_ARRAY,
	SS_JSON_OBJECT,
};

/* A value as it stands in the text; strings without their quotes, escapes left in. */
struct ss_json_span {
	const char *text;
	uint32_t length;
	uint8_t type;    /* enum ss_json_type */
	uint8_t escaped; /* a string with a backslash in it */
};

struct ss_json {
	const char *at;
	const char *end;
	bool whole;          /* nothing follows `end`: the text is all there is */
	bool careful;        /* the second try, for text that is not JSON: see ss_json_string() */
	bool in_array;       /* the value at the cursor is an item, not a key's */
	uint32_t odd_quotes; /* quotes taken as part of their string */
	uint32_t odd_commas; /* missing between two keys, or after the last value */
};

/* The text of an array or object, to be read on its own; of another value: nothing. */
static inline struct ss_json ss_json_inside(const struct ss_json_span *span, bool careful)
{
	static const char nothing[SS_PAD_BYTES];
	bool is_nested = span->type == SS_JSON_ARRAY || span->type == SS_JSON_OBJECT;

	return (struct ss_json){
		.at = is_nested ? span->text + 1 : nothing,
		.end = is_nested ? span->text + span->length : nothing,
		.whole = true,
		.careful = careful,
	};
}

/* Moves to the next byte that is not white space. */
static inline void ss_json_space(struct ss_json *json)
{
	json->at = ss_bytes_skip_space(json->at);
}

/* What a byte that should not be there means: the end of the text, or an error. */
static inline enum ss_json_result ss_json_unexpected(const struct ss_json *json)
{
	return json->at >= json->end ? SS_JSON_MORE : SS_JSON_BAD;
}

/* Skips white space and `byte`. */
static inline enum ss_json_result ss_json_expect(struct ss_json *json, char byte)
{
	ss_json_space(json);
	if (*json->at != byte || json->at >= json->end)
		return ss_json_unexpected(json);
	json->at++;
	return SS_JSON_OK;
}

/*
 * Reads a string whose opening quote lies just behind the cursor. `followers`
 * are the bytes of which one must follow the closing quote. With `careful` set,
 * an escaped quote can close the string as well (old writers did not escape the
 * backslashes of Windows paths) and a comma counts as a follower only when a
 * key or a value stands behind it.
 */
enum ss_json_result ss_json_string_slow(struct ss_json *json, const char *followers,
					struct ss_json_span *out);

static inline enum ss_json_result ss_json_string(struct ss_json *json, const char *followers,
						 struct ss_json_span *out)
{
	const char *stop = ss_bytes_string_stop(json->at);

	if (*stop == '"' && (stop[1] == followers[0] || stop[1] == followers[1]) &&
	    !json->careful && stop + 1 < json->end) {
		*out = (struct ss_json_span){ json->at, (uint32_t)(stop - json->at), SS_JSON_STRING,
					      0 };
		json->at = stop + 1;
		return SS_JSON_OK;
	}
	return ss_json_string_slow(json, followers, out);
}

/* The followers of a key, and of a value. */
#define SS_JSON_AFTER_KEY ":::"
#define SS_JSON_AFTER_VALUE ",}]"

/* Skips the array or object at the cursor, whatever is in it. */
enum ss_json_result ss_json_skip_nested(struct ss_json *json);

/* Reads the value at the cursor; arrays and objects come as their whole text. */
enum ss_json_result ss_json_value(struct ss_json *json, struct ss_json_span *out);

/*
 * Reads the next key of the object that the cursor is in and stands before its
 * value. At the end of the object it stands behind the brace and the key's type
 * is SS_JSON_NONE. `first` is true for the first key.
 */
enum ss_json_result ss_json_key(struct ss_json *json, bool first, struct ss_json_span *key);

/* The same for arrays: true in `more` when it stands before a value. */
enum ss_json_result ss_json_item(struct ss_json *json, bool first, bool *more);

/*
 * Writes the text of a string as one line to `out` (room for span->length bytes)
 * and returns its length. Line breaks that were properly escaped become spaces;
 * raw control characters stay, for they are odd.
 */
size_t ss_json_text(const struct ss_json_span *span, char *out);

/*
 * Writes an array or object that was printed over several lines on one, as in
 * "[[32, 3], []]", to `out` (room for 2 * length bytes) and returns its length.
 */
size_t ss_json_one_line(const char *text, size_t length, char *out);

/*
 * Writes the string without its escapes to `out` (room for span->length bytes)
 * and returns its length. When it holds escapes that JSON does not have, its
 * backslashes are a path's and stay.
 */
size_t ss_json_unescape(const struct ss_json_span *span, char *out);

/* Whether it holds escapes that JSON does not have. */
bool ss_json_has_wild_escape(const struct ss_json_span *span);

static inline bool ss_json_is(const struct ss_json_span *span, const char *text)
{
	size_t length = strlen(text);

	return span->length == length && memcmp(span->text, text, length) == 0;
}

/* A number, written bare or as a string. False when it is not a number. */
bool ss_json_i64(const struct ss_json_span *span, int64_t *out);

/*
 * Writes valid JSON from JSON that only a tolerant reader accepts.
 *
 * Values are copied token by token, without the white space between them. What is not
 * JSON is repaired: control characters and quotes are escaped, bytes that are not UTF-8
 * become U+FFFD, a backslash that escapes nothing is doubled, and words that are not
 * values (NaN, N/A) become strings.
 */

/*
 * Arrays and objects in one another: deeper than anything that writers make, and what readers
 * of JSON take.
 */
#define SS_STRICT_DEPTH_MAX 256

/* What stands between the quotes of a string. */
void ss_strict_add_text(struct ss_text *out, const char *text, size_t length);

/*
 * The value; false, and `out` is as it was: its brackets do not fit, or are too deep.
 * `careful` as it was read: see struct ss_json.
 */
SS_MUST_USE
bool ss_strict_add(struct ss_text *out, const struct ss_json_span *value, bool careful);

/*
 * The same in one pass, for what needs no repair: copy the string or value at the cursor and
 * return its end. NULL: the text ends first, or this is for ss_strict_add(). `out` has room for
 * all of the text that is left, and SS_STRICT_WORD_MAX bytes.
 */
#define SS_STRICT_WORD_MAX 32
const char *ss_strict_copy_string(const char *at, char **out);
const char *ss_strict_copy_value(const char *at, char **out);

#endif
