/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.c - appending to a text that grows.
 */
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The capacity of a text that failed: it has no memory and refuses every append. */
#define FAILED SIZE_MAX

bool ss_text_grow(struct ss_text *text, size_t more)
{
	size_t wanted = text->capacity ? text->capacity : 256;
	char *moved;

	if (text->capacity == FAILED)
		return false;
	while (wanted <= text->length + more)
		wanted *= 2;
	moved = realloc(text->data, wanted);
	if (!moved) {
		ss_text_fail(text);
		return false;
	}
	text->data = moved;
	text->capacity = wanted;
	return true;
}

void ss_text_fill(struct ss_text *text, char byte, size_t count)
{
	if (!ss_text_reserve(text, count))
		return;
	memset(text->data + text->length, byte, count);
	text->length += count;
	text->data[text->length] = '\0';
}

#define DIGITS_MAX 32

/* Writes the number so that it ends before `end`, with at least `least` digits. */
static char *write_digits(char *end, uint64_t value, int least)
{
	for (; value || least > 0; value /= 10, least--)
		*--end = (char)('0' + value % 10);
	return end;
}

void ss_text_add_int(struct ss_text *text, int64_t value)
{
	char digits[DIGITS_MAX], *end = digits + sizeof(digits);
	char *at = write_digits(end, value < 0 ? -(uint64_t)value : (uint64_t)value, 1);

	if (value < 0)
		*--at = '-';
	ss_text_add(text, at, (size_t)(end - at));
}

/*
 * Takes the millionths from the first 40 bits of the fraction. The bits after them matter only
 * where the remainder is near a half; there the C library rounds.
 */
void ss_text_add_number(struct ss_text *text, double value)
{
	const double scale = 1099511627776.0; /* 2^40 */
	const uint64_t half = UINT64_C(1) << 39;
	char digits[DIGITS_MAX], *end = digits + sizeof(digits), *at = end;

	if (!signbit(value) && value < 1e12) {
		uint64_t whole = (uint64_t)value;
		uint64_t part = (uint64_t)((value - (double)whole) * scale) * 1000000;
		uint64_t rest = part & (2 * half - 1);

		part >>= 40;
		/* what was cut off is less than one of the 40 bits: 1000000 in the remainder */
		if (rest < half - 1000000 || rest > half) {
			part += rest > half;
			whole += part / 1000000;
			at = write_digits(at, part % 1000000, 6);
			*--at = '.';
			at = write_digits(at, whole, 1);
			ss_text_add(text, at, (size_t)(end - at));
			return;
		}
	}
	ss_text_addf(text, "%.6f", value);
}

void ss_text_addf(struct ss_text *text, const char *format, ...)
{
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (length < 0 || !ss_text_reserve(text, (size_t)length))
		return;
	va_start(args, format);
	vsnprintf(text->data + text->length, (size_t)length + 1, format, args);
	va_end(args);
	text->length += (size_t)length;
}

bool ss_text_failed(const struct ss_text *text)
{
	return text->capacity == FAILED;
}

void ss_text_release(struct ss_text *text)
{
	free(text->data);
	*text = (struct ss_text){ 0 };
}

void ss_text_fail(struct ss_text *text)
{
	free(text->data);
	*text = (struct ss_text){ .capacity = FAILED };
}

void ss_text_end(struct ss_text *part, struct ss_text *whole)
{
	if (ss_text_failed(part))
		ss_text_fail(whole);
	ss_text_release(part);
}

/* Ranges of characters that take two columns or none; coarse. */
static const struct {
	uint32_t first, last;
	uint8_t columns;
} column_widths[] = {
	{ 0x0300, 0x036f, 0 }, { 0x1100, 0x115f, 2 },   { 0x200b, 0x200f, 0 },
	{ 0x2e80, 0xa4cf, 2 }, { 0xac00, 0xd7a3, 2 },   { 0xf900, 0xfaff, 2 },
	{ 0xfe00, 0xfe0f, 0 }, { 0xfe30, 0xfe6f, 2 },   { 0xff00, 0xff60, 2 },
	{ 0xffe0, 0xffe6, 2 }, { 0x1f300, 0x1faff, 2 }, { 0x20000, 0x3fffd, 2 },
};

/* Reads the code point at `bytes`, which are well-formed UTF-8, and how wide it is. */
static size_t utf8_next_point(const char *bytes, size_t left, size_t *columns)
{
	unsigned char first = (unsigned char)bytes[0];
	size_t length = first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
	uint32_t point = first;

	*columns = 1;
	if (length > left)
		length = left;
	if (length > 1)
		point = first & (0xffu >> (length + 1));
	for (size_t i = 1; i < length; i++)
		point = point << 6 | ((unsigned char)bytes[i] & 0x3f);
	for (size_t i = 0; point >= column_widths[0].first && i < SS_COUNT(column_widths); i++)
		if (point >= column_widths[i].first && point <= column_widths[i].last)
			*columns = column_widths[i].columns;
	return length;
}

size_t ss_text_columns(const char *bytes, size_t length)
{
	size_t total = 0, columns;

	for (size_t i = 0; i < length; total += columns)
		i += utf8_next_point(bytes + i, length - i, &columns);
	return total;
}

