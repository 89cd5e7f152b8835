/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers from text: timestamps to the nanosecond, ids to the last bit.
 */
#include "support/support.h"

#include <math.h>

#include "read/number.h"

static const struct {
	const char *text;
	bool ok;
	int64_t ns;
} ns_cases[] = {
	{ "0", true, 0 },
	{ "1", true, 1000 },
	{ "1.5", true, 1500 },
	{ "0.001", true, 1 },
	{ "12.34", true, 12340 },
	{ "1712195495502094.560", true, 1712195495502094560 },
	{ "1727743122342.667", true, 1727743122342667 },
	{ "1712195495502094", true, 1712195495502094000 },
	{ "1712195495502094.56", true, 1712195495502094560 },
	{ "000000000000000000000001.5", true, 1500 },
	{ "-1.5", true, -1500 },
	{ "+1.5", true, 1500 },
	{ "-0", true, 0 },
	{ "1.", true, 1000 },
	{ ".5", true, 500 },
	{ "1e3", true, 1000000 },
	{ "1E3", true, 1000000 },
	{ "1.5e+2", true, 150000 },
	{ "1500e-3", true, 1500 },
	{ "1.712195495502094e15", true, 1712195495502094000 },
	{ "0.0004", true, 0 },
	{ "0.0005", true, 1 },
	{ "1.9995", true, 2000 },
	{ "1e-400", true, 0 },
	{ "0e400", true, 0 },
	{ "3074457345618258.602", true, SS_TIME_NS_MAX },
	{ "3074457345618258.603", false, 0 },
	{ "4611686018427388", false, 0 },
	{ "9223372036854775.807", false, 0 },
	{ "-3074457345618258.602", true, -SS_TIME_NS_MAX },
	{ "-3074457345618258.603", false, 0 },
	{ "99999999999999999999", false, 0 },
	{ "1e300", false, 0 },
	{ "1e99999999999999", false, 0 },
	{ "", false, 0 },
	{ "-", false, 0 },
	{ "+", false, 0 },
	{ ".", false, 0 },
	{ "-.", false, 0 },
	{ "e5", false, 0 },
	{ "1e", false, 0 },
	{ "1e+", false, 0 },
	{ "1.2.3", false, 0 },
	{ "1,5", false, 0 },
	{ "--1", false, 0 },
	{ "1-", false, 0 },
	{ "12a", false, 0 },
	{ "a12", false, 0 },
	{ "1234567a", false, 0 },
	{ "1234567:", false, 0 },
	{ "1234567/", false, 0 },
	{ "123456781234567:", false, 0 },
	{ "12345.67x", false, 0 },
	{ "1234.5:7", false, 0 },
	{ "0x10", false, 0 },
	{ "inf", false, 0 },
	{ "nan", false, 0 },
	{ "NaN", false, 0 },
	{ "Infinity", false, 0 },
	{ " 1", false, 0 },
	{ "1 ", false, 0 },
	{ "\xb1\xb2", false, 0 },
};

static void test_ns(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(ns_cases); i++) {
		/* a block of exactly this length: reading further is an error of its own */
		size_t length = strlen(ns_cases[i].text);
		char *text = malloc(length ? length : 1);
		int64_t ns = -1;
		bool ok;

		memcpy(text, ns_cases[i].text, length);
		ok = ss_number_ns(text, length, &ns);
		support_check(ok == ns_cases[i].ok && (!ok || ns == ns_cases[i].ns),
			      ns_cases[i].text, "%d %lld", ok, (long long)ns);
		free(text);
	}
}

