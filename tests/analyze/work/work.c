/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What calls compute and move: by hand, from their sizes; and what is not known.
 */
#include "support/support.h"

#include "analyze/work/peaks.h"
#include "analyze/work/work.h"

#define UNKNOWN (-1.0)

struct work_case {
	const char *what;
	const char *name, *dims, *types, *strides, *values; /* JSON; "": not recorded */
	double flops, bytes;
	enum ss_dtype dtype;
};

#define F "\"float\""
#define H "\"c10::Half\""
#define B "\"c10::BFloat16\""
#define F8 "\"c10::Float8_e4m3fn\""
#define S "\"Scalar\""

static const struct work_case matmul_cases[] = {
	{ "mm: 2 m k n, and each matrix once", "aten::mm", "[[2, 3], [3, 5]]", "[" F ", " F "]", "",
	  "[\"\", \"\"]", 60, (6 + 15 + 10) * 4, SS_DTYPE_FP32 },
	{ "without spaces", "aten::mm", "[[2,3],[3,5]]", "[" H "," H "]", "", "", 60, 62,
	  SS_DTYPE_FP16 },
	{ "types not recorded: FLOPs only", "aten::mm", "[[2, 3], [3, 5]]", "", "", "", 60, UNKNOWN,
	  SS_DTYPE_UNKNOWN },
	{ "sizes that do not fit", "aten::mm", "[[2, 3], [4, 5]]", "[" F ", " F "]", "", "",
	  UNKNOWN, UNKNOWN, SS_DTYPE_UNKNOWN },
	{ "complex numbers", "aten::mm", "[[2, 3], [3, 5]]",
	  "[\"c10::complex<float>\", \"c10::complex<float>\"]", "", "", UNKNOWN, UNKNOWN,
	  SS_DTYPE_UNKNOWN },
	{ "nothing in it", "aten::mm", "[[0, 3], [3, 5]]", "[" F ", " F "]", "", "", 0, 60,
	  SS_DTYPE_FP32 },
	{ "mm into another type", "aten::mm", "[[2, 3], [3, 5], []]", "[" B ", " B ", " S "]", "",
	  "[\"\", \"\", \"6\"]", 60, (6 + 15) * 2 + 10 * 4, SS_DTYPE_BF16 },
	{ "addmm: the bias is read, too", "aten::addmm", "[[5], [2, 3], [3, 5], [], []]",
	  "[" F ", " F ", " F ", " S ", " S "]", "", "[\"\", \"\", \"\", \"1\", \"1\"]", 60,
	  (5 + 6 + 15 + 10) * 4, SS_DTYPE_FP32 },
	{ "an expanded bias lies in memory once", "aten::addmm", "[[2, 5], [2, 3], [3, 5]]",
	  "[" F ", " F ", " F "]", "[[0, 1], [3, 1], [5, 1]]", "", 60, (5 + 6 + 15 + 10) * 4,
	  SS_DTYPE_FP32 },
	{ "bmm", "aten::bmm", "[[7, 2, 3], [7, 3, 5]]", "[" F ", " F "]", "", "", 420, 7 * 31 * 4,
	  SS_DTYPE_FP32 },
	{ "bmm of different batches", "aten::bmm", "[[7, 2, 3], [6, 3, 5]]", "[" F ", " F "]", "",
	  "", UNKNOWN, UNKNOWN, SS_DTYPE_UNKNOWN },
	{ "baddbmm", "aten::baddbmm", "[[1, 2, 5], [7, 2, 3], [7, 3, 5]]", "[" F ", " F ", " F "]",
	  "", "", 420, (10 + 7 * 31) * 4, SS_DTYPE_FP32 },
	{ "linear: rows of all batches", "aten::linear", "[[4, 2, 3], [5, 3], [5]]",
	  "[" F ", " F ", " F "]", "", "", 2 * 8 * 3 * 5, (24 + 15 + 5 + 40) * 4, SS_DTYPE_FP32 },
	{ "matmul: batches broadcast", "aten::matmul", "[[4, 1, 2, 3], [6, 3, 5]]",
	  "[" F ", " F "]", "", "", 24 * 60, (24 + 90 + 240) * 4, SS_DTYPE_FP32 },
	{ "matrix and vector", "aten::mv", "[[2, 3], [3]]", "[" F ", " F "]", "", "", 12,
	  (6 + 3 + 2) * 4, SS_DTYPE_FP32 },
	{ "vector and vector", "aten::dot", "[[3], [3]]", "[" F ", " F "]", "", "", 6, 28,
	  SS_DTYPE_FP32 },
	{ "fp8 with a bf16 result", "aten::_scaled_mm",
	  "[[2, 3], [3, 5], [], [], [], [], [], [], []]",
	  "[" F8 ", " F8 ", " F ", " F ", \"\", \"\", " S ", " S ", \"\"]", "",
	  "[\"\", \"\", \"\", \"\", \"\", \"\", \"15\", \"False\", \"\"]", 60, 21 + 20,
	  SS_DTYPE_FP8 },
	{ "groups of rows, a matrix each", "aten::_grouped_mm", "[[20, 3], [4, 3, 5], [4], [], []]",
	  "[" B ", " B ", \"int\", \"\", \"\"]", "", "", 600, (60 + 60 + 100) * 2, SS_DTYPE_BF16 },
	/* three rows, two experts each: six of eight experts have 2 x 4 x 3 + 3 x 4 weights */
	{ "experts: weights of those in use", "vllm::outplace_fused_experts",
	  "[[3, 3], [8, 8, 3], [8, 3, 4], [3, 2], [3, 2]]", "[" B ", " B ", " B ", " F ", \"int\"]",
	  "", "", 2 * 6 * 36.0, (6 * 36 + 18) * 2, SS_DTYPE_BF16 },
	{ "experts: all of them", "vllm::outplace_fused_experts",
	  "[[3, 3], [2, 8, 3], [2, 3, 4], [3, 2], [3, 2]]", "[" B ", " B ", " B ", " F ", \"int\"]",
	  "", "", 2 * 6 * 36.0, (2 * 36 + 18) * 2, SS_DTYPE_BF16 },
	{ "experts of another width", "vllm::outplace_fused_experts",
	  "[[3, 3], [8, 8, 5], [8, 3, 4], [3, 2], [3, 2]]", "[" B ", " B ", " B ", " F ", \"int\"]",
	  "", "", UNKNOWN, UNKNOWN, SS_DTYPE_UNKNOWN },
	{ "other layouts of groups are not known", "aten::_grouped_mm", "[[2, 20], [20, 5], [4]]",
	  "[" B ", " B ", \"int\"]", "", "", UNKNOWN, UNKNOWN, SS_DTYPE_UNKNOWN },
};

