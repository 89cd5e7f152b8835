/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utf8.c - UTF-8 as RFC 3629 defines it: no overlong forms, no surrogates.
 */
#include "base/utf8.h"

#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd"

/* The length of the well-formed sequence at `at`; 0: it is malformed. */
static size_t utf8_sequence_length(const unsigned char *at, size_t left)
{
	unsigned char low = 0x80, high = 0xbf;
	size_t length;

	if (at[0] < 0x80)
		return 1;
	if (at[0] >= 0xc2 && at[0] <= 0xdf)
		length = 2;
	else if ((at[0] & 0xf0) == 0xe0)
		length = 3;
	else if (at[0] >= 0xf0 && at[0] <= 0xf4)
		length = 4;
	else
		return 0;
	if (left < length)
		return 0;
	if (at[0] == 0xe0)
		low = 0xa0;
	else if (at[0] == 0xed)
		high = 0x9f;
	else if (at[0] == 0xf0)
		low = 0x90;
	else if (at[0] == 0xf4)
		high = 0x8f;
	if (at[1] < low || at[1] > high)
		return 0;
	for (size_t i = 2; i < length; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	return length;
}

/* Of a well-formed sequence: C0, C1 and DEL. */
static bool utf8_is_control(const unsigned char *at, size_t length)
{
	if (length == 1)
		return at[0] < 0x20 || at[0] == 0x7f;
	return length == 2 && at[0] == 0xc2 && at[1] < 0xa0;
}

/* U+202A to U+202E and U+2066 to U+2069 change the direction of the text around them. */
static bool utf8_is_direction_mark(const unsigned char *at, size_t length)
{
	if (length != 3 || at[0] != 0xe2)
		return false;
	return (at[1] == 0x80 && at[2] >= 0xaa && at[2] <= 0xae) ||
	       (at[1] == 0x81 && at[2] >= 0xa6 && at[2] <= 0xa9);
}

unsigned ss_utf8_check(const char *text, size_t length)
{
	const unsigned char *bytes = (const unsigned char *)text;
	unsigned flaws = 0;

	for (size_t i = 0; i < length;) {
		size_t step = utf8_sequence_length(bytes + i, length - i);

		if (!step)
			flaws |= SS_UTF8_BAD_BYTES;
		else if (utf8_is_control(bytes + i, step) ||
			 utf8_is_direction_mark(bytes + i, step))
			flaws |= SS_UTF8_CONTROL;
		i += step ? step : 1;
	}
	return flaws;
}

size_t ss_utf8_repair(const char *text, size_t length, char *out)
{
	const unsigned char *bytes = (const unsigned char *)text;
	size_t used = 0;

	for (size_t i = 0; i < length;) {
		size_t step = utf8_sequence_length(bytes + i, length - i);

		if (!step || utf8_is_direction_mark(bytes + i, step)) {
			memcpy(out + used, REPLACEMENT, 3);
			used += 3;
		} else if (utf8_is_control(bytes + i, step)) {
			out[used++] = ' ';
		} else {
			memcpy(out + used, text + i, step);
			used += step;
		}
		i += step ? step : 1;
	}
	return used;
}

size_t ss_utf8_encode(uint32_t point, char *out)
{
	if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff))
		point = 0xfffd;
	if (point < 0x80) {
		out[0] = (char)point;
		return 1;
	}
	if (point < 0x800) {
		out[0] = (char)(0xc0 | point >> 6);
		out[1] = (char)(0x80 | (point & 0x3f));
		return 2;
	}
	if (point < 0x10000) {
		out[0] = (char)(0xe0 | point >> 12);
		out[1] = (char)(0x80 | (point >> 6 & 0x3f));
		out[2] = (char)(0x80 | (point & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | point >> 18);
	out[1] = (char)(0x80 | (point >> 12 & 0x3f));
	out[2] = (char)(0x80 | (point >> 6 & 0x3f));
	out[3] = (char)(0x80 | (point & 0x3f));
	return 4;
}
