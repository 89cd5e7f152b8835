/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Categories of operators: names of PyTorch 1.8 to 2.9 and of libraries around it.
 */
#include "support/support.h"

#include "analyze/host/op_category.h"

struct category_case {
	enum ss_op_category category;
	const char *names; /* separated by '|' */
};

static const struct category_case cases[] = {
	{ SS_OP_MATMUL,
	  "aten::mm|aten::addmm|aten::addmm_|aten::linear|aten::matmul|aten::einsum|aten::bmm|"
	  "MmBackward0|AddmmBackward|LinearBackward0|aten::_scaled_mm|nanogpt::mm_backward|"
	  "aiter::gemm_a16w16|vllm::rocm_unquantized_gemm|triton_tem_fused_mm_3|"
	  "autograd::engine::evaluate_function: AddmmBackward0|"
	  "LinearWithGradAccumulationAndAsyncCommunication" },
	{ SS_OP_CONVOLUTION,
	  "aten::conv2d|aten::_convolution|aten::convolution_backward|ConvolutionBackward0|"
	  "CudnnConvolutionBackward|aten::cudnn_convolution_backward_weight|aten::conv_tbc|"
	  "aten::miopen_convolution|triton_tem_fused_convolution_0" },
	{ SS_OP_ATTENTION,
	  "aten::scaled_dot_product_attention|aten::_flash_attention_forward|flash_attn_3::fwd|"
	  "ScaledDotProductFlashAttentionForCpuBackward0|aiter::mha_batch_prefill|"
	  "vllm::unified_attention_with_output|triton_tem_fused_flex_attention_1" },
	{ SS_OP_RECURRENT,
	  "aten::lstm|aten::gru|aten::gru_cell|aten::_cudnn_rnn|CudnnRnnBackward0" },
	{ SS_OP_NORMALIZATION,
	  "aten::layer_norm|NativeLayerNormBackward0|aten::cudnn_batch_norm_backward|"
	  "CudnnBatchNormBackward|_C::fused_add_rms_norm|FusedLayerNormAffineFunction|"
	  "aten::_fused_rms_norm" },
	{ SS_OP_ACTIVATION,
	  "aten::relu_|ReluBackward0|aten::threshold_backward|aten::gelu|TanhBackward0|"
	  "sgl_kernel::silu_and_mul|aten::sigmoid|aten::prelu|GeLUFunction" },
	{ SS_OP_ELEMENTWISE,
	  "aten::add|aten::add_|AddBackward0|aten::__iand__|prims::mul|aten::where|aten::log2|"
	  "triton_poi_fused__scaled_mm__to_copy_clone_div_0|_C::rotary_embedding|aten::atan2|"
	  "torch::autograd::AccumulateGrad|aten::masked_fill_|aten::lerp" },
	{ SS_OP_REDUCTION,
	  "aten::sum|SumBackward1|aten::mean|aten::max|aten::cumsum|aten::topk|aten::max_pool2d|"
	  "MaxPool2DWithIndicesBackward0|aten::linalg_vector_norm|triton_per_fused_mul_sum_0|"
	  "triton_red_fused__log_softmax_nll_loss_forward_32|fb::convex_sum|aten::norm|"
	  "aten::quantile" },
	{ SS_OP_SOFTMAX, "aten::softmax|aten::_log_softmax_backward_data|SoftmaxBackward0|"
			 "ScaledUpperTriangMaskedSoftmax" },
	{ SS_OP_INDEXING,
	  "aten::embedding|EmbeddingBackward0|aten::embedding_dense_backward|aten::index_put_|"
	  "IndexBackward0|aten::gather|aten::scatter_add_|aten::nonzero|"
	  "torch::autograd::CppNode<fbgemm_gpu::PermutePooledEmbsFunction<&fbgemm_gpu::f>>|"
	  "torch::autograd::CppNode<SplitLookupFunction_rowwise_adagrad_Op>|"
	  "fbgemm::split_embedding_backward_codegen_rowwise_adagrad_unweighted_exact_cuda" },
	{ SS_OP_COPY,
	  "aten::copy_|aten::to|aten::_to_copy|aten::cat|CatBackward0|aten::contiguous|aten::item|"
	  "aten::_local_scalar_dense|aten::pin_memory|_C::static_scaled_fp8_quant|aten::stack|"
	  "sglang_profiler::memory_pool__set_kv_buffer_impl_353|"
	  "_C_cache_ops::reshape_and_cache_flash|aten::constant_pad_nd" },
	{ SS_OP_MEMORY,
	  "aten::empty|aten::view|aten::t|TBackward0|aten::select|aten::zero_|aten::fill_|"
	  "aten::_reshape_alias|aten::as_strided|ViewBackward0|aten::detach|detach|aten::arange|"
	  "aten::slice_backward|UnsqueezeBackward0" },
	{ SS_OP_LOSS,
	  "aten::nll_loss_forward|NllLossBackward0|aten::cross_entropy_loss|aten::mse_loss|"
	  "BinaryCrossEntropyWithLogitsBackward0|_VocabParallelCrossEntropy" },
	{ SS_OP_OPTIMIZER, "aten::_foreach_add_|aten::_fused_adamw_|aten::_fused_sgd_|"
			   "aten::_amp_foreach_non_finite_check_and_unscale_" },
	{ SS_OP_COMMUNICATION,
	  "c10d::allreduce_|_c10d_functional::all_reduce|record_param_comms|vllm::all_reduce|"
	  "nccl:all_reduce|All2All_Pooled_ReqBackward|_AlltoAllSingle|"
	  "symm_mem::multimem_all_reduce_|c10d_functional::wait_tensor" },
	{ SS_OP_RANDOM,
	  "aten::dropout|aten::native_dropout|aten::randn|aten::normal_|aten::uniform_" },
	{ SS_OP_OTHER, "|forward|CompiledFunction|TorchDynamo Cache Lookup|"
		       "torch::autograd::CppNode<fbgemm_gpu::Thing<1>>|Torch-Compiled Region: 0/0|"
		       "torchvision::nms|Backward|Backward0|"
		       "::|aten::|aten::_fft_r2c|<backward op>|convert_fn|XXT_kernel_0|123" },
};