#define CONV_TYPES "[" F ", " F ", \"\", \"\", \"\", \"\", \"\", \"\", \"\"]"

static const struct work_case conv_cases[] = {
	{ "stride, padding and dilation set the places", "aten::conv2d",
	  "[[2, 3, 9, 8], [4, 3, 3, 2], [], [], [], [], []]", CONV_TYPES, "",
	  "[\"\", \"\", \"\", \"[2, 1]\", \"[1, 0]\", \"[1, 2]\", \"1\"]",
	  /* places: (9 + 2 - 2 - 1) / 2 + 1 = 5, 8 - 2 = 6 */
	  2.0 * 2 * 4 * 30 * 18, (432 + 72 + 240) * 4, SS_DTYPE_FP32 },
	{ "groups: the weights know", "aten::convolution",
	  "[[1, 8, 10], [8, 1, 3], [], [], [], [], [], [], []]", CONV_TYPES, "",
	  "[\"\", \"\", \"\", \"[1]\", \"[1]\", \"[1]\", \"False\", \"[0]\", \"8\"]", 2.0 * 80 * 3,
	  (80 + 24 + 80) * 4, SS_DTYPE_FP32 },
	{ "transposed: each place of the input", "aten::convolution",
	  "[[1, 4, 5], [4, 3, 2], [], [], [], [], [], [], []]", CONV_TYPES, "",
	  "[\"\", \"\", \"\", \"[2]\", \"[0]\", \"[1]\", \"True\", \"[0]\", \"2\"]", 2.0 * 20 * 6,
	  (20 + 24 + 60) * 4, SS_DTYPE_FP32 },
	{ "cuDNN has the padding first", "aten::cudnn_convolution",
	  "[[1, 1, 6, 6], [1, 1, 3, 3], [], [], [], []]", CONV_TYPES, "",
	  "[\"\", \"\", \"[0, 0]\", \"[3, 3]\", \"[1, 1]\", \"1\"]", 2.0 * 4 * 9, (36 + 9 + 4) * 4,
	  SS_DTYPE_FP32 },
	{ "three dimensions, one stride for all", "aten::conv3d",
	  "[[1, 1, 4, 4, 4], [1, 1, 2, 2, 2], [], [], [], [], []]", CONV_TYPES, "",
	  "[\"\", \"\", \"\", \"[2]\", \"[0]\", \"[1]\", \"1\"]", 2.0 * 8 * 8, (64 + 8 + 8) * 4,
	  SS_DTYPE_FP32 },
	{ "strides not recorded", "aten::conv2d", "[[2, 3, 9, 8], [4, 3, 3, 2], [], [], [], []]",
	  CONV_TYPES, "", "", UNKNOWN, UNKNOWN, SS_DTYPE_UNKNOWN },
	{ "tuples, and names of ScalarType", "aten::conv2d",
	  "[[1, 3, 8, 8], [4, 3, 3, 3], [], [], [], []]", "[\"Float\", \"Float\"]", "",
	  "[\"\", \"\", \"\", \"(1, 1)\", \"(1,1)\", \"(1,1)\"]", 2.0 * 4 * 64 * 27,
	  (192 + 108 + 256) * 4, SS_DTYPE_FP32 },
	{ "a stride of nothing", "aten::conv1d", "[[1, 8, 10], [8, 1, 3], [], [], [], []]",
	  CONV_TYPES, "", "[\"\", \"\", \"\", \"[0]\", \"[1]\", \"[1]\", \"8\"]", UNKNOWN, UNKNOWN,
	  SS_DTYPE_UNKNOWN },
	{ "a filter that does not fit", "aten::conv1d", "[[1, 8, 2], [8, 8, 3], [], [], [], []]",
	  CONV_TYPES, "", "[\"\", \"\", \"\", \"[1]\", \"[0]\", \"[1]\", \"1\"]", UNKNOWN, UNKNOWN,
	  SS_DTYPE_UNKNOWN },
	{ "sizes beyond all reason", "aten::conv1d",
	  "[[1, 8, 9223372036854775807], [8, 8, 3], [], [], [], []]", CONV_TYPES, "",
	  "[\"\", \"\", \"\", \"[1]\", \"[9223372036854775807]\", \"[1]\", \"1\"]", UNKNOWN,
	  UNKNOWN, SS_DTYPE_UNKNOWN },
	{ "backward: both gradients", "aten::convolution_backward",
	  "[[2, 4, 5], [2, 3, 7], [4, 3, 3], [], [], [], [], [], [], [], []]",
	  "[" F ", " F ", " F "]", "",
	  "[\"\", \"\", \"\", \"[4]\", \"[1]\", \"[0]\", \"[1]\", \"False\", \"[0]\", \"1\", "
	  "\"[True, True, False]\"]",
	  2 * 2.0 * 40 * 9, 2 * (40 + 42 + 36) * 4, SS_DTYPE_FP32 },
	{ "backward: that of the weights only", "aten::convolution_backward",
	  "[[2, 4, 5], [2, 3, 7], [4, 3, 3], [], [], [], [], [], [], [], []]",
	  "[" F ", " F ", " F "]", "",
	  "[\"\", \"\", \"\", \"[4]\", \"[1]\", \"[0]\", \"[1]\", \"False\", \"[0]\", \"1\", "
	  "\"[False, True, True]\"]",
	  2.0 * 40 * 9, (40 + 42 + 36) * 4, SS_DTYPE_FP32 },
	{ "backward: which gradients is not recorded; that of an image is not needed",
	  "aten::convolution_backward",
	  "[[2, 4, 5], [2, 3, 7], [4, 3, 3], [], [], [], [], [], [], [], []]",
	  "[" F ", " F ", " F "]", "", "", 2.0 * 40 * 9, (40 + 42 + 36) * 4, SS_DTYPE_FP32 },
	{ "that of another input is", "aten::convolution_backward",
	  "[[2, 4, 5], [2, 8, 7], [4, 8, 3], [], [], [], [], [], [], [], []]",
	  "[" F ", " F ", " F "]", "", "", 2 * 2.0 * 40 * 24, 2 * (40 + 112 + 96) * 4,
	  SS_DTYPE_FP32 },
	{ "a larger result is that of a transposed one", "aten::convolution_backward",
	  "[[2, 4, 7], [2, 8, 5], [8, 4, 3], [], [], [], [], [], [], [], []]",
	  "[" F ", " F ", " F "]", "", "", 2 * 2.0 * 80 * 12, 2 * (56 + 80 + 96) * 4,
	  SS_DTYPE_FP32 },
	{ "a gradient without a size", "aten::convolution_backward",
	  "[[], [2, 8, 7], [4, 8, 3], [], [], [], [], [], [], [], []]", "[" F ", " F ", " F "]", "",
	  "", UNKNOWN, UNKNOWN, SS_DTYPE_UNKNOWN },
};

