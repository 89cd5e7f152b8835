/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Change points of generated series: planted ones are found, noise has none.
 */
#include "support/support.h"

#include <math.h>

#include "base/change_points.h"

#define RUNS_MAX 1000

/* Normal noise, and a long run now and then: what simulated runs have, times two. */
#define NOISE_SHARE 0.004
#define ODD_EVERY 60
#define ODD_SHARE 0.15

struct generator {
	uint64_t state;
};

static double uniform(struct generator *generator)
{
	generator->state = generator->state * 6364136223846793005u + 1442695040888963407u;
	return ((double)(generator->state >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(struct generator *generator)
{
	double radius = sqrt(-2 * log(uniform(generator)));

	return radius * cos(6.283185307179586 * uniform(generator));
}

/* A level of 100 ms; from `at` on it is longer by `change`. */
static void generate(struct generator *generator, double *values, uint32_t count, uint32_t at,
		     double change)
{
	for (uint32_t i = 0; i < count; i++) {
		values[i] = 1e8 * (1 + NOISE_SHARE * normal(generator));
		if (uniform(generator) < 1.0 / ODD_EVERY)
			values[i] *= 1 + ODD_SHARE * uniform(generator);
		if (i >= at)
			values[i] *= 1 + change;
	}
}

static uint32_t find(const double *values, uint32_t count, struct ss_change_point *out,
		     uint32_t most)
{
	struct ss_change_points found;
	struct ss_memory memory;
	struct ss_arena arena;

	ss_memory_init(&memory, 0);
	ss_arena_init(&arena, &memory);
	assert_true(ss_change_points_find(&found, values, count, 0.02, &arena));
	for (uint32_t i = 0; i < found.count && i < most; i++)
		out[i] = found.items[i];
	ss_arena_release(&arena);
	return found.count;
}

/* At most one false change point in a thousand runs. */
static void test_noise(void **state)
{
	struct generator generator = { 7 };
	struct ss_change_point point;
	static double values[RUNS_MAX];
	uint32_t found = 0, runs = 0;

	(void)state;
	for (uint32_t length = 10; length <= RUNS_MAX;
	     length = length < 40 ? 2 * length : length + 97)
		for (int i = 0; i < 10; i++) {
			generate(&generator, values, length, length, 0);
			found += find(values, length, &point, 1);
			runs += length;
		}
	support_check(found * 1000 <= runs, "noise", "%u false in %u runs", found, runs);
}

/* 95 % of changes by 5 %, up and down, wherever five runs lie behind them. */
static void test_planted(void **state)
{
	struct generator generator = { 11 };
	struct ss_change_point point = { 0 };
	static double values[RUNS_MAX];
	uint32_t found = 0, near = 0, planted = 0;

	(void)state;
	for (uint32_t length = 12; length <= 400; length += 4) {
		uint32_t at = 5 + (uint32_t)(uniform(&generator) * (length - 10));
		double change = length % 8 ? 0.05 : -0.05;

		generate(&generator, values, length, at, change);
		planted++;
		if (find(values, length, &point, 1) != 1)
			continue;
		found++;
		near += point.at + 2 >= at && point.at <= at + 2 &&
			fabs((point.after - point.before) / point.before - change) < 0.01;
	}
	support_check(found * 100 >= planted * 95, "planted", "%u of %u", found, planted);
	support_check(near * 100 >= planted * 90, "place and size", "%u of %u", near, planted);
}

/* Several levels in one series, and a short disturbance that is none. */
static void test_levels(void **state)
{
	struct generator generator = { 3 };
	struct ss_change_point points[8];
	double values[120];

	(void)state;
	generate(&generator, values, 120, 40, 0.05);
	for (int i = 80; i < 120; i++)
		values[i] *= 0.9;
	values[20] *= 3;
	values[21] *= 3;
	assert_int_equal(find(values, 120, points, 8), 2);
	assert_true(points[0].at >= 39 && points[0].at <= 41);
	assert_true(points[1].at >= 79 && points[1].at <= 81);
	assert_true(points[0].after > points[0].before && points[1].after < points[1].before);
}

/* A level that ends again, in a series so long that the medians around it are equal. */
static void test_bump(void **state)
{
	struct generator generator = { 5 };
	struct ss_change_point points[8];
	static double values[RUNS_MAX];

	(void)state;
	for (uint32_t at = 100; at < RUNS_MAX - 100; at += 150) {
		generate(&generator, values, RUNS_MAX, RUNS_MAX, 0);
		for (uint32_t i = at; i < at + 30; i++)
			values[i] *= 1.08;
		assert_int_equal(find(values, RUNS_MAX, points, 8), 2);
		assert_true(points[0].at + 2 >= at && points[0].at <= at + 2);
		assert_true(points[1].at + 2 >= at + 30 && points[1].at <= at + 32);
	}
}

static void test_edges(void **state)
{
	struct ss_change_point point = { 0 };
	double values[8] = { 5, 5, 5, 5, 5, 5, 5, 5 };

	(void)state;
	assert_int_equal(find(values, 0, &point, 1), 0);
	assert_int_equal(find(values, 5, &point, 1), 0);
	assert_int_equal(find(values, 8, &point, 1), 0);
	for (int i = 4; i < 8; i++)
		values[i] = 6;
	assert_int_equal(find(values, 8, &point, 1), 1);
	assert_int_equal(point.at, 4);
}

/*
 * Two levels of noise 1.4826 / sqrt(2): neighbours differ by 1 in the median. The score is the
 * difference of the means of both sides, in deviations of that difference.
 */
static void test_score(void **state)
{
	struct ss_change_point points[2] = { 0 }, point = { 0 };
	double values[45], noise = 1.4826 / sqrt(2);

	(void)state;
	for (int i = 0; i < 30; i++)
		values[i] = (i < 10 ? 100 : 120) + i % 2;
	assert_int_equal(find(values, 30, &point, 1), 1);
	assert_int_equal(point.at, 10);
	assert_true(point.before == 100.5 && point.after == 120.5);
	assert_true(fabs(point.score - 20 / (noise * sqrt(1 / 10.0 + 1 / 20.0))) < 0.05);
	/* each against the levels beside it */
	for (int i = 30; i < 45; i++)
		values[i] = 90 + i % 2;
	assert_int_equal(find(values, 45, points, 2), 2);
	assert_true(points[0].at == 10 && points[1].at == 30);
	assert_true(fabs(points[0].score - point.score) < 0.5);
	assert_true(fabs(points[1].score - 30 / (noise * sqrt(1 / 20.0 + 1 / 15.0))) < 0.5);
}

/* Three values on each side are the least, and the share of the change is one as well. */
static void test_least(void **state)
{
	struct ss_change_point point = { 0 };
	double values[7] = { 100, 100, 100, 110, 110, 110, 110 };

	(void)state;
	assert_int_equal(find(values, 6, &point, 1), 1);
	assert_int_equal(point.at, 3);
	for (int i = 3; i < 7; i++)
		values[i] = 102;
	assert_int_equal(find(values, 7, &point, 1), 1);
	for (int i = 3; i < 7; i++)
		values[i] = 101.9;
	assert_int_equal(find(values, 7, &point, 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_noise),  cmocka_unit_test(test_planted),
		cmocka_unit_test(test_levels), cmocka_unit_test(test_bump),
		cmocka_unit_test(test_edges),  cmocka_unit_test(test_score),
		cmocka_unit_test(test_least),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
