/* SPDX-License-Identifier: Apache-2.0 */
/*
 * View memory-steps: each step's memory, what grows, and when that is a leak.
 */
#include "support/make/memory_events.h"
#include "support/view_cases.h"

#define POINTS "step,start_bytes,min_bytes,growth_bytes,peak_bytes,end_bytes"
#define SUMS "step,allocations,allocated_bytes,net_bytes,kept_bytes"

/* Operators make the ranges steps that count. */
#define THREE_STEPS                                                              \
	JOIN(STEP("1", "0", "10"), STEP("2", "10", "10"), STEP("3", "20", "10"), \
	     OP("a", "1", "5"), OP("a", "11", "5"), OP("a", "21", "5"))

#define HEALTHY                                                                        \
	EVENTS(THREE_STEPS, CUDA("2", "64", "8", "108"), CUDA("3", "64", "-8", "100"), \
	       CUDA("12", "64", "8", "108"), CUDA("13", "64", "-8", "100"),            \
	       CUDA("22", "64", "9", "109"), CUDA("23", "64", "-9", "100"))

/* 4 of each step are kept by operator a on line 7. */
#define LEAK(second, third)                                                                  \
	EVENTS(FRAME("train.py(7): f", "0", "30"), THREE_STEPS, CUDA("2", "64", "8", "108"), \
	       CUDA("3", "1", "4", "112"), CUDA("4", "64", "-8", "104"),                     \
	       CUDA("12", "64", "8", "112"), CUDA("13", "2", "4", "116"),                    \
	       CUDA("14", "64", "-8", second), CUDA("22", "64", "8", "116"),                 \
	       CUDA("23", "3", "4", "120"), CUDA("24", "64", "-8", third))

static const struct view_case step_cases[] = {
	{ "nothing", "[]", "step+notes", "" },
	{ "steps without allocations", EVENTS(THREE_STEPS), "step+notes", "" },
	{ "allocations without steps", EVENTS(CUDA("1", "64", "8", "8")), "step+notes", "" },
	{ "the points of each step", HEALTHY, POINTS "+notes",
	  "0,100,100,-,108,100\n1,100,100,0,108,100\n2,100,100,0,109,100" },
	{ "and its sums", HEALTHY, SUMS, "0,1,8,0,0\n1,1,8,0,0\n2,1,9,0,0" },
	{ "what lies between steps moves the start of the next",
	  EVENTS(STEP("1", "0", "5"), STEP("2", "10", "5"), OP("a", "1", "2"), OP("a", "11", "2"),
		 CUDA("2", "64", "8", "8"), CUDA("7", "128", "4", "12"),
		 CUDA("12", "64", "-8", "4")),
	  POINTS, "0,0,0,-,8,8\n1,12,4,4,12,4" },
	{ "the end of a step is the next one's", EVENTS(THREE_STEPS, CUDA("10", "64", "8", "8")),
	  "step,min_bytes,peak_bytes", "1,0,8" },
	{ "a step without events has no row",
	  EVENTS(THREE_STEPS, CUDA("2", "64", "8", "8"), CUDA("22", "32", "8", "16")),
	  "step,growth_bytes", "0,-\n2,8" },
	{ "what failed is no event", EVENTS(THREE_STEPS, FAILED("2", "64", "8")), "step", "" },
	{ "devices first, the CPU last and without reserved memory",
	  EVENTS(THREE_STEPS, CPU("2", "64", "8", "8"), CUDA("3", "64", "8", "8"),
		 MEMORY("4", "6", "1", "64", "8", "8", "50"), CUDA("12", "64", "-8", "0")),
	  "device,step,peak_reserved_bytes,growth_bytes",
	  "CUDA:0,0,1000,-\nCUDA:0,1,1000,0\nHIP:1,0,50,-\nCPU,0,-,-" },
	{ "without totals and addresses", EVENTS(THREE_STEPS, OLDEST("2", "8"), OLDEST("12", "-8")),
	  "step,start_bytes,peak_bytes,peak_reserved_bytes,kept_bytes+notes",
	  "0,0,8,-,-\n"
	  "1,8,8,-,-\n"
	  "Addresses are not recorded, so it is unknown what was freed when (newer versions of "
	  "PyTorch record them).\n"
	  "Totals are not recorded: the figures are sums from the start of the file, without "
	  "earlier allocations." },
};

#define FOUR_GROW                                                                                \
	"CUDA:0: memory grows in every step, by 10 B per step over 4 steps, and 20 B allocated " \
	"in these steps was never freed: a leak, or a cache that grows. Most of it: 20 B from a."