/* The fast paths against arithmetic, for every length of whole part and fraction. */
static void test_ns_random(void **state)
{
	uint64_t random = 3;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		uint32_t digits = 1 + support_random(&random, 15),
			 decimals = support_random(&random, 4);
		uint64_t whole = 0, part = 0, scale = 1000;
		char text[40];
		size_t length = 0;
		int64_t ns;

		for (; digits; digits--) {
			text[length++] = (char)('0' + support_random(&random, 10));
			whole = whole * 10 + (uint64_t)(text[length - 1] - '0');
		}
		if (decimals)
			text[length++] = '.';
		for (; decimals; decimals--) {
			text[length++] = (char)('0' + support_random(&random, 10));
			scale /= 10;
			part += (uint64_t)(text[length - 1] - '0') * scale;
		}
		text[length] = '\0';
		assert_true(ss_number_ns(text, length, &ns));
		support_check((uint64_t)ns == whole * 1000 + part, text, "%lld", (long long)ns);
	}
}

static const struct {
	const char *text;
	bool ok;
	int64_t value;
} i64_cases[] = {
	{ "0", true, 0 },
	{ "7", true, 7 },
	{ "12345678", true, 12345678 },
	{ "123456789", true, 123456789 },
	{ "1234567812345678", true, 1234567812345678 },
	{ "12345678123456789", true, 12345678123456789 },
	{ "9223372036854775807", true, INT64_MAX },
	{ "-9223372036854775808", true, INT64_MIN },
	{ "-9223372036854775809", false, 0 },
	/* addresses and ids are unsigned: their bits are kept */
	{ "9223372036854775808", true, INT64_MIN },
	{ "18446744073709551615", true, -1 },
	{ "18446744073709551616", false, 0 },
	{ "99999999999999999999", false, 0 },
	{ "-5", true, -5 },
	{ "12.0", true, 12 },
	{ "12.000", true, 12 },
	{ "1e3", true, 1000 },
	{ "0000000000000000000000012", true, 12 },
	{ "", false, 0 },
	{ "-", false, 0 },
	{ "1 2", false, 0 },
	{ "0x1f", false, 0 },
	{ "12a", false, 0 },
	{ "stream 7", false, 0 },
	{ "true", false, 0 },
	{ "null", false, 0 },
	{ "NaN", false, 0 },
	{ "1e30", false, 0 },
};

static void test_i64(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(i64_cases); i++) {
		int64_t value = -1;
		bool ok = ss_number_i64(i64_cases[i].text, strlen(i64_cases[i].text), &value);

		support_check(ok == i64_cases[i].ok && (!ok || value == i64_cases[i].value),
			      i64_cases[i].text, "%d %lld", ok, (long long)value);
	}
}

static const struct {
	const char *text;
	bool ok;
	double value;
} double_cases[] = {
	{ "0", true, 0 },
	{ "1.5", true, 1.5 },
	{ "-2.25", true, -2.25 },
	{ "1e3", true, 1000 },
	{ "1e-3", true, 0.001 },
	{ "123456789.125", true, 123456789.125 },
	{ "1e308", true, 1e308 },
	{ "1e400", true, 1e308 },
	{ "-1e4000", true, -1e308 },
	{ "1e-400", true, 0 },
	{ "0e9", true, 0 },
	{ "1e99999", true, 1e308 },
	{ "", false, 0 },
	{ "inf", false, 0 },
	{ "-inf", false, 0 },
	{ "NaN", false, 0 },
	{ "N/A", false, 0 },
	{ "1e", false, 0 },
	{ "0x1p3", false, 0 },
	{ "1 ", false, 0 },
	{ "[]", false, 0 },
	{ "true", false, 0 },
	{ "1.5.", false, 0 },
};

static void test_double(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(double_cases); i++) {
		double value = -1;
		bool ok = ss_number_double(double_cases[i].text, strlen(double_cases[i].text),
					   &value);
		double wanted = double_cases[i].value;

		support_check(ok == double_cases[i].ok &&
				      (!ok || fabs(value - wanted) <= 1e-15 * fabs(wanted)),
			      double_cases[i].text, "%d %.17g", ok, value);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ns),
		cmocka_unit_test(test_ns_random),
		cmocka_unit_test(test_i64),
		cmocka_unit_test(test_double),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