#define QKV "[[2, 4, 8, 16], [2, 2, 8, 16], [2, 2, 8, 32], [], [], [], []]"
#define QKV_TYPES "[" B ", " B ", " B "]"
#define QKV_BYTES ((2 * 4 * 8 + 2 * 2 * 8) * 48 * 2)

static const struct work_case attention_cases[] = {
	{ "two products; keys of two heads serve four", "aten::_scaled_dot_product_flash_attention",
	  QKV, QKV_TYPES, "", "[\"\", \"\", \"\", \"0.\", \"False\", \"False\", \"0.25\"]",
	  2.0 * 2 * 4 * 64 * 48, QKV_BYTES, SS_DTYPE_BF16 },
	{ "causal: half", "aten::_scaled_dot_product_flash_attention", QKV, QKV_TYPES, "",
	  "[\"\", \"\", \"\", \"0.\", \"True\", \"False\", \"0.25\"]", 2.0 * 2 * 4 * 32 * 48,
	  QKV_BYTES, SS_DTYPE_BF16 },
	{ "causal or not was not recorded", "aten::_scaled_dot_product_flash_attention", QKV,
	  QKV_TYPES, "", "", UNKNOWN, UNKNOWN, SS_DTYPE_UNKNOWN },
	{ "causal with fewer queries than keys", "aten::_scaled_dot_product_flash_attention",
	  "[[2, 4, 1, 16], [2, 4, 8, 16], [2, 4, 8, 16], [], [], [], []]", QKV_TYPES, "",
	  "[\"\", \"\", \"\", \"0.\", \"True\", \"False\", \"0.25\"]", UNKNOWN, UNKNOWN,
	  SS_DTYPE_UNKNOWN },
	{ "heads after the length", "aten::_flash_attention_forward",
	  "[[1, 8, 4, 16], [1, 6, 4, 16], [1, 6, 4, 16], [], [], [], [], [], []]", QKV_TYPES, "",
	  "[\"\", \"\", \"\", \"\", \"\", \"8\", \"6\", \"0.\", \"False\"]", 2.0 * 4 * 48 * 32,
	  (8 + 6) * 4 * 32 * 2, SS_DTYPE_BF16 },
	{ "packed sequences", "aten::_flash_attention_forward",
	  "[[1, 8, 4, 16], [1, 8, 4, 16], [1, 8, 4, 16], [3], [3], [], [], [], []]", QKV_TYPES, "",
	  "[\"\", \"\", \"\", \"\", \"\", \"8\", \"8\", \"0.\", \"False\"]", UNKNOWN, UNKNOWN,
	  SS_DTYPE_UNKNOWN },
	{ "a window", "flash_attn::_flash_attn_forward",
	  "[[1, 8, 4, 16], [1, 8, 4, 16], [1, 8, 4, 16], [], [], [], [], []]", QKV_TYPES, "",
	  "[\"\", \"\", \"\", \"0.\", \"0.25\", \"True\", \"4\", \"0\"]", UNKNOWN, UNKNOWN,
	  SS_DTYPE_UNKNOWN },
	{ "no window", "flash_attn::_flash_attn_forward",
	  "[[1, 8, 4, 16], [1, 8, 4, 16], [1, 8, 4, 16], [], [], [], [], []]", QKV_TYPES, "",
	  "[\"\", \"\", \"\", \"0.\", \"0.25\", \"True\", \"-1\", \"-1\"]", 2.0 * 4 * 32 * 32,
	  2 * 8 * 4 * 32 * 2, SS_DTYPE_BF16 },
	{ "the mask's type counts from the end: 13 operands", "aten::_efficient_attention_forward",
	  "[[1, 8, 4, 16], [1, 8, 4, 16], [1, 8, 4, 16], [], [], [], [], [], [], [], [], [], []]",
	  QKV_TYPES, "",
	  "[\"\", \"\", \"\", \"\", \"\", \"\", \"\", \"0.\", \"1\", \"False\", \"\", \"\", \"\"]",
	  2.0 * 4 * 32 * 32, 2 * 8 * 4 * 32 * 2, SS_DTYPE_BF16 },
	{ "backward: five products", "aten::_flash_attention_backward",
	  "[[1, 8, 4, 16], [1, 8, 4, 16], [1, 8, 4, 16], [1, 8, 4, 16], [1, 8, 4, 16], [], [], "
	  "[], [], [], [], []]",
	  "[" B ", " B ", " B ", " B "]", "",
	  "[\"\", \"\", \"\", \"\", \"\", \"\", \"\", \"\", \"8\", \"8\", \"0.\", \"False\"]",
	  2.0 * 4 * 64 * 80, 4 * 8 * 4 * 32 * 2, SS_DTYPE_BF16 },
};

