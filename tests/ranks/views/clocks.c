/* SPDX-License-Identifier: Apache-2.0 */
/*
 * View clocks.
 */
#include "support/make/ranks.h"

#define COLUMNS "rank,host,offset_ns,error_ns,anchors,violations,component"

static const struct view_case cases[] = {
	{ "no ranks", "", COLUMNS, "" },
	{ "nothing to compare a rank alone with", "rank 0 @a; allreduce 0 +5", COLUMNS,
	  "0,a,-,-,0,-,0" },
	/* ends agree exactly: what is left is the resolution of two clocks */
	{ "a clock that is 10 s ahead",
	  "rank 0 @a; allreduce 0 +5; rank 1 @b >10000000; allreduce 0 +5", COLUMNS,
	  "0,a,0,0,1,0,0\n1,b,-10000000000,2000,1,0,0" },
	{ "who met nobody is not comparable: no offset, no component",
	  "rank 0 @a; allreduce 0 +5; rank 1 @a; allreduce 0 +5; rank 2 @a", COLUMNS,
	  "0,a,0,0,1,0,0\n1,a,0,0,1,0,0\n2,a,-,-,0,-,-" },
	{ "two islands",
	  "rank 0; group a; allreduce 0 +5; rank 1; group b; allreduce 0 +5; rank 2; group a;"
	  "allreduce 0 +5; rank 3; group b; allreduce 0 +5",
	  "rank,component", "0,0\n1,1\n2,0\n3,1" },
	{ "distances of the ends: both are 5 off the common one",
	  "rank 0 @a; allreduce 0 +50; rank 1 @a; allreduce 0 +60",
	  "rank,residual_p50_ns,residual_p90_ns", "0,5000,5000\n1,5000,5000" },
	{ "without anchors there are no distances", "rank 0; rank 1",
	  "rank,drift_ppb,residual_p50_ns,residual_p90_ns", "0,-,-,-\n1,-,-,-" },
	{ "a broadcast is no anchor", "rank 0 @a; broadcast 0 +5; rank 1 @a; broadcast 0 +5",
	  COLUMNS, "0,a,-,-,0,-,-\n1,a,-,-,0,-,-" },
};

static void test_cases(void **state)
{
	(void)state;
	job_cases_run("clocks", cases, SS_COUNT(cases));
}

static void test_memory(void **state)
{
	(void)state;
	job_memory_run("clocks", "rank 0 @a; allreduce 1 +5; rank 1 @b; allreduce 1 +5");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_cases),
					    cmocka_unit_test(test_memory) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
