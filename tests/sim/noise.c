/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulator's noise: the same for the same piece of work, and otherwise as
 * random as it claims to be.
 */
#include "sim/noise.h"
#include "support/support.h"

#define SAMPLES 200000u
#define DEVIATION 10000

/* What the samples are numbered by. */
static const char *const axes[] = { "seed", "rank", "step", "key" };

static uint64_t sample(size_t axis, uint32_t i, enum ss_sim_noise_kind kind)
{
	switch (axis) {
	case 0:
		return ss_sim_random(i, 3, 2, 77, kind);
	case 1:
		return ss_sim_random(42, i, 2, 77, kind);
	case 2:
		return ss_sim_random(42, 3, i, 77, kind);
	default:
		return ss_sim_random(42, 3, 2, i, kind);
	}
}

struct figures {
	double mean, variance, next; /* next: covariance with the sample after */
	int64_t least, most;
};

static struct figures figures_of(size_t axis, enum ss_sim_noise_kind kind)
{
	struct figures found = { 0 };
	double sum = 0, squares = 0, products = 0, before = 0;

	for (uint32_t i = 0; i < SAMPLES; i++) {
		int64_t ppm = ss_sim_ppm(sample(axis, i, kind), DEVIATION);

		sum += (double)ppm;
		squares += (double)ppm * (double)ppm;
		products += before * (double)ppm;
		before = (double)ppm;
		found.least = ppm < found.least ? ppm : found.least;
		found.most = ppm > found.most ? ppm : found.most;
	}
	found.mean = sum / SAMPLES;
	found.variance = squares / SAMPLES - found.mean * found.mean;
	found.next = products / SAMPLES;
	return found;
}

/* Five standard errors of the mean are 1.1 % of a deviation. */
static void test_figures(void **state)
{
	const double wanted = (double)DEVIATION * DEVIATION;

	(void)state;
	for (size_t axis = 0; axis < SS_COUNT(axes); axis++)
		for (int kind = 0; kind <= SS_SIM_NOISE_LOSS; kind++) {
			struct figures found = figures_of(axis, (enum ss_sim_noise_kind)kind);

			support_check(found.mean < 0.0115 * DEVIATION &&
					      found.mean > -0.0115 * DEVIATION,
				      axes[axis], "kind %d: the mean is %f", kind, found.mean);
			support_check(found.variance > 0.98 * wanted &&
					      found.variance < 1.02 * wanted,
				      axes[axis], "kind %d: the variance is %f", kind,
				      found.variance);
			support_check(found.next < 0.0115 * wanted && found.next > -0.0115 * wanted,
				      axes[axis], "kind %d: neighbours agree by %f", kind,
				      found.next / wanted);
			support_check(found.least >= -35 * DEVIATION / 10 &&
					      found.most <= 35 * DEVIATION / 10 &&
					      found.least < -3 * DEVIATION &&
					      found.most > 3 * DEVIATION,
				      axes[axis], "kind %d: from %lld to %lld", kind,
				      (long long)found.least, (long long)found.most);
		}
}

static void test_bounds(void **state)
{
	(void)state;
	for (int64_t deviation = 0; deviation <= 1000000; deviation = deviation * 10 + 7) {
		int64_t least = ss_sim_ppm(0, deviation), most = ss_sim_ppm(UINT64_MAX, deviation);

		assert_int_equal(least, -most);
		assert_true(most <= deviation * 35 / 10);
		assert_true(most >= deviation * 34 / 10);
	}
	assert_int_equal(ss_sim_ppm(UINT64_C(0x7fff800080007fff), 1000000), 0);
}

/* A function of its arguments: asked in any order, with others in between. */
static void test_order(void **state)
{
	uint64_t there[512], random = 9;

	(void)state;
	for (uint32_t i = 0; i < SS_COUNT(there); i++)
		there[i] = ss_sim_random(7, i % 8, i / 8, i * 31, SS_SIM_NOISE_KERNEL);
	for (uint32_t n = 0; n < 5000; n++) {
		uint32_t i = support_random(&random, SS_COUNT(there));

		assert_true(there[i] ==
			    ss_sim_random(7, i % 8, i / 8, i * 31, SS_SIM_NOISE_KERNEL));
	}
}

/* The same on every machine and with every compiler. */
static void test_fixed(void **state)
{
	(void)state;
	assert_int_equal(ss_sim_ppm(UINT64_C(0x0123456789abcdef), 7000), -4634);
	assert_true(ss_sim_random(42, 3, 2, 77, SS_SIM_NOISE_HOST) == UINT64_C(0x3402187e496465be));
}

