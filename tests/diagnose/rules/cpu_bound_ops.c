/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule cpu-bound-ops. Steps of 10 ms: an operator takes 5 ms and launches nothing, then a
 * kernel of 1 ms is launched. On the device it would be launched in 50 us: a step of 5.05 ms.
 */
#include "support/rule_cases.h"

#define STEP(n, more)                                                                           \
	"note ProfilerStep#" n " 1 " n "0000 +10000; call cudaLaunchKernel 1 " n "8000 +10 #" n \
	";"                                                                                     \
	"kernel gemm 0/7 " n "8005 +1000 #" n ";" more
#define LAST "note ProfilerStep#4 1 40000 +10000"
#define OP(n, name) "op " name " 1 " n "1000 +5000;"
#define STEPS(name, more) \
	STEP("1", OP("1", name) more) STEP("2", OP("2", name)) STEP("3", OP("3", name)) LAST

/* What is done in these operators. */
#define BUSY                                                              \
	"call cudaLaunchKernel 1 11500 +10 #7; kernel s 0/7 11505 +9 #7;" \
	"call cudaMalloc 1 21500 +9; call cudaMalloc 1 31500 +9;"

static const struct rule_case cases[] = {
	{ "a sort in each step", STEPS("aten::sort", ""),
	  "warning 4950.0 medium\naten::sort computes on the CPU once per step: 4.95 ms" },
	{ "with its line; what is in it is part of it",
	  STEPS("aten::linear", "op aten::addmm 1 11100 +4000; frame m.py(3):_f 1 9000 +41000;"),
	  "warning 4950.0 medium\n"
	  "aten::linear computes on the CPU once per step: 4.95 ms (m.py(3):_f)" },
	{ "views and memory are no computing", STEPS("aten::view", ""), "" },
	{ "copies are copies", STEPS("aten::copy_", ""), "" },
	{ "operators that launch or call the device", STEPS("aten::sort", BUSY), "" },
	{ "in one step of three: start-up",
	  STEP("1", OP("1", "aten::sort")) STEP("2", "") STEP("3", "") LAST, "" },
	{ "short operators",
	  STEP("1", "op aten::sort 1 11000 +900;") STEP("2", "op aten::sort 1 21000 +900;")
		  STEP("3", "op aten::sort 1 31000 +900;") LAST,
	  "" },
	{ "in the DataLoader",
	  STEP("1",
	       "note enumerate(DataLoader)#_Iter.__next__ 1 10900 +5500;" OP("1", "aten::sort"))
		  STEP("2",
		       "note enumerate(DataLoader)#_Iter.__next__ 1 20900 +5500;" OP("2",
										     "aten::sort"))
			  STEP("3", "note enumerate(DataLoader)#_Iter.__next__ 1 30900 +5500;" OP(
					    "3", "aten::sort")) LAST,
	  "" },
	{ "a job without a device computes on the CPU",
	  "note ProfilerStep#1 1 0 +9000; op aten::sort 1 10 +5000;"
	  "note ProfilerStep#2 1 9000 +9000; op aten::sort 1 9010 +5000",
	  "" },
	{ "nothing", "[]", "" },
};

RULE_TESTS("cpu-bound-ops", cases, cases[0].trace)