static const struct work_case memory_cases[] = {
	{ "in and out", "aten::relu", "[[4, 5]]", "[" F "]", "", "", UNKNOWN, 160, SS_DTYPE_FP32 },
	{ "in place", "aten::relu_", "[[4, 5]]", "[" F "]", "", "", UNKNOWN, 160, SS_DTYPE_FP32 },
	{ "broadcast", "aten::add", "[[4, 5], [5], []]", "[" F ", " F ", " S "]", "", "", UNKNOWN,
	  (20 + 5 + 20) * 4, SS_DTYPE_FP32 },
	{ "an expanded operand is read once", "aten::mul", "[[4, 5], [4, 5]]", "[" F ", " F "]",
	  "[[5, 1], [1, 0]]", "", UNKNOWN, (20 + 4 + 20) * 4, SS_DTYPE_FP32 },
	{ "half and single give single", "aten::mul", "[[20], [20]]", "[" H ", " F "]", "", "",
	  UNKNOWN, 40 + 80 + 80, SS_DTYPE_FP32 },
	{ "in place it stays half", "aten::mul_", "[[20], [20]]", "[" H ", " F "]", "", "", UNKNOWN,
	  40 + 80 + 40, SS_DTYPE_FP32 },
	{ "a number of Python changes no type", "aten::mul", "[[20], []]", "[" H ", \"double\"]",
	  "", "", UNKNOWN, 40 + 8 + 40, SS_DTYPE_FP16 },
	{ "comparisons give truths", "aten::gt", "[[20], []]", "[" F ", " S "]", "", "", UNKNOWN,
	  80 + 20, SS_DTYPE_FP32 },
	{ "integers divide to real numbers", "aten::div", "[[20], []]", "[\"long int\", " S "]", "",
	  "", UNKNOWN, 160 + 80, SS_DTYPE_INT64 },
	{ "the target of a result is not read", "aten::add", "[[20], [20], [], [20]]",
	  "[" F ", " F ", " S ", " F "]", "", "", UNKNOWN, 240, SS_DTYPE_FP32 },
	{ "copies read one and write the other", "aten::copy_", "[[4, 5], [4, 5], []]",
	  "[" F ", " H ", " S "]", "", "", UNKNOWN, 80 + 40, SS_DTYPE_FP16 },
	{ "fills write", "aten::fill_", "[[4, 5], []]", "[" F ", " S "]", "", "", UNKNOWN, 80,
	  SS_DTYPE_FP32 },
	{ "sums read", "aten::sum", "[[4, 5], []]", "[" F ", \"ScalarList\"]", "", "", UNKNOWN, 80,
	  SS_DTYPE_FP32 },
	{ "softmax to single", "aten::_softmax", "[[4, 5], [], []]", "[" H ", " S ", " S "]", "",
	  "[\"\", \"-1\", \"True\"]", UNKNOWN, 40 + 80, SS_DTYPE_FP16 },
	{ "layer norm with weights", "aten::native_layer_norm", "[[4, 5], [], [5], [5], []]",
	  "[" F ", \"ScalarList\", " F ", " F ", " S "]", "", "", UNKNOWN, (20 + 5 + 5 + 20) * 4,
	  SS_DTYPE_FP32 },
	{ "sizes that cannot be broadcast", "aten::add", "[[4, 5], [4]]", "[" F ", " F "]", "", "",
	  UNKNOWN, UNKNOWN, SS_DTYPE_UNKNOWN },
	{ "lists of tensors have no types", "aten::cat", "[[[4, 5], [4, 5]], []]",
	  "[\"TensorList\", " S "]", "", "", UNKNOWN, UNKNOWN, SS_DTYPE_UNKNOWN },
	{ "rows by their numbers: read and written", "aten::index_select", "[[9, 5], [], [4]]",
	  "[" F ", " S ", \"long int\"]", "", "[\"\", \"0\", \"\"]", UNKNOWN, 4 * 8 + 2 * 20 * 4,
	  SS_DTYPE_FP32 },
	{ "rows that are added to others: read, and both", "aten::index_add_",
	  "[[9, 5], [], [4], [4, 5], []]", "[" F ", " S ", \"long int\", " F ", " S "]", "", "",
	  UNKNOWN, 4 * 8 + 3 * 20 * 4, SS_DTYPE_FP32 },
	{ "the gradient of an embedding", "aten::embedding_dense_backward",
	  "[[4, 5], [4], [], [], []]", "[" F ", \"long int\", " S ", " S ", " S "]", "", "",
	  UNKNOWN, 4 * 8 + 2 * 20 * 4, SS_DTYPE_FP32 },
	{ "numbers at positions of a list", "aten::_index_put_impl_", "[[9, 5], [], [20], [], []]",
	  "[" F ", \"\", " F ", " S ", " S "]", "", "", UNKNOWN, 2 * 20 * 4, SS_DTYPE_FP32 },
	{ "one number for all positions", "aten::index_put_", "[[9, 5], [], [], []]",
	  "[" F ", \"\", " F ", " S "]", "", "", UNKNOWN, UNKNOWN, SS_DTYPE_UNKNOWN },
	{ "lists of lengths in another order", "fbgemm::permute_2D_sparse_data",
	  "[[2], [2, 5], [30], [], []]", "[\"int\", \"int\", \"int\", \"\", " S "]", "", "",
	  UNKNOWN, 2 * (2 + 10 + 30) * 4, SS_DTYPE_INT32 },
	{ "along no dimension", "aten::index_select", "[[9, 5], [], [4]]",
	  "[" F ", " S ", \"long int\"]", "", "[\"\", \"2\", \"\"]", UNKNOWN, UNKNOWN,
	  SS_DTYPE_UNKNOWN },
	{ "backward of packed attention writes three gradients", "flash_attn_3::bwd",
	  "[[4, 5], [4, 5], [4, 5], [4, 5], [4, 5]]", "[" H ", " H ", " H ", " H ", " H "]", "", "",
	  UNKNOWN, 8 * 40, SS_DTYPE_FP16 },
	{ "a function of Megatron", "ScaledUpperTriangMaskedSoftmax", "[[2, 4, 4]]", "[" H "]", "",
	  "", UNKNOWN, 128, SS_DTYPE_FP16 },
	{ "names of users are no operators", "mm", "[[2, 3], [3, 5]]", "[" F ", " F "]", "", "",
	  UNKNOWN, UNKNOWN, SS_DTYPE_UNKNOWN },
	{ "nor are those of other libraries", "mine::mm", "[[2, 3], [3, 5]]", "[" F ", " F "]", "",
	  "", UNKNOWN, UNKNOWN, SS_DTYPE_UNKNOWN },
	{ "names that only begin like one", "aten::mms", "[[2, 3], [3, 5]]", "[" F ", " F "]", "",
	  "", UNKNOWN, UNKNOWN, SS_DTYPE_UNKNOWN },
};