static int compare(const void *a, const void *b)
{
	const uint64_t *one = a, *two = b;

	return (*one > *two) - (*one < *two);
}

static bool has_doubles(uint64_t *values, size_t count)
{
	qsort(values, count, sizeof(*values), compare);
	for (size_t i = 1; i < count; i++)
		if (values[i] == values[i - 1])
			return true;
	return false;
}

/* Each argument matters: a grid of them has no value twice. */
static void test_arguments(void **state)
{
	static uint64_t all[8 * 8 * 512 * 7];
	size_t count = 0;

	(void)state;
	for (uint32_t rank = 0; rank < 8; rank++)
		for (uint32_t step = 0; step < 8; step++)
			for (uint32_t key = 0; key < 512; key++)
				for (int kind = 0; kind <= SS_SIM_NOISE_LOSS; kind++)
					all[count++] = ss_sim_random(7, rank, step, key,
								     (enum ss_sim_noise_kind)kind);
	assert_false(has_doubles(all, count));
}

/* A job with the next seed is another job, not the same one with its steps in another order. */
static void test_seeds(void **state)
{
	static uint64_t all[16 * 64 * 64];
	size_t count = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 16; seed++)
		for (uint32_t rank = 0; rank < 64; rank++)
			for (uint32_t step = 0; step < 64; step++)
				all[count++] = ss_sim_random(seed, rank, step, 5,
							     SS_SIM_NOISE_KERNEL);
	assert_false(has_doubles(all, count));
}

/* Ranks do not agree with each other, nor seeds, nor kinds. */
static void test_apart(void **state)
{
	double ranks = 0, seeds = 0, kinds = 0, steps = 0;
	const double limit = 0.025 * DEVIATION * DEVIATION;

	(void)state;
	for (uint32_t key = 0; key < 50000; key++) {
		double one = (double)ss_sim_ppm(ss_sim_random(1, 0, 0, key, SS_SIM_NOISE_KERNEL),
						DEVIATION);

		ranks += one * (double)ss_sim_ppm(ss_sim_random(1, 1, 0, key, SS_SIM_NOISE_KERNEL),
						  DEVIATION);
		steps += one * (double)ss_sim_ppm(ss_sim_random(1, 0, 1, key, SS_SIM_NOISE_KERNEL),
						  DEVIATION);
		seeds += one * (double)ss_sim_ppm(ss_sim_random(2, 0, 0, key, SS_SIM_NOISE_KERNEL),
						  DEVIATION);
		kinds += one * (double)ss_sim_ppm(ss_sim_random(1, 0, 0, key, SS_SIM_NOISE_HOST),
						  DEVIATION);
	}
	support_check(ranks / 50000 < limit && ranks / 50000 > -limit, "ranks", "agree: %f", ranks);
	support_check(steps / 50000 < limit && steps / 50000 > -limit, "steps", "agree: %f", steps);
	support_check(seeds / 50000 < limit && seeds / 50000 > -limit, "seeds", "agree: %f", seeds);
	support_check(kinds / 50000 < limit && kinds / 50000 > -limit, "kinds", "agree: %f", kinds);
}

static void test_scale(void **state)
{
	static const struct {
		int64_t ns;
		uint32_t permille;
		int64_t ppm, wanted;
	} cases[] = {
		{ 0, 1000, 30000, 0 },
		{ 1000000, 1000, 0, 1000000 },
		{ 1000000, 1000, 7000, 1007000 },
		{ 1000000, 1000, -7000, 993000 },
		{ 1000000, 1500, 0, 1500000 },
		{ 1000000, 500, 0, 500000 },
		{ 999, 2000, 0, 1998 },
		{ 1234567, 1350, 0, 1666665 },
		{ INT64_C(86400000000000), 1000, 1, INT64_C(86400086400000) },
		{ INT64_C(86400000000000), 4000, 35000, INT64_C(357696000000000) },
	};

	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++)
		assert_int_equal(ss_sim_scale(cases[i].ns, cases[i].permille, cases[i].ppm),
				 cases[i].wanted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_figures),   cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_order),     cmocka_unit_test(test_fixed),
		cmocka_unit_test(test_arguments), cmocka_unit_test(test_seeds),
		cmocka_unit_test(test_apart),     cmocka_unit_test(test_scale),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
