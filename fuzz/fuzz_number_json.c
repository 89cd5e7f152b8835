/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_number_json.c - numbers against slow exact ones, JSON against its own prefixes.
 *
 * A cursor that sees the beginning of a text says "more" or what it says of the
 * whole: that is what lets a file be cut anywhere. Numbers are read again digit
 * by digit, without limits.
 */
#include <math.h>
#include <string.h>

#include "check.h"
#include "read/json.h"
#include "read/number.h"

/* All prefixes are read: the work grows with the square. */
#define TEXT_BYTES_MAX 300

/* Below this a double loses digits, and the reader may say 0. */
#define TINY 1e-280

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A decimal number taken apart, its digits left as they are. */
struct exact {
	const char *text;
	size_t first, last; /* where digits, and perhaps a point, stand */
	size_t whole_digits;
	long exponent;
	bool negative;
};

static bool is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

static bool exact_read(const char *text, size_t length, struct exact *out)
{
	size_t at = 0, digits = 0;
	bool minus = false;

	*out = (struct exact){ .text = text };
	if (at < length && (text[at] == '-' || text[at] == '+'))
		out->negative = text[at++] == '-';
	out->first = at;
	for (; at < length && is_digit(text[at]); at++)
		digits++;
	out->whole_digits = digits;
	if (at < length && text[at] == '.')
		for (at++; at < length && is_digit(text[at]); at++)
			digits++;
	out->last = at;
	if (at < length && (text[at] | 0x20) == 'e') {
		if (at && text[at - 1] == '.')
			return false;
		at++;
		if (at < length && (text[at] == '-' || text[at] == '+'))
			minus = text[at++] == '-';
		if (at == length)
			return false;
		for (; at < length && is_digit(text[at]); at++)
			if (out->exponent < 1000000)
				out->exponent = out->exponent * 10 + (text[at] - '0');
		if (minus)
			out->exponent = -out->exponent;
	}
	return digits && at == length;
}

/* The number times 10^scale, rounded half away from zero; false beyond `limit`. */
static bool exact_integer(const struct exact *number, int scale, uint64_t limit, uint64_t *out)
{
	long places = (long)number->whole_digits + number->exponent + scale;
	__extension__ unsigned __int128 value = 0;
	long place = 0;

	for (size_t at = number->first; at < number->last; at++) {
		if (number->text[at] == '.')
			continue;
		if (place < places)
			value = value * 10 + (unsigned)(number->text[at] - '0');
		else if (place == places)
			value += number->text[at] >= '5';
		place++;
		if (value > (uint64_t)INT64_MAX * (unsigned)2 + 1)
			return false;
	}
	for (; place < places && value; place++) {
		value *= 10;
		if (value > limit)
			return false;
	}
	*out = (uint64_t)value;
	return value <= limit;
}

static bool exact_is_whole(const struct exact *number)
{
	long places = (long)number->whole_digits + number->exponent, place = 0;

	for (size_t at = number->first; at < number->last; at++) {
		if (number->text[at] == '.')
			continue;
		if (place++ >= places && number->text[at] != '0')
			return false;
	}
	return true;
}

static void check_ns(const char *text, size_t length)
{
	struct exact number;
	int64_t ours = 0;
	uint64_t value = 0;
	bool is_number = exact_read(text, length, &number) &&
			 exact_integer(&number, 3, SS_TIME_NS_MAX, &value);

	CHECK(ss_number_ns(text, length, &ours) == is_number);
	if (is_number)
		CHECK(ours == (number.negative ? -(int64_t)value : (int64_t)value));
}

static void check_i64(const char *text, size_t length)
{
	struct exact number;
	int64_t ours = 0;
	uint64_t value = 0, limit = INT64_MAX;
	bool is_number = exact_read(text, length, &number);

	/* bare digits keep their 64 bits: they are addresses and ids */
	if (is_number && number.whole_digits == length - number.negative)
		limit = number.negative ? (uint64_t)INT64_MAX + 1 : UINT64_MAX;
	is_number = is_number && exact_is_whole(&number) &&
		    exact_integer(&number, 0, limit, &value);
	CHECK(ss_number_i64(text, length, &ours) == is_number);
	if (is_number)
		CHECK(ours == (int64_t)(number.negative ? 0 - value : value));
}

