/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule undone-copies. Steps of 1,000 us with copies of 50 us, one after the other.
 */
#include "support/rule_cases.h"

/* aten::to that copies, at `at`. */
#define CAST(n, at)                                                                            \
	"op aten::to 1 " n at " +50; op aten::_to_copy 1 " n at " +49; op aten::copy_ 1 " n at \
	" +48;"
#define LAYOUT(n, at)                                                        \
	"op aten::contiguous 1 " n at " +50; op aten::clone 1 " n at " +49;" \
	"op aten::copy_ 1 " n at " +48;"
#define LAYER(n, at) "op aten::linear 1 " n at " +40;"
#define STEP(n, more) "note ProfilerStep#" n " 1 " n "000 +1000;" more
#define BACK_AND_FORTH(n)                                                                   \
	STEP(n, CAST(n, "100") CAST(n, "151") LAYER(n, "210") CAST(n, "300") CAST(n, "351") \
			LAYER(n, "410") CAST(n, "500") CAST(n, "551") LAYER(n, "610"))
#define TRANSPOSED(n)                                                                     \
	STEP(n, LAYOUT(n, "100") "op aten::transpose 1 " n "151 +2;" LAYOUT(n, "155")     \
			LAYER(n, "210") LAYOUT(n, "300") LAYOUT(n, "351") LAYER(n, "410") \
				LAYOUT(n, "500") LAYOUT(n, "551") LAYER(n, "610"))
#define ONCE(n) \
	STEP(n, CAST(n, "100") LAYER(n, "210") CAST(n, "300") LAYER(n, "410") CAST(n, "500"))
#define THREE(n)                                                                            \
	STEP(n, CAST(n, "100") CAST(n, "151") CAST(n, "202") LAYER(n, "260") CAST(n, "300") \
			CAST(n, "351") CAST(n, "402") LAYER(n, "460") CAST(n, "500")        \
				CAST(n, "551") CAST(n, "602") LAYER(n, "660"))
#define IN_LAYERS(n)                                                                             \
	STEP(n, "op aten::linear 1 " n "090 +200;" CAST(n, "100")                                \
			CAST(n, "151") "op aten::linear 1 " n "290 +200;" CAST(n, "300")         \
				CAST(n, "351") "op aten::linear 1 " n "490 +200;" CAST(n, "500") \
					CAST(n, "551"))
#define NOTHING_TO_DO(n)                                                                        \
	STEP(n, "op aten::to 1 " n "100 +50; op aten::to 1 " n "151 +50; op aten::to 1 " n      \
		"300 +50; op aten::to 1 " n "351 +50; op aten::to 1 " n "400 +50; op aten::to " \
		"1 " n "451 +50;")

/* With a GPU: types and sizes are recorded, or not, and each copy has a kernel. */
#define ROW(cat, name, at, dur, args)                                                            \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":1,\"tid\":1,\"ts\":" at \
	",\"dur\":" dur ",\"args\":{" args "}},"
#define TYPES(to, from) \
	"\"Input Dims\":[[64,64],[64,64],[]],\"Input type\":[\"" to "\",\"" from "\",\"Scalar\"]"
#define GPU_CAST(n, at, kernel_at, args)                                                           \
	ROW("cpu_op", "aten::to", at "0", "9", "")                                                 \
	ROW("cpu_op", "aten::_to_copy", at "1", "8", "")                                           \
	ROW("cpu_op", "aten::copy_", at "2", "7", args)                                            \
	ROW("cuda_runtime", "cudaLaunchKernel", at "3", "5", "\"correlation\":" n)                 \
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"copy\",\"pid\":0,\"tid\":7,\"ts\":" kernel_at \
	",\"dur\":400,\"args\":{\"device\":0,\"stream\":7,\"correlation\":" n "}},"
#define GPU_STEP(n, there, back)                                      \
	ROW("user_annotation", "ProfilerStep#" n, n "000", "100", "") \
	GPU_CAST(n "1", n "01", n "020", there)                       \
	GPU_CAST(n "2", n "03", n "430", back)
#define GPU_JOB(there, back) \
	"{\"traceEvents\":[" GPU_STEP("1", there, back) GPU_STEP("2", there, back) "{}]}"

