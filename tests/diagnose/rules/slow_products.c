/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule slow-products. H100 reaches 0.8 of 989.4 TFLOP/s: 4,096^3 x 2 FLOP in 173.6 us, and
 * 10 us of latency.
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
#define BF16 "\"c10::BFloat16\",\"c10::BFloat16\""
#define MM(dims) OP("aten::mm", "1", dims, BF16, "\"\",\"\"")
#define LARGE "[4096,4096],[4096,4096]"
#define NVJET "nvjet_tst_256x128_64x4_1x2_h_bz_coopA_NNT"
#define GROUPED OP("aten::_grouped_mm", "1", "[64,4096],[32,4096,4096]", BF16, "\"\",\"\"")
#define EXPERTS                                                     \
	OP("vllm::outplace_fused_experts", "1",                     \
	   "[16,4096],[32,8192,4096],[32,4096,4096],[16,2],[16,2]", \
	   BF16 ",\"c10::BFloat16\",\"float\",\"int\"", "\"\",\"\",\"\",\"\",\"\"")

/* Products of 15 us; 0.54 GFLOP and 9.0 MB: three need 9.2 us, and 10 us of latency. */
#define SMALL "[64,4096],[4096,1024]"
#define ROW(dims, n) OP("aten::mm", n "1", dims, BF16, "\"\",\"\"")
#define PRODUCT(dims, n, dur) ROW(dims, n) KERNEL(NVJET, n, n "2", n "00", dur)
#define THREE(a, b, c, dur) H100 PRODUCT(a, "1", dur) PRODUCT(b, "2", dur) PRODUCT(c, "3", dur) END
#define ADDED OP("aten::add", "26", SMALL, BF16, "\"\",\"\"") KERNEL("add", "9", "27", "250", "5")

static const struct rule_case cases[] = {
	{ "a third of what is reachable", H100 MM(LARGE) KERNEL(NVJET, "1", "2", "100", "550") END,
	  "warning 366.4 medium\naten::mm: 0.55 ms per step (once), where good kernels take "
	  "about 30 % of it" },
	{ "three quarters are good", H100 MM(LARGE) KERNEL(NVJET, "1", "2", "100", "240") END, "" },
	{ "the weights of 32 experts, each for two rows: 1.07 GB",
	  H100 GROUPED KERNEL("grouped_gemm", "1", "2", "100", "1000") END,
	  "warning 625.6 medium\naten::_grouped_mm: 1.00 ms per step (once), where good kernels "
	  "take about 40 % of it" },
	{ "read at the memory's rate",
	  H100 GROUPED KERNEL("grouped_gemm", "1", "2", "100", "500") END, "" },
	{ "experts of a server, the weights of those in use",
	  H100 EXPERTS KERNEL("fused_moe_kernel", "1", "2", "100", "600") END, "" },
	{ "batched products of attention are not grouped",
	  H100 OP("aten::bmm", "1", "[64,1024,128],[64,128,1024]", BF16, "\"\",\"\"")
		  KERNEL(NVJET, "1", "2", "100", "900") END,
	  "" },
	{ "small products take as long as they take",
	  H100 MM("[512,512],[512,512]") KERNEL(NVJET, "1", "2", "100", "19") END, "" },
	{ "an unknown device has nothing to compare with",
	  DEVICE("GPU") MM(LARGE) KERNEL(NVJET, "1", "2", "100", "550") END, "" },
	{ "but its own fast products",
	  DEVICE("GPU") MM(LARGE) KERNEL(NVJET, "1", "2", "100", "550")
		  OP("aten::mm", "11", LARGE, BF16, "\"\",\"\"")
			  KERNEL(NVJET, "2", "12", "660", "190") END,
	  "warning 350.0 low\naten::mm: 0.55 ms per step (once), where good kernels take about "
	  "40 % of it" },
	{ "three small ones that could be one", THREE(SMALL, SMALL, SMALL, "15"),
	  "info 25.8 medium\naten::mm is one of several that could be one product: 0.04 ms per "
	  "step (3 times), where good kernels take about 40 % of it" },
	{ "as large as their inputs: one may be the input of the next",
	  THREE("[64,1024],[1024,1024]", "[64,1024],[1024,1024]", "[64,1024],[1024,1024]", "15"),
	  "" },
	{ "something between them",
	  H100 PRODUCT(SMALL, "1", "15") ADDED PRODUCT(SMALL, "3", "15") END, "" },
	{ "inputs of other sizes", THREE(SMALL, "[64,2048],[2048,1024]", SMALL, "15"), "" },
	{ "slow ones gain little as one, but each could be fast",
	  THREE("[4096,4096],[4096,1024]", "[4096,4096],[4096,1024]", "[4096,4096],[4096,1024]",
		"95"),
	  "warning 124.8 medium\n"
	  "aten::mm: 0.28 ms per step (3 times), where good kernels take about 60 % of it" },
	{ "large ones gain little as one",
	  THREE("[8192,4096],[4096,1024]", "[8192,4096],[4096,1024]", "[8192,4096],[4096,1024]",
		"98"),
	  "" },
	{ "sizes are not recorded",
	  H100 EVENT("cpu_op", "aten::mm", "1", "1", "7", "") KERNEL(NVJET, "1", "2", "100", "550")
		  END,
	  "" },
	{ "no device", "note ProfilerStep#1 1 0 +1000; op aten::mm 1 0 +10", "" },
	{ "nothing", "[]", "" },
};

RULE_TESTS("slow-products", cases, cases[0].trace)