#define JUNK(what, dims)                                                            \
	{                                                                           \
		what, "aten::mm", dims, "[" F ", " F "]", "", "", UNKNOWN, UNKNOWN, \
			SS_DTYPE_UNKNOWN                                            \
	}

static const struct work_case junk_cases[] = {
	JUNK("no list", "5"),
	JUNK("nothing", "\"\""),
	JUNK("no lists in it", "[2, 3]"),
	JUNK("too deep", "[[[[[[[[2, 3], [3, 5]]]]]]]]"),
	JUNK("one operand", "[[2, 3]]"),
	JUNK("none", "[]"),
	JUNK("below zero", "[[-2, 3], [3, 5]]"),
	JUNK("a fraction", "[[2.5, 3], [3, 5]]"),
	JUNK("a text", "[[\"2\", 3], [3, 5]]"),
	JUNK("beyond 64 bits", "[[2, 99999999999999999999], [99999999999999999999, 5]]"),
	JUNK("not closed", "\"[[2, 3], [3, 5]\""),
	JUNK("more after it", "\"[[2, 3], [3, 5]] 7\""),
	JUNK("two commas", "\"[[2,, 3], [3, 5]]\""),
	JUNK("a comma at the end", "\"[[2, 3], [3, 5],]\""),
	JUNK("no comma", "\"[[2 3], [3, 5]]\""),
	JUNK("too many sizes", "[[1, 1, 1, 1, 1, 1, 1, 2, 3], [3, 5]]"),
	{ "old writers' text of a list is a list", "aten::mm", "\"[[2, 3], [3, 5]]\"",
	  "\"[float, float]\"", "", "", 60, 124, SS_DTYPE_FP32 },
	{ "huge sizes are numbers, too", "aten::mm",
	  "[[1, 4611686018427387904], [4611686018427387904, 1]]", "[" F ", " F "]", "", "",
	  2.0 * 4611686018427387904.0, 8.0 * 4611686018427387904.0, SS_DTYPE_FP32 },
	{ "strides that are not those of the sizes", "aten::mm", "[[2, 3], [3, 5]]",
	  "[" F ", " F "]", "[[0], [0, 0, 0]]", "", 60, 124, SS_DTYPE_FP32 },
	{ "quotes in values", "aten::_softmax", "[[4, 5], [], []]", "[" H ", " S ", " S "]", "",
	  "[\"\\\"\", \"\\\\\", \"True\"]", UNKNOWN, 40 + 80, SS_DTYPE_FP16 },
};

