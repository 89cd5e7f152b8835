/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule unfused-chain. Three operators on tensors of 64 MB: 2, 3 and 2 tensors moved; as one
 * kernel 3 of 7.
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
#define SIZE "[8192,4096]"
#define GELU(ts) OP("aten::gelu", ts, SIZE, "\"c10::BFloat16\"", "\"\"")
#define MUL(ts) \
	OP("aten::mul", ts, SIZE "," SIZE, "\"c10::BFloat16\",\"c10::BFloat16\"", "\"\",\"\"")
#define TANH(ts, size) OP("aten::tanh", ts, size, "\"c10::BFloat16\"", "\"\"")
#define THREE(size)                            \
	GELU("1")                              \
	KERNEL("gelu", "1", "2", "100", "70")  \
	MUL("11")                              \
	KERNEL("mul", "2", "12", "170", "105") \
	TANH("21", size) KERNEL("tanh", "3", "22", "275", "70")

/* An optimizer: 33.5 million numbers in two tensors, 268 MB a pass. */
#define LIST "[[4096,4096],[4096,4096]]"
#define FOREACH(name, ts, lists) OP(name, ts, lists, "\"TensorList\",\"TensorList\"", "\"\",\"\"")
#define MULTI(functor) \
	"at::native::multi_tensor_apply_kernel<M<2>, at::native::" functor "<float, 1>>"

static const struct rule_case cases[] = {
	/* 3, 2 and 3 passes, of which four need not be; the first has two kernels */
	{ "an optimizer in passes over lists",
	  H100 FOREACH("aten::_foreach_lerp_", "1",
		       LIST "," LIST) KERNEL(MULTI("TernaryOpListFunctor"), "1", "2", "100", "60")
		  KERNEL(MULTI("TernaryOpListFunctor"), "4", "3", "160", "60")
			  FOREACH("aten::_foreach_sqrt", "11", LIST)
				  KERNEL(MULTI("UnaryOpFunctor"), "2", "12", "220", "80")
					  FOREACH("aten::_foreach_add_", "21", LIST "," LIST)
						  KERNEL(MULTI("BinaryOpListAlphaFunctor"), "3",
							 "22", "300", "120") END,
	  "warning 160.0 low\n"
	  "aten::_foreach_add_ beside others of its size: 0.12 ms per step (once)\n"
	  "aten::_foreach_lerp_ beside others of its size: 0.12 ms per step (2 times)\n"
	  "aten::_foreach_sqrt beside others of its size: 0.08 ms per step (once)" },
	{ "the two kernels of one operator",
	  H100 FOREACH("aten::_foreach_mul_", "1", LIST)
		  KERNEL(MULTI("UnaryOpFunctor"), "1", "2", "100", "60")
			  KERNEL(MULTI("UnaryOpFunctor"), "2", "3", "160", "60") END,
	  "" },
	{ "a norm of gradients, and what clips them",
	  H100 FOREACH("aten::_foreach_norm", "1", LIST)
		  KERNEL(MULTI("LpNormFunctor"), "1", "2", "100", "50")
			  FOREACH("aten::_foreach_mul_", "11", LIST)
				  KERNEL(MULTI("UnaryOpFunctor"), "2", "12", "150", "90") END,
	  "" },
	{ "lists of other sizes",
	  H100 FOREACH("aten::_foreach_mul_", "1", LIST)
		  KERNEL(MULTI("UnaryOpFunctor"), "1", "2", "100", "60")
			  FOREACH("aten::_foreach_mul_", "11", "[[4096,512]]")
				  KERNEL(MULTI("UnaryOpFunctor"), "2", "12", "160", "20") END,
	  "" },
	{ "three in a row", H100 THREE(SIZE) END,
	  "warning 140.0 low\naten::mul beside others of its size: 0.10 ms per step (once)\n"
	  "aten::gelu beside others of its size: 0.07 ms per step (once)\n"
	  "aten::tanh beside others of its size: 0.07 ms per step (once)" },
	{ "one alone", H100 GELU("1") KERNEL("gelu", "1", "2", "100", "70") END, "" },
	{ "of another size",
	  H100 GELU("1") KERNEL("gelu", "1", "2", "100", "70") TANH("11", "[8192,1024]")
		  KERNEL("tanh", "2", "12", "170", "20") END,
	  "" },
	/* as pieces of a norm: 2, 1 and 3 tensors moved, of which the first two need not be */
	{ "a reduction, and a short kernel between",
	  H100 GELU("1") KERNEL("gelu", "1", "2", "100", "70")
		  OP("aten::mean", "11", SIZE, "\"c10::BFloat16\"", "\"\"")
			  KERNEL("mean", "2", "12", "170", "35")
				  OP("aten::rsqrt", "21", "[8192,1]", "\"c10::BFloat16\"", "\"\"")
					  KERNEL("rsqrt", "3", "22", "205", "3") MUL("31")
						  KERNEL("mul", "4", "32", "208", "105") END,
	  "info 70.0 low\naten::mul beside others of its size: 0.10 ms per step (once)\n"
	  "aten::gelu beside others of its size: 0.07 ms per step (once)\n"
	  "aten::mean beside others of its size: 0.04 ms per step (once)" },
	{ "a product between",
	  H100 GELU("1") KERNEL("gelu", "1", "2", "100", "70")
		  OP("aten::mm", "11", "[8,8],[8,8]", "\"c10::BFloat16\",\"c10::BFloat16\"",
		     "\"\",\"\"") KERNEL("gemm", "2", "12", "170", "3") TANH("21", SIZE)
			  KERNEL("tanh", "3", "22", "173", "70") END,
	  "" },
	{ "nothing", "[]", "" },
};

RULE_TESTS("unfused-chain", cases, cases[0].trace)
