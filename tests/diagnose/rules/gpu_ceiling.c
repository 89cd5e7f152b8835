/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule gpu-ceiling: it finds nothing, but says how long the step could be. 4,096^3 x 2 FLOP at
 * 0.8 of H100's peak take 173.6 us, and 10 us.
 */
#include "support/rule_cases.h"

#define EVENT(cat, name, tid, ts, dur, args)                                             \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":0,\"tid\":" tid \
	",\"ts\":" ts ",\"dur\":" dur ",\"args\":{" args "}},"
#define SIZES                                                      \
	"\"Input Dims\":[[4096,4096],[4096,4096]],\"Input type\":" \
	"[\"c10::BFloat16\",\"c10::BFloat16\"],\"Concrete Inputs\":[\"\",\"\"]"
#define DEVICE                                                                 \
	"{\"deviceProperties\":[{\"id\":0,\"name\":\"NVIDIA H100 80GB HBM3\"," \
	"\"computeMajor\":9,\"computeMinor\":0,\"warpSize\":32}],"             \
	"\"traceEvents\":["
#define LINK "\"correlation\":1"

static const char trace[] = DEVICE EVENT("user_annotation", "ProfilerStep#1", "1", "0", "10", "")
	EVENT("cpu_op", "aten::mm", "1", "1", "8", SIZES) EVENT("cuda_runtime", "cudaLaunchKernel",
								"1", "2", "1", LINK)
		EVENT("kernel", "nvjet_256x128", "7", "10", "230",
		      "\"device\":0,\"stream\":7," LINK) "{\"ph\":\"M\",\"name\":\"end\"}]}";

static const struct rule_case cases[] = {
	{ "never a finding", trace, "silent" },
	{ "nothing", "[]", "" },
};

RULE_TESTS("gpu-ceiling", cases, trace)
