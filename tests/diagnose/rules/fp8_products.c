/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule fp8-products. A product of 8,192^3 in 1,500 us and an operator of 100 us.
 *
 * By hand: 1.1 TFLOP take 1,389 us at 80 % of 989.4 TFLOP/s, with 10 us of latency 1,399. In FP8
 * they take 772 us at 72 % of 1,978.9, and 137 us to convert 134 million numbers of 3 bytes at 88
 * % of 3,352 GB/s: 919 us, 66 %.
 */
#include "support/busy_gpu.h"

#define PRODUCT(dims, type) \
	BUSY_OP("aten::mm", "1", dims, type) BUSY_KERNEL("gemm_bf16", "1", "2", "100", "1500")
#define OTHER                                                            \
	BUSY_OP("aten::gelu", "11", "[8192, 8192]", "\"c10::BFloat16\"") \
	BUSY_KERNEL("gelu", "2", "12", "1600", "100") BUSY_END
#define SQUARE "[8192, 8192], [8192, 8192]"
#define BF16 "\"c10::BFloat16\", \"c10::BFloat16\""
#define A100                                                                                     \
	"{\"deviceProperties\":[{\"id\":0,\"name\":\"NVIDIA A100-SXM4-80GB\",\"warpSize\":32}]," \
	"\"traceEvents\":[" BUSY_EVENT("user_annotation", "ProfilerStep#1", "1", "0", "60", "")

static const struct rule_case cases[] = {
	{ "a large product", BUSY_H100 PRODUCT(SQUARE, BF16) OTHER,
	  "info 0.0 medium\naten::mm computes in half precision: 1.50 ms per step (once)\n"
	  "FP8, with its conversions, would take about 70 % of that" },
	{ "no FP8", A100 PRODUCT(SQUARE, BF16) OTHER, "" },
	{ "odd sizes", BUSY_H100 PRODUCT("[8192, 8190], [8190, 8192]", BF16) OTHER, "" },
	{ "memory limits it", BUSY_H100 PRODUCT("[16, 8192], [8192, 8192]", BF16) OTHER, "" },
	{ "FP32", BUSY_H100 PRODUCT(SQUARE, "\"float\", \"float\"") OTHER, "" },
	{ "nothing", "[]", "" },
};

RULE_TESTS("fp8-products", cases, cases[0].trace)
