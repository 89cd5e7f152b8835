/* SPDX-License-Identifier: Apache-2.0 */
/*
 * View sequences: what repeats, what parts it, and its figures.
 */
#include "support/view_cases.h"

#define ALL "sequence,kernels,calls,total_ns,span_ns,gap_ns,share_percent"

/* a of 2 us and b of 3 us with 1 us between them, at 100, 200 and 300 */
#define THREE                                                                         \
	"kernel a 7 100 +2; kernel b 7 103 +3; kernel a 7 200 +2; kernel b 7 203 +3;" \
	"kernel a 7 300 +2; kernel b 7 303 +3;"
#define APART "kernel x 7 150 +1; kernel y 7 250 +1;"

static const struct view_case cases[] = {
	{ "nothing", "[]", "sequence", "" },
	{ "nothing repeats", "kernel a 7 1 +1; kernel b 7 3 +1; kernel c 7 5 +1", "sequence", "" },
	{ "what is no kernel",
	  "copy a 7 1 +1; copy b 7 3 +1; copy a 7 5 +1; copy b 7 7 +1; copy a "
	  "7 9 +1; copy b 7 11 +1",
	  "sequence", "" },
	{ "two times are too few",
	  "kernel a 7 1 +1; kernel b 7 3 +1; kernel x 7 5 +1; kernel a 7 7 +1; kernel b 7 9 +1",
	  "sequence", "" },
	{ "three are not", THREE APART, ALL, "a -> b,2,3,15000,18000,3000,88.24" },
	{ "the mean is that of its kernels", THREE APART, "mean_ns", "2500" },
	{ "kernels that overlap have no gap",
	  "kernel a 7 100 +5; kernel b 7 103 +3; kernel x 7 150 +1; kernel a 7 200 +5; kernel b 7 "
	  "203 +3; kernel y 7 250 +1; kernel a 7 300 +5; kernel b 7 303 +3",
	  ALL, "a -> b,2,3,24000,18000,0,92.31" },
	{ "one that ends before the first leaves no hole behind it",
	  "kernel a 7 100 +9; kernel b 7 103 +3; kernel c 7 110 +1; kernel x 7 150 +1;"
	  "kernel a 7 200 +9; kernel b 7 203 +3; kernel c 7 210 +1; kernel y 7 250 +1;"
	  "kernel a 7 300 +9; kernel b 7 303 +3; kernel c 7 310 +1",
	  "sequence,span_ns,gap_ns", "a -> b -> c,33000,3000" },
	{ "parts of a longer one are not listed",
	  "kernel a 7 1 +1; kernel b 7 3 +1; kernel c 7 5 +1; kernel x 7 7 +1;"
	  "kernel a 7 11 +1; kernel b 7 13 +1; kernel c 7 15 +1; kernel y 7 17 +1;"
	  "kernel a 7 21 +1; kernel b 7 23 +1; kernel c 7 25 +1",
	  "sequence,calls", "a -> b -> c,3" },
	{ "unless they are frequent elsewhere",
	  "kernel a 7 1 +1; kernel b 7 3 +1; kernel c 7 5 +1; kernel x 7 7 +1;"
	  "kernel a 7 11 +1; kernel b 7 13 +1; kernel c 7 15 +1; kernel y 7 17 +1;"
	  "kernel a 7 21 +1; kernel b 7 23 +1; kernel c 7 25 +1; kernel z 7 27 +1;"
	  "kernel a 7 31 +1; kernel b 7 33 +1; kernel u 7 37 +1; kernel a 7 41 +1; kernel b 7 43 "
	  "+1; kernel v 7 47 +1; kernel a 7 51 +1; kernel b 7 53 +1",
	  "sequence,calls", "a -> b -> c,3\na -> b,3" },
	{ "equal kernels are counted in words",
	  "kernel a 7 1 +1; kernel a 7 3 +1; kernel x 7 5 +1; kernel a 7 7 +1; kernel a 7 9 +1;"
	  "kernel y 7 15 +1; kernel a 7 17 +1; kernel a 7 19 +1",
	  "sequence,kernels,calls", "a x 2,2,3" },
	{ "not across streams",
	  "kernel a 7 1 +1; kernel b 8 3 +1; kernel a 7 11 +1; kernel b 8 13 +1; kernel a 7 21 +1;"
	  "kernel b 8 23 +1",
	  "sequence,calls", "" },
	{ "streams are counted together",
	  "kernel a 7 1 +1; kernel b 7 3 +1; kernel a 8 1 +1; kernel b 8 3 +1; kernel a 9 1 +1;"
	  "kernel b 9 3 +1",
	  "sequence,calls", "a -> b,3" },
	{ "not across copies, memsets and communication",
	  "kernel a 7 1 +1; copy m 7 2 +1; kernel b 7 3 +1; kernel a 7 11 +1; set m 7 12 +1;"
	  " kernel "
	  "b 7 13 +1; kernel a 7 21 +1; kernel ncclKernel_x 7 22 +1; kernel b 7 23 +1",
	  "sequence", "" },
	{ "communication is in the base", THREE "kernel ncclKernel_x 7 150 +15; copy m 7 250 +9",
	  "sequence,share_percent", "a -> b,50.00" },
	{ "no time has no share",
	  "kernel a 7 1 +0; kernel b 7 3 +0; kernel x 7 5 +0; kernel a 7 7 +0; kernel b 7 9 +0;"
	  "kernel y 7 15 +0; kernel a 7 17 +0; kernel b 7 19 +0",
	  "sequence,total_ns,gap_ns,share_percent", "a -> b,0,6000,-" },
	{ "the most time first",
	  "kernel a 7 1 +1; kernel b 7 3 +1; kernel x 7 5 +1; kernel c 7 7 +2; kernel d 7 10 +1;"
	  "kernel y 7 15 +1; kernel a 7 17 +1; kernel b 7 19 +1; kernel z 7 25 +1; kernel c 7 27 "
	  "+2; kernel d 7 30 +1; kernel u 7 35 +1; kernel a 7 37 +1; kernel b 7 39 +1; kernel v 7 "
	  "45 +1; kernel c 7 47 +2; kernel d 7 50 +1",
	  "sequence,total_ns", "c -> d,9000\na -> b,6000" },
	{ "short names",
	  "kernel n::a<float>(int) 7 1 +1; kernel b 7 3 +1; kernel x 7 5 +1;"
	  "kernel n::a<float>(int) 7 7 +1; kernel b 7 9 +1; kernel y 7 15 +1;"
	  "kernel n::a<float>(int) 7 17 +1; kernel b 7 19 +1",
	  "sequence", "a<float> -> b" },
};