/* Calls check for each name of the list. */
static void each_name(const char *names, enum ss_op_category category,
		      void (*check)(const char *, enum ss_op_category))
{
	char name[200];

	for (;;) {
		size_t length = strcspn(names, "|");

		assert_true(length < sizeof(name));
		memcpy(name, names, length);
		name[length] = '\0';
		check(name, category);
		if (!names[length])
			return;
		names += length + 1;
	}
}

static void check_category(const char *name, enum ss_op_category category)
{
	enum ss_op_category found = ss_op_category(name);

	support_check(found == category, name, "is %s", ss_op_category_name(found));
}

static void test_categories(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++)
		each_name(cases[i].names, cases[i].category, check_category);
}

static void test_every_category_has_a_name(void **state)
{
	(void)state;
	for (int i = 0; i < SS_OP_CATEGORIES; i++)
		assert_non_null(ss_op_category_name((enum ss_op_category)i));
}

static void test_long_names(void **state)
{
	char name[2000];

	(void)state;
	memset(name, 'x', sizeof(name));
	memcpy(name, "aten::softmax", 13);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(ss_op_category(name), SS_OP_SOFTMAX);
	memset(name, ':', sizeof(name) - 1);
	assert_int_equal(ss_op_category(name), SS_OP_OTHER);
	memset(name, '_', sizeof(name) - 1);
	assert_int_equal(ss_op_category(name), SS_OP_OTHER);
}

static void check_eligible(const char *name, enum ss_op_category category)
{
	(void)category;
	support_check(strcmp(ss_op_tensor_eligible(name, ss_op_category(name)), "yes") == 0, name,
		      "is not eligible");
}

/* TensorBoard's list, as it is. */
static void test_tensorboard_list(void **state)
{
	(void)state;
	each_name("aten::_convolution|aten::conv1d|aten::conv2d|aten::conv3d|aten::conv_tbc|"
		  "aten::conv_transpose1d|aten::conv_transpose2d|aten::conv_transpose3d|"
		  "aten::convolution|aten::cudnn_convolution|aten::cudnn_convolution_transpose|"
		  "aten::prelu|aten::addmm|aten::addmv|aten::addr|aten::matmul|aten::mm|aten::mv|"
		  "aten::linear|aten::addbmm|aten::baddbmm|aten::bmm|aten::chain_matmul|"
		  "aten::linalg_multi_dot|aten::_thnn_fused_lstm_cell|aten::_thnn_fused_gru_cell|"
		  "aten::lstm_cell|aten::gru_cell|aten::rnn_tanh_cell|aten::rnn_relu_cell|"
		  "CudnnConvolutionBackward|CudnnConvolutionTransposeBackward|BmmBackward0|"
		  "MmBackward|AddmvBackward|MvBackward|AddmmBackward|AddbmmBackward|aten::addmm_|"
		  "aten::cudnn_convolution_backward|aten::cudnn_convolution_transpose_backward|"
		  "aten::cudnn_convolution_backward_weight|aten::cudnn_convolution_backward_input",
		  SS_OP_MATMUL, check_eligible);
}

static void test_not_eligible(void **state)
{
	(void)state;
	assert_string_equal(ss_op_tensor_eligible("aten::add", SS_OP_ELEMENTWISE), "no");
	assert_string_equal(ss_op_tensor_eligible("AddBackward0", SS_OP_ELEMENTWISE), "no");
	assert_string_equal(ss_op_tensor_eligible("MyFunctionBackward", SS_OP_OTHER), "unknown");
	assert_string_equal(ss_op_tensor_eligible("vllm::moe_forward", SS_OP_OTHER), "unknown");
	assert_string_equal(ss_op_tensor_eligible("CompiledFunction", SS_OP_OTHER), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_categories),
		cmocka_unit_test(test_every_category_has_a_name),
		cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_tensorboard_list),
		cmocka_unit_test(test_not_eligible),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
