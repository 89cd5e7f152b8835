/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strict.h - writes valid JSON from JSON that only a tolerant reader accepts.
 *
 * Values are copied token by token, without the white space between them. What is not
 * JSON is repaired: control characters and quotes are escaped, bytes that are not UTF-8
 * become U+FFFD, a backslash that escapes nothing is doubled, and words that are not
 * values (NaN, N/A) become strings.
 */
#ifndef SS_READ_STRICT_H
#define SS_READ_STRICT_H

#include "base/text.h"
#include "read/json.h"

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

#endif