static const struct view_case step_cases[] = {
	{ "once a step is not enough",
	  "note ProfilerStep#1 1 0 +100; note ProfilerStep#2 1 100 +100; note ProfilerStep#3 1 200 "
	  "+100;"
	  "call cudaLaunchKernel 1 10 +1 #1; call cudaLaunchKernel 1 12 +1 #2;"
	  "call cudaLaunchKernel 1 110 +1 #3; call cudaLaunchKernel 1 112 +1 #4;"
	  "call cudaLaunchKernel 1 210 +1 #5; call cudaLaunchKernel 1 212 +1 #6;"
	  "kernel a 7 20 +1 #1; kernel b 7 22 +1 #2; kernel a 7 120 +1 #3; kernel b 7 122 +1 #4;"
	  "kernel a 7 220 +1 #5; kernel b 7 222 +1 #6",
	  "sequence", "" },
	{ "twice is, and no sequence goes from one step to the next",
	  "note ProfilerStep#1 1 0 +100; note ProfilerStep#2 1 100 +100;"
	  "kernel a 7 20 +1; kernel b 7 22 +1; kernel a 7 30 +1; kernel b 7 32 +1;"
	  "kernel a 7 120 +1; kernel b 7 122 +1; kernel a 7 130 +1; kernel b 7 132 +1",
	  "sequence,calls", "a -> b,4" },
};

#define OPS(first, second)                                                                        \
	"op " first " 1 0 +20; op aten::in 1 1 +8; call cudaLaunchKernel 1 2 +1 #1;"              \
	"call cudaLaunchKernel 1 12 +1 #2; op " second                                            \
	" 1 30 +20; call cudaLaunchKernel 1 32 +1 #3; call cudaLaunchKernel 1 34 +1 #4;"          \
	"op " first " 1 60 +20; call cudaLaunchKernel 1 62 +1 #5; call cudaLaunchKernel 1 64 +1 " \
	"#6;"                                                                                     \
	"kernel a 7 100 +1 #1; kernel b 7 102 +1 #2; kernel x 7 110 +1; kernel a 7 120 +1 #3;"    \
	"kernel b 7 122 +1 #4; kernel y 7 130 +1; kernel a 7 140 +1 #5; kernel b 7 142 +1 #6"

#define TWICE(op1, call1, id1, op2, call2, id2)                                       \
	"op p 1 " op1 " +5; call cudaLaunchKernel 1 " call1 " +1 " id1 ";op p 1 " op2 \
	" +5; call cudaLaunchKernel 1 " call2 " +1 " id2 ";"

static const struct view_case op_cases[] = {
	{ "the outermost operator of all of it", OPS("aten::norm", "aten::norm"), "sequence,op",
	  "a -> b,aten::norm" },
	{ "not always the same", OPS("aten::norm", "aten::mean"), "sequence,op", "a -> b,-" },
	{ "launches that are not in the file", THREE APART, "sequence,op", "a -> b,-" },
	{ "two calls of an operator are not one",
	  TWICE("0", "2", "#1", "10", "12", "#2") TWICE("20", "22", "#3", "30", "32", "#4")
		  TWICE("40", "42", "#5", "50", "52",
			"#6") "kernel a 7 100 +1 #1; kernel b 7 102 +1 #2; kernel x 7 110 +1;"
			      "kernel a 7 120 +1 #3; kernel b 7 122 +1 #4; kernel y 7 130 +1;"
			      "kernel a 7 140 +1 #5; kernel b 7 142 +1 #6",
	  "sequence,op", "a -> b,-" },
};

static void test_sequences(void **state)
{
	(void)state;
	view_cases_run("sequences", cases, SS_COUNT(cases));
}

static void test_steps(void **state)
{
	(void)state;
	view_cases_run("sequences", step_cases, SS_COUNT(step_cases));
}

static void test_ops(void **state)
{
	(void)state;
	view_cases_run("sequences", op_cases, SS_COUNT(op_cases));
}

static void test_no_memory(void **state)
{
	(void)state;
	view_memory_run("sequences", OPS("aten::norm", "aten::norm"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sequences),
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_ops),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
