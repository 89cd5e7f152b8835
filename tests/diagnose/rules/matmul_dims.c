/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule matmul-dims. One step with one kernel of 400 us that starts at 10 us; twice as
 * fast makes the step 200 us shorter.
 */
#include "support/rule_cases.h"

#define EVENT(cat, name, tid, ts, dur, args)                                             \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":0,\"tid\":" tid \
	",\"ts\":" ts ",\"dur\":" dur ",\"args\":{" args "}},"
#define DEVICE(name, major)                                                                    \
	"{\"deviceProperties\":[{\"id\":0,\"name\":\"" name "\",\"computeMajor\":" major       \
	",\"computeMinor\":0,\"warpSize\":32}],\"traceEvents\":[" EVENT("user_annotation",     \
									"ProfilerStep#1", "1", \
									"0", "20", "")
#define A100 DEVICE("NVIDIA A100-SXM4-80GB", "8")
#define SIZES(type, dims)                                                \
	"\"Input Dims\":[" dims "],\"Input type\":[\"" type "\",\"" type \
	"\"],\"Concrete Inputs\":[\"\",\"\"]"
#define MM(type, dims) EVENT("cpu_op", "aten::mm", "1", "1", "7", SIZES(type, dims))
#define KERNEL_AT(name, id, call, ts, dur)                                               \
	EVENT("cuda_runtime", "cudaLaunchKernel", "1", call, "1", "\"correlation\":" id) \
	EVENT("kernel", name, "7", ts, dur, "\"device\":0,\"stream\":7,\"correlation\":" id)
#define KERNEL(name) KERNEL_AT(name, "1", "2", "10", "400")
#define END "{\"ph\":\"M\",\"name\":\"end\"}]}"
#define ALIGN1 "cutlass_75_tensorop_bf16_s1688gemm_bf16_256x128_tn_align1"
#define ODD "[1024,1001],[1001,1024]"
#define SAID                                                                         \
	"aten::mm with rows that are not a multiple of 8: 0.40 ms per step (once), " \
	"where good kernels take about "

static const struct rule_case cases[] = {
	{ "odd rows, read one number at a time", A100 MM("c10::BFloat16", ODD) KERNEL(ALIGN1) END,
	  "warning 200.0 low\n" SAID "5 % of it" },
	{ "odd rows, not on tensor cores",
	  A100 MM("c10::Half", ODD) KERNEL("ampere_fp16_sgemm_fp16_32x128_tn") END,
	  "warning 200.0 low\n" SAID "5 % of it" },
	/* 1024^3 x 2 FLOP in 102.4 us; the odd one has 1001/1024 of them: 100.1 us */
	{ "as fast as a product with good sizes",
	  A100 MM("c10::BFloat16",
		  ODD) KERNEL(ALIGN1) EVENT("cpu_op", "aten::mm", "1", "9", "5",
					    SIZES("c10::BFloat16", "[1024,1024],[1024,1024]"))
		  KERNEL_AT("ampere_bf16_s16816gemm_bf16_128x128", "2", "10", "411", "102.4") END,
	  "warning 299.9 medium\n" SAID "5 % of it" },
	/* MI300A's peak, of which 0.54 is reached: 4 us, and 10 us; at most twice as fast */
	{ "kernels of AMD read four numbers at a time, and name the instruction set",
	  "{\"traceEvents\":[" EVENT("user_annotation", "ProfilerStep#1", "1", "0", "20", "")
		  MM("c10::BFloat16", ODD) KERNEL("Cijk_MT256x112x64_GLVWA4_ISA942_") END,
	  "warning 200.0 low\n" SAID "5 % of it" },
	{ "a kernel that is fast all the same",
	  A100 MM("c10::BFloat16", ODD) KERNEL("nvjet_hsh_128x256_64x4") END, "" },
	{ "good sizes", A100 MM("c10::BFloat16", "[1024,1000],[1000,1024]") KERNEL(ALIGN1) END,
	  "" },
	{ "a vector is no matrix",
	  A100 MM("c10::BFloat16", "[1024,1000],[1000,1]") KERNEL(ALIGN1) END, "" },
	{ "FP32 is another rule's",
	  A100 MM("float", ODD) KERNEL("cutlass_80_tensorop_s1688gemm_64x64_32x4_nn_align1") END,
	  "" },
	{ "sizes are not recorded",
	  A100 EVENT("cpu_op", "aten::mm", "1", "1", "7", "") KERNEL(ALIGN1) END, "" },
	{ "short kernels",
	  A100 MM("c10::BFloat16", ODD) KERNEL_AT(ALIGN1, "1", "2", "10", "19") END, "" },
	{ "no tensor cores in the device",
	  DEVICE("Tesla P100-SXM2-16GB", "6") MM("c10::Half", ODD) KERNEL("hgemm") END, "" },
	{ "no device", "note ProfilerStep#1 1 0 +1000; op aten::mm 1 0 +10", "" },
	{ "nothing", "[]", "" },
};

RULE_TESTS("matmul-dims", cases, cases[0].trace)
