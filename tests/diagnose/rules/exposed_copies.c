/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule exposed-copies. A copy of 20 us before a kernel of 30 us, seven times in a step of 450
 * us, or once in each of four steps of 50 us.
 */
#include "support/busy_gpu.h"

#define COPY(name, id, call, ts, bytes)                                                      \
	BUSY_EVENT("cuda_runtime", "cudaMemcpyAsync", "1", call, "1", "\"correlation\":" id) \
	BUSY_EVENT("gpu_memcpy", name, "7", ts, "20",                                        \
		   "\"device\":0,\"stream\":7,\"bytes\":" bytes ",\"correlation\":" id)
#define STEP(n, from, dur) BUSY_EVENT("user_annotation", "ProfilerStep#" n, "1", from, dur, "")
#define BEGIN "{\"traceEvents\":["

#define TURN(name, bytes, n, at, work) \
	COPY(name, n, n "0", at, bytes) BUSY_KERNEL("work", "1" n, n "2", work, "30")
#define SEVEN(name, bytes)                                                                        \
	BEGIN STEP("1", "0", "80") TURN(name, bytes, "1", "100", "120")                           \
		TURN(name, bytes, "2", "150", "170") TURN(name, bytes, "3", "200", "220")         \
			TURN(name, bytes, "4", "250", "270") TURN(name, bytes, "5", "300", "320") \
				TURN(name, bytes, "6", "350", "370")                              \
					TURN(name, bytes, "7", "400", "420") BUSY_END

#define INPUT_OF(step, from, one, call, two, launch, at, work, bytes) \
	STEP(step, from, "18")                                        \
	COPY(PINNED, one, call, at, bytes) BUSY_KERNEL("work", two, launch, work, "30")
#define INPUT(bytes)                                                                           \
	BEGIN INPUT_OF("1", "0", "1", "2", "2", "5", "100", "120", bytes)                      \
		INPUT_OF("2", "20", "3", "22", "4", "25", "150", "170", bytes)                 \
			INPUT_OF("3", "40", "5", "42", "6", "45", "200", "220", bytes)         \
				INPUT_OF("4", "60", "7", "62", "8", "65", "250", "270", bytes) \
					BUSY_END

#define PINNED "Memcpy HtoD (Pinned -> Device)"
#define LARGE "2097152"

static const struct rule_case cases[] = {
	{ "a step copies many times", SEVEN(PINNED, LARGE),
	  "warning 138.0 low\nnothing computes beside " PINNED ": 0.14 ms per step (7 times)" },
	{ "input of each step", INPUT(LARGE),
	  "warning 19.2 medium\nnothing computes beside " PINNED ": 0.02 ms per step (once)" },
	{ "pageable memory", SEVEN("Memcpy HtoD (Pageable -> Device)", LARGE), "" },
	{ "small copies", SEVEN(PINNED, "4096"), "" },
	{ "small input", INPUT("4096"), "" },
	{ "nothing", "[]", "" },
};

RULE_TESTS("exposed-copies", cases, cases[0].trace)
