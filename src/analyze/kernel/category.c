/* SPDX-License-Identifier: Apache-2.0 */
/*
 * category.c - the kind of work of a kernel: patterns of names, the first match counts.
 *
 * Special words stand before general ones: a fused attention kernel has "gemm" in
 * its name, a softmax is a reduction, and most things are elementwise kernels.
 * Upper and lower case are the same.
 */
#include "analyze/kernel/category.h"

#include <string.h>

#include "analyze/kernel/short_name.h"
#include "base/text.h"

/* Longer names (Tensile, CUTLASS, mangled ones) show the category in their first bytes. */
#define LOOKED_AT 256

struct kernel_pattern {
	bool at_start;
	const char *text; /* lower case */
	enum ss_kernel_category category;
};

#define STARTS true
#define HAS false

static const struct kernel_pattern kernel_patterns[] = {
	/* compiler output: templates by what they contain, the rest is fused */
	{ HAS, "flex_attention", SS_KERNEL_ATTENTION },
	{ STARTS, "triton_tem_fused_bmm", SS_KERNEL_GEMM },
	{ STARTS, "triton_tem_fused_mm", SS_KERNEL_GEMM },
	{ STARTS, "triton_tem_fused_addmm", SS_KERNEL_GEMM },
	{ STARTS, "triton_mm", SS_KERNEL_GEMM },
	{ STARTS, "triton_bmm", SS_KERNEL_GEMM },
	{ STARTS, "triton_tem_fused_conv", SS_KERNEL_CONVOLUTION },
	{ STARTS, "triton_poi_", SS_KERNEL_FUSED },
	{ STARTS, "triton_red_", SS_KERNEL_FUSED },
	{ STARTS, "triton_per_", SS_KERNEL_FUSED },
	{ STARTS, "triton_tem_", SS_KERNEL_FUSED },
	{ STARTS, "triton_for_", SS_KERNEL_FUSED },
	{ STARTS, "triton_split_scan_", SS_KERNEL_FUSED },
	{ STARTS, "triton__0d", SS_KERNEL_FUSED }, /* inductor of PyTorch 2.0 */
	{ STARTS, "triton_fused_", SS_KERNEL_FUSED },
	{ STARTS, "triton_mix_", SS_KERNEL_FUSED },
	{ STARTS, "triton_fft", SS_KERNEL_OTHER },
	{ STARTS, "fused_", SS_KERNEL_FUSED }, /* nvfuser and NNC: fused_add_mul_1234 */
	{ STARTS, "cudacodegen", SS_KERNEL_FUSED },
	{ STARTS, "nvfuser", SS_KERNEL_FUSED },
	{ STARTS, "batched_transpose", SS_KERNEL_COPY }, /* MIOpen */
	/* attention */
	{ HAS, "flash_fwd", SS_KERNEL_ATTENTION },
	{ HAS, "flash_bwd", SS_KERNEL_ATTENTION },
	{ HAS, "flashattn", SS_KERNEL_ATTENTION },
	{ HAS, "flash_attn", SS_KERNEL_ATTENTION },
	{ HAS, "flashinfer_kv", SS_KERNEL_INDEXING },
	{ HAS, "fmha", SS_KERNEL_ATTENTION },
	{ HAS, "fused_attention", SS_KERNEL_ATTENTION },
	{ HAS, "paged_attention", SS_KERNEL_ATTENTION },
	{ HAS, "unified_attention", SS_KERNEL_ATTENTION },
	{ HAS, "pa_fwd", SS_KERNEL_ATTENTION },
	{ HAS, "mla_", SS_KERNEL_ATTENTION },
	{ HAS, "sdpa", SS_KERNEL_ATTENTION },
	{ HAS, "attn_fwd", SS_KERNEL_ATTENTION },
	{ HAS, "attn_bwd", SS_KERNEL_ATTENTION },
	{ HAS, "bwd_kernel_dk_dv", SS_KERNEL_ATTENTION },
	{ HAS, "bwd_kernel_dq", SS_KERNEL_ATTENTION },
	{ HAS, "bwd_preprocess", SS_KERNEL_ATTENTION },
	{ HAS, "batchprefillwith", SS_KERNEL_ATTENTION },
	{ HAS, "batchdecodewith", SS_KERNEL_ATTENTION },
	{ HAS, "singleprefillwith", SS_KERNEL_ATTENTION },
	{ HAS, "singledecodewith", SS_KERNEL_ATTENTION },
	{ HAS, "reshape_and_cache", SS_KERNEL_INDEXING },
	{ STARTS, "_fwd_kernel",
	  SS_KERNEL_ATTENTION }, /* Triton's flash attention, as vLLM has it */
	{ STARTS, "_bwd_kernel", SS_KERNEL_ATTENTION },
	{ STARTS, "reduce_segments", SS_KERNEL_ATTENTION }, /* vLLM: splits of one attention */
	{ HAS, "attention", SS_KERNEL_ATTENTION },
	/* optimizers */
	{ HAS, "multi_tensor_apply", SS_KERNEL_OPTIMIZER },
	{ HAS, "multitensorapply", SS_KERNEL_OPTIMIZER },
	{ HAS, "adam", SS_KERNEL_OPTIMIZER },
	{ HAS, "fusedoptimizer", SS_KERNEL_OPTIMIZER },
	{ HAS, "fused_sgd", SS_KERNEL_OPTIMIZER },
	{ HAS, "lamb_", SS_KERNEL_OPTIMIZER },
	/* PyTorch's own, before the words of their functors */
	{ STARTS, "reduce_kernel", SS_KERNEL_REDUCTION },
	{ STARTS, "distribution_", SS_KERNEL_ELEMENTWISE },
	/* embeddings (some update their weights in the same kernel) and indices */
	{ HAS, "rotary", SS_KERNEL_ELEMENTWISE },
	{ HAS, "embedding", SS_KERNEL_INDEXING },
	{ HAS, "kvcache", SS_KERNEL_INDEXING },
	{ HAS, "write_indices", SS_KERNEL_INDEXING },
	{ HAS, "bounds_check_indices", SS_KERNEL_INDEXING },
	{ HAS, "linearize_index", SS_KERNEL_INDEXING },
	{ HAS, "adagrad", SS_KERNEL_OPTIMIZER },
	{ HAS, "scatter_gather", SS_KERNEL_INDEXING },
	{ HAS, "matmul_scatter", SS_KERNEL_GEMM },
	{ HAS, "indexing_backward", SS_KERNEL_INDEXING },
	{ HAS, "index_elementwise", SS_KERNEL_INDEXING },
	{ HAS, "indexselect", SS_KERNEL_INDEXING },
	{ HAS, "indexfunc", SS_KERNEL_INDEXING },
	{ HAS, "index_put", SS_KERNEL_INDEXING },
	{ HAS, "index_select", SS_KERNEL_INDEXING },
	{ HAS, "index_copy", SS_KERNEL_INDEXING },
	{ HAS, "index_fill", SS_KERNEL_INDEXING },
	{ HAS, "permute_indices", SS_KERNEL_INDEXING },
	{ HAS, "page_indices", SS_KERNEL_INDEXING },
	{ HAS, "gather", SS_KERNEL_INDEXING },
	{ HAS, "scatter", SS_KERNEL_INDEXING },
	{ HAS, "compute_position", SS_KERNEL_INDEXING },
	/* sorting, selecting, scanning */
	{ HAS, "radixsort", SS_KERNEL_SORT },
	{ HAS, "radix_sort", SS_KERNEL_SORT },
	{ HAS, "sort", SS_KERNEL_SORT },
	{ HAS, "topk", SS_KERNEL_SORT },
	{ HAS, "devicescan", SS_KERNEL_SORT },
	{ HAS, "scan_impl", SS_KERNEL_SORT },
	{ HAS, "tensor_kernel_scan", SS_KERNEL_SORT },
	{ HAS, "cumsum", SS_KERNEL_SORT },
	{ HAS, "cumprod", SS_KERNEL_SORT },
	{ HAS, "deviceselect", SS_KERNEL_SORT },
	{ HAS, "devicecompact", SS_KERNEL_SORT },
	{ HAS, "devicereducebykey", SS_KERNEL_SORT },
	{ HAS, "devicerunlength", SS_KERNEL_SORT },
	{ HAS, "unique", SS_KERNEL_SORT },
	{ HAS, "nonzero", SS_KERNEL_SORT },
	{ HAS, "moe_align", SS_KERNEL_SORT },
	{ HAS, "combined_routing", SS_KERNEL_SORT },
	{ HAS, "routingindices", SS_KERNEL_SORT }, /* TensorRT-LLM: which expert gets which token */
	/* softmax and normalization */
	{ HAS, "softmax", SS_KERNEL_SOFTMAX },
	{ HAS, "norm", SS_KERNEL_NORMALIZATION },  /* layer_norm, rmsnorm, GroupNorm ... */
	{ HAS, "bn_fw", SS_KERNEL_NORMALIZATION }, /* cuDNN */
	{ HAS, "bn_bw", SS_KERNEL_NORMALIZATION },
	{ HAS, "miopenbatch", SS_KERNEL_NORMALIZATION },
	{ HAS, "rowwisemoments", SS_KERNEL_NORMALIZATION },
	{ HAS, "gammabeta", SS_KERNEL_NORMALIZATION },
	{ HAS, "welford", SS_KERNEL_NORMALIZATION },
	/* convolutions; implicit GEMMs are some */
	{ HAS, "nchwtonhwc", SS_KERNEL_COPY },
	{ HAS, "nhwctonchw", SS_KERNEL_COPY },
	{ HAS, "foldednhwc", SS_KERNEL_COPY },
	{ HAS, "converttensor", SS_KERNEL_COPY },
	{ HAS, "implicit_gemm", SS_KERNEL_CONVOLUTION },
	{ HAS, "implicitgemmconv", SS_KERNEL_CONVOLUTION },
	{ STARTS, "igemm_", SS_KERNEL_CONVOLUTION },
	{ STARTS, "gemm_igemm", SS_KERNEL_CONVOLUTION },
	{ HAS, "scudnn", SS_KERNEL_CONVOLUTION },
	{ HAS, "winograd", SS_KERNEL_CONVOLUTION },
	{ STARTS, "miopensp3asmconv", SS_KERNEL_CONVOLUTION },
	{ STARTS, "sp3asmconv", SS_KERNEL_CONVOLUTION },
	{ STARTS, "naive_conv", SS_KERNEL_CONVOLUTION },
	{ HAS, "_conv_", SS_KERNEL_CONVOLUTION },
	{ HAS, "conv2d", SS_KERNEL_CONVOLUTION },
	{ HAS, "conv3d", SS_KERNEL_CONVOLUTION },
	{ HAS, "conv1d", SS_KERNEL_CONVOLUTION },
	{ HAS, "3dconv", SS_KERNEL_CONVOLUTION },
	{ HAS, "conv_depthwise", SS_KERNEL_CONVOLUTION },
	{ HAS, "convolv", SS_KERNEL_CONVOLUTION },
	{ HAS, "convolution", SS_KERNEL_CONVOLUTION },
	{ HAS, "dgrad", SS_KERNEL_CONVOLUTION },
	{ HAS, "wgrad", SS_KERNEL_CONVOLUTION },
	{ HAS, "fprop", SS_KERNEL_CONVOLUTION },
	{ HAS, "bwd_weight", SS_KERNEL_CONVOLUTION },    /* CK */
	{ HAS, "offsetskernel", SS_KERNEL_CONVOLUTION }, /* cuDNN's preparations */
	{ HAS, "precompute_indices", SS_KERNEL_CONVOLUTION },
	{ STARTS, "fft2d_", SS_KERNEL_CONVOLUTION },
	{ HAS, "im2col", SS_KERNEL_CONVOLUTION },
	{ HAS, "col2im", SS_KERNEL_CONVOLUTION },
	{ STARTS, "subtensorop", SS_KERNEL_ELEMENTWISE }, /* MIOpen */
	/* matmuls */
	{ STARTS, "cijk_", SS_KERNEL_GEMM },
	{ STARTS, "custom_cijk_", SS_KERNEL_GEMM },
	{ STARTS, "nvjet", SS_KERNEL_GEMM },
	{ STARTS, "cutlass_", SS_KERNEL_GEMM },
	{ HAS, "gemm", SS_KERNEL_GEMM },
	{ HAS, "gemv", SS_KERNEL_GEMM },
	{ HAS, "matmul", SS_KERNEL_GEMM },
	{ HAS, "splitk", SS_KERNEL_GEMM },
	{ HAS, "wv_splitk", SS_KERNEL_GEMM },
	{ STARTS, "bmm_", SS_KERNEL_GEMM },
	{ HAS, "trsm", SS_KERNEL_GEMM },
	{ HAS, "fused_moe", SS_KERNEL_GEMM },
	{ HAS, "marlin", SS_KERNEL_GEMM },
	{ HAS, "wvsplit", SS_KERNEL_GEMM },
	{ STARTS, "dot_kernel", SS_KERNEL_GEMM },
	{ STARTS, "reduce_1block_kernel", SS_KERNEL_GEMM }, /* the second half of cuBLAS' dot */
	{ STARTS, "xxt_kernel", SS_KERNEL_GEMM },           /* Muon's A A^T, and b A + c A A */
	{ STARTS, "ba_plus_caa", SS_KERNEL_GEMM },
	/* reductions */
	{ HAS, "max_pool", SS_KERNEL_REDUCTION },
	{ HAS, "avg_pool", SS_KERNEL_REDUCTION },
	{ HAS, "averagepool", SS_KERNEL_REDUCTION },
	{ HAS, "adaptive", SS_KERNEL_REDUCTION },
	{ HAS, "pooling", SS_KERNEL_REDUCTION },
	{ HAS, "reduce", SS_KERNEL_REDUCTION },
	{ HAS, "nllcriterion", SS_KERNEL_REDUCTION },
	{ HAS, "nll_loss", SS_KERNEL_REDUCTION },
	{ HAS, "sum_bitmatrix", SS_KERNEL_REDUCTION },
	{ HAS, "lpnorm", SS_KERNEL_REDUCTION },
	/* data movement */
	{ HAS, "copy", SS_KERNEL_COPY }, /* direct_copy_kernel_cuda, CatArrayBatchedCopy ... */
	{ HAS, "fillfunctor", SS_KERNEL_COPY },
	{ HAS, "fillbuffer", SS_KERNEL_COPY },
	{ HAS, "memset", SS_KERNEL_COPY },
	{ HAS, "transpose", SS_KERNEL_COPY },
	{ HAS, "permute", SS_KERNEL_COPY },
	{ HAS, "scalepackedtensor", SS_KERNEL_COPY },
	{ STARTS, "cat", SS_KERNEL_COPY },
	{ HAS, "roll_cuda", SS_KERNEL_COPY },
	{ HAS, "flip", SS_KERNEL_COPY },
	{ HAS, "reflection_pad", SS_KERNEL_COPY },
	{ HAS, "replication_pad", SS_KERNEL_COPY },
	/* elementwise */
	{ HAS, "elementwise", SS_KERNEL_ELEMENTWISE },
	{ HAS, "dropout", SS_KERNEL_ELEMENTWISE },
	{ HAS, "act_and_mul", SS_KERNEL_ELEMENTWISE },
	{ HAS, "activation", SS_KERNEL_ELEMENTWISE },
	{ HAS, "op_generic", SS_KERNEL_ELEMENTWISE },
	{ HAS, "pointwise", SS_KERNEL_ELEMENTWISE },
	{ HAS, "gelu", SS_KERNEL_ELEMENTWISE },
	{ HAS, "silu", SS_KERNEL_ELEMENTWISE },
	{ HAS, "swiglu", SS_KERNEL_ELEMENTWISE },
	{ HAS, "relu", SS_KERNEL_ELEMENTWISE },
	{ HAS, "fp8", SS_KERNEL_ELEMENTWISE },
	{ STARTS, "scal_kernel", SS_KERNEL_ELEMENTWISE },
	{ HAS, "upsample", SS_KERNEL_ELEMENTWISE },
	{ HAS, "triu", SS_KERNEL_ELEMENTWISE },
	{ HAS, "tril", SS_KERNEL_ELEMENTWISE },
	{ HAS, "quant", SS_KERNEL_ELEMENTWISE },
	{ HAS, "foreach", SS_KERNEL_OPTIMIZER },
};