size_t ss_text_prefix(const char *bytes, size_t length, size_t columns)
{
	size_t i = 0, used = 0, wide;

	while (i < length) {
		size_t step = utf8_next_point(bytes + i, length - i, &wide);

		if (used + wide > columns)
			break;
		used += wide;
		i += step;
	}
	return i;
}

void ss_text_list(char *list, size_t room, const char *item)
{
	size_t used = strlen(list), length = strlen(item), gap = used ? 2 : 0;

	if (used + gap + length >= room)
		return;
	memcpy(list + used, ", ", gap);
	memcpy(list + used + gap, item, length + 1);
}

bool ss_string_has_one_of(const char *string, const char *const *parts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strstr(string, parts[i]))
			return true;
	return false;
}

bool ss_text_has(const char *text, size_t length, const char *part, size_t part_length)
{
	const char *end = text + length;

	while ((size_t)(end - text) >= part_length) {
		text = memchr(text, part[0], (size_t)(end - text) - part_length + 1);
		if (!text)
			return false;
		if (memcmp(text, part, part_length) == 0)
			return true;
		text++;
	}
	return false;
}

/*
 * The two-way search of Crochemore and Perrin.
 *
 * Trying the part at every position costs the product of both lengths, and both can be long. This
 * search splits the part at a point where a mismatch after it tells how far to skip, so that no
 * byte is compared more than a few times. It needs no memory. For short parts the simple search is
 * faster.
 */

/* Up to this length a part is tried at every position. */
#define SHORT_MAX 32

static bool equals_nocase(const char *a, const char *b, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (ss_char_lower(a[i]) != ss_char_lower(b[i]))
			return false;
	return true;
}

static const char *search_naive(const char *text, size_t text_length, const char *part,
				size_t length)
{
	for (size_t i = 0; i + length <= text_length; i++)
		if (equals_nocase(text + i, part, length))
			return text + i;
	return NULL;
}

/* Where the greatest suffix of the part begins, by one order of letters or the other. */
static size_t greatest_suffix(const char *part, size_t length, bool turned, size_t *period)
{
	size_t suffix = 0, at = 1, ahead = 0; /* compared: suffix + ahead and at + ahead */

	*period = 1;
	while (at + ahead < length) {
		unsigned char a = (unsigned char)ss_char_lower(part[at + ahead]);
		unsigned char b = (unsigned char)ss_char_lower(part[suffix + ahead]);

		if (a == b) {
			ahead++;
			if (ahead == *period) {
				at += *period;
				ahead = 0;
			}
		} else if (turned ? a > b : a < b) {
			at += ahead + 1;
			ahead = 0;
			*period = at - suffix;
		} else {
			suffix = at;
			at++;
			ahead = 0;
			*period = 1;
		}
	}
	return suffix;
}

const char *ss_text_search(const char *text, size_t text_length, const char *part, size_t length)
{
	size_t cut, other, period, other_period, known = 0, at = 0;
	bool repeats;

	if (length > text_length)
		return NULL;
	if (length <= SHORT_MAX)
		return search_naive(text, text_length, part, length);
	cut = greatest_suffix(part, length, false, &period);
	other = greatest_suffix(part, length, true, &other_period);
	if (other > cut) {
		cut = other;
		period = other_period;
	}
	/* a periodic part need not be compared again after a shift by its period */
	repeats = equals_nocase(part, part + period, cut);
	if (!repeats)
		period = (cut > length - cut ? cut : length - cut) + 1;
	while (at + length <= text_length) {
		size_t i = cut > known ? cut : known;

		while (i < length && ss_char_lower(part[i]) == ss_char_lower(text[at + i]))
			i++;
		if (i < length) {
			at += i - cut + 1;
			known = 0;
			continue;
		}
		for (i = cut;
		     i > known && ss_char_lower(part[i - 1]) == ss_char_lower(text[at + i - 1]);)
			i--;
		if (i <= known)
			return text + at;
		at += period;
		known = repeats ? length - period : 0;
	}
	return NULL;
}

/* --- JSON -------------------------------------------------------------------------------- */

/* True if none of eight bytes is a control character, a quote or a backslash. */
static bool text_is_plain(const char *bytes)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), high = ones * 0x80;
	uint64_t word, quote, stroke;

	memcpy(&word, bytes, sizeof(word));
	quote = word ^ (ones * '"');
	stroke = word ^ (ones * '\\');
	/* a byte below n borrows from its high bit, which it did not have */
	return !((((word - ones * 0x20) & ~word) | ((quote - ones) & ~quote) |
		  ((stroke - ones) & ~stroke)) &
		 high);
}

void ss_text_add_quoted(struct ss_text *out, const char *text, size_t length)
{
	const char *from = text, *end = text + length;

	ss_text_add(out, "\"", 1);
	for (; text < end; text++) {
		unsigned char byte;

		while (end - text >= 8 && text_is_plain(text))
			text += 8;
		if (text == end)
			break;
		byte = (unsigned char)*text;
		if (byte >= 0x20 && byte != '"' && byte != '\\')
			continue;
		ss_text_add(out, from, (size_t)(text - from));
		if (byte == '"' || byte == '\\')
			ss_text_addf(out, "\\%c", byte);
		else
			ss_text_addf(out, "\\u%04x", byte);
		from = text + 1;
	}
	ss_text_add(out, from, (size_t)(end - from));
	ss_text_add(out, "\"", 1);
}
