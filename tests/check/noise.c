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
	{ "longer by 5 %: runs may differ that much",
	  1,
	  { { { 100, 101, 99, 100, 100, 100 } } },
	  { { 105, 106, 104, 105, 105, 105 } },
	  0.02,
	  SS_VERDICT_INCONCLUSIVE },
	{ "longer by 5 %, and three runs were alike",
	  3,
	  { { { 100, 101, 99, 100, 100, 100 } },
	    { { 100, 101, 99, 100, 101, 100 } },
	    { { 100, 100, 99, 100, 100, 100 } } },
	  { { 105, 106, 104, 105, 105, 105 } },
	  0.02,
	  SS_VERDICT_REGRESSION },
	{ "longer by 9 %",
	  1,
	  { { { 100, 101, 99, 100, 100, 100 } } },
	  { { 109, 110, 108, 109, 109, 109 } },
	  0.02,
	  SS_VERDICT_REGRESSION },
	{ "shorter by 8 %",
	  1,
	  { { { 109, 110, 108, 109, 109, 109 } } },
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
	  SS_VERDICT_INCONCLUSIVE },
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
	  { { 109, 109, 109.2, 108.8, 180, 109, 109.1, 108.9 } },
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
	  { { 100, 120, 100, 120, 100, 120, 100, 120 } },
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
	  { { 104, 104, 104.1 } },
	  0.02,
	  SS_VERDICT_REGRESSION },
	{ "three steps, two of them alike by chance: no noise is known",
	  1,
	  { { { 100, 100.1, 140 } } },
	  { { 125, 126, 127 } },
	  0.02,
	  SS_VERDICT_INCONCLUSIVE },
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
					   cases[i].threshold, NULL, &memory));
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
	assert_true(ss_noise_judge(&first, &a, 1, &a, 0.02, NULL, &memory));
	assert_true(ss_noise_judge(&second, &b, 1, &b, 0.02, NULL, &memory));
	assert_true(first.correlation > 0.5);
	assert_true(second.correlation == 0);
	assert_true(first.mean.steps_half > 1.5 * second.mean.steps_half);
}

/* --- many checks, by chance --------------------------------------------------------------- */

#define CHECKS 4000
#define RUNS 10

static uint64_t chance = 20261118;

/* About normal, with deviation 1. */
static double draw(void)
{
	double sum = 0;

	for (int i = 0; i < 12; i++) {
		chance = chance * 6364136223846793005u + 1442695040888963407u;
		sum += (double)(chance >> 11) / 9007199254740992.0;
	}
	return sum - 6;
}

/* Five steps of a run that differs from others by `noise`. */
static void draw_run(struct series *out, double mean, double noise)
{
	double run = mean * (1 + noise * draw());

	for (int i = 0; i < 5; i++)
		out->steps[i] = run * (1 + 0.005 * draw());
}

/* How often runs that changed by `change` are called slower, of 100. */
static double count_slower(uint32_t runs, double noise, double change, double *visible)
{
	struct series before[RUNS], after;
	struct ss_noise_run all[RUNS], own = { after.steps, 5 };
	struct ss_noise found;
	struct ss_memory memory;
	uint32_t slower = 0;

	ss_memory_init(&memory, 0);
	*visible = 0;
	for (int i = 0; i < CHECKS; i++) {
		for (uint32_t k = 0; k < runs; k++) {
			draw_run(&before[k], 100, noise);
			all[k] = (struct ss_noise_run){ before[k].steps, 5 };
		}
		draw_run(&after, 100 * (1 + change), noise);
		assert_true(ss_noise_judge(&found, all, runs, &own, 0.02, NULL, &memory));
		slower += found.verdict == SS_VERDICT_REGRESSION;
		*visible += found.mean.visible / CHECKS;
	}
	return 100.0 * slower / CHECKS;
}

/* Equal runs are hardly ever called slower, however much runs differ; larger changes are. */
static void test_chances(void **state)
{
	static const double noises[] = { 0, 0.005, 0.01, 0.02 };
	static const uint32_t counts[] = { 1, 2, 3, 5, 10 };
	double visible, unused;

	(void)state;
	for (size_t i = 0; i < SS_COUNT(noises); i++)
		for (size_t k = 0; k < SS_COUNT(counts); k++) {
			double alarms = count_slower(counts[k], noises[i], 0, &visible);
			double found = count_slower(counts[k], noises[i], visible, &unused);

			/* two runs that are alike by chance say too little of 2 % */
			support_check(alarms <= (noises[i] > 0.01 ? 2.8 : 1.2), "equal runs",
				      "noise %.3f, %u runs: %.2f %% are called slower", noises[i],
				      counts[k], alarms);
			/* of runs that differ more than is usual, few show it */
			support_check(found >= (noises[i] > 0.01 ? 75 : 85), "visible changes",
				      "noise %.3f, %u runs: %.1f %% of %.3f", noises[i], counts[k],
				      found, visible);
		}
	assert_true(count_slower(10, 0.01, 0.05, &unused) >= 92);
}

/* What other levels of the job showed counts. */
static void test_history(void **state)
{
	struct series calm = { { 100, 100.1, 99.9 } }, uneven = { { 110, 110.1, 109.9 } };
	struct ss_noise_run runs[] = { { calm.steps, 3 }, { uneven.steps, 3 } };
	struct ss_noise_history history = { 0 };
	struct ss_noise found;
	struct ss_memory memory;

	(void)state;
	ss_memory_init(&memory, 0);
	assert_true(ss_noise_judge(&found, runs, 1, &runs[1], 0.02, NULL, &memory));
	assert_int_equal(found.verdict, SS_VERDICT_REGRESSION);
	assert_int_equal(found.freedom, 0);
	ss_noise_history_add(&history, runs, 2);
	assert_int_equal(history.freedom, 1);
	assert_true(ss_noise_judge(&found, runs, 1, &runs[1], 0.02, &history, &memory));
	assert_int_equal(found.verdict, SS_VERDICT_INCONCLUSIVE);
	assert_int_equal(found.freedom, 1);
	assert_true(found.run_share > 0.03 && found.runs_needed > 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_correlation),
		cmocka_unit_test(test_chances),
		cmocka_unit_test(test_history),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
