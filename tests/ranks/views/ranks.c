/* SPDX-License-Identifier: Apache-2.0 */
/*
 * View ranks.
 */
#include "support/make/ranks.h"

#define COLUMNS "rank,host,steps,step_ns,compute_ns,comm_ns,overlap_percent,exposed_ns"
#define WAITS "rank,wait_ns,lateness_ns,last,collectives"

static const struct view_case cases[] = {
	{ "no ranks", "", "rank", "" },
	{ "a rank without anything has nothing to say", "rank 3", COLUMNS, "3,-,0,-,-,-,-,-" },
	{ "means of the steps",
	  "rank 0 @n1; step 0 0 +100 c60 m30 x10; step 1 100 +200 c100 m10 x10", COLUMNS,
	  "0,n1,2,150000,80000,20000,50.00,10000" },
	{ "without communication there is no overlap", "rank 0; step 0 0 +100 c60", COLUMNS,
	  "0,-,1,100000,60000,0,-,0" },
	{ "idle time of all causes", "rank 0; step 0 0 +100 i7 l5", "rank,idle_ns", "0,12000" },
	{ "who came first waits, who came last is late; all leave at 50",
	  "rank 0 @a; step 0 0 +100; allreduce 10 +40; rank 1 @a; step 0 0 +100; allreduce 20 +30;"
	  "rank 2 @a; step 0 0 +100; allreduce 45 +5",
	  WAITS, "0,35000,0,0,1\n1,25000,10000,0,1\n2,0,35000,1,1" },
	{ "means of two steps",
	  "rank 0 @a; step 0 0 +100; step 1 100 +100; allreduce 10 +40; allreduce 110 +20;"
	  "rank 1 @a; step 0 0 +100; step 1 100 +100; allreduce 20 +30; allreduce 120 +10",
	  WAITS, "0,10000,0,0,2\n1,0,10000,2,2" },
	{ "what lies outside of steps is in no mean of them",
	  "rank 0 @a; step 0 0 +100; allreduce 10 +40; allreduce 500 +400;"
	  "rank 1 @a; step 0 0 +100; allreduce 20 +30; allreduce 800 +100",
	  WAITS, "0,10000,0,0,2\n1,0,10000,2,2" },
	{ "two that come last together",
	  "rank 0 @a; step 0 0 +100; allreduce 10 +40; rank 1 @a; step 0 0 +100; allreduce 10 +40",
	  WAITS, "0,0,0,0,0\n1,0,0,0,0" },
	{ "around a root nobody waits",
	  "rank 0 @a; step 0 0 +100; broadcast 10 +5; rank 1 @a; step 0 0 +100; broadcast 9 +40",
	  WAITS, "0,0,0,0,0\n1,0,0,0,0" },
	{ "without steps there is no mean of one, but somebody came last",
	  "rank 0 @a; allreduce 10 +40; rank 1 @a; allreduce 20 +30", WAITS,
	  "0,-,-,0,1\n1,-,-,1,1" },
	{ "a rank whose number is not known", "rank -1; step 0 0 +10", "rank,steps", "-,1" },
};

#define STEP_COLUMNS "rank,step,steps,step_ns,compute_ns,exposed_ns,idle_ns"
#define STEP_WAITS "rank,step,wait_ns,lateness_ns,last,collectives"

static const struct view_case step_cases[] = {
	{ "no ranks", "", "rank", "" },
	{ "a rank without steps has no row",
	  "rank 0 @a; allreduce 10 +40; rank 1 @a; allreduce 20 +30", STEP_WAITS, "" },
	{ "each step by itself",
	  "rank 0; step 0 0 +100 c60 m30 x10 i7; step 1 100 +200 c100 m10 x10", STEP_COLUMNS,
	  "0,0,-,100000,60000,10000,7000\n0,1,-,200000,100000,10000,0" },
	{ "waits belong to the step that they lie in",
	  "rank 0 @a; step 0 0 +100; step 1 100 +100; allreduce 10 +40; allreduce 60 +10;"
	  "allreduce 110 +20; rank 1 @a; step 0 0 +100; step 1 100 +100; allreduce 20 +30;"
	  "allreduce 65 +5; allreduce 120 +10",
	  STEP_WAITS, "0,0,15000,0,0,2\n0,1,10000,0,0,1\n1,0,0,15000,2,2\n1,1,0,10000,1,1" },
	{ "a step without a collective: lateness is not known, which is not 0",
	  "rank 0 @a; step 0 0 +100; step 1 100 +100; allreduce 110 +20;"
	  "rank 1 @a; step 0 0 +100; step 1 100 +100; allreduce 120 +10",
	  STEP_WAITS, "0,0,-,-,-,0\n0,1,10000,0,0,1\n1,0,-,-,-,0\n1,1,0,10000,1,1" },
	{ "steps that do not begin at 0 and lack one",
	  "rank 0 @a; step 2 0 +100; step 5 100 +100; allreduce 110 +20;"
	  "rank 1 @a; step 2 0 +100; step 5 100 +100; allreduce 120 +10",
	  STEP_WAITS, "0,2,-,-,-,0\n0,5,10000,0,0,1\n1,2,-,-,-,0\n1,5,0,10000,1,1" },
	{ "outside of steps",
	  "rank 0 @a; step 0 0 +100; allreduce 10 +40; allreduce 500 +400;"
	  "rank 1 @a; step 0 0 +100; allreduce 20 +30; allreduce 800 +100",
	  STEP_WAITS, "0,0,10000,0,0,1\n1,0,0,10000,1,1" },
	{ "around a root nobody waits",
	  "rank 0 @a; step 0 0 +100; broadcast 10 +5; rank 1 @a; step 0 0 +100; broadcast 9 +40",
	  STEP_WAITS, "0,0,-,-,-,0\n1,0,-,-,-,0" },
};

