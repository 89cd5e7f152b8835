/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What names and categories mean. The traps are names that look like another's.
 */
#include "support/support.h"

static const struct {
	const char *name;
	uint32_t has, has_not;
} names[] = {
	/* kernels that communicate, and those that only sound like it */
	{ "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", SS_NAME_COMM_KERNEL, SS_NAME_TENSOR_CORE },
	{ "ncclKernel_AllGather_RING_LL_Sum_int8_t", SS_NAME_COMM_KERNEL, 0 },
	{ "void multimem_all_reduce_kernel<float>", SS_NAME_COMM_KERNEL, 0 },
	{ "void vllm::cross_device_reduce_1stage<half>", SS_NAME_COMM_KERNEL, 0 },
	{ "void deep_ep::intranode::dispatch<8>", SS_NAME_COMM_KERNEL, 0 },
	{ "rcclGenericKernel<1, false>", SS_NAME_COMM_KERNEL, 0 },
	{ "void dpsk::ep::internode::combine<false, 8>(int4*)", SS_NAME_COMM_KERNEL, 0 },
	{ "void uccl::internode_ll::dispatch<true>(void*)", SS_NAME_COMM_KERNEL, 0 },
	{ "EpDispatchIntraNodeKernel_bf16", SS_NAME_COMM_KERNEL, 0 },
	{ "void mori::moe::EpCombineInterNodeV1Kernel<bf16>", SS_NAME_COMM_KERNEL, 0 },
	{ "void quickreduce::allreduce_prototype_twoshot<x>", SS_NAME_COMM_KERNEL, 0 },
	{ "void (anonymous namespace)::two_shot_all_reduce_kernel_inplace<x>", SS_NAME_COMM_KERNEL,
	  0 },
	{ "void tensorrt_llm::kernels::oneShotAllReduceKernel<half, 8>", SS_NAME_COMM_KERNEL, 0 },
	{ "void x::ar_fusion::allreduce_fusion_kernel_oneshot_lamport<x>", SS_NAME_COMM_KERNEL, 0 },
	{ "void oneshotAllreduceFusionKernel<8>", SS_NAME_COMM_KERNEL, 0 },
	{ "kuserbuffers_pushsend(int*, int*)", SS_NAME_COMM_KERNEL, 0 },
	{ "triton_poi_fused_add_all_reduce_4", 0, SS_NAME_COMM_KERNEL },
	{ "triton_poi_fused_one_shot_all_reduce_0", 0, SS_NAME_COMM_KERNEL },
	{ "void at::native::(anonymous namespace)::dispatch_kernel<4>", 0, SS_NAME_COMM_KERNEL },
	{ "void cub::DispatchReduceByKey<x>", 0, SS_NAME_COMM_KERNEL },
	{ "_combined_routing_compute", 0, SS_NAME_COMM_KERNEL },
	{ "void at::native::reduce_kernel<512>", 0, SS_NAME_COMM_KERNEL },
	{ "multimemory", 0, SS_NAME_COMM_KERNEL },
	{ "", 0, UINT32_MAX },
	/* ranges and operators around them */
	{ "nccl:all_reduce", SS_NAME_COMM_RANGE, 0 },
	{ "gloo:broadcast", SS_NAME_COMM_RANGE, SS_NAME_COMM_KERNEL },
	{ "record_param_comms", SS_NAME_COMM_OP, SS_NAME_COMM_KERNEL },
	{ "record_param_comms_2", 0, SS_NAME_COMM_OP },
	/* operators that show the use of a GPU, and one that only asks for it */
	{ "aten::cudnn_convolution", SS_NAME_DEVICE_OP, 0 },
	{ "aten::miopen_batch_norm", SS_NAME_DEVICE_OP, 0 },
	{ "aten::cudnn_is_acceptable", 0, SS_NAME_DEVICE_OP },
	{ "aten::mkldnn_convolution", 0, SS_NAME_DEVICE_OP },
	{ "c10d::allreduce_", SS_NAME_COMM_OP, 0 },
	/* tensor cores */
	{ "ampere_fp16_s16816gemm_fp16_128x64", SS_NAME_TENSOR_CORE, SS_NAME_COMM_KERNEL },
	{ "sm90_xmma_gemm_bf16bf16", SS_NAME_TENSOR_CORE, 0 },
	{ "nvjet_hsh_128x256_64x4", SS_NAME_TENSOR_CORE, 0 },
	{ "void flash_fwd_kernel<x>", SS_NAME_TENSOR_CORE, 0 },
	{ "Cijk_Ailk_Bljk_HHS_BH_MT128x128x16_MI16x16x16x1", SS_NAME_TENSOR_CORE, 0 },
	{ "my_nvjet", 0, SS_NAME_TENSOR_CORE },
	{ "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8_stage3_ffma_aligna4", 0,
	  SS_NAME_TENSOR_CORE },
	{ "volta_sgemm_128x64_nn", 0, SS_NAME_TENSOR_CORE },
	{ "void at::native::vectorized_elementwise_kernel<4>", 0, SS_NAME_TENSOR_CORE },
	/* calls */
	{ "cudaLaunchKernel", SS_NAME_LAUNCH, SS_NAME_SYNC_CALL | SS_NAME_COPY_CALL },
	{ "cudaLaunchKernelExC", SS_NAME_LAUNCH, 0 },
	{ "hipExtModuleLaunchKernel", SS_NAME_LAUNCH, 0 },
	{ "cudaGraphLaunch", SS_NAME_GRAPH_LAUNCH, SS_NAME_LAUNCH },
	{ "cudaMemcpy", SS_NAME_COPY_CALL | SS_NAME_SYNC_CALL, 0 },
	{ "cudaMemcpyAsync", SS_NAME_COPY_CALL, SS_NAME_SYNC_CALL },
	{ "cudaMemsetAsync", SS_NAME_COPY_CALL, SS_NAME_SYNC_CALL },
	{ "cudaStreamSynchronize", SS_NAME_SYNC_CALL, SS_NAME_LAUNCH },
	{ "cudaMemcpy_ptds", SS_NAME_COPY_CALL | SS_NAME_SYNC_CALL, 0 },
	{ "cudaMemcpyAsync_ptsz", SS_NAME_COPY_CALL, SS_NAME_SYNC_CALL },
	{ "cudaMemcpy2DAsync", SS_NAME_COPY_CALL, SS_NAME_SYNC_CALL },
	{ "cuMemcpyDtoH_v2", SS_NAME_COPY_CALL | SS_NAME_SYNC_CALL, 0 },
	{ "cuMemcpyDtoHAsync_v2", SS_NAME_COPY_CALL, SS_NAME_SYNC_CALL },
	{ "hipMemcpyDtoH", SS_NAME_COPY_CALL | SS_NAME_SYNC_CALL, 0 },
	{ "hipMemcpyDtoHAsync", SS_NAME_COPY_CALL, SS_NAME_SYNC_CALL },
	{ "hipMemcpyWithStream", SS_NAME_COPY_CALL | SS_NAME_SYNC_CALL, 0 },
	{ "urQueueFinish", SS_NAME_SYNC_CALL, SS_NAME_COPY_CALL },
	{ "urEventWait", SS_NAME_SYNC_CALL, SS_NAME_COPY_CALL },
	{ "urEnqueueEventsWaitWithBarrier", 0, SS_NAME_SYNC_CALL | SS_NAME_COPY_CALL },
	{ "urEnqueueUSMMemcpy", SS_NAME_COPY_CALL, SS_NAME_SYNC_CALL },
	{ "zeCommandListAppendMemoryCopy", SS_NAME_COPY_CALL, SS_NAME_LAUNCH },
	{ "zeCommandListHostSynchronize", SS_NAME_SYNC_CALL, SS_NAME_LAUNCH },
	{ "hipStreamQuery", SS_NAME_QUERY_CALL, SS_NAME_SYNC_CALL },
	{ "cudaEventQuery", SS_NAME_QUERY_CALL, SS_NAME_SYNC_CALL },
	{ "cudaStreamWaitEvent", 0, SS_NAME_SYNC_CALL | SS_NAME_LAUNCH },
	{ "cudaMallocAsync", SS_NAME_MALLOC_CALL, SS_NAME_COPY_CALL },
	{ "cudaEventRecord", 0, SS_NAME_LAUNCH | SS_NAME_SYNC_CALL | SS_NAME_COPY_CALL },
	/* ranges */
	{ "ProfilerStep#12", SS_NAME_STEP, 0 },
	{ "ProfilerStep", 0, SS_NAME_STEP },
	{ "my ProfilerStep#12", 0, SS_NAME_STEP },
	{ "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", SS_NAME_DATALOADER, 0 },
	{ "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__init__", 0, SS_NAME_DATALOADER },
	{ "enumerate(DataPipe)#ShardingFilter", SS_NAME_DATALOADER, 0 },
	{ "DataLoader", 0, SS_NAME_DATALOADER },
	{ "Optimizer.step#AdamW.step", SS_NAME_OPTIMIZER_STEP, SS_NAME_ZERO_GRAD },
	{ "Optimizer.zero_grad#AdamW.zero_grad", SS_NAME_ZERO_GRAD, SS_NAME_OPTIMIZER_STEP },
	{ "step[DECODE bs=1]", SS_NAME_STEP_LIKE, SS_NAME_STEP },
	{ "train_stepper", SS_NAME_STEP_LIKE, 0 },
	{ "Torch-Compiled Region: 0/0", SS_NAME_COMPILE, 0 },
	{ "nn.Module: Linear_0", SS_NAME_MODULE, 0 },
	{ "[memory]", SS_NAME_MEMORY, SS_NAME_OUT_OF_MEMORY },
	{ "[memory] ", 0, SS_NAME_MEMORY },
};

