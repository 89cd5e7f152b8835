/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.c - the parts of the cursor that are not in every event's path.
 */
#include "read/json.h"

#include <string.h>

#include "base/text.h"
#include "base/utf8.h"
#include "read/number.h"

/* How far after a comma a key may begin, when a quote is read carefully. */
#define KEY_BYTES_MAX 256

static bool byte_is_among(char byte, const char *bytes)
{
	for (; *bytes; bytes++)
		if (byte == *bytes)
			return true;
	return false;
}

/* A comma closes a value only when a key, or the next item of an array, follows. */
static enum ss_json_result json_comma_closes(const struct ss_json *json, const char *comma)
{
	const char *at = ss_bytes_skip_space(comma + 1);
	const char *stop;

	if (at >= json->end)
		return json->whole ? SS_JSON_OK : SS_JSON_MORE;
	if (*at == '{' || *at == '[' || *at == '-' || (*at >= '0' && *at <= '9'))
		return SS_JSON_OK;
	if (*at != '"')
		return SS_JSON_BAD;
	for (stop = at + 1; stop < json->end && stop - at < KEY_BYTES_MAX; stop++)
		if (*stop == '"') {
			stop = ss_bytes_skip_space(stop + 1);
			break;
		}
	if (stop >= json->end)
		return json->whole ? SS_JSON_BAD : SS_JSON_MORE;
	if (*stop == ':' || (json->in_array && (*stop == ',' || *stop == ']')))
		return SS_JSON_OK;
	return SS_JSON_BAD;
}

/* Does the quote at `quote` close its string? BAD: no, it is part of it. */
static enum ss_json_result json_quote_closes(const struct ss_json *json, const char *quote,
					     const char *followers)
{
	const char *next = ss_bytes_skip_space(quote + 1);

	if (next >= json->end)
		return json->whole ? SS_JSON_OK : SS_JSON_MORE;
	if (!byte_is_among(*next, followers))
		return SS_JSON_BAD;
	if (json->careful && *next == ',')
		return json_comma_closes(json, next);
	return SS_JSON_OK;
}

enum ss_json_result ss_json_string_slow(struct ss_json *json, const char *followers,
					struct ss_json_span *out)
{
	const char *start = json->at, *at = start;
	bool escaped = false;

	for (;; at++) {
		enum ss_json_result closes;

		at = ss_bytes_string_stop(at);
		if (at >= json->end)
			return SS_JSON_MORE;
		if (*at == '\\') {
			escaped = true;
			if (at + 1 >= json->end)
				return SS_JSON_MORE;
			if (at[1] != '"' || !json->careful) {
				at++;
				continue;
			}
			at++;
		}
		if (*at != '"')
			continue;
		closes = json_quote_closes(json, at, followers);
		if (closes == SS_JSON_MORE)
			return SS_JSON_MORE;
		if (closes == SS_JSON_OK)
			break;
		if (!json->careful)
			return SS_JSON_BAD;
		json->odd_quotes += !(json->careful && at > start && at[-1] == '\\');
	}
	if ((uint64_t)(at - start) > UINT32_MAX)
		return SS_JSON_BAD;
	*out = (struct ss_json_span){ start, (uint32_t)(at - start), SS_JSON_STRING, escaped };
	json->at = at + 1;
	return SS_JSON_OK;
}

enum ss_json_result ss_json_skip_nested(struct ss_json *json)
{
	const char *at = json->at;
	bool was_in_array = json->in_array;
	uint64_t depth = 0, arrays = 0; /* a bit per level, the innermost last: is it an array? */

	for (;; at++) {
		at = ss_bytes_nesting_stop(at);
		if (at >= json->end)
			return SS_JSON_MORE;
		if (*at == '"') {
			struct ss_json_span span;
			enum ss_json_result result;

			json->at = at + 1;
			json->in_array = arrays & 1;
			result = ss_json_string(json, ",:}]", &span);
			json->in_array = was_in_array;
			if (result != SS_JSON_OK)
				return result;
			at = json->at - 1;
		} else if (*at == '{' || *at == '[') {
			depth++;
			arrays = arrays << 1 | (*at == '[');
		} else if (*at && --depth == 0) {
			json->at = at + 1;
			return SS_JSON_OK;
		} else if (*at) {
			arrays >>= 1;
		}
	}
}

static enum ss_json_result json_read_bare_word(struct ss_json *json, struct ss_json_span *out)
{
	const char *at = json->at;

	while ((unsigned char)*at > ' ' && *at != ',' && *at != '}' && *at != ']' && *at != '"' &&
	       *at != '{' && *at != '[' && *at != ':')
		at++;
	if (at >= json->end)
		return SS_JSON_MORE;
	if (at == json->at || (uint64_t)(at - json->at) > UINT32_MAX)
		return SS_JSON_BAD;
	*out = (struct ss_json_span){ json->at, (uint32_t)(at - json->at), SS_JSON_BARE, 0 };
	json->at = at;
	return SS_JSON_OK;
}

enum ss_json_result ss_json_value(struct ss_json *json, struct ss_json_span *out)
{
	const char *start;
	enum ss_json_result result;