#define PAIR_COLUMNS "rank,for,wait_ns,collectives,lateness_ns,step"

static const struct view_case pair_cases[] = {
	{ "no ranks", "", "rank", "" },
	{ "two wait for the third, which waits for nobody",
	  "rank 0 @a; step 0 0 +100; allreduce 10 +40; rank 1 @a; step 0 0 +100; allreduce 20 +30;"
	  "rank 7 @a; step 0 0 +100; allreduce 45 +5",
	  PAIR_COLUMNS, "0,7,35000,1,-,-\n1,7,25000,1,-,-" },
	{ "each for the other, means of two steps",
	  "rank 0 @a; step 0 0 +100; step 1 100 +100; allreduce 10 +40; allreduce 124 +6;"
	  "rank 1 @a; step 0 0 +100; step 1 100 +100; allreduce 20 +30; allreduce 110 +20",
	  PAIR_COLUMNS, "0,1,5000,1,-,-\n1,0,7000,1,-,-" },
	{ "two come last together: who it is cannot be told",
	  "rank 0 @a; step 0 0 +100; allreduce 10 +40; rank 1 @a; step 0 0 +100; allreduce 20 +30;"
	  "rank 2 @a; step 0 0 +100; allreduce 20 +30",
	  PAIR_COLUMNS, "0,-,10000,1,-,-" },
	{ "nobody waits",
	  "rank 0 @a; step 0 0 +99; allreduce 1 +5; rank 1 @a; step 0 0 +99; allreduce 1 +5",
	  PAIR_COLUMNS, "" },
	{ "outside of steps it does not count",
	  "rank 0 @a; step 0 0 +100; allreduce 500 +400;"
	  "rank 1 @a; step 0 0 +100; allreduce 800 +100",
	  PAIR_COLUMNS, "" },
};

#define PART_COLUMNS "rank,step_ns,part,part_ns,part_percent"

static const struct view_case part_cases[] = {
	{ "no ranks", "", "rank", "" },
	{ "a rank without steps has no parts", "rank 0 @a; allreduce 10 +40", "rank", "" },
	{ "parts that sum to the step", "rank 0; step 0 0 +100 c60 m30 x10 i7 l5", PART_COLUMNS,
	  "0,100000,compute,40000,40.00\n"
	  "0,100000,compute and communication,20000,20.00\n"
	  "0,100000,exposed communication,10000,10.00\n"
	  "0,100000,idle,12000,12.00\n"
	  "0,100000,other,18000,18.00" },
	{ "waiting is as much of the exposed communication as the collectives waited, at most all",
	  "rank 0 @a; step 0 0 +100 c60 m40 x40; allreduce 60 +40;"
	  "rank 1 @a; step 0 0 +100 c90 m10 x10; allreduce 90 +10;"
	  "rank 2 @a; step 0 0 +100 c95 m35 x5; allreduce 65 +35",
	  "rank,part,part_ns",
	  "0,compute,60000\n0,exposed communication,10000\n0,waiting for ranks,30000\n"
	  "1,compute,90000\n1,exposed communication,10000\n"
	  "2,compute,65000\n2,compute and communication,30000\n2,waiting for ranks,5000" },
	{ "a few ns that means are rounded by are no part",
	  "rank 0; step 0 0 +100 c60 i40; step 1 100 +100 c70 i30; step 2 200 +100 c70 i30",
	  "part,part_ns", "compute,66667\nidle,33333" },
};

static void test_cases(void **state)
{
	(void)state;
	job_cases_run("ranks", cases, SS_COUNT(cases));
	job_cases_run("ranks/step", step_cases, SS_COUNT(step_cases));
	job_cases_run("ranks/pair", pair_cases, SS_COUNT(pair_cases));
	job_cases_run("ranks/part", part_cases, SS_COUNT(part_cases));
}

static void test_memory(void **state)
{
	(void)state;
	job_memory_run("ranks",
		       "rank 0 @a; step 0 0 +99; allreduce 1 +5; rank 1 @b; allreduce 1 +5");
	job_memory_run("ranks/pair",
		       "rank 0 @a; step 0 0 +99; allreduce 1 +5; rank 1 @b; step 0 0 +99;"
		       "allreduce 3 +3");
	job_memory_run("ranks/step",
		       "rank 0 @a; step 0 0 +99; allreduce 1 +5; rank 1 @b; allreduce 1 +5");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_cases),
					    cmocka_unit_test(test_memory) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
