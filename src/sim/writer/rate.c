/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rate.c - a double as text with as few digits as tell it apart from its
 * neighbours, which is how the bandwidth of a copy is written.
 *
 * Exact in integers: the value is mantissa * 2^exponent, and n digits are right
 * when their value lies closer to it than half of the mantissa's last bit.
 */
#include "sim/writer/writer_parts.h"

/* 128 bits; __int128 is not ISO C */
typedef unsigned int wide __attribute__((mode(TI)));

#define MANTISSA_BITS 52
#define DIGITS_MAX 17
/* Below this power of ten the text has an exponent, as printf's %g has. */
#define PLAIN_LEAST (-4)

struct double_parts {
	uint64_t mantissa;
	int exponent; /* value = mantissa * 2^exponent */
};

static struct double_parts double_parts_of(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return (struct double_parts){ (bits & (((uint64_t)1 << MANTISSA_BITS) - 1)) |
					      (uint64_t)1 << MANTISSA_BITS,
				      (int)(bits >> MANTISSA_BITS & 0x7ff) - 1023 - MANTISSA_BITS };
}

static wide power_of_five(int power)
{
	wide result = 1;

	while (power-- > 0)
		result *= 5;
	return result;
}

/*
 * The value times 10^places, rounded to an integer; *exact: an integer of that many
 * places reads back as the value. Both sides are multiplied by 2^shift to have no
 * fractions; with up to 26 places everything stays below 2^128.
 */
static uint64_t decimal_scaled(const struct double_parts *value, int places, bool *exact)
{
	wide five = power_of_five(places), whole = value->mantissa * five, half, rounded, off;
	int shift = -(value->exponent + places);

	if (shift <= 0) {
		*exact = true;
		return (uint64_t)(whole << -shift);
	}
	half = (wide)1 << (shift - 1);
	rounded = (whole + half) >> shift;
	/* a tie goes to the even digit */
	if (rounded % 2 && rounded << shift == whole + half)
		rounded--;
	off = rounded << shift > whole ? (rounded << shift) - whole : whole - (rounded << shift);
	/* at exactly half of the last bit an even mantissa wins */
	*exact = 2 * off < five || (2 * off == five && value->mantissa % 2 == 0);
	return (uint64_t)rounded;
}

/* The power of ten of the first digit. */
static int decimal_exponent(double value)
{
	int tens = 0;

	for (; value >= 10; value /= 10)
		tens++;
	for (; value < 1; value *= 10)
		tens--;
	return tens;
}

static char *decimal_put_digits(char *at, const char *digits, int count, int tens)
{
	if (tens < PLAIN_LEAST) {
		*at++ = digits[0];
		if (count > 1)
			*at++ = '.';
		memcpy(at, digits + 1, (size_t)count - 1);
		at += count - 1;
		at = SS_SIM_PUT(at, "e-");
		memcpy(at, ss_sim_two_digits + -tens * 2, 2);
		return at + 2;
	}
	if (tens < 0) {
		at = SS_SIM_PUT(at, "0.");
		for (int i = tens + 1; i < 0; i++)
			*at++ = '0';
	}
	for (int i = 0; i < count || i <= tens; i++) {
		*at++ = i < count ? digits[i] : '0';
		if (i == tens && i + 1 < count)
			*at++ = '.';
	}
	return at;
}

char *ss_sim_put_rate(char *at, uint64_t bytes, uint64_t ns)
{
	double value = ns ? (double)bytes / (double)ns : 0;
	struct double_parts parts = double_parts_of(value);
	char digits[24];
	uint64_t number = 0;
	bool exact = false;
	int tens, count, places = 0;

	/* no memory is this slow or this fast */
	if (value < 1e-9 || value >= 1e14)
		return SS_SIM_PUT(at, "0.0");
	tens = decimal_exponent(value);
	/* all numbers of up to 15 digits are different doubles */
	for (int wanted = 15; wanted <= DIGITS_MAX && !exact; wanted++) {
		places = wanted - 1 - tens;
		number = decimal_scaled(&parts, places, &exact);
	}
	count = (int)(ss_sim_put_number(digits, number) - digits);
	/* rounding up can give one digit more, and decimal_exponent() itself is not exact */
	tens = count - 1 - places;
	while (count > 1 && digits[count - 1] == '0')
		count--;
	return decimal_put_digits(at, digits, count, tens);
}
