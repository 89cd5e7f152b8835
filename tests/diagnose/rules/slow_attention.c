/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule slow-attention. 4 heads of 128 numbers, 16,384 keys: 4 x 16,384^2 x 4 x 128 = 550 GFLOP.
 * H100 reaches 989.4 x 0.8 x 0.7 x 16,384 / 16,984 = 534.5 TFLOP/s: 1,029 us.
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
#define QKV "[1,16384,4,128],[1,16384,4,128],[1,16384,4,128],[],[],[],[],[],[]"
#define TYPES                                                                                    \
	"\"c10::BFloat16\",\"c10::BFloat16\",\"c10::BFloat16\",\"\",\"\",\"Scalar\",\"Scalar\"," \
	"\"Scalar\",\"Scalar\""
#define VALUES "\"\",\"\",\"\",\"\",\"\",\"16384\",\"16384\",\"0.\",\"False\""
#define ATTENTION OP("aten::_flash_attention_forward", "1", QKV, TYPES, VALUES)
#define FLASH2 "void flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4>>"

static const struct rule_case cases[] = {
	{ "kernels for another GPU", H100 ATTENTION KERNEL(FLASH2, "1", "2", "100", "2000") END,
	  "warning 961.4 medium\naten::_flash_attention_forward: 2.00 ms per step (once), where "
	  "good kernels take about 50 % of it" },
	{ "heads of 80 numbers, which kernels compute as 96: not that slow",
	  H100 OP("aten::_flash_attention_forward", "1",
		  "[1,16384,4,80],[1,16384,4,80],[1,16384,4,80],[],[],[],[],[],[]", TYPES, VALUES)
		  KERNEL("FlashAttnFwdSm90", "1", "2", "100", "1100") END,
	  "" },
	{ "kernels for this one",
	  H100 ATTENTION KERNEL("FlashAttnFwdSm90", "1", "2", "100", "1100") END, "" },
	{ "nothing", "[]", "" },
};

RULE_TESTS("slow-attention", cases, cases[0].trace)
