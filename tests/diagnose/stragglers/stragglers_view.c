/* SPDX-License-Identifier: Apache-2.0 */
/*
 * View stragglers.
 */
#include "support/make/ranks.h"

#define COLUMNS "rank,pattern,late_ns,step_percent,steps,of_steps,last_by_ns,lost_ns"

/* Four steps of 1000; all arrive at an all-reduce at 600, or at the given time. */
#define STEP(number, from, at, stay, parts, arrival_parts)                                        \
	"step " number " " from " +1000 " parts "; allreduce " at " +" stay " !64 " arrival_parts \
	";"
#define USUAL                                                                \
	STEP("0", "0", "600", "300", "c500 m300 x300 l100", "c500 l100")     \
	STEP("1", "1000", "1600", "300", "c500 m300 x300 l100", "c500 l100") \
	STEP("2", "2000", "2600", "300", "c500 m300 x300 l100", "c500 l100") \
	STEP("3", "3000", "3600", "300", "c500 m300 x300 l100", "c500 l100") \
	"kernel gemm 4 2000;"
/* It arrives 200 later. */
#define LATE(parts, own)                             \
	STEP("0", "0", "800", "100", parts, own)     \
	STEP("1", "1000", "1800", "100", parts, own) \
	STEP("2", "2000", "2800", "100", parts, own) \
	STEP("3", "3000", "3800", "100", parts, own)

/* It arrives 200 later at the third. */
#define ONCE                                                                 \
	STEP("0", "0", "600", "300", "c500 m300 x300 l100", "c500 l100")     \
	STEP("1", "1000", "1600", "300", "c500 m300 x300 l100", "c500 l100") \
	STEP("2", "2000", "2800", "100", "c700 m100 x100 l100", "c700 l100") \
	STEP("3", "3000", "3600", "300", "c500 m300 x300 l100", "c500 l100") \
	"kernel gemm 4 2200;"

static const struct view_case cases[] = {
	{ "no ranks", "", COLUMNS, "" },
	{ "one rank holds nobody up", "rank 0;" USUAL, COLUMNS, "" },
	{ "ranks that come together", "rank 0 @a;" USUAL "rank 1 @a;" USUAL, COLUMNS "+notes", "" },
	/* 200 of 1000; two others wait for it */
	{ "its device is slower",
	  "rank 0 @a;" USUAL "rank 5 @a;" LATE("c700 m100 x100 l100",
					       "c700 l100") "kernel gemm 4 2800; rank 6 @a;" USUAL,
	  COLUMNS ",cause",
	  "5,persistent,200000,20.00,4,4,200000,400000,its kernels take 1.40 times as long as "
	  "those of the median rank, all by the same factor: a slower GPU" },
	{ "its host waits for input",
	  "rank 0 @a;" USUAL
	  "rank 1 @b;" LATE("c500 m100 x100 l100 i200",
			    "c500 l100 i200") "kernel gemm 4 2000; rank 2 @a;" USUAL,
	  "rank,host,cause", "1,b,its host waits for input (100 % of the lateness)" },
	{ "it waited in another group: that is not its fault",
	  "rank 0 @a;" USUAL
	  "rank 1 @a;" LATE("c500 m300 x300 l100",
			    "c500 m200 l100") "kernel gemm 4 2000; rank 2 @a;" USUAL,
	  COLUMNS, "" },
	/* 200 of four times 1000; the note says why it is not reported */
	{ "late in one step of four", "rank 0 @a;" USUAL "rank 1 @a;" ONCE "rank 2 @a;" USUAL,
	  COLUMNS "+notes",
	  "Of 3 ranks, rank 1 is the latest, by 50.0 us per step (5.0 % of it); for 50.0 us of "
	  "that it is the last to arrive. It stands out in 1 of 4 steps, too few to rule out "
	  "chance." },
	{ "late in all steps, and nothing explains it",
	  "rank 0 @a;" USUAL "rank 1 @a;" LATE("c500 m300 x100 l100",
					       "c500 l100") "kernel gemm 4 2000; rank 2 @a;" USUAL,
	  "rank+notes",
	  "Of 3 ranks, rank 1 is the latest, by 200.0 us per step (20.0 % of it); for 200.0 us "
	  "of that it is the last to arrive. It stands out in 4 of 4 steps, but nothing takes "
	  "it much longer than the others." },
	{ "one step is said to be few",
	  "rank 0 @a;" STEP("0", "0", "600", "300", "c500 x300 l100",
			    "c500 l100") "rank 1 @a;" STEP("0", "0", "800", "100", "c500 x100 l300",
							   "c500 l300"),
	  "rank,pattern,of_steps+notes",
	  "1,persistent,1\n"
	  "There is only one step, so the trace cannot show whether the rank is always late." },
};

static void test_cases(void **state)
{
	(void)state;
	job_cases_run("stragglers", cases, SS_COUNT(cases));
}

/* A pair of groups of two, the collectives of one of them three times as long. */
#define PAIR(group, stay)                                                                   \
	"step 0 0 +1000; group " group "; allreduce 100 +" stay " !8; allreduce 250 +" stay \
	" !8; allreduce 470 +" stay " !8;"

static const struct view_case links[] = {
	{ "a link of either of both",
	  "rank 0 @a;" PAIR("p", "10") "rank 1 @a;" PAIR("p", "10") "rank 2 @a;" PAIR(
		  "q", "30") "rank 3 @a;" PAIR("q", "30"),
	  "rank,late_ns,cause",
	  "2,60000,a link of rank 2 or 3: their collectives take 3.00 times as long as those of "
	  "other groups of the same size" },
	{ "of any of three",
	  "rank 0 @a;" PAIR("p", "10") "rank 1 @a;" PAIR("p", "10") "rank 8 @a;" PAIR(
		  "p",
		  "10") "rank 2 @a;" PAIR("q",
					  "30") "rank 3 @a;" PAIR("q",
								  "30") "rank 4 @a;" PAIR("q",
											  "30"),
	  "rank,cause",
	  "2,a link of rank 2, 3 or 4: their collectives take 3.00 times as long as those of "
	  "other groups of the same size" },
	{ "links that are alike",
	  "rank 0 @a;" PAIR("p", "30") "rank 1 @a;" PAIR("p", "30") "rank 2 @a;" PAIR(
		  "q", "30") "rank 3 @a;" PAIR("q", "30"),
	  "rank,cause", "" },
};

static void test_links(void **state)
{
	(void)state;
	job_cases_run("stragglers", links, SS_COUNT(links));
}

static void test_memory(void **state)
{
	(void)state;
	job_memory_run("stragglers",
		       "rank 0 @a;" USUAL
		       "rank 1 @a;" LATE("c700 m100 x100 l100", "c700 l100") "kernel gemm 4 2800");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_cases),
					    cmocka_unit_test(test_links),
					    cmocka_unit_test(test_memory) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
