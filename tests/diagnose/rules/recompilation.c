/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule recompilation. Steps of 1,000 us: torch.compile works for 400 us, then a kernel of
 * 200 us is launched. A step without compiling takes 600 us.
 */
#include "support/rule_cases.h"

#define STEP(n, more)                               \
	"note ProfilerStep#" n " 1 " n "000 +1000;" \
	"call cudaLaunchKernel 1 " n "600 +10 #" n "; kernel gemm 0/7 " n "605 +200 #" n ";" more
#define LAST "note ProfilerStep#4 1 4000 +1000"
#define NAME "_compile.compile_inner\\u0020(dynamo_timed)"
#define COMPILE(n)                       \
	"note " NAME " 1 " n "100 +400;" \
	"note compile_fx_inner\\u0020(dynamo_timed) 1 " n "200 +250;"
#define LOOKUP(n) "op TorchDynamo\\u0020Cache\\u0020Lookup 1 " n "100 +400;"

static const struct rule_case cases[] = {
	{ "in two steps; what is in it is part of it",
	  STEP("1", COMPILE("1")) STEP("2", "") STEP("3", COMPILE("3")) LAST,
	  "warning 266.7 high\n"
	  "_compile.compile_inner (dynamo_timed) runs 0.7 times per step: 0.27 ms" },
	{ "in a later step: the code had been there",
	  STEP("1", "") STEP("2", COMPILE("2")) STEP("3", "") LAST,
	  "warning 133.3 medium\n"
	  "_compile.compile_inner (dynamo_timed) runs 0.3 times per step: 0.13 ms" },
	{ "with the line",
	  STEP("1", "") STEP("2", COMPILE("2")) STEP("3", "") LAST
	  ";frame train.py(42):_loss 1 900 +4000",
	  "warning 133.3 medium\n"
	  "_compile.compile_inner (dynamo_timed) runs 0.3 times per step: 0.13 ms "
	  "(train.py(42):_loss)" },
	{ "in the first step only: it has to be compiled once",
	  STEP("1", COMPILE("1")) STEP("2", "") STEP("3", "") LAST, "" },
	{ "guards are no compiling",
	  STEP("1", LOOKUP("1")) STEP("2", LOOKUP("2")) STEP("3", LOOKUP("3")) LAST, "" },
	{ "compiled code that runs",
	  STEP("1", "") STEP("2", "op Torch-Compiled\\u0020Region:\\u00200/1 1 2100 +400;")
		  STEP("3", "") LAST,
	  "" },
	{ "before the steps", STEP("1", "") STEP("2", "") LAST ";note " NAME " 1 100 +700", "" },
	{ "no steps", "note " NAME " 1 100 +700", "" },
	{ "nothing", "[]", "" },
};

RULE_TESTS("recompilation", cases, cases[0].trace)
