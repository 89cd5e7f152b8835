/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers and lists as the simulator's writer writes them.
 */
#include "support/support.h"

#include "sim/writer/writer_parts.h"

static void test_rates(void **state)
{
	static const struct {
		uint64_t bytes, ns;
		const char *text;
	} cases[] = {
		/* as they stand in files */
		{ 65536, 6080, "10.778947368421052" },
		{ 4, 1344, "0.002976190476190476" },
		{ 24, 1760, "0.013636363636363636" },
		{ 4, 1088, "0.003676470588235294" },
		{ 1, 2368, "0.0004222972972972973" },
		{ 4, 769, "0.005201560468140442" },
		{ 128, 5640, "0.02269503546099291" },
		{ 9216, 3520, "2.618181818181818" },
		{ 176000, 1000, "176" },
		{ 1, 2, "0.5" },
		{ 1, 3, "0.3333333333333333" },
		{ 2, 3, "0.6666666666666666" },
		{ 1, 10, "0.1" },
		{ 1, 10000, "0.0001" },
		{ 4, 76800, "5.208333333333334e-05" },
		{ 1, 100000, "1e-05" },
		{ 999999999999999, 100000, "9999999999.99999" },
		{ 0, 5, "0.0" },
		{ 5, 0, "0.0" },
	};

	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		char text[64];

		*ss_sim_put_rate(text, cases[i].bytes, cases[i].ns) = '\0';
		assert_string_equal(text, cases[i].text);
	}
}

static void test_numbers(void **state)
{
	static const uint64_t values[] = { 0, 9, 10, 99, 100, 12345, UINT64_MAX };
	char text[32], expected[32];

	(void)state;
	for (size_t i = 0; i < SS_COUNT(values); i++) {
		*ss_sim_put_number(text, values[i]) = '\0';
		snprintf(expected, sizeof(expected), "%llu", (unsigned long long)values[i]);
		assert_string_equal(text, expected);
	}
	*ss_sim_put_signed(text, INT64_MIN) = '\0';
	assert_string_equal(text, "-9223372036854775808");
	*ss_sim_put_time(text, 1007) = '\0';
	assert_string_equal(text, "1.007");
	*ss_sim_put_time(text, -3) = '\0';
	assert_string_equal(text, "0.000");
}

static void test_ranks(void **state)
{
	static const struct ss_sim_ranks few = { 4, 8, 3 }, many = { 0, 1, 128 };
	struct ss_text text = { 0 };

	(void)state;
	ss_sim_add_ranks(&text, &few, true);
	assert_string_equal(text.data, "[4, 12, 20]");
	text.length = 0;
	ss_sim_add_ranks(&text, &many, true);
	assert_non_null(strstr(text.data, "[0, 1, 2, "));
	assert_non_null(strstr(text.data, ", 27, 28, ..., 127]"));
	text.length = 0;
	ss_sim_add_ranks(&text, &many, false);
	assert_non_null(strstr(text.data, ", 29, 30, "));
	ss_text_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_ranks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
