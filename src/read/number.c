/* SPDX-License-Identifier: Apache-2.0 */
/*
 * number.c - decimal text to integers and doubles.
 */
#include "read/number.h"

#include <string.h>

#include "base/text.h"

/* A decimal number taken apart: value = (negative ? - : +) mantissa * 10^exponent. */
struct decimal {
	uint64_t mantissa;
	int32_t exponent;
	bool negative;
	bool full;     /* there were digits that did not fit into the mantissa ... */
	bool round_up; /* ... the first of them 5 or more */
	bool lost;     /* ... one of them not 0 */
};

/* 19 digits always fit in the mantissa. */
#define MANTISSA_MAX 1000000000000000000u

/* Beyond this every double is infinite or zero. */
#define EXPONENT_MAX 10000

static bool decimal_read_exponent(const char *at, const char *end, int32_t *out)
{
	bool negative = at < end && *at == '-';
	int32_t value = 0;

	if (at < end && (*at == '-' || *at == '+'))
		at++;
	if (at == end)
		return false;
	for (; at < end; at++) {
		if (!ss_char_is_digit(*at))
			return false;
		if (value < EXPONENT_MAX)
			value = value * 10 + (*at - '0');
	}
	*out = negative ? -value : value;
	return true;
}

static void decimal_add_digit(struct decimal *number, char digit, bool fraction)
{
	if (number->mantissa >= MANTISSA_MAX) {
		number->round_up |= !number->full && digit >= '5';
		number->full = true;
		number->lost |= digit != '0';
		number->exponent += !fraction;
		return;
	}
	number->mantissa = number->mantissa * 10 + (uint64_t)(digit - '0');
	number->exponent -= fraction;
}

static bool decimal_read(const char *text, size_t length, struct decimal *out)
{
	const char *at = text, *end = text + length;
	int32_t exponent = 0;
	bool digits = false;

	*out = (struct decimal){ 0 };
	if (at < end && (*at == '-' || *at == '+'))
		out->negative = *at++ == '-';
	for (; at < end && ss_char_is_digit(*at); at++, digits = true)
		decimal_add_digit(out, *at, false);
	if (at < end && *at == '.')
		for (at++; at < end && ss_char_is_digit(*at); at++, digits = true)
			decimal_add_digit(out, *at, true);
	if (at < end && (*at == 'e' || *at == 'E')) {
		/* "1." is what some writers print, "1.e5" is a digit that was damaged */
		if (at > text && at[-1] == '.')
			return false;
		if (!decimal_read_exponent(at + 1, end, &exponent))
			return false;
		at = end;
	}
	out->exponent += exponent;
	return digits && at == end;
}

/* The number times 10^scale as an integer, rounded half away from zero. */
static bool decimal_to_integer(const struct decimal *number, int32_t scale, int64_t *out)
{
	uint64_t value = number->mantissa;
	int32_t exponent = number->exponent + scale;
	unsigned last = 0;

	for (; exponent > 0 && value; exponent--) {
		if (value > (uint64_t)INT64_MAX / 10)
			return false;
		value *= 10;
	}
	for (; exponent < 0 && (value || last); exponent++) {
		last = (unsigned)(value % 10);
		value /= 10;
	}
	value += last >= 5 || (number->round_up && number->exponent + scale == 0);
	if (value > (uint64_t)INT64_MAX)
		return false;
	*out = number->negative ? -(int64_t)value : (int64_t)value;
	return true;
}

/* The value of 1 to 8 digits, all of them at once; false when one is not a digit. */
static inline bool number_few_digits(const char *text, size_t length, uint64_t *out)
{
	uint64_t word = 0, high;
	uint32_t half;

	if (length == 8) {
		memcpy(&word, text, 8);
	} else if (length >= 4) {
		memcpy(&half, text, 4);
		word = half;
		memcpy(&half, text + length - 4, 4);
		word |= (uint64_t)half << 8 * (length - 4);
	} else {
		word = (unsigned char)text[0] |
		       (uint64_t)(unsigned char)text[length / 2] << 8 * (length / 2) |
		       (uint64_t)(unsigned char)text[length - 1] << 8 * (length - 1);
	}
	/* the digits move to the end, zeros fill the beginning */
	word = word << (64 - 8 * length) | (length < 8 ? 0x3030303030303030u >> 8 * length : 0);
	high = word + 0x4646464646464646u;
	if (((word - 0x3030303030303030u) | high) & 0x8080808080808080u)
		return false;
	word -= 0x3030303030303030u;
	word = word * 10 + (word >> 8);
	*out = ((word & 0x000000ff000000ffu) * 0x000f424000000064u +
		(word >> 16 & 0x000000ff000000ffu) * 0x0000271000000001u) >>
	       32;
	return true;
}