	ss_json_space(json);
	start = json->at;
	switch (*start) {
	case '"':
		json->at++;
		return ss_json_string(json, SS_JSON_AFTER_VALUE, out);
	case '{':
	case '[':
		result = ss_json_skip_nested(json);
		if (result != SS_JSON_OK)
			return result;
		if ((uint64_t)(json->at - start) > UINT32_MAX)
			return SS_JSON_BAD;
		*out = (struct ss_json_span){ start, (uint32_t)(json->at - start),
					      *start == '{' ? SS_JSON_OBJECT : SS_JSON_ARRAY, 0 };
		return SS_JSON_OK;
	default:
		return json_read_bare_word(json, out);
	}
}

enum ss_json_result ss_json_key(struct ss_json *json, bool first, struct ss_json_span *key)
{
	enum ss_json_result result;
	bool parted = first;

	ss_json_space(json);
	if (*json->at == ',' && !first) {
		json->at++;
		ss_json_space(json);
		parted = true;
	}
	if (*json->at == '}' && json->at < json->end) {
		json->at++;
		json->odd_commas += parted && !first;
		*key = (struct ss_json_span){ 0 };
		return SS_JSON_OK;
	}
	if (*json->at != '"' || json->at >= json->end)
		return ss_json_unexpected(json);
	json->at++;
	json->odd_commas += !parted;
	result = ss_json_string(json, SS_JSON_AFTER_KEY, key);
	if (result != SS_JSON_OK)
		return result;
	result = ss_json_expect(json, ':');
	if (result == SS_JSON_OK)
		ss_json_space(json);
	return result;
}

enum ss_json_result ss_json_item(struct ss_json *json, bool first, bool *more)
{
	ss_json_space(json);
	if (*json->at == ',' && !first) {
		json->at++;
		ss_json_space(json);
	}
	if (json->at >= json->end)
		return SS_JSON_MORE;
	*more = *json->at != ']';
	json->at += !*more;
	return SS_JSON_OK;
}

/* Writes the \u escape whose digits begin at *at and skips it; 0 when it is not one. */
static size_t unescape_unicode(const char **at, const char *end, char *out)
{
	uint32_t high, low;

	if (!ss_chars_read_hex(*at, end, 4, &high))
		return 0;
	*at += 4;
	if (high >= 0xd800 && high < 0xdc00 && end - *at >= 6 && (*at)[0] == '\\' &&
	    (*at)[1] == 'u' && ss_chars_read_hex(*at + 2, end, 4, &low) && low >= 0xdc00 &&
	    low < 0xe000) {
		*at += 6;
		high = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
	}
	return ss_utf8_encode(high, out);
}

static const char escapes_from[] = "\"\\/bfnrt", escapes_to[] = "\"\\/\b\f\n\r\t";

/* Its backslashes are those of a Windows path then, which the writer did not escape. */
bool ss_json_has_wild_escape(const struct ss_json_span *span)
{
	const char *at = span->text, *end = at + span->length;
	uint32_t unit;

	for (; at < end; at++) {
		if (*at != '\\')
			continue;
		at++;
		if (at == end || *at == '\0' ||
		    (*at == 'u' ? !ss_chars_read_hex(at + 1, end, 4, &unit)
				: !strchr(escapes_from, *at)))
			return true;
	}
	return false;
}

size_t ss_json_unescape(const struct ss_json_span *span, char *out)
{
	const char *at = span->text, *end = at + span->length;
	bool wild = ss_json_has_wild_escape(span);
	size_t used = 0;

	while (at < end) {
		if (*at != '\\' || at + 1 >= end || (wild && at[1] != '"' && at[1] != '\\')) {
			out[used++] = *at++;
			continue;
		}
		at += 2;
		if (at[-1] == 'u')
			used += unescape_unicode(&at, end, out + used);
		else
			out[used++] = escapes_to[strchr(escapes_from, at[-1]) - escapes_from];
	}
	return used;
}

static bool json_has_control(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)text[i] < ' ')
			return true;
	return false;
}

size_t ss_json_text(const struct ss_json_span *span, char *out)
{
	size_t length = ss_json_unescape(span, out);

	if (!json_has_control(span->text, span->length))
		for (size_t i = 0; i < length; i++)
			if ((unsigned char)out[i] < ' ')
				out[i] = ' ';
	return length;
}

size_t ss_json_one_line(const char *text, size_t length, char *out)
{
	bool in_string = false, escaped = false;
	size_t used = 0;

	for (size_t i = 0; i < length; i++) {
		char byte = text[i];

		if (byte == '"' && !escaped)
			in_string = !in_string;
		escaped = byte == '\\' && !escaped;
		if (!in_string && (unsigned char)byte <= ' ')
			continue;
		if (!in_string && used && out[used - 1] == ',')
			out[used++] = ' ';
		out[used++] = byte;
	}
	return used;
}

bool ss_json_i64(const struct ss_json_span *span, int64_t *out)
{
	return (span->type == SS_JSON_BARE || span->type == SS_JSON_STRING) &&
	       ss_number_i64(span->text, span->length, out);
}
