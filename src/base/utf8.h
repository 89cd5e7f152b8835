/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utf8.h - which bytes of a text can be shown.
 *
 * Traces hold names with bytes that are no UTF-8 and control characters
 * (pytorch#121219, kineto#988). Such a name is kept readable: each bad byte
 * becomes U+FFFD, each control character a space. Those that turn the direction of
 * writing (U+202E) would turn round the sentence that a name stands in: U+FFFD.
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

/* Writes the mended text to `out`, which has room for 3 * length bytes; returns its length. */
size_t ss_utf8_mend(const char *text, size_t length, char *out);

/* Writes the code point as UTF-8 to `out` (4 bytes of room); returns the number of bytes. */
size_t ss_utf8_encode(uint32_t point, char *out);

#endif