static inline bool number_digits(const char *text, size_t length, uint64_t *out)
{
	uint64_t high = 0, low;

	if (length - 1 >= 16)
		return false;
	if (length > 8 && !number_few_digits(text, length - 8, &high))
		return false;
	if (length > 8)
		text += length - 8;
	if (!number_few_digits(text, length > 8 ? 8 : length, &low))
		return false;
	*out = high * 100000000 + low;
	return true;
}

bool ss_number_ns(const char *text, size_t length, int64_t *out)
{
	struct decimal number;
	uint64_t whole, part;

	/* "1727743122342.667", as Kineto writes it, and "1727743122342" */
	if (length > 4 && length <= 20 && text[length - 4] == '.' &&
	    number_digits(text, length - 4, &whole) && number_digits(text + length - 3, 3, &part) &&
	    whole < (uint64_t)SS_TIME_NS_MAX / 1000) {
		*out = (int64_t)(whole * 1000 + part);
		return true;
	}
	if (number_digits(text, length, &whole) && whole < (uint64_t)SS_TIME_NS_MAX / 1000) {
		*out = (int64_t)whole * 1000;
		return true;
	}
	return decimal_read(text, length, &number) && decimal_to_integer(&number, 3, out) &&
	       *out <= SS_TIME_NS_MAX && *out >= -SS_TIME_NS_MAX;
}

/* Are the digits after the point all zeros? */
static bool decimal_is_whole(const struct decimal *number)
{
	uint64_t value = number->mantissa;

	if (number->lost)
		return false;
	for (int32_t exponent = number->exponent; exponent < 0 && value; exponent++) {
		if (value % 10)
			return false;
		value /= 10;
	}
	return true;
}

bool ss_number_i64(const char *text, size_t length, int64_t *out)
{
	const char *at = text, *end = text + length;
	bool negative = length && *at == '-';
	uint64_t value = 0;
	struct decimal number;

	if (number_digits(text, length, &value)) {
		*out = (int64_t)value;
		return true;
	}
	value = 0;
	/* 64-bit ids and addresses use all 19 digits, which the mantissa does not hold. */
	for (at += negative; at < end && ss_char_is_digit(*at); at++) {
		uint64_t digit = (uint64_t)(*at - '0');

		if (value > (UINT64_MAX - digit) / 10)
			break; /* an exponent may follow */
		value = value * 10 + digit;
	}
	if (at == end && length > (size_t)negative) {
		/* unsigned addresses and ids keep their bits */
		*out = negative ? (int64_t)(0 - value) : (int64_t)value;
		return !negative || value <= (uint64_t)INT64_MAX + 1;
	}
	return decimal_read(text, length, &number) && decimal_is_whole(&number) &&
	       decimal_to_integer(&number, 0, out);
}

static double power_of_ten(int32_t exponent)
{
	double base = 10, result = 1;

	for (; exponent > 0; exponent >>= 1, base *= base)
		if (exponent & 1)
			result *= base;
	return result;
}

bool ss_number_double(const char *text, size_t length, double *out)
{
	struct decimal number;
	double value;

	if (!decimal_read(text, length, &number))
		return false;
	value = (double)number.mantissa;
	if (number.exponent < -400 || number.exponent > 400 || !number.mantissa)
		value = number.exponent < 0 || !number.mantissa ? 0 : 1e308;
	else if (number.exponent < 0)
		value /= power_of_ten(-number.exponent);
	else
		value *= power_of_ten(number.exponent);
	if (value > 1e308)
		value = 1e308;
	*out = number.negative ? -value : value;
	return true;
}
