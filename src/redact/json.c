/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.c - replaces the texts of JSON.
 *
 * Copies the window, but replaces its texts and bare words that are not values. The input need not
 * be valid JSON: after a missing or an extra quote, texts and what is between them swap roles until
 * an object begins, so both are redacted. Quotes and brackets stay where they are, so readers see
 * the same damage as before.
 */
#include <string.h>

#include "redact/stream.h"

/* How far after a comma a key may end; beyond this the comma counts as a separator. */
#define KEY_BYTES_MAX 1024

enum scan_result { SCAN_FOUND, SCAN_NOT_FOUND, SCAN_NEEDS_MORE };

struct redact_cursor {
	struct ss_redact_stream *stream;
	const char *at, *end;
	const char *uncopied; /* from here on */
	const char *key,
		*key_end; /* the next key, where it was looked at before; NULL: it was not */
	bool whole;
};

static const struct ss_redact_level *json_level(const struct ss_redact_json *json)
{
	static const struct ss_redact_level outside = { true, false, SS_REDACT_NAME };
	static const struct ss_redact_level deep = { false, true, SS_REDACT_OTHER };

	return !json->depth                        ? &outside
	       : json->depth > SS_REDACT_DEPTH_MAX ? &deep
						   : &json->levels[json->depth - 1];
}

static enum ss_redact_class json_value_class(const struct ss_redact_json *json)
{
	const struct ss_redact_level *level = json_level(json);

	return (enum ss_redact_class)(level->is_array ? level->class : json->class);
}

static void json_open_level(struct ss_redact_json *json, bool is_array)
{
	struct ss_redact_level level = { is_array, false, (uint8_t)json_value_class(json) };

	level.is_strange = level.class >= SS_REDACT_HOST;
	/* unknown keys within known values are unknown */
	if (!is_array && !level.is_strange)
		level.class = SS_REDACT_OTHER;
	if (json->depth < SS_REDACT_DEPTH_MAX)
		json->levels[json->depth] = level;
	if (json->depth < UINT32_MAX)
		json->depth++;
	json->expects_key = !is_array;
	json->has_value = false;
}

/* Closes the innermost level of that kind and all in it; ignores a bracket that closes nothing. */
static void json_close_level(struct ss_redact_json *json, bool is_array)
{
	uint32_t depth = json->depth;

	while (depth && depth <= SS_REDACT_DEPTH_MAX &&
	       json->levels[depth - 1].is_array != is_array)
		depth--;
	if (depth)
		json->depth = depth - 1;
	json->expects_key = false;
	json->has_value = true;
}

/* The end of the text that begins at `at`, by its first quote that is not escaped. */
static enum scan_result cursor_plain_end(const struct redact_cursor *cursor, const char *at,
					 const char **out)
{
	const char *from = at;

	for (;; at++) {
		at = ss_bytes_string_stop(at);
		if (at >= cursor->end)
			return cursor->whole ? SCAN_NOT_FOUND : SCAN_NEEDS_MORE;
		if (at - from > KEY_BYTES_MAX)
			return SCAN_NOT_FOUND;
		if (*at == '"')
			break;
		at += *at == '\\';
	}
	*out = at;
	return SCAN_FOUND;
}

/* Whether a comma after a quote shows that the quote ends its text. */
static enum scan_result comma_ends_string(struct redact_cursor *cursor, const char *comma,
					  bool in_array)
{
	const char *next = ss_bytes_skip_space(comma + 1), *quote = NULL, *key;
	enum scan_result found;

	if (next >= cursor->end)
		return cursor->whole ? SCAN_FOUND : SCAN_NEEDS_MORE;
	if (*next != '"')
		return in_array || strchr("{[-0123456789}]", *next) ? SCAN_FOUND : SCAN_NOT_FOUND;
	found = cursor_plain_end(cursor, next + 1, &quote);
	if (found != SCAN_FOUND)
		return found == SCAN_NEEDS_MORE ? SCAN_NEEDS_MORE : SCAN_FOUND;
	key = next + 1;
	next = ss_bytes_skip_space(quote + 1);
	if (next >= cursor->end)
		return cursor->whole ? SCAN_FOUND : SCAN_NEEDS_MORE;
	if (*next == ':' && !in_array) {
		cursor->key = key;
		cursor->key_end = quote;
	}
	return *next == ':' || (in_array && (*next == ',' || *next == ']')) ? SCAN_FOUND
									    : SCAN_NOT_FOUND;
}

