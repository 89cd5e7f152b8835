/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Short names: what stays, what goes, and texts that are no names.
 */
#include "analyze/kernel/short_name.h"

#include "support/support.h"

struct name_case {
	const char *name, *expected;
};

#define ITERATOR "(at::TensorIteratorBase&)"
#define LAMBDAS "::{lambda()#2}::operator()() const::{lambda()#7}::operator()() const::"

static const struct name_case cases[] = {
	/* functors and the functions around lambdas */
	{ "void at::native::vectorized_elementwise_kernel<4, at::native::"
	  "CUDAFunctorOnSelf_add<float>,"
	  " std::array<char*, 2ul> >(int, at::native::CUDAFunctorOnSelf_add<float>)",
	  "vectorized_elementwise_kernel<CUDAFunctorOnSelf_add<float>>" },
	{ "void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl_nocast<"
	  "at::native::"
	  "BinaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<"
	  "float> > >" ITERATOR "::{lambda(int)#1}>(int, at::native::gpu_kernel_impl_nocast<x>)",
	  "elementwise_kernel<MulFunctor<float>>" },
	{ "void at::native::k<at::native::BinaryFunctor<c10::Half, c10::Half, c10::Half, "
	  "at::native::MulFunctor<float> > >(int)",
	  "k<MulFunctor<Half, float>>" },
	{ "void at::native::unrolled_elementwise_kernel<at::native::addcmul_cuda_kernel" ITERATOR
		  LAMBDAS "{lambda(float, float, float)#1}, at::detail::Array<char*, 4>, "
	  "TrivialOffsetCalculator<3, unsigned int> >(int)",
	  "unrolled_elementwise_kernel<addcmul_cuda_kernel<float>>" },
	{ "void k<where_kernel_impl" ITERATOR LAMBDAS "{lambda(bool, float, float)#1}>(int)",
	  "k<where_kernel_impl<bool, float>>" },
	{ "void k<void index_kernel_impl<OpaqueType<4> >" ITERATOR
	  "::{lambda(char*, long)#1}>(int)",
	  "k<index_kernel_impl>" },
	{ "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::"
	  "func_wrapper_t"
	  "<float, at::native::sum_functor<float, float, float>::operator()" ITERATOR
	  "::{lambda(float, float)#1}>, unsigned int, float, 4> >(x)",
	  "reduce_kernel<sum_functor<float>>" },
	{ "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<c10::BFloat16, at::native::"
	  "MeanOps<c10::BFloat16, float, float, float>, unsigned int, c10::BFloat16, 4> >(x)",
	  "reduce_kernel<MeanOps<BFloat16, float>>" },
	{ "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::("
	  "anonymous "
	  "namespace)::TensorListMetadata<1>, at::native::(anonymous namespace)::"
	  "BinaryOpScalarFunctor"
	  "<float, 1, 1, 0>, std::multiplies<float>, float>(int)",
	  "multi_tensor_apply_kernel<BinaryOpScalarFunctor<float>, multiplies>" },
	{ "void s<f<false, int>::operator()<at::native::TensorAssign>(int)::{lambda(int)#1}>(int)",
	  "s<f<TensorAssign>>" },
	{ "void k<'lambda0'(float), foo(int)::'lambda'(float)>(int)", "k<foo<float>>" },
	/* types */
	{ "void vllm::rms_norm_kernel<c10::BFloat16, true>(c10::BFloat16*, float)",
	  "rms_norm_kernel<BFloat16>" },
	{ "void softmax_warp_forward<c10::Half, float, float, 6, false>(float*)",
	  "softmax_warp_forward<Half, float>" },
	{ "void cat<float, unsigned int, 4, 64, 64>(float*)", "cat<float>" },
	{ "void fill<unsigned char>(int)", "fill<unsigned char>" },
	{ "void k<long*, float const*, (cub::Kind)3, cub::NullType, 5>(int)", "k" },
	/* wrappers as the kernel itself */
	{ "void cutlass::Kernel2<"
	  "cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128_32x3_nn_align8>"
	  "(cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128_32x3_nn_align8::Params)",
	  "cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128_32x3_nn_align8" },
	{ "void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<flash::"
	  "CollectiveMainloopFwdSm90<2, cute::tuple<cute::C<1> >, float> > > >(int)",
	  "FlashAttnFwdSm90" },
	{ "std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int, float, P>(P)",
	  "P" },
	{ "std::enable_if<!(false), void>::type internal::gemvx::kernel<int, float, 7>(int)",
	  "gemvx::kernel<float>" },
	/* whole */
	{ "triton_poi_fused_add_mul_0", "triton_poi_fused_add_mul_0" },
	{ "Cijk_Ailk_Bljk_SB_MT64x16x16_SN.kd", "Cijk_Ailk_Bljk_SB_MT64x16x16_SN" },
	{ "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNT",
	  "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNT" },
	{ "Memcpy HtoD", "Memcpy HtoD" },
	{ "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*, unsigned long)",
	  "ncclDevKernel_AllReduce_Sum_f32_RING_LL" },
	{ "k<float>(int) [clone .kd]", "k<float>" },
	/* as the linker has them */
	{ "_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi64ELi8EEEvPT0_",
	  "add_rmsnorm_quant_kernel<bf16>" },
	{ "_ZN7ck_tile6kentryILi2ENS_38FmhaBatchPrefillWithPagedKVCacheKernelINS_3abcE",
	  "FmhaBatchPrefillWithPagedKVCacheKernel" },
	{ "_ZN7sgl_hip10activation18act_and_mul_kernelI14__hip_bfloat16TnPFT_RKS3_E",
	  "act_and_mul_kernel<__hip_bfloat16>" },
	{ "_Z3addPfS_", "add" },
	{ "_ZTSN2at6native3xpu4FillIfE", "Fill<float>" },
	{ "_Z", "_Z" },
	{ "_ZN", "_ZN" },
	{ "_ZN99999999999999999999x", "_ZN99999999999999999999x" },
	{ "_ZN9shortE", "_ZN9shortE" },
	{ "_Zebra_kernel", "_Zebra_kernel" },
	/* no names */
	{ "", "" },
	{ "  ", "" },
	{ "<", "<" },
	{ ">", ">" },
	{ "a<", "a" },
	{ "a<b", "a<b>" },
	{ "a<b<c<d<e<f<g<h", "a<b<c<d>>>" },
	{ "a>>>>b<<", "a" },
	{ "::", "::" },
	{ "(((((", "(((((" },
	{ "{lambda(int)#1}", "{lambda(int)#1}" },
	{ "operator()", "operator()" },
	{ "a::(anonymous namespace)::", "a" },
	{ "k<,,,float,>", "k<float>" },
	{ "f->g<x>(y)", "f<x>" },
	{ "k\xc3\xa4se<\xc3\xb6l<float> >()", "k\xc3\xa4se<\xc3\xb6l<float>>" },
};