/* With a GPU, without sizes: kernels say the types, grids the sizes. */
#define WIDENS \
	"void k<4, at::native::bfloat16tofloat32_copy_kernel_cuda(at::TensorIteratorBase&)>(int)"
#define NARROWS                                                                                   \
	"void k<4, at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda(float" \
	")#1}>(int)"
#define NAMED_CAST(n, at, kernel_at, name, grid)                                   \
	ROW("cpu_op", "aten::to", at "0", "9", "")                                 \
	ROW("cpu_op", "aten::_to_copy", at "1", "8", "")                           \
	ROW("cpu_op", "aten::copy_", at "2", "7", "")                              \
	ROW("cuda_runtime", "cudaLaunchKernel", at "3", "5", "\"correlation\":" n) \
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"" name                        \
	"\",\"pid\":0,\"tid\":7,\"ts\":" kernel_at                                 \
	",\"dur\":90,\"args\":{\"device\":0,\"stream\":7,\"grid\":[" grid          \
	",1,1],\"block\":[128,1,1],\"correlation\":" n "}},"
#define NAMED_STEP(n, there, back, grid)                               \
	ROW("user_annotation", "ProfilerStep#" n, n "000", "110", "")  \
	ROW("cpu_op", "CheckpointFunctionBackward", n "050", "55", "") \
	NAMED_CAST(n "1", n "01", n "100", there, "512")               \
	NAMED_CAST(n "2", n "02", n "200", back, grid)                 \
	NAMED_CAST(n "3", n "03", n "300", there, "512")               \
	NAMED_CAST(n "4", n "04", n "400", back, grid)                 \
	NAMED_CAST(n "5", n "06", n "500", there, "512")               \
	NAMED_CAST(n "6", n "07", n "600", back, grid)
#define NAMED_JOB(there, back, grid) "{\"traceEvents\":[" NAMED_STEP("1", there, back, grid) "{}]}"

static const struct rule_case cases[] = {
	{ "casts back and forth", BACK_AND_FORTH("1") BACK_AND_FORTH("2"),
	  "warning 300.0 medium\n"
	  "a tensor is cast or copied and then back 3 times per step, with no computation in "
	  "between: 0.30 ms\n"
	  "aten::to copies 6 times per step: 0.30 ms" },
	{ "transposed and copied twice", TRANSPOSED("1") TRANSPOSED("2"),
	  "warning 300.0 medium\n"
	  "a tensor is cast or copied and then back 3 times per step, with no computation in "
	  "between: 0.30 ms\n"
	  "aten::contiguous copies 6 times per step: 0.30 ms" },
	{ "something is computed in between", ONCE("1") ONCE("2"), "" },
	{ "q, k and v", THREE("1") THREE("2"), "" },
	{ "casts of the operator's own", IN_LAYERS("1") IN_LAYERS("2"), "" },
	{ "nothing to do: it had the type", NOTHING_TO_DO("1") NOTHING_TO_DO("2"), "" },
	{ "on a GPU, with types", GPU_JOB(TYPES("float", "c10::Half"), TYPES("c10::Half", "float")),
	  "warning 339.7 high\n"
	  "a tensor is cast or copied and then back once per step, with no computation in "
	  "between: 0.80 ms\n"
	  "aten::copy_ copies 2 times per step: 0.80 ms" },
	{ "on a GPU, types and sizes by kernels; a pair in a layer that runs again",
	  NAMED_JOB(WIDENS, NARROWS, "512"),
	  "warning 543.0 medium\n"
	  "a tensor is cast or copied and then back 3 times per step, with no computation in "
	  "between: 0.54 ms\n"
	  "aten::copy_ copies 6 times per step: 0.54 ms" },
	{ "by kernels, tensors of two sizes", NAMED_JOB(WIDENS, NARROWS, "256"), "" },
	{ "by kernels, the same way twice", NAMED_JOB(WIDENS, WIDENS, "512"), "" },
	{ "kernels that do not say the types", NAMED_JOB("copy", "copy", "512"), "" },
	{ "on a GPU, to a third type",
	  GPU_JOB(TYPES("float", "c10::Half"), TYPES("double", "float")), "" },
	{ "on a GPU, without types", GPU_JOB("", ""), "" },
	{ "nothing", "[]", "" },
};

RULE_TESTS("undone-copies", cases, cases[0].trace)
