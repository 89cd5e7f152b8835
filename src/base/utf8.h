/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utf8.h - makes texts from files safe to display.
 *
 * Traces contain names with bytes that are not UTF-8 and control characters
 * (pytorch#121219, kineto#988). Such a name is kept readable: each bad byte
 * becomes U+FFFD, each control character a space. Characters that change the text
 * direction (U+202E) would reverse the sentence around the name: U+FFFD, too.
 */
#ifndef SS_BASE_UTF8_H
#define SS_BASE_UTF8_H

#include "base/error.h"

enum ss_utf8_flaw {
	SS_UTF8_BAD_BYTES = 1 << 0,
	SS_UTF8_CONTROL = 1 << 1,
};

/* Says what is wrong with the text; 0 when nothing is. */
unsigned ss_utf8_check(const char *text, size_t length);

/* Writes the repaired text to `out`, which has room for 3 * length bytes; returns its length. */
size_t ss_utf8_repair(const char *text, size_t length, char *out);

/* Writes the code point as UTF-8 to `out` (4 bytes of room); returns the number of bytes. */
size_t ss_utf8_encode(uint32_t point, char *out);

#endif
