/* SPDX-License-Identifier: Apache-2.0 */
/*
 * number.h - numbers from their decimal text, without doubles where it matters.
 *
 * Timestamps are microseconds with up to three decimals and up to 19 digits
 * ("1727743122342.667"): a double cannot hold them, so they are read as integer
 * nanoseconds. All functions return false if the text is not a number or does
 * not fit; they read `length` bytes and need no terminator.
 */
#ifndef SS_READ_NUMBER_H
#define SS_READ_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Times beyond this (97 years from zero) cannot be meant; sums and differences of two still fit. */
#define SS_TIME_NS_MAX (INT64_MAX / 3)

/* "1234.5" microseconds as 1234500 ns; digits after the third are rounded half up. */
bool ss_number_ns(const char *text, size_t length, int64_t *out);

/* Also takes "12.0", as writers that pass numbers through a float give it. */
bool ss_number_i64(const char *text, size_t length, int64_t *out);

bool ss_number_double(const char *text, size_t length, double *out);

#endif