/* Convolutions without strides, and the sizes of the operator behind them. */
static const struct {
	struct work_case work;
	const char *next;
} result_cases[] = {
	{ { "strides not recorded, but the result", "aten::cudnn_convolution",
	    "[[2, 3, 9, 8], [4, 3, 3, 2], [], [], [], []]", CONV_TYPES, "", "",
	    2.0 * 2 * 4 * 30 * 18, (432 + 72 + 240) * 4, SS_DTYPE_FP32 },
	  "[[2, 4, 5, 6], [4]]" },
	{ { "what follows is of another size", "aten::cudnn_convolution",
	    "[[2, 3, 9, 8], [4, 3, 3, 2], [], [], [], []]", CONV_TYPES, "", "", UNKNOWN, UNKNOWN,
	    SS_DTYPE_UNKNOWN },
	  "[[2, 8, 5, 6], [8]]" },
	{ { "what follows is larger than any padding", "aten::cudnn_convolution",
	    "[[2, 3, 9, 8], [4, 3, 3, 2], [], [], [], []]", CONV_TYPES, "", "", UNKNOWN, UNKNOWN,
	    SS_DTYPE_UNKNOWN },
	  "[[2, 4, 18, 16], [4]]" },
};

static char *json_of(const struct work_case *work, const char *next)
{
	const char *keys[] = { "Input Dims", "Input type", "Input Strides", "Concrete Inputs" };
	const char *values[] = { work->dims, work->types, work->strides, work->values };
	struct ss_text json = { 0 };

	ss_text_addf(&json,
		     "[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"%s\",\"pid\":1,\"tid\":1,"
		     "\"ts\":1,\"dur\":5,\"args\":{\"x\":0",
		     work->name);
	for (size_t i = 0; i < SS_COUNT(keys); i++)
		if (*values[i])
			ss_text_addf(&json, ",\"%s\":%s", keys[i], values[i]);
	ss_text_addf(&json, "}}");
	if (next)
		ss_text_addf(&json,
			     ",{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::add_\",\"pid\":1,"
			     "\"tid\":1,\"ts\":9,\"dur\":5,\"args\":{\"Input Dims\":%s,"
			     "\"Input type\":[" F "]}}",
			     next);
	ss_text_addf(&json, "]");
	return json.data;
}