static enum scan_result quote_ends_string(struct redact_cursor *cursor, const char *quote,
					  bool *is_key)
{
	const struct ss_redact_json *json = &cursor->stream->json;
	bool in_array = json_level(json)->is_array;
	const char *next = ss_bytes_skip_space(quote + 1);

	*is_key = false;
	if (next >= cursor->end)
		return cursor->whole ? SCAN_FOUND : SCAN_NEEDS_MORE;
	if (*next == ':' && (in_array || json->expects_key || json->has_value)) {
		*is_key = true;
		return SCAN_FOUND;
	}
	if (!in_array && json->expects_key)
		return SCAN_NOT_FOUND;
	if (*next == ',')
		return comma_ends_string(cursor, next, in_array);
	return *next == '}' || *next == ']' ? SCAN_FOUND : SCAN_NOT_FOUND;
}

struct found_string {
	const char *text, *end;
	bool is_key;
	bool is_odd; /* has quotes in it that are not escaped */
};

/* The closing quote of the text that begins at `at`; at the end of the file: the end. */
static enum scan_result string_find_end(struct redact_cursor *cursor, const char *at,
					struct found_string *out)
{
	*out = (struct found_string){ .text = at };
	if (at == cursor->key) {
		out->end = cursor->key_end;
		out->is_key = true;
		return SCAN_FOUND;
	}
	for (;; at++) {
		enum scan_result found;

		at = ss_bytes_string_stop(at);
		if (at >= cursor->end) {
			out->end = cursor->end;
			out->is_key = false;
			return cursor->whole ? SCAN_FOUND : SCAN_NEEDS_MORE;
		}
		if (*at != '"') {
			at += *at == '\\';
			continue;
		}
		found = quote_ends_string(cursor, at, &out->is_key);
		if (found != SCAN_NOT_FOUND) {
			out->end = at;
			return found;
		}
		out->is_odd = true;
	}
}

/* Writes the replacement in place of the text. */
static bool cursor_replace(struct redact_cursor *cursor, enum ss_redact_class class, bool in_quotes,
			   const char *text, const char *end, struct ss_redact_answer *answer)
{
	struct ss_redact_stream *stream = cursor->stream;

	if (!ss_redact_ask(stream, class, in_quotes, text, (size_t)(end - text), answer))
		return false;
	if (answer->length == SS_REDACT_STAYS)
		return true;
	ss_text_add(&stream->out, cursor->uncopied, (size_t)(text - cursor->uncopied));
	ss_text_add(&stream->out, ss_redact_answered(stream, answer), answer->length);
	cursor->uncopied = end;
	return true;
}

/* Whether a text hides letters in escapes: "\\u0061". */
static bool has_unicode_escape(const char *text, const char *end)
{
	for (; text + 1 < end; text++)
		if (*text == '\\' && text[1] == 'u')
			return true;
	return false;
}

static bool string_equals(const struct found_string *string, const char *text)
{
	size_t length = strlen(text);

	return (size_t)(string->end - string->text) == length &&
	       memcmp(string->text, text, length) == 0;
}

/* The class by which the text itself is redacted. */
static enum ss_redact_class string_class(const struct ss_redact_json *json,
					 const struct found_string *string)
{
	const struct ss_redact_level *level = json_level(json);

	if (string->is_key && !level->is_strange)
		return SS_REDACT_KEY;
	/* within unknown values a key can be anything: a host, a user */
	if (string->is_key)
		return ss_redact_key_class(string->text, (size_t)(string->end - string->text)) ==
				       SS_REDACT_OTHER
			       ? SS_REDACT_OTHER
			       : SS_REDACT_KEY;
	/* a text with inner quotes keeps its form and escapes: it may be more than one text */
	if (string->is_odd && has_unicode_escape(string->text, string->end))
		return SS_REDACT_OTHER;
	return json_value_class(json);
}

/*
 * Whether the key is "traceEvents", also at the end of a damaged text: readers find the events even
 * where brackets or quotes are missing.
 */
static bool key_is_events(const struct found_string *key)
{
	static const char behind[] = "\"traceEvents";
	size_t length = sizeof(behind) - 1;

	return string_equals(key, "traceEvents") ||
	       (key->is_odd && (size_t)(key->end - key->text) >= length &&
		memcmp(key->end - length, behind, length) == 0);
}

static void json_note_event(struct ss_redact_json *json, const struct found_string *string)
{
	if (string->is_key && string_equals(string, "ph") && json->depth &&
	    json->depth <= SS_REDACT_DEPTH_MAX)
		json->levels[json->depth - 1].is_strange = false;
}

/* The class of the value of a key; everything within an unknown value is unknown. */
static enum ss_redact_class key_value_class(const struct ss_redact_json *json,
					    const struct found_string *key,
					    enum ss_redact_class own)
{
	const struct ss_redact_level *level = json_level(json);

	if (key_is_events(key))
		return SS_REDACT_NAME;
	return level->is_array || (own != SS_REDACT_OTHER && !level->is_strange)
		       ? own
		       : (enum ss_redact_class)level->class;
}

static enum scan_result cursor_take_string(struct redact_cursor *cursor, bool *failed)
{
	struct ss_redact_json *json = &cursor->stream->json;
	struct ss_redact_answer answer;
	struct found_string found;

