/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulator's clocks: exact to rounding for a day, and never backwards.
 */
#include "sim/plan.h"
#include "support/support.h"

#define SECOND INT64_C(1000000000)
#define DAY (86400 * SECOND)

/* The largest that the command takes: an hour, and 1000 parts in a million. */
#define OFFSET_MAX (3600 * SECOND)
#define DRIFT_MAX INT64_C(1000000)

static const struct ss_sim_clock clocks[] = {
	{ 0, 0 },
	{ 1, 0 },
	{ -3000000, 0 },
	{ 0, 1 },
	{ 0, -1 },
	{ 3000000, 8000 },
	{ -3000000, -8000 },
	{ 123456789, -7919 },
	{ OFFSET_MAX, DRIFT_MAX },
	{ -OFFSET_MAX, -DRIFT_MAX },
	{ OFFSET_MAX, -DRIFT_MAX },
};

/* Whole seconds and the rest apart: the product of a day and a drift has 66 bits. */
static int64_t exact(const struct ss_sim_clock *clock, int64_t true_ns)
{
	return SS_SIM_EPOCH_NS + clock->offset_ns + true_ns + true_ns / SECOND * clock->drift_ppb +
	       true_ns % SECOND * clock->drift_ppb / SECOND;
}

static void check_moment(const struct ss_sim_clock *clock, int64_t true_ns)
{
	int64_t shown = ss_sim_clock_show(clock, true_ns), wanted = exact(clock, true_ns);

	support_check(shown - wanted <= 1 && wanted - shown <= 1, "a clock's time",
		      "offset %lld, drift %lld at %lld: %lld, not %lld",
		      (long long)clock->offset_ns, (long long)clock->drift_ppb, (long long)true_ns,
		      (long long)shown, (long long)wanted);
}

static void test_exact(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(clocks); i++) {
		uint64_t random = i + 1;

		for (int64_t at = 0; at < 3000; at++)
			check_moment(&clocks[i], at);
		for (int64_t at = 1; at <= DAY; at *= 10) {
			check_moment(&clocks[i], at - 1);
			check_moment(&clocks[i], at);
			check_moment(&clocks[i], at + 1);
		}
		for (int n = 0; n < 20000; n++)
			check_moment(&clocks[i], support_random(&random, 86400) * SECOND +
							 support_random(&random, 1000000000));
		check_moment(&clocks[i], DAY);
	}
}

/* Nanosecond by nanosecond, and around whole seconds, where rounding might slip. */
static void test_forwards(void **state)
{
	static const int64_t from[] = { 0, SECOND, 59 * SECOND, 1000 * SECOND, DAY };

	(void)state;
	for (size_t i = 0; i < SS_COUNT(clocks); i++)
		for (size_t part = 0; part < SS_COUNT(from); part++) {
			int64_t at = from[part] < 20000 ? 0 : from[part] - 20000;
			int64_t before = ss_sim_clock_show(&clocks[i], at);

			for (int n = 0; n < 40000; n++) {
				int64_t now = ss_sim_clock_show(&clocks[i], ++at);

				support_check(now >= before && now <= before + 2,
					      "a nanosecond later", "%lld after %lld at %lld",
					      (long long)now, (long long)before, (long long)at);
				before = now;
			}
		}
}

static void test_drift_adds_up(void **state)
{
	const struct ss_sim_clock fast = { 0, DRIFT_MAX }, slow = { 0, -DRIFT_MAX };
	const struct ss_sim_clock off = { -5000, 0 }, none = { 0, 0 };

	(void)state;
	assert_int_equal(ss_sim_clock_show(&none, 0), SS_SIM_EPOCH_NS);
	assert_int_equal(ss_sim_clock_show(&none, DAY), SS_SIM_EPOCH_NS + DAY);
	assert_int_equal(ss_sim_clock_show(&off, 7), SS_SIM_EPOCH_NS - 4993);
	assert_int_equal(ss_sim_clock_show(&fast, DAY), SS_SIM_EPOCH_NS + DAY + DAY / 1000);
	assert_int_equal(ss_sim_clock_show(&slow, DAY), SS_SIM_EPOCH_NS + DAY - DAY / 1000);
}

