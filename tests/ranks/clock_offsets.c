/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One clock for all ranks: offsets, drift, their errors, and causality.
 */
#include "support/make/ranks.h"

static const struct {
	const char *what, *script;
	uint32_t rank; /* the one that is checked */
	bool comparable;
	int64_t offset_ns;
	uint32_t anchors, violations;
} cases[] = {
	{ "a rank alone has its own time", "rank 0; allreduce 0 +5", 0, true, 0, 0, 0 },
	{ "the first one keeps its time", "rank 0 >500; allreduce 0 +5; rank 1; allreduce 0 +5", 0,
	  true, 0, 1, 0 },
	{ "a clock that is ahead is put back",
	  "rank 0; allreduce 0 +5; rank 1 >500; allreduce 0 +5", 1, true, -500000, 1, 0 },
	{ "what the first one is ahead is the other's offset",
	  "rank 0 >500; allreduce 0 +5; rank 1; allreduce 0 +5", 1, true, 500000, 1, 0 },
	{ "10 s", "rank 0 @a; allreduce 0 +5; rank 1 @b >10000000; allreduce 2 +3", 1, true,
	  -10000000000, 1, 0 },
	{ "through a third one: no collective of both",
	  "rank 0 @a; group g; allreduce 0 +50; rank 1 @b >700; group g; allreduce 0 +50;"
	  "group h; allreduce 90 +50; rank 2 @c >-300; group h; allreduce 90 +50",
	  2, true, 300000, 1, 0 },
	{ "met nobody: not comparable",
	  "rank 0 @a; allreduce 0 +5; rank 1 @a; allreduce 0 +5; rank 2 @a; group x;"
	  "allreduce 0 +5",
	  2, false, 0, 0, 0 },
	{ "a broadcast is no anchor", "rank 0 @a; broadcast 0 +5; rank 1 @a; broadcast 0 +5", 1,
	  false, 0, 0, 0 },
	{ "sends are anchors where nothing else connects ranks",
	  "rank 0 @a; send 0 +5; rank 1 @b >700; recv 2 +3", 1, true, -700000, 1, 0 },
	{ "sends do not count where collectives do",
	  "rank 0 @a; send 0 +5; allreduce 50 +5; rank 1 @b >700; recv 2 +30; allreduce 50 +5", 1,
	  true, -700000, 1, 0 },
	{ "without collectives", "rank 0; rank 1", 1, false, 0, 0, 0 },
	{ "on one host ragged ends do not move clocks",
	  "rank 0 @a; allreduce 0 +50; rank 1 @a; allreduce 0 +60", 1, true, 0, 1, 0 },
	{ "a host's name does not help when its clock was not recorded",
	  "rank 0 @a noclock; allreduce 0 +50; rank 1 @a noclock >150; allreduce 0 +50", 1, true,
	  -150000, 1, 0 },
	{ "the same host's name, but another clock: the collectives say so",
	  "rank 0 @a; allreduce 0 +50; rank 1 @a >5000; allreduce 0 +50", 1, true, -5000000, 1, 0 },
	/* by numbers: the second begins after the first has ended, on every alignment */
	{ "two hosts whose collectives contradict each other break causality",
	  "rank 0 @a; allreduce 0 +5000 =1; allreduce 9000 +1 =2; allreduce 9900 +5000 =3;"
	  "rank 1 @b; allreduce 0 +5000 =1; allreduce 29000 +1 =2; allreduce 9900 +5000 =3",
	  1, true, 0, 3, 1 },
};

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		struct support_ranks ranks;
		const struct ss_clock *clock;

		support_ranks_script(&ranks, cases[i].script);
		clock = &ranks.joined.clocks[cases[i].rank];
		support_check((clock->component != SS_NO_ROW) == cases[i].comparable, cases[i].what,
			      "component %u", clock->component);
		support_check(clock->offset_ns == cases[i].offset_ns, cases[i].what,
			      "offset %lld ns", (long long)clock->offset_ns);
		support_check(clock->anchors == cases[i].anchors, cases[i].what, "%u anchors",
			      clock->anchors);
		support_check(clock->violations == cases[i].violations, cases[i].what,
			      "%u violations", clock->violations);
		support_ranks_close(&ranks);
	}
}

/* Ranks that share no collective with the others have a component of their own. */
static void test_components(void **state)
{
	struct support_ranks ranks;
	const struct ss_clock *clocks;

	(void)state;
	support_ranks_script(&ranks, "rank 0; group a; allreduce 0 +5; rank 1; group b;"
				     "allreduce 0 +5; rank 2; group a; allreduce 0 +5; rank 3;"
				     "group b; allreduce 0 +5; rank 4");
	clocks = ranks.joined.clocks;
	assert_int_equal(clocks[0].component, clocks[2].component);
	assert_int_equal(clocks[1].component, clocks[3].component);
	assert_int_not_equal(clocks[0].component, clocks[1].component);
	assert_int_equal(clocks[4].component, SS_NO_ROW);
	support_ranks_close(&ranks);
}

/* --- random jobs ------------------------------------------------------------------------ */

struct form {
	const char *what;
	uint32_t ranks, ranks_of_host, collectives;
	int64_t gap_ns;   /* between collectives */
	int64_t noise_ns; /* of ends */
	double ppm;       /* of the second host; the third has half of it with the other sign */
};

static double ahead_of(const struct form *form, uint32_t r, double at_ns)
{
	uint32_t host = r / form->ranks_of_host;

	if (!host)
		return 0;
	return host * 3e9 + at_ns * form->ppm / 1e6 * (host == 1 ? 1 : -0.5);
}

