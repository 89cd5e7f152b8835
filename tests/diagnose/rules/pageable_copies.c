/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule pageable-copies. One step of 5,000 us: a copy of 4,000 us that the host waits
 * for, a synchronize behind it, and a kernel of 800 us that was launched then.
 *
 * Times by hand: with pinned memory the call takes 10 us, and the copy runs from 110 us on. At the
 * 25 GB/s of PCIe 4 its 25 MB take 1,000 us. The kernel, launched long before, starts 1 us
 * after it and ends at 1,911 us; the host is done before that. So 5,000 - 1,911 us are saved.
 */
#include "support/rule_cases.h"

#define EVENT(cat, name, tid, ts, dur, args)                                             \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":0,\"tid\":" tid \
	",\"ts\":" ts ",\"dur\":" dur ",\"args\":{" args "}},"
#define COPY(name, bytes, ts, dur, id)          \
	EVENT("gpu_memcpy", name, "7", ts, dur, \
	      "\"device\":0,\"stream\":7,\"bytes\":" bytes ",\"correlation\":" id)
#define CALL(name, ts, dur, id) EVENT("cuda_runtime", name, "1", ts, dur, "\"correlation\":" id)
#define END "{\"ph\":\"M\",\"name\":\"end\"}]}"

#define DEVICE(name, major, minor, warp)                                                 \
	"{\"deviceProperties\":[{\"id\":0,\"name\":\"" name "\",\"computeMajor\":" major \
	",\"computeMinor\":" minor ",\"warpSize\":" warp "}],\"traceEvents\":["
#define A100 DEVICE("NVIDIA A100-SXM4-40GB", "8", "0", "32")
#define MI300 DEVICE("AMD Instinct MI300X", "9", "4", "64")
#define UNKNOWN "{\"traceEvents\":["

#define STEP EVENT("user_annotation", "ProfilerStep#1", "1", "0", "5000", "")
#define REST                                            \
	CALL("cudaStreamSynchronize", "4106", "6", "2") \
	CALL("cudaLaunchKernel", "4150", "5", "3")      \
	EVENT("kernel", "k", "7", "4160", "800", "\"device\":0,\"stream\":7,\"correlation\":3") END
#define OP EVENT("cpu_op", "aten::copy_", "1", "99", "4020", "")
#define HELD(name, bytes) \
	OP CALL("cudaMemcpyAsync", "100", "4005", "1") COPY(name, bytes, "110", "4000", "1")

#define KERNEL(call, start, id)                 \
	CALL("cudaLaunchKernel", call, "5", id) \
	EVENT("kernel", "k", "7", start, "700", "\"device\":0,\"stream\":7,\"correlation\":" id)

#define IN "Memcpy HtoD (Pageable -> Device)"
#define OUT "Memcpy DtoH (Device -> Pageable)"
/* A copy to the host of 2,000 us, then nothing for 2,038 us until a kernel is launched. */
#define USED(bytes)                                                         \
	EVENT("cpu_op", "aten::copy_", "1", "99", "2014", "")               \
	CALL("cudaMemcpyAsync", "100", "2005", "1")                         \
	COPY("Memcpy DtoH (Device -> Pageable)", bytes, "110", "2000", "1") \
	CALL("cudaStreamSynchronize", "2106", "6", "2")                     \
	CALL("cudaLaunchKernel", "4150", "5", "3")                          \
	EVENT("kernel", "k", "7", "4160", "800", "\"device\":0,\"stream\":7,\"correlation\":3") END

#define PINNED "Memcpy HtoD (Pinned -> Device)"
#define ROCM "Memcpy HtoD (Host -> Device)"
#define ONCE ": once per step, 4.00 ms"
#define TWICE ": once per step, 4.00 ms, more than twice what pinned memory needs"

static const struct rule_case cases[] = {
	{ "a batch from pageable memory", A100 STEP HELD(IN, "25000000") REST,
	  "warning 2089.0 medium\n" IN ONCE },
	{ "results into pageable memory", A100 STEP HELD(OUT, "25000000") REST,
	  "warning 2089.0 medium\n" OUT ONCE },
	/* at 25 GB/s the copy takes 1,000 us; the host uses the values only then */
	{ "results that the host uses at once: only the copy is faster", A100 STEP USED("25000000"),
	  "warning 1000.0 medium\n" OUT ": once per step, 2.00 ms" },
	/* it takes 5 ms to read them; the copy is as fast as the link, and nobody waits for it */
	{ "results that the host cannot have read before it launches", A100 STEP USED("100000000"),
	  "warning 2001.0 medium\n" OUT ": once per step, 2.00 ms" },
	{ "without operators: a synchronize right behind the copy is part of it",
	  A100 STEP CALL("cudaMemcpyAsync", "100", "4005", "1")
		  COPY(IN, "25000000", "110", "4000", "1") REST,
	  "warning 2089.0 medium\n" IN ONCE },
	/* 1 MB in 20 us is 52.4 GB/s: 476.8 us; then 20 us of that copy, 1 us behind the first */
	{ "the rate of the trace's own pinned copies counts",
	  A100 STEP HELD(IN, "25000000") CALL("cudaMemcpyAsync", "4120", "2", "9")
		  COPY(PINNED, "1048576", "4125", "20", "9") REST,
	  "warning 3591.2 high\n" IN TWICE },
	/* the copy takes as long, but the host is done long before: the kernel follows at once */
	{ "a device that is not known: only the waiting is gone",
	  UNKNOWN STEP HELD(IN, "25000000") REST, "info 89.0 low\n" IN ": once per step, 4.00 ms" },
	/* 53 GB/s: 2 x 471.7 us */
	{ "ROCm does not say which memory: slow, and waited for",
	  MI300 STEP HELD(ROCM, "25000000") REST, "warning 3617.3 low\n" ROCM ONCE },
	{ "ROCm: as fast as the link is pinned memory", MI300 STEP HELD(ROCM, "150000000") REST,
	  "" },
	{ "what the driver takes without waiting", A100 STEP HELD(IN, "65536") REST, "" },
	{ "pinned memory", A100 STEP HELD(PINNED, "25000000") REST, "" },
	{ "inside the device", A100 STEP HELD("Memcpy DtoD (Device -> Device)", "25000000") REST,
	  "" },
	{ "nobody waits for it",
	  A100 STEP OP CALL("cudaMemcpyAsync", "100", "10", "1")
		  COPY(IN, "25000000", "110", "4000", "1") REST,
	  "" },
	{ "bytes are not recorded",
	  A100 STEP OP CALL("cudaMemcpyAsync", "100", "4005", "1")
		  EVENT("gpu_memcpy", IN, "7", "110", "4000", "\"correlation\":1") REST,
	  "" },
	{ "its call is not recorded", A100 STEP COPY(IN, "25000000", "110", "4000", "1") REST, "" },
	{ "before the step",
	  A100 EVENT("user_annotation", "ProfilerStep#1", "1", "4140", "900", "")
		  HELD(IN, "25000000") REST,
	  "" },
	{ "in one step of two: a checkpoint",
	  A100 STEP EVENT("user_annotation", "ProfilerStep#2", "1", "5000", "900", "")
		  KERNEL("5100", "5110", "4") KERNEL("5200", "5810", "5") HELD(OUT, "25000000")
			  REST,
	  "" },
	{ "no steps and no copies", "op a 1 0 +10", "" },
	{ "nothing", "[]", "" },
};

RULE_TESTS("pageable-copies", cases, cases[0].trace)
