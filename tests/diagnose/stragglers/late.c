/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which ranks arrive late at collectives, and what they did instead.
 */
#include "support/make/ranks.h"

#include "diagnose/stragglers/late.h"

#define STEP "step 0 0 +1000;"

static const struct {
	const char *what, *script;
	uint32_t rank;
	int64_t late_us, inherited_us, gain_us, lost_us;
	int64_t compute_us, copy_us, launch_us, unknown_us;
} cases[] = {
/* all leave at 500; the ranks arrive at 400, 430, 480 */
#define THREE(a, b, c)                                                                       \
	"rank 0 @a;" STEP "allreduce 400 +100 " a "; rank 1 @a;" STEP "allreduce 430 +70 " b \
	"; rank 2 @a;" STEP "allreduce 480 +20 " c
	{ "the first to come is not late", THREE("", "", ""), 0, 0, 0, 0, 0, 0, 0, 0, 0 },
	{ "late against the first; nobody gains without it, because another came later",
	  THREE("", "", ""), 1, 30, 0, 0, 0, 0, 0, 0, 30 },
	{ "the last one: others gain what it came after the second last, both of them",
	  THREE("", "", ""), 2, 80, 0, 50, 100, 0, 0, 0, 80 },
	{ "more computing than the median made it late", THREE("c100", "c100", "c180"), 2, 80, 0,
	  50, 100, 80, 0, 0, 0 },
	{ "two things that it did more of share it", THREE("c100 l10", "c100 l10", "c160 l30"), 2,
	  80, 0, 50, 100, 60, 0, 20, 0 },
	{ "what it did more of than it is late by is cut", THREE("c0", "c0", "c8000"), 2, 80, 0, 50,
	  100, 80, 0, 0, 0 },
	{ "what it did less of does not count against it", THREE("c100 y0", "c100 y0", "c20 y160"),
	  2, 80, 0, 50, 100, 0, 80, 0, 0 },
	{ "time in other communicators is inherited", THREE("m0", "m0", "m80"), 2, 80, 80, 50, 100,
	  0, 0, 0, 0 },
	{ "half inherited, half its own", THREE("m0 c10", "m0 c10", "m40 c50"), 2, 80, 40, 50, 100,
	  40, 0, 0, 0 },
	{ "of two the one that did less is usual",
	  "rank 0 @a;" STEP "allreduce 400 +100 c10; rank 1 @a;" STEP "allreduce 450 +50 c60", 1,
	  50, 0, 50, 50, 50, 0, 0, 0 },
	{ "two that came last together: nobody gains without one of them",
	  "rank 0 @a;" STEP "allreduce 400 +100; rank 1 @a;" STEP "allreduce 450 +50;"
	  "rank 2 @a;" STEP "allreduce 450 +50",
	  2, 50, 0, 0, 0, 0, 0, 0, 50 },
	{ "collectives of a step are summed",
	  "rank 0 @a;" STEP "allreduce 100 +50; allreduce 300 +50; rank 1 @a;" STEP
	  "allreduce 110 +40 c5; allreduce 330 +20 c5",
	  1, 40, 0, 40, 40, 40, 0, 0, 0 },
	{ "what is waited for at the same time counts once",
	  "rank 0 @a;" STEP
	  "group x; allreduce 100 +50; group y; allreduce 105 +47; rank 1 @a;" STEP
	  "group x; allreduce 130 +20 c5; group y; allreduce 132 +20 c5",
	  1, 32, 0, 32, 32, 32, 0, 0, 0 },
	{ "around a root nobody is late",
	  "rank 0 @a;" STEP "broadcast 400 +100; allreduce 600 +9; rank 1 @a;" STEP
	  "broadcast 450 +10; allreduce 600 +9",
	  1, 0, 0, 0, 0, 0, 0, 0, 0 },
};

static void check(const char *what, const char *figure, int64_t found_ns, int64_t wanted_us)
{
	support_check(found_ns == wanted_us * 1000, what, "%s is %lld ns", figure,
		      (long long)found_ns);
}

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		const char *what = cases[i].what;
		const struct ss_late_step *late;
		struct ss_lateness lateness;
		struct support_ranks ranks;
		struct ss_arena arena;

		support_ranks_script(&ranks, cases[i].script);
		ss_arena_init(&arena, &ranks.memory);
		assert_true(ss_late_find(&lateness, &ranks.joined, &arena));
		support_check(lateness.step_count == 1, what, "%u steps", lateness.step_count);
		late = ss_late_step_of(&lateness, cases[i].rank, 0);
		check(what, "late", late->late_ns, cases[i].late_us);
		check(what, "inherited", late->inherited_ns, cases[i].inherited_us);
		check(what, "gain", late->gain_ns, cases[i].gain_us);
		check(what, "lost", late->lost_ns, cases[i].lost_us);
		check(what, "compute", late->own_ns[SS_OWN_COMPUTE], cases[i].compute_us);
		check(what, "copies", late->own_ns[SS_OWN_COPY], cases[i].copy_us);
		check(what, "launching", late->own_ns[SS_OWN_IDLE_BY(SS_IDLE_LAUNCH)],
		      cases[i].launch_us);
		check(what, "unknown", late->own_ns[SS_OWN_IDLE_BY(SS_IDLE_UNKNOWN)],
		      cases[i].unknown_us);
		ss_arena_release(&arena);
		support_ranks_close(&ranks);
	}
}

