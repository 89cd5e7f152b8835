/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule tf32-products. A kernel of 300 us and one of 100 us that is no product.
 */
#include "support/busy_gpu.h"

#define RUN(name)                                    \
	BUSY_H100                                    \
	BUSY_OP("aten::addmm", "1", "", "")          \
	BUSY_KERNEL(name, "1", "2", "100", "300")    \
	BUSY_OP("aten::gelu", "11", "", "")          \
	BUSY_KERNEL("gelu", "2", "12", "400", "100") \
	BUSY_END

static const struct rule_case cases[] = {
	{ "its name says so", RUN("sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n"),
	  "warning 150.0 medium\nsm80_xmma_gemm_f32f32_tf32f32_f32_tn_n computes in TF32: "
	  "0.30 ms per step (once)" },
	{ "its instruction says so", RUN("cutlass_80_tensorop_s1688gemm_256x64_16x4_nn_align4"),
	  "warning 150.0 medium\ncutlass_80_tensorop_s1688gemm_256x64_16x4_nn_align4 computes in "
	  "TF32: 0.30 ms per step (once)" },
	{ "the instruction with another type", RUN("cutlass_75_tensorop_f16_s1688gemm_f16_128x128"),
	  "" },
	{ "bf16", RUN("ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_tn"), "" },
	{ "FP32 without tensor cores", RUN("ampere_sgemm_128x64_tn"), "" },
	{ "nothing", "[]", "" },
};

RULE_TESTS("tf32-products", cases, cases[0].trace)