static void test_flags(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(names); i++) {
		uint32_t flags = ss_name_flags(names[i].name, strlen(names[i].name));

		support_check((flags & names[i].has) == names[i].has, names[i].name,
			      "flags %x lack some of %x", flags, names[i].has);
		support_check(!(flags & names[i].has_not), names[i].name,
			      "flags %x have some of %x", flags, names[i].has_not);
	}
}

static const struct {
	const char *category, *name;
	enum ss_kind kind;
	const char *called;
} kinds[] = {
	{ "cpu_op", "aten::mm", SS_KIND_OP, "cpu_op" },
	{ "Operator", "aten::mm", SS_KIND_OP, "cpu_op" },
	{ "cpu_op", "ProfilerStep#3", SS_KIND_ANNOTATION, "cpu_op" },
	{ "operator", "Optimizer.step#SGD.step", SS_KIND_ANNOTATION, "cpu_op" },
	{ "user_annotation", "x", SS_KIND_ANNOTATION, "user_annotation" },
	{ "Kernel", "k", SS_KIND_KERNEL, "kernel" },
	{ "Memcpy", "k", SS_KIND_MEMCPY, "gpu_memcpy" },
	{ "gpu_memset", "k", SS_KIND_MEMSET, "gpu_memset" },
	{ "Runtime", "cudaLaunchKernel", SS_KIND_RUNTIME, "cuda_runtime" },
	{ "cuda_driver", "cuLaunchKernel", SS_KIND_DRIVER, "cuda_driver" },
	{ "python_function", "f", SS_KIND_PYTHON, "python_function" },
	{ "gpu_user_annotation", "x", SS_KIND_DEVICE_ANNOTATION, "gpu_user_annotation" },
	{ "Trace", "PyTorch Profiler (0)", SS_KIND_SPAN, "trace" },
	{ "overhead", "CUPTI Buffer", SS_KIND_OVERHEAD, "overhead" },
	{ "mtia_ccp_events", "fused_add", SS_KIND_KERNEL, "mtia_ccp_events" },
	{ "mtia_ccp_events", "dma_copy", SS_KIND_MEMCPY, "mtia_ccp_events" },
	{ "mtia_ccp_events", "event_wait", SS_KIND_SYNC, "mtia_ccp_events" },
	{ "mtia_ccp_events", "event_waiting", SS_KIND_KERNEL, "mtia_ccp_events" },
	{ "kernels", "k", SS_KIND_OTHER, "kernels" },
	{ "Whatever", "x", SS_KIND_OTHER, "whatever" },
	{ "", "x", SS_KIND_OTHER, "" },
};

static void test_kinds(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(kinds); i++) {
		struct support_trace loaded;
		const struct ss_slices *slices = &loaded.trace.slices;
		struct ss_text json = { 0 };

		ss_text_addf(&json,
			     "[{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"ts\":1,\"dur\":1}]",
			     kinds[i].category, kinds[i].name);
		support_load(&loaded, json.data);
		support_check(slices->kind[0] == kinds[i].kind, json.data, "kind %u",
			      slices->kind[0]);
		assert_string_equal(loaded.trace.categories[slices->category[0]].name,
				    kinds[i].called);
		assert_int_equal(loaded.trace.tracks[slices->track[0]].class,
				 ss_kind_track(kinds[i].kind));
		support_close(&loaded);
		ss_text_release(&json);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flags),
		cmocka_unit_test(test_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