static void run_case(const struct work_case *want, const char *next)
{
	struct support_trace trace;
	struct ss_ops ops;
	struct ss_works works;
	const struct ss_work none = { 0 }, *found;
	struct ss_error err;
	char *json = json_of(want, next);

	support_load(&trace, json);
	assert_int_equal(ss_ops_init(&ops, &trace.trace, &trace.memory, &err), SS_OK);
	assert_int_equal(ss_works_init(&works, &ops, &trace.memory, &err), SS_OK);
	found = ss_works_of(&works, 0);
	found = found ? found : &none;
	support_check((found->has_flops ? found->flops : UNKNOWN) == want->flops, want->what,
		      "FLOPs %.0f", found->has_flops ? found->flops : UNKNOWN);
	support_check((found->has_bytes ? found->moved_bytes : UNKNOWN) == want->bytes, want->what,
		      "bytes %.0f", found->has_bytes ? found->moved_bytes : UNKNOWN);
	support_check((!found->has_flops && !found->has_bytes) || found->dtype == want->dtype,
		      want->what, "type %d", found->dtype);
	ss_works_release(&works);
	ss_ops_release(&ops);
	support_close(&trace);
	free(json);
}

static void run(const struct work_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++)
		run_case(&cases[i], NULL);
}

static void test_matmul(void **state)
{
	(void)state;
	run(matmul_cases, SS_COUNT(matmul_cases));
}

static void test_conv(void **state)
{
	(void)state;
	run(conv_cases, SS_COUNT(conv_cases));
	for (size_t i = 0; i < SS_COUNT(result_cases); i++)
		run_case(&result_cases[i].work, result_cases[i].next);
}

static void test_attention(void **state)
{
	(void)state;
	run(attention_cases, SS_COUNT(attention_cases));
}

static void test_memory(void **state)
{
	(void)state;
	run(memory_cases, SS_COUNT(memory_cases));
}

static void test_junk(void **state)
{
	(void)state;
	run(junk_cases, SS_COUNT(junk_cases));
}

