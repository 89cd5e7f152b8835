/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule float64-work. A product of 300 us, and an operator of 100 us in float64.
 */
#include "support/busy_gpu.h"

#define MM(type) BUSY_OP("aten::mm", "1", "[4096,4096],[4096,4096]", type "," type)
#define MUL(type) BUSY_OP("aten::mul", "11", "[4096,4096],[4096,4096]", type "," type)
#define BOTH                                        \
	BUSY_KERNEL("gemm", "1", "2", "100", "300") \
	MUL("\"double\"")                           \
	BUSY_KERNEL("mul", "2", "12", "400", "100")

static const struct rule_case cases[] = {
	{ "beside a product in bf16", BUSY_H100 MM("\"c10::BFloat16\"") BOTH BUSY_END,
	  "warning 50.0 medium\naten::mul computes in float64: 0.10 ms per step (once)" },
	{ "the product is in float64, too", BUSY_H100 MM("\"double\"") BOTH BUSY_END, "" },
	{ "no product",
	  BUSY_H100 MUL("\"double\"") BUSY_KERNEL("mul", "2", "12", "400", "100") BUSY_END, "" },
	{ "in FP32",
	  BUSY_H100 MM("\"float\"") BUSY_KERNEL("gemm", "1", "2", "100", "300") MUL("\"float\"")
		  BUSY_KERNEL("mul", "2", "12", "400", "100") BUSY_END,
	  "" },
	{ "types are not recorded",
	  BUSY_H100 MM("\"\"") BUSY_KERNEL("gemm", "1", "2", "100", "300") BUSY_END, "" },
	{ "nothing", "[]", "" },
};

RULE_TESTS("float64-work", cases, cases[0].trace)
