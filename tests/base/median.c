/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Medians against sorting.
 */
#include "support/support.h"

#include "base/median.h"

static const struct {
	const char *what;
	int64_t values[8];
	size_t count;
	int64_t median;
} cases[] = {
	{ "one", { 7 }, 1, 7 },
	{ "two: halfway, rounded down", { 8, 5 }, 2, 6 },
	{ "two equal ones", { 5, 5 }, 2, 5 },
	{ "three", { 300, 1, 20 }, 3, 20 },
	{ "four: the two in the middle", { 100, 1, 3, 9 }, 4, 6 },
	{ "the middle is there three times", { 9, 4, 4, 4 }, 4, 4 },
	{ "lower half equal", { 4, 4, 10, 12 }, 4, 7 },
	{ "numbers of many bytes", { 1LL << 40, 1, 1LL << 50, 1LL << 41, 3 }, 5, 1LL << 40 },
	{ "below zero", { -5, 3, -300, 0, 2 }, 5, 0 },
	{ "as far apart as can be", { INT64_MIN, INT64_MAX }, 2, -1 },
	{ "zeros", { 0, 0, 0, 0, 0, 0 }, 6, 0 },
};

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		int64_t values[8];

		memcpy(values, cases[i].values, sizeof(values));
		support_check(ss_median(values, cases[i].count) == cases[i].median, cases[i].what,
			      "%lld", (long long)ss_median(values, cases[i].count));
	}
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static void test_against_sorting(void **state)
{
	uint64_t noise = 12345;

	(void)state;
	for (size_t count = 1; count < 400; count++) {
		int64_t values[400], sorted[400], wanted;

		for (size_t i = 0; i < count; i++) {
			noise = noise * 6364136223846793005u + 1442695040888963407u;
			values[i] = (int64_t)(noise >> (20 + count % 44));
		}
		memcpy(sorted, values, sizeof(sorted));
		qsort(sorted, count, sizeof(*sorted), by_value);
		wanted = sorted[(count - 1) / 2];
		wanted += (sorted[count / 2] - wanted) / 2;
		assert_int_equal(ss_median(values, count), wanted);
		/* all numbers are still there */
		qsort(values, count, sizeof(*values), by_value);
		assert_memory_equal(values, sorted, count * sizeof(*values));
	}
}

/* Of the others, for each of them; the lower of two in the middle. */
static void test_middle(void **state)
{
	uint64_t noise = 4711;

	(void)state;
	for (size_t count = 0; count < 120; count++) {
		int64_t values[120] = { 0 }, sorted[120], copy[120];
		struct ss_middle middle;

		for (size_t i = 0; i < count; i++) {
			noise = noise * 6364136223846793005u + 1442695040888963407u;
			/* few different ones: most are there several times */
			values[i] = (int64_t)(noise >> 60) - 8;
		}
		memcpy(copy, values, sizeof(copy));
		middle = ss_middle_of(copy, count);
		memcpy(sorted, values, sizeof(sorted));
		qsort(sorted, count, sizeof(*sorted), by_value);
		assert_int_equal(ss_middle_median(&middle), count ? sorted[(count - 1) / 2] : 0);
		for (size_t i = 0; i < count; i++) {
			size_t others = 0;

			for (size_t k = 0; k < count; k++)
				if (k != i)
					sorted[others++] = values[k];
			qsort(sorted, others, sizeof(*sorted), by_value);
			assert_int_equal(ss_middle_without(&middle, values[i]),
					 others ? sorted[(others - 1) / 2] : 0);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_against_sorting),
		cmocka_unit_test(test_middle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
