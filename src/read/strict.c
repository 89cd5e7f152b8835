/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strict.c - copies JSON: in one pass what is valid, token by token what has to be repaired.
 */
#include "base/utf8.h"
#include "read/json.h"

/* --- texts -------------------------------------------------------------------------------- */

/* The length of the escape whose backslash stands at `at`; 0: it escapes nothing. */
static size_t strict_escape_length(const char *at, const char *end)
{
	if (end - at < 2 || !at[1])
		return 0;
	if (strchr("\"\\/bfnrt", at[1]))
		return 2;
	if (at[1] != 'u' || end - at < 6)
		return 0;
	return ss_char_is_hex(at[2]) && ss_char_is_hex(at[3]) && ss_char_is_hex(at[4]) &&
			       ss_char_is_hex(at[5])
		       ? 6
		       : 0;
}

/* The length of the UTF-8 sequence that its first byte announces, as far as the text has it. */
static size_t point_length(const char *at, const char *end)
{
	unsigned char first = (unsigned char)*at;
	size_t wanted = first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4, length = 1;

	while (length < wanted && at + length < end && ((unsigned char)at[length] & 0xc0) == 0x80)
		length++;
	return length;
}

static bool strict_is_plain(char byte)
{
	return (unsigned char)byte >= ' ' && (unsigned char)byte < 0x80 && byte != '"' &&
	       byte != '\\';
}

void ss_strict_add_text(struct ss_text *out, const char *text, size_t length)
{
	const char *at = text, *end = text + length, *from = text;

	while (at < end) {
		char repaired[16];
		size_t used, taken = 1;

		while (at < end && strict_is_plain(*at))
			at++;
		if (at == end)
			break;
		if (*at == '\\' && (used = strict_escape_length(at, end)) != 0) {
			at += used;
			continue;
		}
		if ((unsigned char)*at >= 0x80) {
			taken = point_length(at, end);
			if (!(ss_utf8_check(at, taken) & SS_UTF8_BAD_BYTES)) {
				at += taken;
				continue;
			}
		}
		ss_text_add(out, from, (size_t)(at - from));
		if ((unsigned char)*at >= 0x80)
			ss_text_add(out, repaired, ss_utf8_repair(at, taken, repaired));
		else if (*at == '"' || *at == '\\')
			ss_text_addf(out, "\\%c", *at);
		else
			ss_text_addf(out, "\\u%04x", (unsigned)*at);
		at += taken;
		from = at;
	}
	ss_text_add(out, from, (size_t)(end - from));
}

static void strict_add_string(struct ss_text *out, const struct ss_json_span *span)
{
	ss_text_add(out, "\"", 1);
	ss_strict_add_text(out, span->text, span->length);
	ss_text_add(out, "\"", 1);
}

/* --- words ---------------------------------------------------------------------------------- */

static const char *strict_skip_digits(const char *at, const char *end)
{
	while (at < end && *at >= '0' && *at <= '9')
		at++;
	return at;
}

/*
 * The end of the number at the cursor, as JSON has numbers: no plus, no zeros before others, digits
 * on both sides of the point. NULL: there is none.
 */
static const char *strict_number_end(const char *at, const char *end)
{
	const char *digits;

	at += at < end && *at == '-';
	digits = at;
	at = strict_skip_digits(at, end);
	if (at == digits || (*digits == '0' && at - digits > 1))
		return NULL;
	if (at < end && *at == '.') {
		digits = ++at;
		at = strict_skip_digits(at, end);
		if (at == digits)
			return NULL;
	}
	if (at < end && (*at | 0x20) == 'e') {
		at++;
		at += at < end && (*at == '-' || *at == '+');
		digits = at;
		at = strict_skip_digits(at, end);
		if (at == digits)
			return NULL;
	}
	return at;
}

static void strict_add_word(struct ss_text *out, const struct ss_json_span *span)
{
	const char *end = span->text + span->length;

	if (strict_number_end(span->text, end) == end || ss_json_is(span, "true") ||
	    ss_json_is(span, "false") || ss_json_is(span, "null"))
		ss_text_add(out, span->text, span->length);
	else
		strict_add_string(out, span);
}

/* --- nested --------------------------------------------------------------------------------- */

struct strict_nesting {
	struct ss_text *out;
	struct ss_json json;
	bool is_array[SS_STRICT_DEPTH_MAX];
	uint32_t depth;
	bool first; /* the innermost one is still empty */
};

/* Opens the array or object at the cursor. */
static bool strict_open_nested(struct strict_nesting *nest)
{
	if (nest->depth == SS_STRICT_DEPTH_MAX)
		return false;
	nest->is_array[nest->depth++] = *nest->json.at == '[';
	nest->first = true;
	ss_text_add(nest->out, nest->json.at++, 1);
	return true;
}

