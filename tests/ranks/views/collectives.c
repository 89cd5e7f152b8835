/* SPDX-License-Identifier: Apache-2.0 */
/*
 * View collectives.
 */
#include "support/make/ranks.h"

#define COLUMNS \
	"rank,collective,group,step,members,message_bytes,transfer_ns,wait_ns,spread_ns,last"

static const struct view_case cases[] = {
	{ "no ranks", "", COLUMNS, "" },
	{ "one rank: nothing is shared", "rank 0; allreduce 0 +5", COLUMNS "+notes",
	  "1 call could not be matched with calls of other ranks." },
	{ "all leave at 50, rank 7 came last",
	  "rank 0 @a; group tp 0,7; step 3 0 +99; allreduce 10 +40 !64;"
	  "rank 7 @a; group tp 0,7; step 3 0 +99; allreduce 45 +5 !64",
	  COLUMNS, "-,all-reduce,tp,3,2,64,5000,35000,35000,7" },
	{ "no step, no size, nobody was last",
	  "rank 0 @a; allreduce 10 +40; rank 1 @a; allreduce 10 +40", COLUMNS,
	  "-,all-reduce,0,-,2,-,40000,0,0,-" },
	{ "around a root: no waits, no last one, no spread",
	  "rank 0 @a; broadcast 10 +5; rank 1 @a; broadcast 10 +40", COLUMNS,
	  "-,broadcast,0,-,2,-,5000,-,-,-" },
	{ "a send and its receive: neither waits", "rank 0 @a; send 10 +5; rank 1 @a; recv 10 +40",
	  COLUMNS, "-,send,0,-,2,-,5000,-,-,-" },
	{ "in the order of time, from the first",
	  "rank 0 @a; allreduce 100 +10 =1; allgather 300 +10 =2; rank 1 @a; allreduce 100 +10 =1;"
	  "allgather 300 +10 =2",
	  "collective,at_ns,causality", "all-reduce,0,kept\nall-gather,200000,kept" },
	{ "what was lost is counted",
	  "rank 0 @a; allreduce 100 +10 =1; allreduce 300 +10 =2; rank 1 @a; allreduce 100 +10 =1",
	  "collective,members+notes",
	  "all-reduce,2\n1 call could not be matched with calls of other ranks." },
	{ "a collective that the clocks contradict",
	  "rank 0 @a; allreduce 0 +5000 =1; allreduce 9000 +1 =2; allreduce 9900 +5000 =3;"
	  "rank 1 @b; allreduce 0 +5000 =1; allreduce 29000 +1 =2; allreduce 9900 +5000 =3",
	  "step,causality", "-,kept\n-,broken\n-,kept" },
	{ "times of a clock that is 10 s ahead are not in it",
	  "rank 0 @a; allreduce 0 +100; allreduce 450 +100; allreduce 1300 +100;"
	  "rank 1 @b >10000000; allreduce 50 +50; allreduce 500 +50; allreduce 1350 +50",
	  "at_ns,wait_ns,last", "0,50000,1\n450000,50000,1\n1300000,50000,1" },
};

static void test_cases(void **state)
{
	(void)state;
	job_cases_run("collectives", cases, SS_COUNT(cases));
}

static const struct view_case arrivals[] = {
	{ "each member: when it came and how long it waited",
	  "rank 4 @a; allreduce 10 +40; rank 5 @a; allreduce 45 +5",
	  "rank,collective,wait_ns,arrival_ns,last",
	  "4,all-reduce,35000,0,5\n5,all-reduce,0,35000,5" },
	{ "around a root nobody waits", "rank 0 @a; gather 10 +40; rank 1 @a; gather 20 +5",
	  "rank,wait_ns,last", "0,-,-\n1,-,-" },
	{ "nothing", "rank 0; allreduce 0 +5", "rank", "" },
};

static const struct view_case classes[] = {
	/* 2 * (2 - 1) / 2 * 5000 bytes in 5 us: 1 GB/s; the other group is half as fast */
	{ "calls of one kind and size, against the best group of that size",
	  "rank 0 @a; group g; allreduce 10 +40 !5000 =1; allreduce 200 +20 !5000 =2;"
	  "allreduce 300 +5 !5000 =3; rank 1 @a; group g; allreduce 45 +5 !5000 =1;"
	  "allreduce 215 +5 !5000 =2; allreduce 300 +5 !5000 =3;"
	  "rank 2 @a; group h; allreduce 10 +10 !5000 =1; rank 3 @a; group h;"
	  "allreduce 10 +10 !5000 =1",
	  "collective,group,calls,message_bytes,transfer_ns,wait_ns,spread_ns,best_percent",
	  "all-reduce,g,3,5000,5000,50000,35000,100.00\nall-reduce,h,1,5000,10000,0,0,50.00" },
	{ "around a root: no waits and no rate",
	  "rank 0 @a; reduce 10 +40 !8; rank 1 @a; reduce 20 +5 !8",
	  "collective,calls,wait_ns,spread_ns,best_percent", "reduce,1,-,-,-" },
	{ "nothing", "", "calls", "" },
};

static void test_groups(void **state)
{
	(void)state;
	job_cases_run("collectives/arrival", arrivals, SS_COUNT(arrivals));
	job_cases_run("collectives/class", classes, SS_COUNT(classes));
}

static void test_memory(void **state)
{
	static const char script[] = "rank 0 @a; allreduce 1 +5; allreduce 50 +7; rank 1 @b;"
				     "allreduce 1 +5";

	(void)state;
	job_memory_run("collectives", script);
	job_memory_run("collectives/arrival", script);
	job_memory_run("collectives/class", script);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_cases),
					    cmocka_unit_test(test_groups),
					    cmocka_unit_test(test_memory) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
