/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule layout-conversion. A convolution of 300 us between two conversions.
 */
#include "support/busy_gpu.h"

#define CONV(ts) BUSY_OP("aten::cudnn_convolution", ts, "", "")
#define TO "void cudnn::ops::nchwToNhwcKernel<float, float>"
#define FROM "void cudnn::ops::nhwcToNchwKernel<float, float>"
#define MAIN "sm80_xmma_fprop_implicit_gemm_bf16_nhwckrsc_nhwc"

static const struct rule_case cases[] = {
	{ "both ways",
	  BUSY_H100 CONV("1") BUSY_KERNEL(TO, "1", "2", "100", "40")
		  BUSY_KERNEL(MAIN, "2", "4", "140", "300") BUSY_KERNEL(FROM, "3", "6", "440", "30")
			  BUSY_END,
	  "warning 68.0 medium\n"
	  "nchwToNhwcKernel<float> converts the layout: 0.04 ms per step (once)\n"
	  "nhwcToNchwKernel<float> converts the layout: 0.03 ms per step (once)" },
	{ "of a library of AMD",
	  BUSY_H100 CONV("1") BUSY_KERNEL("batched_transpose_32x32_half.kd", "1", "2", "100", "30")
		  BUSY_KERNEL(MAIN, "2", "4", "130", "300") BUSY_END,
	  "info 28.0 medium\nbatched_transpose_32x32_half converts the layout: 0.03 ms per step "
	  "(once)" },
	{ "the layout is right",
	  BUSY_H100 CONV("1") BUSY_KERNEL(MAIN, "1", "2", "100", "300") BUSY_END, "" },
	{ "a transpose of something else",
	  BUSY_H100 CONV("1") BUSY_KERNEL("transpose_kernel", "1", "2", "100", "300") BUSY_END,
	  "" },
	{ "nothing", "[]", "" },
};

RULE_TESTS("layout-conversion", cases, cases[0].trace)
