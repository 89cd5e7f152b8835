/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule no-tensor-cores. One step with one kernel of 400 us that starts at 10 us, on an
 * A100: 19.5 TFLOP/s in FP32, 312 in bf16, 2,039 GB/s.
 *
 * Products of 1950 x 1000 x 1000 have 3.9 GFLOP: 200 us at the peak of FP32, so the kernel
 * reaches half of it; at half of the peak of bf16 it takes 25 us, and the step 375 us less.
 */
#include "support/rule_cases.h"

#define EVENT(cat, name, tid, ts, dur, args)                                             \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":0,\"tid\":" tid \
	",\"ts\":" ts ",\"dur\":" dur ",\"args\":{" args "}},"
#define DEVICE(name, major, minor, warp)                                                 \
	"{\"deviceProperties\":[{\"id\":0,\"name\":\"" name "\",\"computeMajor\":" major \
	",\"computeMinor\":" minor ",\"warpSize\":" warp                                 \
	"}],\"traceEvents\":[" EVENT("user_annotation", "ProfilerStep#1", "1", "0", "20", "")
#define UNNAMED "{\"traceEvents\":[" EVENT("user_annotation", "ProfilerStep#1", "1", "0", "20", "")
#define A100 DEVICE("NVIDIA A100-SXM4-80GB", "8", "0", "32")
#define END "{\"ph\":\"M\",\"name\":\"end\"}]}"

#define SIZES(type, dims)                                                             \
	"\"Input Dims\":[" dims "],\"Input type\":[\"" type "\",\"" type "\",\"" type \
	"\"],\"Concrete Inputs\":[\"\",\"\",\"\"]"
#define OP(name, args) EVENT("cpu_op", name, "1", "1", "7", args)
#define MM(type) OP("aten::mm", SIZES(type, "[1950,1000],[1000,1000]"))
#define KERNEL_AT(name, id, call, ts, dur)                                               \
	EVENT("cuda_runtime", "cudaLaunchKernel", "1", call, "1", "\"correlation\":" id) \
	EVENT("kernel", name, "7", ts, dur, "\"device\":0,\"stream\":7,\"correlation\":" id)
#define KERNEL(name) KERNEL_AT(name, "1", "2", "10", "400")

#define SGEMM "ampere_sgemm_128x64_tn"
#define FFMA "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8_stage3_ffma_aligna4"
#define TILE "Cijk_Ailk_Bljk_SB_MT128x64x16_SN_1LDSB0"

