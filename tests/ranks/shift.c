/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far apart two recordings are, from the ends of their collectives alone.
 */
#include "support/make/ranks.h"

#include "ranks/shift.h"

#define VISITS_MAX 400

struct recording {
	struct ss_arrival arrivals[VISITS_MAX];
	uint32_t order[VISITS_MAX];
	struct ss_visits visits;
};

static void record(struct recording *out, int64_t start_ns, int64_t end_ns, uint64_t kernel,
		   uint64_t shape)
{
	uint32_t at = out->visits.count++;

	assert_true(at < VISITS_MAX);
	out->arrivals[at] = (struct ss_arrival){ .start_ns = start_ns,
						 .end_ns = end_ns,
						 .kernel = kernel,
						 .shape = shape,
						 .kind = SS_COLLECTIVE_ALL_REDUCE };
	out->order[at] = at;
	out->visits.arrivals = out->arrivals;
	out->visits.order = out->order;
}

static void test_apply(void **state)
{
	static const struct {
		const char *what;
		struct ss_shift shift;
		int64_t moment_ns, wanted_ns;
	} cases[] = {
		{ "nothing", { 0, 0, 0 }, 5, 5 },
		{ "a shift", { -100, 0, 0 }, 5, -95 },
		{ "a drift does nothing in the middle", { 7, 50000, 1000 }, 1000, 1007 },
		{ "50 ppm of 10 s", { 0, 50000, 0 }, 10000000000, 10000500000 },
		{ "50 ppm of 10 s before", { 0, 50000, 0 }, -10000000000, -10000500000 },
		{ "-1000 ppm of 400 days",
		  { 0, -1000000, 0 },
		  INT64_C(34560000000000000),
		  INT64_C(34525440000000000) },
		{ "beyond what fits", { INT64_MAX, 0, 0 }, SS_MOMENT_MAX, SS_MOMENT_MAX },
		{ "before what fits", { INT64_MIN, 0, 0 }, -5, -SS_MOMENT_MAX },
	};

	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		int64_t found_ns = ss_shift_apply(&cases[i].shift, cases[i].moment_ns);

		support_check(found_ns == cases[i].wanted_ns, cases[i].what, "%lld",
			      (long long)found_ns);
	}
}

/* A shift and its inverse cancel, and two in sequence are one. */
static void test_compose(void **state)
{
	const struct ss_shift first = { 5000000000, 50000, SUPPORT_CLOCK_NS };
	const struct ss_shift second = { -777, -30000, SUPPORT_CLOCK_NS + 9000000000 };
	struct ss_shift back = ss_shift_inverse(&first);
	struct ss_shift both = ss_shift_then(&first, &second);
	struct ss_shift none = ss_shift_then(&first, &back);

	(void)state;
	for (int64_t s = 0; s < 20; s++) {
		int64_t moment_ns = SUPPORT_CLOCK_NS + s * 1000000000;
		int64_t there_ns = ss_shift_apply(&first, moment_ns);

		/* the square of 50 ppm of 20 s */
		assert_true(llabs(ss_shift_apply(&back, there_ns) - moment_ns) < 100);
		assert_true(llabs(ss_shift_apply(&none, moment_ns) - moment_ns) < 100);
		assert_true(llabs(ss_shift_apply(&both, moment_ns) -
				  ss_shift_apply(&second, there_ns)) < 100);
	}
}

static const struct ss_shift no_shift;