static void test_names(void **state)
{
	char out[SS_SHORT_NAME_BYTES];

	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		size_t length = strlen(cases[i].name), written;
		char *exact = malloc(length ? length : 1); /* without NUL: ASan sees further */

		memcpy(exact, cases[i].name, length);
		written = ss_short_name(exact, length, out, sizeof(out));
		free(exact);
		support_check(strcmp(out, cases[i].expected) == 0, cases[i].name, "found %s", out);
		assert_int_equal(written, strlen(out));
	}
}

/* However little room there is, it ends with NUL and between characters. */
static void test_room(void **state)
{
	static const char *const names[] = { "\xc3\xa4\xc3\xb6\xe2\x82\xac",
					     "\xc3\xa4<\xc3\xb6::x>", "_Z4\xc3\xa4\xc3\xb6",
					     "_Z1aIfE", "ab<cd<ef>>" };
	char out[16];

	(void)state;
	for (size_t i = 0; i < SS_COUNT(names); i++)
		for (size_t room = 1; room < sizeof(out); room++) {
			char whole[SS_SHORT_NAME_BYTES];
			size_t all = ss_short_name(names[i], strlen(names[i]), whole,
						   sizeof(whole));
			size_t length = ss_short_name(names[i], strlen(names[i]), out, room);

			assert_true(length < room && length <= all);
			assert_int_equal(strlen(out), length);
			assert_memory_equal(out, whole, length);
			assert_true(((unsigned char)whole[length] & 0xc0) != 0x80);
			assert_true(all >= room || length == all);
		}
}

/* Any bytes, in time that grows with the length. */
static void test_hostile(void **state)
{
	static const char letters[] = "<>(){}[]::  ,,aZ_N19$'*&-#ISTLEf\xc3\xa4";
	enum { LENGTH = 400000 };
	char *text = malloc(LENGTH), out[64];
	uint64_t random = 1;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		size_t length = support_random(&random, 40);

		for (size_t i = 0; i < length; i++)
			text[i] = letters[support_random(&random, sizeof(letters) - 1)];
		ss_short_name(text, length, out, sizeof(out));
		assert_true(strlen(out) <= length + 16);
	}
	for (size_t letter = 0; letter < sizeof(letters) - 1; letter++) {
		memset(text, letters[letter], LENGTH);
		memcpy(text, "k<a(", 4);
		ss_short_name(text, LENGTH, out, sizeof(out));
	}
	for (size_t i = 0; i + 1 < LENGTH; i += 2)
		memcpy(text + i, "a<", 2);
	ss_short_name(text, LENGTH, out, sizeof(out));
	assert_string_equal(out, "a<a<a<a>>>");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_room),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
