/* SPDX-License-Identifier: Apache-2.0 */
/*
 * View durations: which bucket, of what it is a share, and the sentence below.
 */
#include "support/view_cases.h"

#define ALL "bucket,from_ns,to_ns,calls,calls_percent,total_ns,time_percent"

static const struct view_case cases[] = {
	{ "nothing, and nothing to say", "[]", "bucket+notes", "" },
	{ "what is no kernel", "op a 1 0 +9; copy m 7 1 +4; set s 7 9 +4; call c 1 1 +1", "bucket",
	  "" },
	{ "one kernel", "kernel k 7 1 +3", ALL, "2 - 5 us,2000,5000,1,100.00,3000,100.00" },
	{ "a bound belongs to what it begins", "kernel k 7 1 +2; kernel k 7 9 +1.999",
	  "bucket,calls", "1 - 2 us,1\n2 - 5 us,1" },
	{ "empty ones between others are shown, outside they are not",
	  "kernel k 7 1 +1; kernel k 7 9 +6", "bucket,calls,total_ns",
	  "1 - 2 us,1,1000\n2 - 5 us,0,0\n5 - 10 us,1,6000" },
	{ "shares are of all kernels, communication included",
	  "kernel k 7 1 +1; kernel k 7 9 +1; kernel k 7 19 +1; kernel ncclKernel_x 7 30 +2",
	  "bucket,calls_percent,time_percent", "1 - 2 us,75.00,60.00\n2 - 5 us,25.00,40.00" },
	{ "no time has no share of it", "kernel k 7 1 +0", ALL, "< 1 us,0,1000,1,100.00,0,-" },
	{ "the longest have no end", "kernel k 7 1 +1000000; kernel k 8 1 +7000000",
	  "bucket,from_ns,to_ns,calls", ">= 1 s,1000000000,-,2" },
	{ "just below", "kernel k 7 1 +999999.999", "bucket,to_ns", "500 ms - 1 s,1000000000" },
	{ "in the middle", "kernel k 7 1 +500; kernel k 7 900 +999.999", "bucket,calls",
	  "500 us - 1 ms,2" },
	{ "no category unless asked", "kernel softmax 7 1 +1", "category,bucket", "-,1 - 2 us" },
	{ "short ones are below 10 us", "kernel k 7 1 +10; kernel k 7 20 +5; kernel k 7 30 +5",
	  "calls+notes",
	  "2\n1\n"
	  "2 of 3 kernels are shorter than 10 us: 66.7 % of the calls, 50.0 % of the kernel "
	  "time." },
	{ "none of them is short", "kernel k 7 1 +20", "calls+notes",
	  "1\n"
	  "0 of 1 kernels are shorter than 10 us: 0.0 % of the calls, 0.0 % of the kernel "
	  "time." },
};

static const struct view_case category_cases[] = {
	{ "the category with the most time first; shares stay those of all",
	  "kernel softmax 7 1 +1; kernel gemm 7 9 +3; kernel softmax 7 20 +1",
	  "category,bucket,calls,calls_percent,time_percent",
	  "GEMM,2 - 5 us,1,33.33,60.00\nsoftmax,1 - 2 us,2,66.67,40.00" },
	{ "holes are those of the category",
	  "kernel softmax 7 1 +1; kernel gemm 7 9 +3; kernel softmax 7 20 +6",
	  "category,bucket,calls",
	  "softmax,1 - 2 us,1\nsoftmax,2 - 5 us,0\nsoftmax,5 - 10 us,1\nGEMM,2 - 5 us,1" },
	{ "equal ones in the order of categories", "kernel zzz 7 1 +1; kernel gemm 7 9 +1",
	  "category", "other\nGEMM" },
	{ "nothing", "[]", "category", "" },
};

static void test_buckets(void **state)
{
	(void)state;
	view_cases_run("durations", cases, SS_COUNT(cases));
}

static void test_categories(void **state)
{
	(void)state;
	view_cases_run("durations/category", category_cases, SS_COUNT(category_cases));
}

static void test_no_memory(void **state)
{
	(void)state;
	view_memory_run("durations", "kernel k 7 1 +4; kernel j 7 10 +30");
	view_memory_run("durations/category", "kernel k 7 1 +4; kernel j 7 10 +30");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_buckets),
		cmocka_unit_test(test_categories),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