/* Stands before the next value of the innermost one; *more is false: it was closed. */
static bool strict_next_value(struct strict_nesting *nest, bool *more)
{
	bool is_array = nest->is_array[nest->depth - 1];
	struct ss_json_span key = { .type = SS_JSON_STRING };

	*more = true;
	nest->json.in_array = is_array;
	if ((is_array ? ss_json_item(&nest->json, nest->first, more)
		      : ss_json_key(&nest->json, nest->first, &key)) != SS_JSON_OK)
		return false;
	*more = *more && key.type != SS_JSON_NONE;
	if (!*more) {
		ss_text_add(nest->out, is_array ? "]" : "}", 1);
		nest->depth--;
		nest->first = false;
		return true;
	}
	if (!nest->first)
		ss_text_add(nest->out, ",", 1);
	nest->first = false;
	if (!is_array) {
		strict_add_string(nest->out, &key);
		ss_text_add(nest->out, ":", 1);
	}
	return true;
}

/* Copies an array or object without recursion: `nest` remembers what is open. */
static bool strict_copy_nested(struct strict_nesting *nest)
{
	if (!strict_open_nested(nest))
		return false;
	while (nest->depth) {
		struct ss_json_span value;
		bool more;

		if (!strict_next_value(nest, &more))
			return false;
		if (!more)
			continue;
		ss_json_space(&nest->json);
		if (*nest->json.at == '{' || *nest->json.at == '[') {
			if (!strict_open_nested(nest))
				return false;
			continue;
		}
		if (ss_json_value(&nest->json, &value) != SS_JSON_OK)
			return false;
		if (value.type == SS_JSON_STRING)
			strict_add_string(nest->out, &value);
		else
			strict_add_word(nest->out, &value);
	}
	return nest->json.at == nest->json.end;
}

bool ss_strict_add(struct ss_text *out, const struct ss_json_span *value, bool careful)
{
	size_t before = out->length;
	struct strict_nesting nest;

	if (value->type == SS_JSON_STRING) {
		strict_add_string(out, value);
		return true;
	}
	if (value->type == SS_JSON_BARE) {
		strict_add_word(out, value);
		return true;
	}
	nest.out = out;
	nest.depth = 0;
	nest.json = (struct ss_json){ .at = value->text,
				      .end = value->text + value->length,
				      .whole = true,
				      .careful = careful };
	if (value->type != SS_JSON_NONE && strict_copy_nested(&nest))
		return true;
	out->length = before;
	return false;
}

/* --- what is valid already ------------------------------------------------------------------ */

const char *ss_strict_copy_string(const char *at, char **out)
{
	char *to = *out;

	for (*to++ = *at++;;) {
		size_t length = ss_bytes_copy_plain(to, at);

		to += length;
		at += length;
		if (*at == '"')
			break;
		length = *at == '\\'                  ? strict_escape_length(at, at + 6)
			 : (unsigned char)*at >= 0x80 ? point_length(at, at + 4)
						      : 0;
		if (!length || (ss_utf8_check(at, length) & SS_UTF8_BAD_BYTES))
			return NULL;
		memcpy(to, at, length);
		to += length;
		at += length;
	}
	*to++ = *at++;
	*out = to;
	return at;
}

static const char *strict_copy_word(const char *at, char **out)
{
	/* behind the text are zeros, which end every word */
	const char *end = strict_number_end(at, at + SS_STRICT_WORD_MAX);

	if (!end && memcmp(at, "true", 4) == 0)
		end = at + 4;
	else if (!end && memcmp(at, "null", 4) == 0)
		end = at + 4;
	else if (!end && memcmp(at, "false", 5) == 0)
		end = at + 5;
	if (!end)
		return NULL;
	memcpy(*out, at, SS_STRICT_WORD_MAX);
	*out += end - at;
	return end;
}

const char *ss_strict_copy_value(const char *at, char **out)
{
	uint64_t arrays = 0; /* a bit for each that is open, the innermost is the lowest */
	uint32_t depth = 0;
	bool opened = false;

	do {
		at = ss_bytes_skip_space(at);
		/* what was opened may be empty; otherwise there is a comma before this */
		if (!opened || *at != (arrays & 1 ? ']' : '}')) {
			if (depth && !(arrays & 1)) {
				if (*at != '"' || !(at = ss_strict_copy_string(at, out)))
					return NULL;
				at = ss_bytes_skip_space(at);
				if (*at != ':')
					return NULL;
				*(*out)++ = *at;
				at = ss_bytes_skip_space(at + 1);
			}
			opened = *at == '{' || *at == '[';
			if (opened) {
				if (++depth > 63)
					return NULL;
				arrays = arrays << 1 | (*at == '[');
				*(*out)++ = *at++;
				continue;
			}
			at = *at == '"' ? ss_strict_copy_string(at, out)
					: strict_copy_word(at, out);
			if (!at)
				return NULL;
		}
		opened = false;
		while (depth && *(at = ss_bytes_skip_space(at)) != ',') {
			if (*at != (arrays & 1 ? ']' : '}'))
				return NULL;
			*(*out)++ = *at++;
			arrays >>= 1;
			depth--;
		}
		if (depth)
			*(*out)++ = *at++;
	} while (depth);
	return at;
}
