/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule allocator-thrash. Steps of 1,000 us: cudaMalloc takes 300 us, then a kernel of 200 us
 * is launched. Nothing waits for the device, so a step without the call takes 700 us.
 */
#include "support/memory_cases.h"

#define STEP(n, more)                               \
	"note ProfilerStep#" n " 1 " n "000 +1000;" \
	"call cudaLaunchKernel 1 " n "600 +10 #" n "; kernel gemm 0/7 " n "605 +200 #" n ";" more
#define LAST "note ProfilerStep#4 1 4000 +1000"
#define CALL(name, n) "call " name " 1 " n "100 +300;"

static const struct rule_case cases[] = {
	{ "in each step",
	  STEP("1", CALL("cudaMalloc", "1")) STEP("2", CALL("cudaMalloc", "2"))
		  STEP("3", CALL("cudaMalloc", "3")) LAST,
	  "warning 300.0 high\n"
	  "cudaMalloc is called once per step and blocks the thread for 0.30 ms" },
	{ "HIP, and with the line",
	  STEP("1", CALL("hipFree", "1")) STEP("2", CALL("hipFree", "2"))
		  STEP("3", CALL("hipFree", "3")) LAST ";frame train.py(75):_clear 1 900 +4000",
	  "warning 300.0 high\n"
	  "hipFree is called once per step and blocks the thread for 0.30 ms "
	  "(train.py(75):_clear)" },
	{ "not in the first step: memory was not enough later",
	  STEP("1", "") STEP("2", "") STEP("3", CALL("cudaMalloc", "3")) LAST,
	  "warning 100.0 high\n"
	  "cudaMalloc is called 0.3 times per step and blocks the thread for 0.10 ms" },
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
	  "warning 106.0 high\n"
	  "cudaFree is called once per step and blocks the thread for 0.39 ms" },
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

#define MAKE "segalloc 0x900000 2097152 loop;"
/* A step that releases its segment, by whom, and the next one that allocates it again. */
#define GIVE(who) "segfree 0x900000 2097152 " who ";" MEMORY_STEP
#define THREE_TIMES(who)           \
	MAKE MEMORY_STEP GIVE(who) \
	MAKE GIVE(who)             \
	MAKE GIVE(who)             \
	MAKE MEMORY_STEP
/* The allocator itself: the segment is allocated again at once. */
#define RETRY "segfree 0x900000 2097152 fwd; segalloc 0x900000 2097152 fwd;" MEMORY_STEP
#define GAVE                                                                                   \
	"segments were released to the GPU in 3 of 5 steps (3, 6.29 MB) and allocated again: " \
	"each time the GPU waits\n"
#define LESS                                                        \
	"export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\n" \
	"# and use less memory at once: a smaller batch, activation checkpointing"

static const struct memory_case snapshots[] = {
	{ "nothing", "", "", 0 },
	{ "steps that keep their memory", MAKE MEMORY_STEP MEMORY_STEP MEMORY_STEP MEMORY_STEP, "",
	  0 },
	{ "the program empties the cache", THREE_TIMES("empty"),
	  "warning 6291456 high\n" GAVE
	  "torch.cuda.empty_cache() does so 3 times, at train.py:8 (main)\n"
	  "-> # remove torch.cuda.empty_cache() from the loop: train.py:8 (main)",
	  0 },
	{ "memory runs out", MAKE MEMORY_STEP RETRY RETRY RETRY MEMORY_STEP,
	  "warning 6291456 high\n" GAVE
	  "the GPU had no memory left for an allocation 3 times: the allocator released what it "
	  "could and tried again, at model.py:14 (forward)\n"
	  "-> " LESS,
	  0 },
	{ "the same with expandable segments",
	  "setting expandable_segments True;" MAKE MEMORY_STEP RETRY RETRY RETRY MEMORY_STEP,
	  "warning 6291456 high\n" GAVE
	  "the GPU had no memory left for an allocation 3 times: the allocator released what it "
	  "could and tried again, at model.py:14 (forward)\n"
	  "-> # use less memory at once: a smaller batch, activation checkpointing",
	  0 },
	{ "by whom is not recorded", THREE_TIMES(""),
	  "warning 6291456 medium\n" GAVE
	  "the snapshot does not record who released them: torch.cuda.empty_cache(), or a lack "
	  "of memory\n"
	  "-> # no torch.cuda.empty_cache() in the loop; if memory is short:\n" LESS,
	  0 },
	{ "two steps are no habit",
	  MAKE MEMORY_STEP GIVE("empty") MAKE GIVE("empty")
		  MAKE MEMORY_STEP MEMORY_STEP MEMORY_STEP,
	  "", 0 },
	{ "the last one is not made again: the recording ends",
	  MAKE MEMORY_STEP GIVE("empty") MAKE GIVE("empty") MAKE GIVE("empty") MEMORY_STEP,
	  "warning 6291456 high\n" GAVE
	  "torch.cuda.empty_cache() does so 3 times, at train.py:8 (main)\n"
	  "-> # remove torch.cuda.empty_cache() from the loop: train.py:8 (main)",
	  0 },
	{ "given back and never made again",
	  "segalloc 0x900000 2097152; segalloc 0xa00000 2097152;"
	  "segalloc 0xb00000 2097152;" MEMORY_STEP "segfree 0x900000 2097152 empty;" MEMORY_STEP
	  "segfree 0xa00000 2097152 empty;" MEMORY_STEP
	  "segfree 0xb00000 2097152 empty;" MEMORY_STEP MEMORY_STEP,
	  "", 0 },
	{ "no steps",
	  "segalloc 1 2097152; segfree 1 2097152; segalloc 1 2097152;"
	  "segfree 1 2097152; segalloc 1 2097152; segfree 1 2097152; segalloc 1 2097152",
	  "", 0 },
};

MEMORY_RULE_TESTS("allocator-thrash", cases, cases[0].trace, snapshots, THREE_TIMES("empty"), 0)
