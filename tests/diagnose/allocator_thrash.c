/*
 * The rule allocator-thrash. Steps of 1,000 us: cudaMalloc takes 300 us, then a kernel of 200 us
 * is launched. Nothing waits for the device, so a step without the call takes 700 us.
 */
#include "support/rule_cases.h"

#define STEP(n, more)                               \
	"note ProfilerStep#" n " 1 " n "000 +1000;" \
	"call cudaLaunchKernel 1 " n "600 +10 #" n "; kernel gemm 0/7 " n "605 +200 #" n ";" more
#define LAST "note ProfilerStep#4 1 4000 +1000"
#define CALL(name, n) "call " name " 1 " n "100 +300;"

static const struct rule_case cases[] = {
	{ "in each step",
	  STEP("1", CALL("cudaMalloc", "1")) STEP("2", CALL("cudaMalloc", "2"))
		  STEP("3", CALL("cudaMalloc", "3")) LAST,
	  "warning 300.0 high\ncudaMalloc is called 1x a step and holds the thread 0.30 ms" },
	{ "HIP, and with the line",
	  STEP("1", CALL("hipFree", "1")) STEP("2", CALL("hipFree", "2"))
		  STEP("3", CALL("hipFree", "3")) LAST ";frame train.py(75):_clear 1 900 +4000",
	  "warning 300.0 high\nhipFree is called 1x a step and holds the thread 0.30 ms "
	  "(train.py(75):_clear)" },
	{ "not in the first step: memory was not enough later",
	  STEP("1", "") STEP("2", "") STEP("3", CALL("cudaMalloc", "3")) LAST,
	  "warning 100.0 high\ncudaMalloc is called 0.3x a step and holds the thread 0.10 ms" },
	/*
	 * the kernels of both steps follow each other, 1 us apart: 5 + 2 * (495 + 395) + 3 = 1,788
	 * us for two steps
	 */
	{ "freeing waits for the device",
	  "note ProfilerStep#1 1 1000 +1000; call cudaLaunchKernel 1 1000 +10 #1;"
	  "kernel gemm 0/7 1005 +495 #1; call cudaFree 1 1110 +390;"
	  "call cudaLaunchKernel 1 1600 +10 #2; kernel gemm 0/7 1605 +395 #2;"
	  "note ProfilerStep#2 1 2000 +1000; call cudaLaunchKernel 1 2000 +10 #3;"
	  "kernel gemm 0/7 2005 +495 #3; call cudaFree 1 2110 +390;"
	  "call cudaLaunchKernel 1 2600 +10 #4; kernel gemm 0/7 2605 +395 #4;"
	  "note ProfilerStep#3 1 3000 +1000",
	  "warning 106.0 high\ncudaFree is called 1x a step and holds the thread 0.39 ms" },
	{ "only in the first step: it fills the cache",
	  STEP("1", CALL("cudaMalloc", "1")) STEP("2", "") STEP("3", "") LAST, "" },
	{ "a file of one step tells nothing", STEP("1", CALL("cudaMalloc", "1")), "" },
	{ "no calls", STEP("1", "") STEP("2", "") STEP("3", "") LAST, "" },
	{ "no device",
	  "note ProfilerStep#1 1 0 +100; note ProfilerStep#2 1 100 +100;"
	  "call cudaMalloc 1 110 +50",
	  "" },
	{ "nothing", "[]", "" },
};

RULE_TESTS("allocator-thrash", cases, cases[0].trace)