/* --- whose clock it is --------------------------------------------------- */

static struct ss_sim_plan plan_of(uint32_t ranks, uint64_t seed, int64_t offset_ns,
				  uint32_t drift_ppb)
{
	return (struct ss_sim_plan){
		.seed = seed,
		.rank_count = ranks,
		.host_ranks = 8,
		.tensor = 1,
		.pipe = 1,
		.clock_offset_ns = offset_ns,
		.drift_ppb = drift_ppb,
	};
}

static void test_hosts(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 60; seed++) {
		struct ss_sim_plan plan = plan_of(512, seed, 3000000, 8000);

		for (uint32_t rank = 0; rank < plan.rank_count; rank++) {
			struct ss_sim_clock clock = ss_sim_clock_of(&plan, rank);
			struct ss_sim_clock first = ss_sim_clock_of(&plan, rank / 8 * 8);

			assert_int_equal(clock.offset_ns, first.offset_ns);
			assert_int_equal(clock.drift_ppb, first.drift_ppb);
			assert_true(clock.offset_ns <= 3000000 && clock.offset_ns >= -3000000);
			assert_true(clock.drift_ppb <= 8000 && clock.drift_ppb >= -8000);
			if (rank < 8) {
				assert_int_equal(clock.offset_ns, 0);
				assert_int_equal(clock.drift_ppb, 0);
			}
		}
	}
}

/* Offsets lie on both sides, fill the range, and differ from host to host and seed to seed. */
static void test_spread(void **state)
{
	struct ss_sim_plan plan = plan_of(8 * 1000, 1, 3000000, 8000);
	struct ss_sim_plan other = plan_of(8 * 1000, 2, 3000000, 8000);
	struct ss_sim_clock least = { 0 }, most = { 0 };
	uint32_t same_offset = 0, same_seed = 0;

	(void)state;
	for (uint32_t host = 2; host < 1000; host++) {
		struct ss_sim_clock clock = ss_sim_clock_of(&plan, host * 8);
		struct ss_sim_clock before = ss_sim_clock_of(&plan, host * 8 - 1);

		same_offset += clock.offset_ns == before.offset_ns;
		same_seed += clock.offset_ns == ss_sim_clock_of(&other, host * 8).offset_ns;
		least.offset_ns = clock.offset_ns < least.offset_ns ? clock.offset_ns
								    : least.offset_ns;
		most.offset_ns = clock.offset_ns > most.offset_ns ? clock.offset_ns
								  : most.offset_ns;
		least.drift_ppb = clock.drift_ppb < least.drift_ppb ? clock.drift_ppb
								    : least.drift_ppb;
		most.drift_ppb = clock.drift_ppb > most.drift_ppb ? clock.drift_ppb
								  : most.drift_ppb;
	}
	assert_true(same_offset < 10 && same_seed < 10);
	assert_true(least.offset_ns < -2000000 && most.offset_ns > 2000000);
	assert_true(least.drift_ppb < -5000 && most.drift_ppb > 5000);
}

static void test_true_clocks(void **state)
{
	struct ss_sim_plan plan = plan_of(64, 5, 0, 0);

	(void)state;
	for (uint32_t rank = 0; rank < 64; rank++) {
		struct ss_sim_clock clock = ss_sim_clock_of(&plan, rank);

		assert_int_equal(clock.offset_ns, 0);
		assert_int_equal(clock.drift_ppb, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact),         cmocka_unit_test(test_forwards),
		cmocka_unit_test(test_drift_adds_up), cmocka_unit_test(test_hosts),
		cmocka_unit_test(test_spread),        cmocka_unit_test(test_true_clocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
