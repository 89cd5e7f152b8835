/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Categories of kernels: the words that decide, and those that must not.
 */
#include "analyze/kernel/category.h"

#include "support/support.h"

struct category_case {
	const char *name, *expected;
};

static const struct category_case cases[] = {
	{ "volta_sgemm_128x64_nn", "GEMM" },
	{ "cutlass_80_tensorop_bf16_s16816gemm_bf16_256x128", "GEMM" },
	{ "nvjet_tst_128x256_64x4_1x2", "GEMM" },
	{ "Cijk_Ailk_Bljk_SB_MT64x16x16", "GEMM" },
	{ "gemvx::kernel<float>", "GEMM" },
	{ "splitKreduce_kernel<float>", "GEMM" },
	{ "triton_tem_fused_addmm_3", "GEMM" },
	{ "volta_scudnn_128x64_relu_small_nn_v1", "convolution" },
	{ "sm80_xmma_wgrad_implicit_gemm_indexed_tf32f32", "convolution" },
	{ "cutlass_tensorop_s1688dgrad_optimized_tf32", "convolution" },
	{ "igemm_fwd_gtcx3_nhwc_bf16", "convolution" },
	{ "kernel_grouped_conv_fwd_xdl_cshuffle_v3", "convolution" },
	{ "flash_fwd_kernel", "attention" },
	{ "fmha_cutlassF_bf16_aligned_64x128_rf_sm80", "attention" },
	{ "attn_fwd", "attention" },
	{ "bwd_kernel_dk_dv", "attention" },
	{ "reduce_kernel<MeanOps<float>>", "reduction" },
	{ "reduce_kernel<NormTwoOps<float>>", "reduction" },
	{ "vectorized_layer_norm_kernel<float>", "normalization" },
	{ "Rmsnorm2dFwd", "normalization" },
	{ "bn_fw_tr_1C11_kernel_NCHW<float>", "normalization" },
	{ "softmax_warp_forward<float>", "softmax" },
	{ "cunn_SoftMaxForward<SoftMaxForwardEpilogue>", "softmax" },
	{ "vectorized_elementwise_kernel<MulFunctor<float>>", "elementwise" },
	{ "rotary_embedding_kernel<BFloat16>", "elementwise" },
	{ "distribution_elementwise_grid_stride_kernel<normal_kernel<float>>", "elementwise" },
	{ "elementwise_kernel<direct_copy_kernel_cuda<float>>", "copy" },
	{ "vectorized_elementwise_kernel<FillFunctor<float>>", "copy" },
	{ "CatArrayBatchedCopy<float>", "copy" },
	{ "nchwToNhwcKernel<float>", "copy" },
	{ "indexSelectLargeIndex<float>", "embedding/indexing" },
	{ "split_embedding_codegen_forward_unweighted_kernel<float>", "embedding/indexing" },
	{ "multi_tensor_apply_kernel<AdamFunctor<float>>", "optimizer" },
	{ "DeviceRadixSortOnesweepKernel<long>", "sort/scan" },
	{ "tensor_kernel_scan_innermost_dim<plus<float>>", "sort/scan" },
	{ "triton_poi_fused_add_mul_0", "fused" },
	{ "triton_red_fused__log_softmax_mul_31", "fused" },
	{ "triton__0d1d2de", "fused" },
	{ "SOFTMAX", "softmax" },
	/* nothing that is known */
	{ "", "other" },
	{ "k", "other" },
	{ "pe_exe", "other" },
	{ "my_triton_poi_", "other" },
	{ "xCijk_", "other" },
};

static void test_names(void **state)
{
	char name[1000];

	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		size_t length = strlen(cases[i].name);
		char *exact = malloc(length ? length : 1);
		const char *found;

		memcpy(exact, cases[i].name, length);
		found = ss_kernel_category_name(ss_kernel_category(exact, length));
		free(exact);
		support_check(strcmp(found, cases[i].expected) == 0, cases[i].name, "found %s",
			      found);
	}
	memset(name, 'x', sizeof(name));
	assert_int_equal(ss_kernel_category(name, sizeof(name)), SS_KERNEL_OTHER);
	for (int i = 0; i < SS_KERNEL_CATEGORIES; i++)
		assert_non_null(ss_kernel_category_name((enum ss_kernel_category)i));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
