/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule decode-bandwidth. A step of decode with one product: 1 x 8192 x 8192 in bf16
 * moves 134.25 MB, which are 65.8 us at the 2,039 GB/s of an A100.
 */
#include "support/rule_cases.h"

#define EVENT(cat, name, tid, ts, dur, args)                                             \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":0,\"tid\":" tid \
	",\"ts\":" ts ",\"dur\":" dur ",\"args\":{" args "}},"
#define FILE_OF(device, range)                                                                     \
	"{\"deviceProperties\":[{\"id\":0,\"name\":\"" device "\",\"computeMajor\":8,"             \
	"\"computeMinor\":0,\"warpSize\":32}],\"traceEvents\":[" EVENT("user_annotation",          \
								       "ProfilerStep#1", "1", "0", \
								       "20", "")                   \
		EVENT("user_annotation", range, "1", "1", "18", "")
#define A100 "NVIDIA A100-SXM4-80GB"
#define DECODE "execute_context_0(0)_generation_4(4)"
#define MM(args) EVENT("cpu_op", "aten::mm", "1", "2", "7", args)
#define SIZES                                                                      \
	"\"Input Dims\":[[1,8192],[8192,8192]],\"Input type\":[\"c10::BFloat16\"," \
	"\"c10::BFloat16\"],\"Concrete Inputs\":[\"\",\"\"]"
#define KERNEL(id, call, ts, dur)                                                        \
	EVENT("cuda_runtime", "cudaLaunchKernel", "1", call, "1", "\"correlation\":" id) \
	EVENT("kernel", "k", "7", ts, dur, "\"device\":0,\"stream\":7,\"correlation\":" id)
#define END "{\"ph\":\"M\",\"name\":\"end\"}]}"

static const struct rule_case cases[] = {
	{ "a product that reads at two thirds of the rate",
	  FILE_OF(A100, DECODE) MM(SIZES) KERNEL("1", "3", "10", "100") END,
	  "info 0.0 medium\n"
	  "decode products read memory at more than half of the peak bandwidth: 0.10 ms per step" },
	{ "slower than half of it",
	  FILE_OF(A100, DECODE) MM(SIZES) KERNEL("1", "3", "10", "140") END, "" },
	{ "most of the time is something else",
	  FILE_OF(A100, DECODE) MM(SIZES) KERNEL("1", "3", "10", "100")
		  KERNEL("2", "12", "110", "150") END,
	  "" },
	{ "prefill",
	  FILE_OF(A100, "execute_context_1(888)_generation_0(0)") MM(SIZES)
		  KERNEL("1", "3", "10", "100") END,
	  "" },
	{ "no engine", FILE_OF(A100, "something") MM(SIZES) KERNEL("1", "3", "10", "100") END, "" },
	{ "a device that is in no table",
	  FILE_OF("NVIDIA Next", DECODE) MM(SIZES) KERNEL("1", "3", "10", "100") END, "" },
	{ "sizes are not recorded", FILE_OF(A100, DECODE) MM("") KERNEL("1", "3", "10", "100") END,
	  "" },
	{ "no device", "note ProfilerStep#1 1 0 +1000; op aten::mm 1 0 +10", "" },
	{ "nothing", "[]", "" },
};

RULE_TESTS("decode-bandwidth", cases, cases[0].trace)
