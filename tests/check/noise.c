/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verdicts on series of steps.
 */
#include "support/support.h"

#include "check/noise.h"

#define STEPS_MAX 16

struct series {
	double steps[STEPS_MAX];
};

static const struct {
	const char *what;
	uint32_t runs; /* of the baseline */
	struct series before[3], after;
	double threshold;
	enum ss_check_verdict verdict;
} cases[] = {
	{ "equal",
	  1,
	  { { { 100, 101, 99, 100, 100 } } },
	  { { 100, 100, 101, 99, 100 } },
	  0.02,
	  SS_VERDICT_PASS },
	{ "longer by 5 %",
	  1,
	  { { { 100, 101, 99, 100, 100, 100 } } },
	  { { 105, 106, 104, 105, 105, 105 } },
	  0.02,
	  SS_VERDICT_REGRESSION },
	{ "shorter by 5 %",
	  1,
	  { { { 105, 106, 104, 105, 105, 105 } } },
	  { { 100, 101, 99, 100, 100, 100 } },
	  0.02,
	  SS_VERDICT_IMPROVEMENT },
	{ "longer, but below the threshold",
	  1,
	  { { { 100, 100.1, 99.9, 100, 100, 100 } } },
	  { { 101.5, 101.6, 101.4, 101.5, 101.5, 101.5 } },
	  0.02,
	  SS_VERDICT_PASS },
	{ "the same change with another threshold",
	  1,
	  { { { 100, 100.1, 99.9, 100, 100, 100 } } },
	  { { 101.5, 101.6, 101.4, 101.5, 101.5, 101.5 } },
	  0.01,
	  SS_VERDICT_REGRESSION },
	{ "noise that hides everything",
	  1,
	  { { { 100, 130, 80, 120, 90, 110 } } },
	  { { 104, 120, 85, 125, 95, 111 } },
	  0.02,
	  SS_VERDICT_INCONCLUSIVE },
	{ "two steps",
	  1,
	  { { { 100, 100 } } },
	  { { 150, 150, 150 } },
	  0.02,
	  SS_VERDICT_INCONCLUSIVE },
	{ "no steps", 1, { { { 0 } } }, { { 150, 150, 150 } }, 0.02, SS_VERDICT_INCONCLUSIVE },
	{ "no baseline", 0, { { { 0 } } }, { { 150, 150, 150 } }, 0.02, SS_VERDICT_INCONCLUSIVE },
	{ "a long step of the baseline: the median decides",
	  1,
	  { { { 100, 100, 100.2, 99.8, 180, 100, 100.1, 99.9 } } },
	  { { 106, 106, 106.2, 105.8, 180, 106, 106.1, 105.9 } },
	  0.02,
	  SS_VERDICT_REGRESSION },
	{ "the same long step in both",
	  1,
	  { { { 100, 100, 100.2, 99.8, 180, 100, 100.1, 99.9 } } },
	  { { 100, 100.1, 180, 99.8, 100, 100, 100.1, 99.9 } },
	  0.02,
	  SS_VERDICT_PASS },
	{ "one long step of many that are equal",
	  1,
	  { { { 100, 100, 100.2, 99.8, 100, 100, 100.1, 99.9 } } },
	  { { 100, 100, 100.2, 99.8, 180, 100, 100.1, 99.9 } },
	  0.02,
	  SS_VERDICT_REGRESSION },
	{ "every second step is longer",
	  1,
	  { { { 100, 100, 100.2, 99.8, 100, 100, 100.1, 99.9 } } },
	  { { 100, 110, 100, 110, 100, 110, 100, 110 } },
	  0.02,
	  SS_VERDICT_REGRESSION },
	{ "runs that differ more than their steps",
	  3,
	  { { { 100, 100, 100.1 } }, { { 110, 110, 110.1 } }, { { 95, 95, 95.1 } } },
	  { { 107, 107, 107.1 } },
	  0.02,
	  SS_VERDICT_INCONCLUSIVE },
	{ "runs that are alike",
	  3,
	  { { { 100, 100, 100.1 } }, { { 100.2, 100, 100.1 } }, { { 99.9, 100, 100.1 } } },
	  { { 103, 103, 103.1 } },
	  0.02,
	  SS_VERDICT_REGRESSION },
};

static struct ss_noise_run run_of(const struct series *series)
{
	struct ss_noise_run run = { .steps = series->steps };

	while (run.count < STEPS_MAX && series->steps[run.count] > 0)
		run.count++;
	return run;
}

static void test_cases(void **state)
{
	struct ss_memory memory;

	(void)state;
	ss_memory_init(&memory, 0);
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		struct ss_noise_run before[3], after = run_of(&cases[i].after);
		struct ss_noise noise;

		for (uint32_t k = 0; k < cases[i].runs; k++)
			before[k] = run_of(&cases[i].before[k]);
		assert_true(ss_noise_judge(&noise, before, cases[i].runs, &after,
					   cases[i].threshold, &memory));
		support_check(noise.verdict == cases[i].verdict, cases[i].what,
			      "%s: %.4f, noise %.4f; median %.4f, noise %.4f",
			      ss_check_verdict_name(noise.verdict), noise.mean.change,
			      noise.mean.half, noise.typical.change, noise.typical.half);
	}
	assert_int_equal(memory.used_bytes, 0);
}

/* Steps that drift together say less than independent ones. */
static void test_correlation(void **state)
{
	static const double drifting[] = { 100, 101, 102, 103, 104, 105, 106, 107,
					   107, 106, 105, 104, 103, 102, 101, 100 };
	static const double mixed[] = { 100, 107, 101, 106, 102, 105, 103, 104,
					104, 103, 105, 102, 106, 101, 107, 100 };
	struct ss_noise_run a = { drifting, 16 }, b = { mixed, 16 };
	struct ss_noise first, second;
	struct ss_memory memory;

	(void)state;
	ss_memory_init(&memory, 0);
	assert_true(ss_noise_judge(&first, &a, 1, &a, 0.02, &memory));
	assert_true(ss_noise_judge(&second, &b, 1, &b, 0.02, &memory));
	assert_true(first.correlation > 0.5);
	assert_true(second.correlation == 0);
	assert_true(first.mean.half > 1.5 * second.mean.half);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_correlation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
