/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule profiler-overhead. Steps of 1,000 us: the profiler flushes a buffer for 400 us, then
 * a kernel of 200 us is launched. A step without profiler takes 600 us.
 */
#include "support/rule_cases.h"

#define STEP(n, more)                               \
	"note ProfilerStep#" n " 1 " n "000 +1000;" \
	"call cudaLaunchKernel 1 " n "600 +10 #" n "; kernel gemm 0/7 " n "605 +200 #" n ";" more
#define LAST "note ProfilerStep#4 1 4000 +1000"
#define FLUSH(n) "overhead Buffer\\u0020Flush 0 " n "100 +400;"
#define STEPS(more) STEP("1", FLUSH("1") more) STEP("2", FLUSH("2")) STEP("3", FLUSH("3")) LAST

static const struct rule_case cases[] = {
	{ "a flush in each step", STEPS(""),
	  "warning 400.0 high\nthe profiler's Buffer Flush stops the host once per step: 0.40 ms" },
	{ "the thread goes on during one of them", STEPS("op aten::add 1 1200 +50;"),
	  "warning 266.7 high\n"
	  "the profiler's Buffer Flush stops the host 0.7 times per step: 0.27 ms" },
	{ "a call that was open before", STEPS("call cudaMemcpyAsync 1 1090 +420;"),
	  "warning 400.0 high\nthe profiler's Buffer Flush stops the host once per step: 0.40 ms" },
	{ "the driver loads code: not the profiler",
	  STEP("1", "overhead Lazy\\u0020Function\\u0020Loading 0 1100 +400;") STEP("2", "")
		  STEP("3", "") LAST,
	  "" },
	{ "short ones are in every recording",
	  STEP("1", "overhead Resource 0 1100 +15;") STEP("2", "") STEP("3", "") LAST, "" },
	{ "outside of the steps",
	  STEP("1", "") STEP("2", "") LAST ";overhead Buffer\\u0020Flush 0 200 +400", "" },
	{ "no pauses", STEP("1", "") STEP("2", "") STEP("3", "") LAST, "" },
	{ "no steps", "overhead Buffer\\u0020Flush 0 100 +400", "" },
	{ "nothing", "[]", "" },
};

RULE_TESTS("profiler-overhead", cases, cases[0].trace)
