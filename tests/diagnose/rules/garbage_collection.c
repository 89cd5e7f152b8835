/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule garbage-collection. Steps of 1,000 us: the collector runs for 400 us, then a
 * kernel of 200 us is launched. Nothing waits for the device, so a step without the collector
 * takes 600 us.
 */
#include "support/rule_cases.h"

#define STEP(n, more)                               \
	"note ProfilerStep#" n " 1 " n "000 +1000;" \
	"call cudaLaunchKernel 1 " n "600 +10 #" n "; kernel gemm 0/7 " n "605 +200 #" n ";" more
#define LAST "note ProfilerStep#4 1 4000 +1000"
#define GC(n) "note Python\\u0020GC 1 " n "100 +400;"
#define SAID "the garbage collector stops the thread "

static const struct rule_case cases[] = {
	{ "in each step", STEP("1", GC("1")) STEP("2", GC("2")) STEP("3", GC("3")) LAST,
	  "warning 400.0 high\n" SAID "once per step: 0.40 ms" },
	{ "in one of three", STEP("1", "") STEP("2", GC("2")) STEP("3", "") LAST,
	  "warning 133.3 high\n" SAID "0.3 times per step: 0.13 ms" },
	{ "gc.collect() called by a line of the program",
	  STEP("1", "frame train.py(67):_clean 1 1090 +420;"
		    "frame <built-in\\u0020function\\u0020collect> 1 1100 +400;") STEP("2", "")
		  STEP("3", "") LAST,
	  "warning 133.3 high\n" SAID "0.3 times per step: 0.13 ms (train.py(67):_clean)" },
	{ "young objects: too short to matter",
	  STEP("1", "note Python\\u0020GC 1 1100 +3;") STEP("2", "") STEP("3", "") LAST, "silent" },
	{ "the device has work meanwhile",
	  "note ProfilerStep#1 1 1000 +300; call cudaLaunchKernel 1 1000 +10 #1;"
	  "kernel gemm 0/7 1005 +990 #1; note Python\\u0020GC 1 1050 +200;"
	  "note ProfilerStep#2 1 1300 +100; call cudaLaunchKernel 1 1310 +10 #2;"
	  "kernel gemm 0/7 1996 +990 #2; note ProfilerStep#3 1 1400 +100",
	  "silent" },
	{ "between the steps", STEP("1", "") STEP("2", "") LAST ";note Python\\u0020GC 1 100 +400",
	  "" },
	{ "the collector does not run", STEP("1", "") STEP("2", "") STEP("3", "") LAST, "" },
	{ "no steps", "note Python\\u0020GC 1 100 +400", "" },
	{ "nothing", "[]", "" },
};

RULE_TESTS("garbage-collection", cases, cases[0].trace)