	if (string_find_end(cursor, cursor->at + 1, &found) != SCAN_FOUND)
		return SCAN_NEEDS_MORE;
	json_note_event(json, &found);
	*failed = !cursor_replace(cursor, string_class(json, &found), !found.is_odd, found.text,
				  found.end, &answer);
	if (found.is_key && !*failed) {
		json->class = (uint8_t)key_value_class(json, &found,
						       (enum ss_redact_class)answer.class);
		json->expects_key = false;
	}
	json->has_value = !found.is_key;
	cursor->at = found.end + (found.end < cursor->end);
	return SCAN_FOUND;
}

static bool is_bare_byte(char byte)
{
	return (unsigned char)byte > ' ' && byte != ',' && byte != '}' && byte != ']' &&
	       byte != '"' && byte != '{' && byte != '[' && byte != ':';
}

/* Numbers, and the words that stand for values. */
static bool is_bare_value(const char *text, size_t length)
{
	static const char *const words[] = { "true", "false", "null",     "NaN",       "nan",
					     "inf",  "Inf",   "Infinity", "N/A",       "None",
					     "True", "False", "-inf",     "-Infinity", "-nan" };
	size_t digits = 0, i;

	for (i = 0; i < length; i++)
		if (text[i] >= '0' && text[i] <= '9')
			digits++;
		else if (!text[i] || !strchr("+-.eE", text[i]))
			break;
	if (i == length && digits)
		return true;
	for (i = 0; i < SS_COUNT(words); i++)
		if (strlen(words[i]) == length && memcmp(words[i], text, length) == 0)
			return true;
	return false;
}

/* A longer word is not a word: it is redacted in pieces. */
#define BARE_BYTES_MAX 65536

static bool is_number_byte(char byte)
{
	return (byte >= '0' && byte <= '9') || byte == '.' || byte == '-' || byte == 'e' ||
	       byte == 'E' || byte == '+';
}

static enum scan_result cursor_take_bare(struct redact_cursor *cursor, bool *failed)
{
	const char *from = cursor->at, *at = from;
	struct ss_redact_answer answer;

	/* most of a file: numbers, followed by a byte that cannot be part of one */
	while (is_number_byte(*at))
		at++;
	if (at < cursor->end && !is_bare_byte(*at) && at > from && *from >= '0' && *from <= '9') {
		cursor->at = at;
		return SCAN_FOUND;
	}
	while (is_bare_byte(*at) && at < cursor->end)
		at++;
	/* a control byte that is not white space */
	at += at == from;
	if (at >= cursor->end && !cursor->whole && at - from < BARE_BYTES_MAX)
		return SCAN_NEEDS_MORE;
	/* as a key: no option keeps any of it */
	if (!is_bare_value(from, (size_t)(at - from)))
		*failed = !cursor_replace(cursor, SS_REDACT_KEY, false, from, at, &answer);
	cursor->at = at;
	return SCAN_FOUND;
}

/* Takes one token; SCAN_NEEDS_MORE: the window ends in it. */
static enum scan_result cursor_take(struct redact_cursor *cursor, bool *failed)
{
	struct ss_redact_json *json = &cursor->stream->json;

	switch (*cursor->at) {
	case '"':
		return cursor_take_string(cursor, failed);
	case '{':
	case '[':
		json_open_level(json, *cursor->at == '[');
		break;
	case '}':
	case ']':
		json_close_level(json, *cursor->at == ']');
		break;
	case ',':
		json->expects_key = !json_level(json)->is_array;
		json->has_value = false;
		break;
	case ':':
		break;
	case ' ':
	case '\n':
	case '\t':
	case '\r':
		cursor->at = ss_bytes_skip_space(cursor->at);
		return SCAN_FOUND;
	default:
		json->has_value = true;
		return cursor_take_bare(cursor, failed);
	}
	cursor->at++;
	return SCAN_FOUND;
}

enum ss_status ss_redact_json_step(struct ss_redact_stream *stream, struct ss_error *err)
{
	struct redact_cursor cursor = { .stream = stream,
					.at = stream->at,
					.end = stream->end,
					.uncopied = stream->at,
					.whole = stream->is_over };
	bool failed = false;

	/* Windows begins UTF-8 files with it */
	if (!stream->json.has_begun && cursor.end - cursor.at >= 3 &&
	    memcmp(cursor.at, "\xef\xbb\xbf", 3) == 0)
		cursor.at += 3;
	stream->json.has_begun = true;
	while (cursor.at < cursor.end && !failed && cursor_take(&cursor, &failed) == SCAN_FOUND)
		;
	if (failed)
		return ss_fail_memory(err, "the texts of the file");
	ss_text_add(&stream->out, cursor.uncopied, (size_t)(cursor.at - cursor.uncopied));
	stream->at = cursor.at;
	return SS_OK;
}
