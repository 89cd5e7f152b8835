/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule slow-memory-work. A norm over 32,768 x 4,096 numbers reads and writes 268 MB each, and
 * two vectors: 0.182 ms at 0.88 of 3,352 GB/s.
 */
#include "support/rule_cases.h"

#define EVENT(cat, name, tid, ts, dur, args)                                             \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":0,\"tid\":" tid \
	",\"ts\":" ts ",\"dur\":" dur ",\"args\":{" args "}},"
#define DEVICE(name)                                                                               \
	"{\"deviceProperties\":[{\"id\":0,\"name\":\"" name "\",\"computeMajor\":9,"               \
	"\"computeMinor\":0,\"warpSize\":32}],\"traceEvents\":[" EVENT("user_annotation",          \
								       "ProfilerStep#1", "1", "0", \
								       "60", "")
#define H100 DEVICE("NVIDIA H100 80GB HBM3")
#define OP(name, ts, dims, types, values)                                                         \
	EVENT("cpu_op", name, "1", ts, "8",                                                       \
	      "\"Input Dims\":[" dims "],\"Input type\":[" types "],\"Concrete Inputs\":[" values \
	      "]")
#define KERNEL(name, id, call, ts, dur)                                                  \
	EVENT("cuda_runtime", "cudaLaunchKernel", "1", call, "1", "\"correlation\":" id) \
	EVENT("kernel", name, "7", ts, dur, "\"device\":0,\"stream\":7,\"correlation\":" id)
#define END "{\"ph\":\"M\",\"name\":\"end\"}]}"
#define NORM(name)                                                                            \
	OP(name, "1", "[32768,4096],[],[4096],[4096],[]",                                     \
	   "\"c10::BFloat16\",\"ScalarList\",\"c10::BFloat16\",\"c10::BFloat16\",\"Scalar\"", \
	   "\"\",\"[4096]\",\"\",\"\",\"1e-05\"")

static const struct rule_case cases[] = {
	{ "a third of the memory's rate",
	  H100 NORM("aten::native_layer_norm") KERNEL("layer_norm", "1", "2", "100", "600") END,
	  "warning 415.0 medium\naten::native_layer_norm: 0.60 ms per step (once), where good "
	  "kernels take about 30 % of it" },
	{ "good",
	  H100 NORM("aten::native_layer_norm") KERNEL("layer_norm", "1", "2", "100", "250") END,
	  "" },
	{ "nothing", "[]", "" },
};

RULE_TESTS("slow-memory-work", cases, cases[0].trace)