static void test_peaks(void **state)
{
	static const struct {
		const char *device;
		enum ss_dtype dtype;
		enum ss_units units;
		double tflop, gb; /* below 0: not in the table */
	} cases[] = {
		{ "NVIDIA H100 80GB HBM3", SS_DTYPE_BF16, SS_UNITS_TENSOR, 989.4, 3352 },
		{ "NVIDIA H100 PCIe", SS_DTYPE_FP8, SS_UNITS_TENSOR, 1513, 2039 },
		{ "NVIDIA A100-SXM4-40GB", SS_DTYPE_FP32, SS_UNITS_TENSOR, 156, 1555 },
		{ "NVIDIA A100-SXM4-40GB", SS_DTYPE_FP32, SS_UNITS_VECTOR, 19.5, 1555 },
		{ "NVIDIA A100-SXM4-80GB", SS_DTYPE_FP16, SS_UNITS_VECTOR, 312, 2039 },
		{ "NVIDIA GB200", SS_DTYPE_BF16, SS_UNITS_TENSOR, 2500, 8000 },
		{ "NVIDIA L40S", SS_DTYPE_FP16, SS_UNITS_TENSOR, 362, 864 },
		{ "NVIDIA L4", SS_DTYPE_FP16, SS_UNITS_TENSOR, 121, 300 },
		{ "AMD Instinct MI300X VF", SS_DTYPE_FP8, SS_UNITS_TENSOR, 2614.9, 5300 },
		{ "AMD Instinct MI250X/MI250", SS_DTYPE_FP32, SS_UNITS_TENSOR, 47.9, 1638 },
		{ "NVIDIA GeForce RTX 3060 Ti", SS_DTYPE_FP32, SS_UNITS_VECTOR, 16.2, 448 },
		{ "NVIDIA B200", SS_DTYPE_FP4, SS_UNITS_TENSOR, 9000, 7672 },
		{ "NVIDIA H20-3e", SS_DTYPE_BF16, SS_UNITS_TENSOR, 148, 4800 },
		{ "NVIDIA H800 PCIe", SS_DTYPE_BF16, SS_UNITS_TENSOR, 756, 0 },
		{ "NVIDIA GeForce RTX 4090 D", SS_DTYPE_FP16, SS_UNITS_TENSOR, 147.1, 1008 },
		{ "NVIDIA A10G", SS_DTYPE_BF16, SS_UNITS_TENSOR, 70, 600 },
		{ "NVIDIA L20", SS_DTYPE_BF16, SS_UNITS_TENSOR, 119.5, 864 },
		{ "AMD Instinct MI300X", SS_DTYPE_FP32, SS_UNITS_XF32, 653.7, 5300 },
		/* sources disagree */
		{ "NVIDIA H100", SS_DTYPE_BF16, SS_UNITS_TENSOR, 989.4, 0 },
		{ "NVIDIA GB10", SS_DTYPE_BF16, SS_UNITS_TENSOR, 0, 0 },
		{ "AMD Instinct MI308X", SS_DTYPE_BF16, SS_UNITS_TENSOR, 0, 5300 },
		/* no tensor cores for the type, and no peak for one that has none */
		{ "Tesla V100-SXM2-16GB", SS_DTYPE_BF16, SS_UNITS_TENSOR, 0, 900 },
		{ "Tesla V100-SXM2-16GB", SS_DTYPE_INT64, SS_UNITS_VECTOR, 0, 900 },
		{ "NVIDIA H100 80GB HBM3", SS_DTYPE_UNKNOWN, SS_UNITS_TENSOR, 0, 3352 },
		/* parts, and others of nearly the same name */
		{ "NVIDIA A100-SXM4-40GB MIG 1g.5gb", SS_DTYPE_FP16, SS_UNITS_TENSOR, 0, 0 },
		{ "NVIDIA GeForce RTX 3060 Ti Laptop GPU", SS_DTYPE_FP16, SS_UNITS_TENSOR, 0, 0 },
		{ "NVIDIA GeForce RTX 4090 Ti", SS_DTYPE_FP16, SS_UNITS_TENSOR, -1, 0 },
		{ "NVIDIA L400", SS_DTYPE_FP16, SS_UNITS_TENSOR, -1, 0 },
		{ "MyMI300X", SS_DTYPE_FP16, SS_UNITS_TENSOR, -1, 0 },
		{ "AMD Radeon Graphics", SS_DTYPE_FP16, SS_UNITS_TENSOR, -1, 0 },
		{ "", SS_DTYPE_FP16, SS_UNITS_TENSOR, -1, 0 },
	};

	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		const struct ss_peaks *peaks = ss_peaks_find(cases[i].device);

		support_check(!peaks == (cases[i].tflop < 0), cases[i].device, "%s",
			      peaks ? peaks->pattern : "nothing");
		if (!peaks)
			continue;
		support_check(ss_peaks_flops(peaks, cases[i].dtype, cases[i].units) ==
				      cases[i].tflop * 1e12,
			      cases[i].device, "%.1f",
			      ss_peaks_flops(peaks, cases[i].dtype, cases[i].units) / 1e12);
		support_check(peaks->gb_per_s == cases[i].gb, cases[i].device, "%.0f GB/s",
			      peaks->gb_per_s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_matmul),    cmocka_unit_test(test_conv),
		cmocka_unit_test(test_attention), cmocka_unit_test(test_memory),
		cmocka_unit_test(test_junk),      cmocka_unit_test(test_peaks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