enum ss_kernel_category ss_kernel_category(const char *short_name, size_t length)
{
	char name[LOOKED_AT];

	if (length > sizeof(name))
		length = sizeof(name);
	for (size_t i = 0; i < length; i++)
		name[i] = ss_char_lower(short_name[i]);
	for (size_t i = 0; i < SS_COUNT(kernel_patterns); i++) {
		size_t text_length = strlen(kernel_patterns[i].text);

		if (text_length > length)
			continue;
		if (kernel_patterns[i].at_start
			    ? memcmp(name, kernel_patterns[i].text, text_length) == 0
			    : ss_text_has(name, length, kernel_patterns[i].text, text_length))
			return kernel_patterns[i].category;
	}
	return SS_KERNEL_OTHER;
}

const char *ss_kernel_category_name(enum ss_kernel_category category)
{
	static const char *const names[SS_KERNEL_CATEGORIES] = {
		[SS_KERNEL_OTHER] = "other",
		[SS_KERNEL_GEMM] = "GEMM",
		[SS_KERNEL_CONVOLUTION] = "convolution",
		[SS_KERNEL_ATTENTION] = "attention",
		[SS_KERNEL_REDUCTION] = "reduction",
		[SS_KERNEL_NORMALIZATION] = "normalization",
		[SS_KERNEL_SOFTMAX] = "softmax",
		[SS_KERNEL_ELEMENTWISE] = "elementwise",
		[SS_KERNEL_COPY] = "copy",
		[SS_KERNEL_INDEXING] = "embedding/indexing",
		[SS_KERNEL_OPTIMIZER] = "optimizer",
		[SS_KERNEL_SORT] = "sort/scan",
		[SS_KERNEL_COMMUNICATION] = "communication",
		[SS_KERNEL_FUSED] = "fused",
	};

	return names[category];
}

