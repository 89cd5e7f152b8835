/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts that grow, and the width of what is in them.
 */
#include "support/support.h"

static void test_append(void **state)
{
	struct ss_text text = { 0 };

	(void)state;
	ss_text_add_string(&text, "");
	assert_string_equal(text.data, "");
	ss_text_add(&text, "abc", 2);
	ss_text_fill(&text, '-', 3);
	ss_text_add_int(&text, INT64_MIN);
	ss_text_addf(&text, " %s %d", "x", 5);
	assert_string_equal(text.data, "ab----9223372036854775808 x 5");
	assert_int_equal(text.length, strlen(text.data));
	ss_text_release(&text);
	assert_null(text.data);
	ss_text_release(&text);
}

/* What printf makes of it, at and around halves of the last place, too. */
static void test_numbers(void **state)
{
	/* clang-format off */
	static const double numbers[] = {
		0.0, -0.0, 0.5, 1.0, -1.5, 100.0, 0.0000005, 0.0000015, 0.00000049999,
		0.0000005001, 0.9999994999, 0.9999995, 0.9999999, 99.999999, 12.3456785,
		1e-300, 123456789.0625, 1e12, 1e18, 1e300, 0.00390625, 0.005859375, 1.0 / 3,
		2.0 / 3, 0.1234565, 7.00000025, 0.0078125, 33554432.015625, 1e11 / 3,
		999999999999.9999,
	};
	/* clang-format on */
	double walk = 1e-9;

	(void)state;
	for (size_t i = 0; i < SS_COUNT(numbers) + 20000; i++) {
		double value = i < SS_COUNT(numbers) ? numbers[i] : walk;
		struct ss_text text = { 0 };
		char wanted[400];

		walk *= 1.00237;
		snprintf(wanted, sizeof(wanted), "%.6f", value);
		ss_text_add_number(&text, value);
		support_check(strcmp(text.data, wanted) == 0, wanted, "%s", text.data);
		ss_text_release(&text);
	}
	/* halves of the last place that can be told exactly: 2^-7 and its multiples */
	for (int i = 1; i < 100000; i++) {
		struct ss_text text = { 0 };
		char wanted[400];

		snprintf(wanted, sizeof(wanted), "%.6f", i / 128.0);
		ss_text_add_number(&text, i / 128.0);
		assert_string_equal(text.data, wanted);
		ss_text_release(&text);
	}
}

/* Every length across the borders at which it grows. */
static void test_growth(void **state)
{
	(void)state;
	for (size_t piece = 1; piece < 700; piece += 37) {
		struct ss_text text = { 0 };

		for (size_t i = 0; i < 40; i++) {
			ss_text_fill(&text, (char)('a' + i % 26), piece);
			assert_int_equal(text.length, piece * (i + 1));
			assert_int_equal(text.data[text.length], '\0');
			assert_true(text.capacity > text.length);
		}
		assert_int_equal(text.data[0], 'a');
		assert_false(ss_text_failed(&text));
		ss_text_release(&text);
	}
}

static void test_failure(void **state)
{
	struct ss_text text = { .capacity = SIZE_MAX };

	(void)state;
	assert_true(ss_text_failed(&text));
	ss_text_add_string(&text, "x");
	ss_text_addf(&text, "%d", 5);
	ss_text_fill(&text, 'x', 5);
	assert_null(text.data);
	assert_int_equal(text.length, 0);
	assert_true(ss_text_failed(&text));
	ss_text_release(&text);
}

static const struct {
	const char *text;
	size_t columns;
	size_t prefix_of_two; /* bytes of the first two columns */
} widths[] = {
	{ "", 0, 0 },
	{ "abc", 3, 2 },
	{ "\xc3\xa9t\xc3\xa9", 3, 3 },
	{ "\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac", 3, 6 },
	{ "\xf0\x9f\x98\x80", 2, 4 },
	{ "a", 1, 1 },
};

static void test_columns(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(widths); i++) {
		size_t length = strlen(widths[i].text);

		support_check(ss_text_columns(widths[i].text, length) == widths[i].columns,
			      widths[i].text, "%zu columns",
			      ss_text_columns(widths[i].text, length));
		support_check(ss_text_prefix(widths[i].text, length, 2) == widths[i].prefix_of_two,
			      widths[i].text, "%zu bytes",
			      ss_text_prefix(widths[i].text, length, 2));
		assert_int_equal(ss_text_prefix(widths[i].text, length, 0), 0);
	}
}

static void test_list(void **state)
{
	char list[16] = "", small[4] = "", none[1] = "";

	(void)state;
	ss_text_list(list, sizeof(list), "one");
	assert_string_equal(list, "one");
	ss_text_list(list, sizeof(list), "two");
	assert_string_equal(list, "one, two");
	/* 8 bytes, 2 of the comma, 6 more would need one for the end */
	ss_text_list(list, sizeof(list), "longer");
	assert_string_equal(list, "one, two");
	ss_text_list(list, sizeof(list), "three");
	assert_string_equal(list, "one, two, three");
	ss_text_list(list, sizeof(list), "");
	assert_string_equal(list, "one, two, three");
	ss_text_list(small, sizeof(small), "four");
	assert_string_equal(small, "");
	ss_text_list(small, sizeof(small), "six");
	assert_string_equal(small, "six");
	ss_text_list(none, sizeof(none), "x");
	assert_string_equal(none, "");
}

static void test_characters(void **state)
{
	(void)state;
	for (int i = 0; i < 256; i++) {
		const char letter = (char)i;
		const char *digits = "0123456789abcdefABCDEF";
		const char *at = i ? strchr(digits, letter) : NULL;
		int value = at ? (int)(at - digits) : -1;

		assert_int_equal(ss_char_is_digit(letter), value >= 0 && value < 10);
		assert_int_equal(ss_char_hex_value(letter), value < 16 ? value : value - 6);
		assert_int_equal(ss_char_is_hex(letter), value >= 0);
		assert_int_equal(ss_char_is_letter(letter),
				 (i >= 'a' && i <= 'z') || (i >= 'A' && i <= 'Z'));
	}
}

static void test_begin_and_end(void **state)
{
	(void)state;
	assert_true(ss_string_ends_with("rank0.json.gz", ".gz"));
	assert_true(ss_string_ends_with(".gz", ".gz"));
	assert_true(ss_string_ends_with("", ""));
	assert_false(ss_string_ends_with("gz", ".gz"));
	assert_false(ss_string_ends_with("rank0.gz.json", ".gz"));
	assert_true(ss_text_ends_with("rank0.json.gz", 10, ".json"));
	assert_false(ss_text_ends_with("rank0.json.gz", 10, ".gz"));
	assert_true(ss_string_begins_with("rank0", "rank"));
	assert_true(ss_string_begins_with("rank", ""));
	assert_false(ss_string_begins_with("ran", "rank"));
	assert_true(ss_string_has_one_of("rank0", (const char *const[]){ "x", "nk" }, 2));
	assert_false(ss_string_has_one_of("rank0", (const char *const[]){ "x", "nk" }, 1));
	assert_false(ss_string_has_one_of("rank0", NULL, 0));
	assert_true(ss_text_begins_with("rank0", 4, "rank"));
	assert_false(ss_text_begins_with("rank0", 3, "rank"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_append),     cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_growth),     cmocka_unit_test(test_failure),
		cmocka_unit_test(test_columns),    cmocka_unit_test(test_list),
		cmocka_unit_test(test_characters), cmocka_unit_test(test_begin_and_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