static void make_job(struct support_ranks *out, const struct form *form, uint64_t *seed)
{
	double now_ns = 0;

	support_ranks_open(out);
	for (uint32_t r = 0; r < form->ranks; r++) {
		char host[16];

		snprintf(host, sizeof(host), "h%u", r / form->ranks_of_host);
		support_rank_group(support_ranks_rank(out, r, host), "world", "");
	}
	for (uint32_t i = 0; i < form->collectives; i++) {
		now_ns += (double)form->gap_ns / 2 + support_random(seed, (uint32_t)form->gap_ns);
		for (uint32_t r = 0; r < form->ranks; r++) {
			double noise = form->noise_ns
					       ? support_random(seed, (uint32_t)form->noise_ns)
					       : 0;
			double end = now_ns + noise, start = now_ns - 100000;
			struct ss_arrival *arrival = support_rank_arrive(
				&out->items[r], "allreduce",
				SUPPORT_CLOCK_NS + (int64_t)(start + ahead_of(form, r, start)),
				SUPPORT_CLOCK_NS + (int64_t)(end + ahead_of(form, r, end)));

			if (i % 2)
				arrival->kernel++;
		}
	}
}

static const struct form forms[] = {
	{ "two ranks on two hosts", 2, 1, 100, 5000000, 20000, 0 },
	{ "eight ranks on two hosts", 8, 4, 100, 5000000, 20000, 0 },
	{ "three hosts", 6, 2, 100, 5000000, 20000, 0 },
	{ "a few collectives", 4, 2, 5, 5000000, 20000, 0 },
	{ "50 ppm, two ranks", 2, 1, 200, 50000000, 0, 50 },
	{ "50 ppm and noise", 4, 2, 200, 50000000, 20000, 50 },
	{ "50 ppm, most ranks on the first host", 4, 3, 200, 50000000, 20000, 50 },
	{ "50 ppm, most ranks on the second host", 5, 1, 200, 50000000, 20000, 0 },
	{ "three hosts with three speeds", 6, 2, 200, 50000000, 20000, 50 },
};

/* Offsets lie within their error in 95 of 100 cases, and aligned times are true ones. */
static void test_random(void **state)
{
	uint64_t seed = 11;

	(void)state;
	for (size_t f = 0; f < SS_COUNT(forms); f++) {
		const struct form *form = &forms[f];
		uint32_t outside = 0, all = 0;

		for (int round = 0; round < 20; round++) {
			struct support_ranks ranks;
			const struct ss_joined *joined = &ranks.joined;

			make_job(&ranks, form, &seed);
			support_ranks_join(&ranks);
			support_check(joined->collective_count == form->collectives, form->what,
				      "%u collectives", joined->collective_count);
			support_check(joined->clocks[0].offset_ns == 0 &&
					      joined->clocks[0].drift_ppb == 0,
				      form->what, "the first one is moved by %lld ns, %lld ppb",
				      (long long)joined->clocks[0].offset_ns,
				      (long long)joined->clocks[0].drift_ppb);
			for (uint32_t r = 1; r < form->ranks; r++) {
				const struct ss_clock *clock = &joined->clocks[r];
				double at = (double)(clock->middle_ns - SUPPORT_CLOCK_NS);
				double wrong;

				/* the middle is in own time */
				at -= ahead_of(form, r, at);
				wrong = (double)clock->offset_ns + ahead_of(form, r, at);
				outside += wrong > (double)clock->error_ns ||
					   wrong < -(double)clock->error_ns;
				all++;
				/* 60 ns per second: what medians of noise give over 7 s */
				wrong = (double)clock->drift_ppb / 1000 +
					(ahead_of(form, r, 1e9) - ahead_of(form, r, 0)) / 1000;
				support_check(wrong < 3 && wrong > -3, form->what,
					      "rank %u: %lld ppb", r, (long long)clock->drift_ppb);
				support_check(!clock->violations, form->what, "%u violations",
					      clock->violations);
			}
			for (uint32_t i = 0; i < joined->collective_count; i++) {
				const struct ss_collective *collective = &joined->collectives[i];

				support_check(collective->end_ns - collective->start_ns <
						      100000 + 3 * form->noise_ns + 5000,
					      form->what, "a collective of %lld ns",
					      (long long)(collective->end_ns -
							  collective->start_ns));
			}
			support_ranks_close(&ranks);
		}
		support_check(outside * 100 <= all * 8, form->what,
			      "%u of %u offsets are further off than they may be", outside, all);
	}
}

/* An error that is much too large is as useless as one that is too small. */
static void test_error_is_small(void **state)
{
	static const struct form form = { "", 8, 4, 400, 5000000, 20000, 0 };
	struct support_ranks ranks;
	uint64_t seed = 5;

	(void)state;
	make_job(&ranks, &form, &seed);
	support_ranks_join(&ranks);
	assert_int_equal(ranks.joined.clocks[0].error_ns, 0);
	assert_true(ranks.joined.clocks[7].error_ns >= 1000 &&
		    ranks.joined.clocks[7].error_ns <= 5000);
	assert_true(ranks.joined.clocks[7].residual_p50_ns >= 2000 &&
		    ranks.joined.clocks[7].residual_p50_ns <= 8000);
	assert_true(ranks.joined.clocks[7].residual_p90_ns >
		    ranks.joined.clocks[7].residual_p50_ns);
	support_ranks_close(&ranks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_components),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_error_is_small),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