/* --- all kernels of a trace ----------------------------------------------------------- */

static bool kernel_classify_name(const struct ss_string *full, struct ss_arena *arena,
				 struct ss_kernel_name *out)
{
	char name[SS_SHORT_NAME_BYTES];
	size_t length = ss_short_name(full->text, full->length, name, sizeof(name));

	out->category = ss_kernel_category(name, length);
	out->text = ss_arena_copy(arena, name, length);
	return out->text != NULL;
}

struct ss_kernel_name *ss_kernel_names(const struct ss_trace *trace, struct ss_arena *arena)
{
	struct ss_kernel_name *names;

	if (!SS_ALLOC(arena, names, (size_t)trace->names.count + 1))
		return NULL;
	for (uint32_t row = trace->device_from; row < trace->device_to; row++) {
		uint32_t id = trace->slices.name[row];

		if (!ss_kind_is_kernel(trace->slices.kind[row]))
			continue;
		names[id].is_comm |= trace->slices.kind[row] == SS_KIND_COMM_KERNEL;
		if (!names[id].text &&
		    !kernel_classify_name(&trace->names.items[id], arena, &names[id]))
			return NULL;
	}
	for (uint32_t id = 0; id < trace->names.count; id++)
		if (names[id].is_comm)
			names[id].category = SS_KERNEL_COMMUNICATION;
	return names;
}