/* Pairs are each other's nearest, of one kind, and overlap. */
static void test_pair(void **state)
{
	static const struct {
		const char *what;
		int64_t base[4][4], other[4][4]; /* start, end, kernel, shape; end 0: no more */
		uint32_t partner[4], paired;
	} cases[] = {
		{ "nothing", { { 0 } }, { { 0 } }, { 0 }, 0 },
		{ "one has none", { { 0, 9, 1, 0 } }, { { 0 } }, { 0 }, 0 },
		{ "the same", { { 0, 9, 1, 0 } }, { { 0, 9, 1, 0 } }, { 0 }, 1 },
		{ "another kernel", { { 0, 9, 1, 0 } }, { { 0, 9, 2, 0 } }, { SS_NO_ROW }, 0 },
		{ "another shape", { { 0, 9, 1, 5 } }, { { 0, 9, 1, 6 } }, { SS_NO_ROW }, 0 },
		{ "an unknown shape", { { 0, 9, 1, 5 } }, { { 0, 9, 1, 0 } }, { 0 }, 1 },
		{ "too far apart to overlap",
		  { { 0, 9, 1, 0 } },
		  { { 200000, 200009, 1, 0 } },
		  { SS_NO_ROW },
		  0 },
		{ "two want the same: the nearer has it",
		  { { 0, 1000, 1, 0 } },
		  { { 0, 900, 1, 0 }, { 0, 1050, 1, 0 } },
		  { SS_NO_ROW, 0 },
		  1 },
		{ "others in between are passed over",
		  { { 0, 10, 1, 0 }, { 0, 20, 2, 0 }, { 0, 30, 1, 0 } },
		  { { 0, 11, 1, 0 }, { 0, 29, 1, 0 } },
		  { 0, 2 },
		  2 },
	};

	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		static struct recording base, other;
		uint32_t partner[4], back[4], paired;

		base.visits.count = other.visits.count = 0;
		for (int k = 0; k < 4; k++) {
			const int64_t *a = cases[i].base[k], *b = cases[i].other[k];

			if (a[1])
				record(&base, a[0], a[1], (uint64_t)a[2], (uint64_t)a[3]);
			if (b[1])
				record(&other, b[0], b[1], (uint64_t)b[2], (uint64_t)b[3]);
		}
		paired = ss_visits_pair(&base.visits, &other.visits, &no_shift, partner, back);
		support_check(paired == cases[i].paired, cases[i].what, "%u pairs", paired);
		for (uint32_t k = 0; k < other.visits.count; k++)
			support_check(partner[k] == cases[i].partner[k], cases[i].what,
				      "%u goes to %u", k, partner[k]);
	}
}

static void test_in_order(void **state)
{
	static struct recording base, other;
	uint32_t partner[4];
	struct ss_memory memory;
	struct ss_arena scratch;
	bool failed = false;

	(void)state;
	ss_memory_init(&memory, 0);
	ss_arena_init(&scratch, &memory);
	record(&base, 0, 1000000, 1, 0);
	record(&base, 500000, 2000000, 1, 0);
	record(&other, 0, 1500000, 1, 0);
	assert_int_equal(ss_visits_pair_in_order(&base.visits, &other.visits, &no_shift, partner,
						 &scratch, &failed),
			 0); /* not equally many */
	record(&other, 600000, 1600000, 1, 0);
	assert_int_equal(ss_visits_pair_in_order(&base.visits, &other.visits, &no_shift, partner,
						 &scratch, &failed),
			 2);
	assert_int_equal(partner[0], 0);
	assert_int_equal(partner[1], 1);
	/* the second would have ended before the first of the other began */
	other.arrivals[1].start_ns = 2200000;
	other.arrivals[1].end_ns = 2300000;
	assert_int_equal(ss_visits_pair_in_order(&base.visits, &other.visits, &no_shift, partner,
						 &scratch, &failed),
			 0);
	other.arrivals[1] = other.arrivals[0];
	other.arrivals[1].kernel = 2;
	assert_int_equal(ss_visits_pair_in_order(&base.visits, &other.visits, &no_shift, partner,
						 &scratch, &failed),
			 0); /* not equally many of each */
	assert_false(failed);
	memory.fail_call = memory.calls + 1;
	ss_arena_release(&scratch);
	other.arrivals[1].kernel = 1;
	assert_int_equal(ss_visits_pair_in_order(&base.visits, &other.visits, &no_shift, partner,
						 &scratch, &failed),
			 0);
	assert_true(failed);
	ss_arena_release(&scratch);
	assert_int_equal(memory.used_bytes, 0);
}