static void check_double(const char *text, size_t length)
{
	char copy[TEXT_BYTES_MAX + 1];
	struct exact number;
	double ours, theirs;

	CHECK(ss_number_double(text, length, &ours) == exact_read(text, length, &number));
	if (!exact_read(text, length, &number))
		return;
	memcpy(copy, text, length);
	copy[length] = '\0';
	theirs = strtod(copy, NULL);
	if (fabs(theirs) > 1e308)
		theirs = theirs < 0 ? -1e308 : 1e308;
	CHECK(isfinite(ours));
	CHECK(fabs(ours - theirs) <= fabs(theirs) * 1e-13 + TINY);
}

/* What a call on the cursor answered. */
struct answer {
	enum ss_json_result result;
	ptrdiff_t at;
	uint32_t odd_quotes;
	struct ss_json_span span; /* its text is not compared, its place is */
	ptrdiff_t span_at;
	bool more;
};

enum call { CALL_VALUE, CALL_KEY, CALL_ITEM, CALL_STRING, CALL_SKIP, CALL_COUNT };

static enum ss_json_result call_cursor(enum call call, struct ss_json *json, struct answer *out)
{
	switch (call) {
	case CALL_VALUE:
		return ss_json_value(json, &out->span);
	case CALL_KEY:
		return ss_json_key(json, false, &out->span);
	case CALL_ITEM:
		return ss_json_item(json, false, &out->more);
	case CALL_STRING:
		return ss_json_string(json, SS_JSON_AFTER_VALUE, &out->span);
	default:
		/* asked only where an array or object begins */
		return *json->at == '{' || *json->at == '[' ? ss_json_skip_nested(json)
							    : SS_JSON_BAD;
	}
}

/* Asks about the first `length` bytes, which lie in a block of their own. */
static struct answer ask(enum call call, const char *text, size_t length, bool careful, bool whole)
{
	char *block = malloc(length + SS_PAD_BYTES);
	struct answer answer = { 0 };
	struct ss_json json = { .at = block, .careful = careful, .whole = whole };

	CHECK(block);
	if (length)
		memcpy(block, text, length);
	memset(block + length, 0, SS_PAD_BYTES);
	json.end = block + length;
	answer.result = length ? call_cursor(call, &json, &answer) : SS_JSON_MORE;
	CHECK(json.at >= block);
	if (answer.result == SS_JSON_OK) {
		CHECK(json.at <= json.end);
		/* white space behind what was read may be skipped, as far as it is there */
		while (json.at > block && (unsigned char)json.at[-1] <= ' ' && call == CALL_KEY)
			json.at--;
		answer.at = json.at - block;
		answer.odd_quotes = json.odd_quotes;
	}
	if (answer.result == SS_JSON_OK && answer.span.type != SS_JSON_NONE) {
		char *plain = malloc(answer.span.length + (size_t)1);

		CHECK(plain);
		answer.span_at = answer.span.text - block;
		CHECK(answer.span_at >= 0 && answer.span_at + answer.span.length <= answer.at);
		CHECK(ss_json_unescape(&answer.span, plain) <= answer.span.length);
		free(plain);
	}
	free(block);
	return answer;
}

static bool is_same(const struct answer *a, const struct answer *b)
{
	if (a->result != b->result || a->result != SS_JSON_OK)
		return a->result == b->result;
	return a->at == b->at && a->odd_quotes == b->odd_quotes && a->more == b->more &&
	       a->span.type == b->span.type && a->span_at == b->span_at &&
	       a->span.length == b->span.length && a->span.escaped == b->span.escaped;
}

static void check_prefixes(enum call call, const char *text, size_t length, bool careful)
{
	struct answer last = { .result = SS_JSON_MORE }, now;

	for (size_t prefix = 0; prefix <= length; prefix++) {
		now = ask(call, text, prefix, careful, false);
		if (last.result != SS_JSON_MORE && !is_same(&last, &now)) {
			fprintf(stderr,
				"call %d, careful %d: %zu bytes say %d at %td, %zu %d at %td\n",
				call, careful, prefix - 1, last.result, last.at, prefix, now.result,
				now.at);
			abort();
		}
		last = now;
	}
	now = ask(call, text, length, careful, true);
	CHECK(last.result == SS_JSON_MORE || is_same(&last, &now));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t length = size < TEXT_BYTES_MAX ? size : TEXT_BYTES_MAX;
	char *text = malloc(length ? length : 1);

	CHECK(text);
	if (length)
		memcpy(text, data, length);
	check_ns(text, length);
	check_i64(text, length);
	check_double(text, length);
	for (int call = 0; call < CALL_COUNT; call++) {
		check_prefixes((enum call)call, text, length, false);
		check_prefixes((enum call)call, text, length, true);
	}
	free(text);
	return 0;
}
