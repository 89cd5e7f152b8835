/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule attention-not-fused. One step of kernels that follow each other without gaps, all
 * launched in the first 100 us: the step shrinks by the kernels that disappear.
 */
#include "support/rule_cases.h"

#define STEP "note ProfilerStep#1 1 0 +100;"
/* An operator of thread 1 at `at` with a kernel from `start` on. */
#define OP_OF(thread, name, n, at, start, dur)                                             \
	"op " name " " thread " " at " +5; call cudaLaunchKernel " thread " " at " +2 #" n \
	";kernel k" n " 7 " start " +" dur " #" n ";"
#define OP(name, n, at, start, dur) OP_OF("1", name, n, at, start, dur)

#define BMM(n, at, start) OP("aten::bmm", n, at, start, "100")
#define SDPA "op aten::scaled_dot_product_attention 1 5 +80;"
#define SLOW_PATH "op aten::_scaled_dot_product_attention_math 1 6 +70;"
#define FUSED(n, at, start) OP("aten::_flash_attention_forward", n, at, start, "100")

#define SAID(op, ms) op " between the two matmuls of attention: " ms " per step (once)"

static const struct rule_case cases[] = {
	{ "scale and softmax between two products",
	  STEP OP("aten::bmm", "1", "10", "100", "100") OP("aten::mul", "2", "20", "200", "100")
		  OP("aten::_softmax", "3", "30", "300", "200")
			  OP("aten::bmm", "4", "40", "500", "100"),
	  "warning 300.0 medium\n" SAID("aten::_softmax", "0.20 ms") "\n" SAID("aten::mul",
									       "0.10 ms") },
	{ "the slow path of PyTorch's own attention, with a mask",
	  STEP SDPA SLOW_PATH BMM("1", "10", "100") OP("aten::add_", "2", "20", "200", "100")
		  OP("aten::_softmax", "3", "30", "300", "200") BMM("4", "40", "500"),
	  "warning 300.0 medium\n" SAID("aten::_softmax", "0.20 ms") "\n" SAID("aten::add_",
									       "0.10 ms") },
	{ "in a range with that name",
	  STEP "op attention 1 5 +80;" BMM("1", "10", "100")
		  OP("aten::mul", "2", "20", "200", "100")
			  OP("aten::_softmax", "3", "30", "300", "200") BMM("4", "40", "500"),
	  "warning 300.0 medium\n" SAID("aten::_softmax", "0.20 ms") "\n" SAID("aten::mul",
									       "0.10 ms") },
	{ "fused attention between products of something else",
	  STEP BMM("1", "10", "100") FUSED("2", "20", "200")
		  OP("aten::_softmax", "3", "30", "300", "100") BMM("4", "40", "400"),
	  "" },
	{ "the slow path without a second product",
	  STEP SDPA SLOW_PATH BMM("1", "10", "100") OP("aten::add_", "2", "20", "200", "100")
		  OP("aten::_softmax", "3", "30", "300", "200"),
	  "" },
	{ "backward",
	  STEP OP("aten::bmm", "1", "10", "100", "100")
		  OP("aten::_softmax_backward_data", "2", "20", "200", "100")
			  OP("aten::baddbmm", "3", "30", "300", "200"),
	  "warning 100.0 medium\n" SAID("aten::_softmax_backward_data", "0.10 ms") },
	{ "the softmax of another library",
	  STEP OP("aten::bmm", "1", "10", "100", "100")
		  OP("ScaledUpperTriangMaskedSoftmax", "2", "20", "200", "100")
			  OP("aten::bmm", "3", "30", "300", "200"),
	  "warning 100.0 medium\n" SAID("ScaledUpperTriangMaskedSoftmax", "0.10 ms") },
	{ "products without a softmax",
	  STEP OP("aten::bmm", "1", "10", "100", "100") OP("aten::mul", "2", "20", "200", "100")
		  OP("aten::bmm", "3", "30", "300", "200"),
	  "" },
	{ "a softmax at the end of the network",
	  STEP OP("aten::mm", "1", "10", "100", "100") OP("aten::_softmax", "2", "20", "200", "100")
		  OP("aten::mm", "3", "30", "300", "200"),
	  "" },
	{ "a router: a product of weights is between",
	  STEP OP("aten::bmm", "1", "10", "100", "100") OP("aten::mm", "2", "20", "200", "100")
		  OP("aten::_softmax", "3", "30", "300", "100")
			  OP("aten::bmm", "4", "40", "400", "200"),
	  "" },
	{ "a loss is none",
	  STEP OP("aten::bmm", "1", "10", "100", "100")
		  OP("aten::_log_softmax", "2", "20", "200", "100")
			  OP("aten::bmm", "3", "30", "300", "200"),
	  "" },
	{ "fused attention",
	  STEP OP("aten::_flash_attention_forward", "1", "10", "100", "100")
		  OP("aten::mul", "2", "20", "200", "100"),
	  "" },
	{ "the second product is of another thread",
	  STEP OP("aten::bmm", "1", "10", "100", "100")
		  OP("aten::_softmax", "2", "20", "200", "100")
			  OP_OF("2", "aten::bmm", "3", "30", "300", "200"),
	  "" },
	{ "no operators",
	  STEP "call cudaLaunchKernel 1 10 +2 #1; kernel bmm 7 100 +100 #1;"
	       "call cudaLaunchKernel 1 20 +2 #2; kernel softmax 7 200 +100 #2",
	  "" },
	{ "no device", "note ProfilerStep#1 1 0 +1000; op aten::bmm 1 0 +10", "" },
	{ "nothing", "[]", "" },
};

RULE_TESTS("attention-not-fused", cases, cases[0].trace)