/* Random recordings: other windows, lost events, a shift and a drift. */
static void test_random(void **state)
{
	uint64_t seed = 19;

	(void)state;
	for (int round = 0; round < 60; round++) {
		static struct recording base, other;
		int64_t now_ns = SUPPORT_CLOCK_NS, ppm = (int64_t)support_random(&seed, 101) - 50;
		int64_t ahead_ns = (int64_t)support_random(&seed, 2000000000) * (round % 7) - 5;
		uint32_t first = support_random(&seed, 20), last = 200 + support_random(&seed, 40);
		struct ss_memory memory;
		struct ss_shift shift;
		bool is_ragged, failed = false;

		base.visits.count = other.visits.count = 0;
		ss_memory_init(&memory, 0);
		for (uint32_t i = 0; i < last; i++) {
			int64_t own_ns;

			now_ns += 10000000 + support_random(&seed, 40000000);
			own_ns = now_ns + ahead_ns + (now_ns - SUPPORT_CLOCK_NS) / 1000000 * ppm;
			if (i < 220 && support_random(&seed, 15))
				record(&base, now_ns - 50000, now_ns, i % 2, 0);
			if (i >= first && support_random(&seed, 15))
				record(&other, own_ns - 30000, own_ns + support_random(&seed, 5000),
				       i % 2, 0);
		}
		assert_true(ss_visits_find_shift(&base.visits, &other.visits, NULL, 0, &memory,
						 &shift, &is_ragged, &failed));
		assert_false(failed);
		assert_int_equal(memory.used_bytes, 0);
		for (uint32_t i = 0; i < other.visits.count; i += 10) {
			int64_t own_ns = other.arrivals[i].end_ns;
			int64_t after_ns = own_ns - ahead_ns - SUPPORT_CLOCK_NS;
			int64_t true_ns = own_ns - ahead_ns - after_ns / 1000000 * ppm;

			support_check(llabs(ss_shift_apply(&shift, own_ns) - true_ns) < 60000,
				      "shift", "round %d, %lld ppm: %lld ns off", round,
				      (long long)ppm,
				      (long long)(ss_shift_apply(&shift, own_ns) - true_ns));
		}
	}
}

static void test_shift_edges(void **state)
{
	static struct recording base, other;
	struct ss_memory memory;
	struct ss_shift shift, likely = { .shift_ns = 500 };
	bool is_ragged, failed = false, found = false;

	(void)state;
	ss_memory_init(&memory, 0);
	assert_false(ss_visits_find_shift(&base.visits, &other.visits, NULL, 0, &memory, &shift,
					  &is_ragged, &failed));
	record(&base, 0, 1000, 1, 0);
	record(&other, 10000000, 10001000, 2, 0);
	/* nothing alike */
	assert_false(ss_visits_find_shift(&base.visits, &other.visits, NULL, 0, &memory, &shift,
					  &is_ragged, &failed));
	other.arrivals[0].kernel = 1;
	assert_true(ss_visits_find_shift(&base.visits, &other.visits, NULL, 0, &memory, &shift,
					 &is_ragged, &failed));
	assert_int_equal(shift.shift_ns, -10000000);
	/* what is likely and right is taken */
	other.arrivals[0].start_ns = -500;
	other.arrivals[0].end_ns = 500;
	assert_true(ss_visits_find_shift(&base.visits, &other.visits, &likely, 1, &memory, &shift,
					 &is_ragged, &failed));
	assert_int_equal(shift.shift_ns, 500);
	assert_false(failed);
	for (size_t call = 1; !found; call++) {
		failed = false;
		memory.fail_call = memory.calls + call;
		found = ss_visits_find_shift(&base.visits, &other.visits, NULL, 0, &memory, &shift,
					     &is_ragged, &failed);
		assert_true(found != failed);
		assert_int_equal(memory.used_bytes, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_apply),  cmocka_unit_test(test_compose),
		cmocka_unit_test(test_pair),   cmocka_unit_test(test_in_order),
		cmocka_unit_test(test_random), cmocka_unit_test(test_shift_edges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