static const struct view_case leak_cases[] = {
	{ "a leak is said with what it is", LEAK("108", "112"),
	  "min_bytes,growth_bytes,kept_bytes+notes",
	  "100,-,4\n"
	  "104,4,4\n"
	  "108,4,4\n"
	  "CUDA:0: memory grows in every step, by 4 B per step over 3 steps, and 8 B allocated "
	  "in these steps was never freed: a leak, or a cache that grows. Most of it: 8 B from "
	  "a, train.py(7): f." },
	{ "the most of several is named, wherever it stands",
	  EVENTS(THREE_STEPS, OP("b", "7", "1"), OP("b", "17", "1"), CUDA("2", "1", "6", "6"),
		 CUDA("7", "2", "4", "10"), CUDA("12", "3", "6", "16"), CUDA("17", "4", "4", "20"),
		 CUDA("22", "5", "6", "26")),
	  "growth_bytes+notes",
	  "-\n"
	  "10\n"
	  "10\n"
	  "CUDA:0: memory grows in every step, by 10 B per step over 3 steps, and 20 B "
	  "allocated in these steps was never freed: a leak, or a cache that grows. Most of it: "
	  "12 B from a." },
	{ "two steps are no evidence",
	  EVENTS(STEP("1", "0", "10"), STEP("2", "10", "10"), OP("a", "1", "5"), OP("a", "11", "5"),
		 CUDA("2", "64", "8", "8"), CUDA("12", "32", "8", "16")),
	  "growth_bytes+notes", "-\n8" },
	{ "growth that ends is none",
	  EVENTS(THREE_STEPS, CUDA("2", "64", "8", "8"), CUDA("12", "32", "8", "16"),
		 CUDA("22", "32", "-8", "8")),
	  "growth_bytes+notes", "-\n8\n0" },
	{ "what is freed later is none: a batch that lives until the next step",
	  EVENTS(THREE_STEPS, CUDA("2", "1", "10", "10"), CUDA("12", "2", "12", "22"),
		 CUDA("13", "1", "-10", "12"), CUDA("22", "3", "14", "26"),
		 CUDA("23", "2", "-12", "14")),
	  "min_bytes,growth_bytes,kept_bytes+notes", "0,-,0\n10,10,0\n12,2,14" },
	{ "growth that dies down is warm-up",
	  EVENTS(THREE_STEPS, CUDA("2", "1", "1000", "1000"), CUDA("12", "2", "99", "1099"),
		 CUDA("22", "3", "8", "1107")),
	  "growth_bytes+notes", "-\n1000\n99" },
	{ "without addresses there is no evidence",
	  EVENTS(THREE_STEPS, CUDA("2", "0", "8", "8"), CUDA("12", "0", "8", "16"),
		 CUDA("22", "0", "8", "24")),
	  "growth_bytes+notes",
	  "-\n"
	  "8\n"
	  "8\n"
	  "Addresses are not recorded, so it is unknown what was freed when (newer versions of "
	  "PyTorch record them)." },
	{ "a larger first rise is the optimizer's state",
	  EVENTS(THREE_STEPS, STEP("4", "30", "10"), OP("a", "31", "5"),
		 CUDA("2", "1", "5000", "5000"), CUDA("12", "2", "10", "5010"),
		 CUDA("22", "3", "10", "5020"), CUDA("32", "4", "10", "5030")),
	  "growth_bytes+notes", "-\n5000\n10\n10\n" FOUR_GROW },
	{ "so may be what each step hands to the next",
	  EVENTS(THREE_STEPS, STEP("4", "30", "10"), OP("a", "31", "5"), CUDA("2", "1", "10", "10"),
		 CUDA("3", "64", "1000", "1010"), CUDA("12", "2", "10", "1020"),
		 CUDA("13", "65", "1000", "2020"), CUDA("14", "64", "-1000", "1020"),
		 CUDA("22", "3", "10", "1030"), CUDA("23", "64", "1000", "2030"),
		 CUDA("24", "65", "-1000", "1030"), CUDA("32", "4", "10", "1040"),
		 CUDA("33", "65", "1000", "2040"), CUDA("34", "64", "-1000", "1040")),
	  "growth_bytes+notes", "-\n1010\n10\n10\n" FOUR_GROW },
};

#define RESERVED(ts, bytes, allocated, reserved) \
	MEMORY(ts, "1", "0", "64", bytes, allocated, reserved)

static const struct view_case fragment_cases[] = {
	{ "ever more reserved for the same peaks",
	  EVENTS(THREE_STEPS, RESERVED("2", "8", "8", "100"), RESERVED("3", "-8", "0", "100"),
		 RESERVED("12", "8", "8", "111"), RESERVED("13", "-8", "0", "111"),
		 RESERVED("22", "9", "9", "122"), RESERVED("23", "-9", "0", "122")),
	  "peak_bytes,peak_reserved_bytes+notes",
	  "8,100\n"
	  "8,111\n"
	  "9,122\n"
	  "CUDA:0: reserved memory grows from step to step, from 100 B to 122 B, although "
	  "tensors never held more than 9 B: fragmentation. Use the same sizes in every step, "
	  "or set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True." },
	{ "by a fifth at least",
	  EVENTS(THREE_STEPS, RESERVED("2", "8", "8", "100"), RESERVED("12", "-8", "0", "111"),
		 RESERVED("22", "8", "8", "120")),
	  "peak_reserved_bytes+notes", "100\n111\n120" },
	{ "what the peaks explain is none",
	  EVENTS(THREE_STEPS, RESERVED("2", "80", "80", "100"), RESERVED("3", "-80", "0", "100"),
		 RESERVED("12", "90", "90", "111"), RESERVED("13", "-90", "0", "111"),
		 RESERVED("22", "100", "100", "122"), RESERVED("23", "-100", "0", "122")),
	  "peak_bytes+notes", "80\n90\n100" },
	{ "growth that ends is none",
	  EVENTS(THREE_STEPS, RESERVED("2", "8", "8", "100"), RESERVED("12", "-8", "0", "200"),
		 RESERVED("22", "8", "8", "200")),
	  "peak_reserved_bytes+notes", "100\n200\n200" },
};

static void test_steps(void **state)
{
	(void)state;
	view_cases_run("memory-steps", step_cases, SS_COUNT(step_cases));
}

static void test_leaks(void **state)
{
	(void)state;
	view_cases_run("memory-steps", leak_cases, SS_COUNT(leak_cases));
}

static void test_fragmentation(void **state)
{
	(void)state;
	view_cases_run("memory-steps", fragment_cases, SS_COUNT(fragment_cases));
}

static void test_no_memory(void **state)
{
	(void)state;
	view_memory_run("memory-steps", HEALTHY);
	view_memory_run("memory-steps", LEAK("108", "112"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_leaks),
		cmocka_unit_test(test_fragmentation),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