/* Steps keep their numbers, those without a collective are left out, and parts sum to the whole. */
static void test_steps(void **state)
{
	struct ss_lateness lateness;
	struct support_ranks ranks;
	struct ss_arena arena;

	(void)state;
	support_ranks_script(&ranks,
			     "rank 0 @a; step 3 0 +100; step 4 100 +100; step 7 200 +400;"
			     "allreduce 10 +50; allreduce 250 +50; allreduce 700 +50;"
			     "rank 1 @a; step 3 0 +100; step 4 100 +100; step 7 200 +400;"
			     "allreduce 23 +37 c7 m9; allreduce 261 +39 c5 l4; allreduce 711 +39");
	ss_arena_init(&arena, &ranks.memory);
	assert_true(ss_late_find(&lateness, &ranks.joined, &arena));
	assert_int_equal(lateness.step_count, 2);
	assert_int_equal(lateness.numbers[0], 3);
	assert_int_equal(lateness.numbers[1], 7);
	assert_int_equal(ss_late_step_of(&lateness, 1, 0)->late_ns, 13000);
	assert_int_equal(ss_late_step_of(&lateness, 1, 1)->late_ns, 11000);
	assert_int_equal(lateness.step_ns[0], 200000);
	for (uint32_t s = 0; s < 2; s++) {
		const struct ss_late_step *late = ss_late_step_of(&lateness, 1, s);
		int64_t sum_ns = late->inherited_ns;

		for (int part = 0; part < SS_OWN_PARTS; part++)
			sum_ns += late->own_ns[part];
		assert_int_equal(sum_ns, late->late_ns);
	}
	ss_arena_release(&arena);
	support_ranks_close(&ranks);
}

static void test_nothing(void **state)
{
	static const char *const scripts[] = {
		"",
		"rank 0",
		"rank 0; allreduce 0 +5",
		"rank 0 @a; allreduce 0 +5; rank 1 @a; allreduce 0 +5",
	};

	(void)state;
	for (size_t i = 0; i < SS_COUNT(scripts); i++) {
		struct ss_lateness lateness;
		struct support_ranks ranks;
		struct ss_arena arena;

		support_ranks_script(&ranks, scripts[i]);
		ss_arena_init(&arena, &ranks.memory);
		assert_true(ss_late_find(&lateness, &ranks.joined, &arena));
		assert_int_equal(lateness.step_count, 0);
		ss_arena_release(&arena);
		support_ranks_close(&ranks);
	}
}

/* Durations of hundreds of years, more than once. */
static void test_extremes(void **state)
{
	struct ss_lateness lateness;
	struct support_ranks ranks;
	struct ss_arena arena;

	(void)state;
	support_ranks_open(&ranks);
	for (uint32_t r = 0; r < 3; r++) {
		struct ss_digest *rank = support_ranks_rank(&ranks, r, "a");

		support_rank_group(rank, "g", "");
		support_rank_step(rank, 0, -SS_MOMENT_MAX, SS_MOMENT_MAX);
		for (uint32_t i = 0; i < 4; i++) {
			struct ss_arrival *arrival = support_rank_arrive(rank, "allreduce",
									 r == 1 ? SS_MOMENT_MAX - 5
										: -SS_MOMENT_MAX,
									 SS_MOMENT_MAX);
			int64_t own_ns[SS_OWN_PARTS];

			arrival->sequence = i;
			for (int part = 0; part < SS_OWN_PARTS; part++)
				own_ns[part] = r == 1 ? INT64_MAX : 0;
			support_rank_own(rank, own_ns);
		}
	}
	support_ranks_join(&ranks);
	ss_arena_init(&arena, &ranks.memory);
	assert_true(ss_late_find(&lateness, &ranks.joined, &arena));
	assert_true(ss_late_step_of(&lateness, 1, 0)->late_ns > SS_MOMENT_MAX);
	assert_true(ss_late_step_of(&lateness, 1, 0)->lost_ns == INT64_MAX);
	ss_arena_release(&arena);
	support_ranks_close(&ranks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_extremes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