static const struct rule_case cases[] = {
	{ "a product in FP32 on vector units", A100 MM("float") KERNEL(SGEMM) END,
	  "warning 375.0 medium\naten::mm computes in FP32: 0.40 ms per step (once)" },
	{ "xmma kernels that say ffma are vector units, too", A100 MM("float") KERNEL(FFMA) END,
	  "warning 375.0 medium\naten::mm computes in FP32: 0.40 ms per step (once)" },
	/* 4 bytes of 8 million numbers: bound by memory, of which half is left */
	{ "what memory holds up becomes twice as fast",
	  A100 OP("aten::mm", SIZES("float", "[1000000,4],[4,4]")) KERNEL(SGEMM) END,
	  "warning 200.0 medium\naten::mm computes in FP32: 0.40 ms per step (once)" },
	/* 3.9 GFLOP in 39 us are 100 TFLOP/s, and no product is faster than that here */
	{ "the trace's own products in bf16 are what can be reached",
	  A100 MM("float") KERNEL(SGEMM) EVENT("cpu_op", "aten::mm", "1", "8.1", "0.8",
					       SIZES("c10::BFloat16", "[1950,1000],[1000,1000]"))
		  KERNEL_AT("ampere_bf16_s16816gemm_bf16", "2", "8.2", "411", "39") END,
	  "warning 361.0 high\naten::mm computes in FP32: 0.40 ms per step (once)" },
	/* 375 us of the product, and half of 100 us */
	{ "activations behind products take their type",
	  A100 MM("float") KERNEL(SGEMM)
		  EVENT("cpu_op", "aten::relu", "1", "9", "5", SIZES("float", "[1950,1000]"))
			  KERNEL_AT("elementwise", "2", "10", "411", "100") END,
	  "warning 425.0 medium\n"
	  "aten::mm computes in FP32: 0.40 ms per step (once)\n"
	  "aten::relu moves results in FP32, twice the bytes of half precision: 0.10 ms per "
	  "step (once)" },
	{ "what is added elsewhere may be wanted in FP32",
	  A100 MM("float") KERNEL(SGEMM) EVENT("cpu_op", "aten::add", "1", "9", "5",
					       SIZES("float", "[1950,1000],[1950,1000]"))
		  KERNEL_AT("elementwise", "2", "10", "411", "100") END,
	  "warning 375.0 medium\naten::mm computes in FP32: 0.40 ms per step (once)" },
	/* as long as that in bf16: 10 us of 400 */
	{ "attention as in bf16, where FLOPs are not known",
	  A100 OP("aten::_efficient_attention_forward",
		  SIZES("float", "[4,64,8,64],[4,64,8,64],[4,64,8,64]")) KERNEL("fmha_cutlassF_f32")
		  EVENT("cpu_op", "aten::_flash_attention_forward", "1", "8.1", "0.8",
			SIZES("c10::BFloat16", "[4,64,8,64],[4,64,8,64],[4,64,8,64]"))
			  KERNEL_AT("flash_fwd_kernel", "2", "8.2", "411", "10") END,
	  "warning 390.0 medium\n"
	  "aten::_efficient_attention_forward computes in FP32: 0.40 ms per step (once)" },
	{ "without products in FP32 they are wanted so",
	  A100 MM("c10::Half") KERNEL("ampere_fp16_s16816gemm_fp16")
		  EVENT("cpu_op", "aten::relu", "1", "9", "5", SIZES("float", "[1950,1000]"))
			  KERNEL_AT("elementwise", "2", "10", "411", "100") END,
	  "" },
	/* 19.5 of 312 */
	{ "attention in FP32, of which it is not recorded what is masked",
	  A100 OP("aten::_efficient_attention_forward",
		  SIZES("float", "[4,2048,16,128],[4,2048,16,128],[4,2048,16,128]"))
		  KERNEL("fmha_cutlassF_f32_aligned_64x64_rf_sm80") END,
	  "warning 375.0 medium\n"
	  "aten::_efficient_attention_forward computes in FP32: 0.40 ms per step (once)" },
	{ "without sizes: four times as fast, as the kernel's name says FP32",
	  DEVICE("Tesla V100-SXM2-16GB", "7", "0", "32") OP("aten::mm", "")
		  KERNEL("volta_sgemm_128x64_tn") END,
	  "warning 300.0 low\nvolta_sgemm_128x64_tn computes in FP32: 0.40 ms per step (once)" },
	{ "without operators: the same",
	  A100 KERNEL("cudnn_infer_volta_scudnn_128x64_relu_medium_nn_v1") END,
	  "warning 300.0 low\n"
	  "cudnn_infer_volta_scudnn_128x64_relu_medium_nn_v1 computes in FP32: 0.40 ms per step "
	  "(once)" },
	{ "a device that is in no table",
	  DEVICE("NVIDIA Next", "13", "0", "32") MM("float") KERNEL(SGEMM) END,
	  "warning 300.0 low\naten::mm computes in FP32: 0.40 ms per step (once)" },
	{ "AMD without matrix instructions",
	  DEVICE("AMD Instinct MI300X", "9", "4", "64") KERNEL(TILE) END,
	  "warning 300.0 low\n" TILE " computes in FP32: 0.40 ms per step (once)" },
	{ "AMD with them",
	  DEVICE("AMD Instinct MI300X", "9", "4", "64") KERNEL(TILE "_MI16x16x1") END, "" },
	{ "an AMD device that may have none",
	  DEVICE("AMD Radeon VII", "9", "0", "64") KERNEL(TILE) END, "" },
	{ "TF32 is on",
	  A100 MM("float") KERNEL("cutlass_80_tensorop_s1688gemm_64x64_32x6_tn_align4") END, "" },
	{ "half types", A100 MM("c10::Half") KERNEL("ampere_fp16_sgemm_fp16_32x128_tn") END, "" },
	{ "half types, told by the kernel's name alone",
	  A100 KERNEL("ampere_fp16_sgemm_fp16_32x128_tn") END, "" },
	{ "double precision is wanted", A100 MM("double") KERNEL("ampere_dgemm_64x64_tn") END, "" },
	{ "no tensor cores in the device",
	  DEVICE("Tesla P100-SXM2-16GB", "6", "0", "32") MM("float")
		  KERNEL("maxwell_sgemm_128x64_tn") END,
	  "" },
	{ "the device is not recorded, but its kernels are for tensor cores or newer",
	  UNNAMED MM("float") KERNEL(SGEMM) END,
	  "warning 300.0 low\naten::mm computes in FP32: 0.40 ms per step (once)" },
	{ "the same without sizes", UNNAMED KERNEL("volta_scudnn_128x64_relu_interior_nn_v1") END,
	  "warning 300.0 low\n"
	  "volta_scudnn_128x64_relu_interior_nn_v1 computes in FP32: 0.40 ms per step (once)" },
	{ "the device is not recorded, and its kernels run on older ones, too",
	  UNNAMED MM("float") KERNEL("maxwell_sgemm_128x64_tn") END, "" },
	{ "the device is not recorded, and kernels are AMD's", UNNAMED KERNEL(TILE) END, "" },
	{ "no kernel is shorter than 5 us",
	  A100 MM("float") KERNEL_AT(SGEMM, "1", "2", "10", "5") END, "silent" },
	{ "other kernels",
	  A100 OP("aten::add", SIZES("float", "[1950,1000],[1000,1000]"))
		  KERNEL("vectorized_elementwise_kernel") END,
	  "" },
	{ "no device", "note ProfilerStep#1 1 0 +1000; op aten::mm 1 0 +10", "" },
	{ "nothing", "[]", "" },
};

RULE_TESTS("no-tensor-cores", cases, cases[0].trace)
