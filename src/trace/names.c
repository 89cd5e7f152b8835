/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.c - finds names by the tables: patterns, one table per subject.
 */
#include "trace/names.h"

#include <string.h>

#include "base/text.h"

/* Which pairs of letters a name has, or may have: most patterns are ruled out by their first. */
#define PAIR_BITS 1024

struct letter_pairs {
	uint64_t bits[PAIR_BITS / 64];
};

static uint32_t letter_pair_at(const char *text)
{
	return ((uint32_t)(unsigned char)text[0] * 37 + (unsigned char)text[1]) % PAIR_BITS;
}

static void letter_pairs_note(struct letter_pairs *pairs, const char *name, size_t length)
{
	for (size_t i = 0; i + 1 < length; i++) {
		uint32_t pair = letter_pair_at(name + i);

		pairs->bits[pair / 64] |= UINT64_C(1) << pair % 64;
	}
}

static bool pattern_may_match(const struct ss_name_pattern *pattern, const char *name,
			      size_t length, const struct letter_pairs *pairs)
{
	const char *text = pattern->text;
	uint32_t pair;

	if (pattern->match == SS_NAME_IS || pattern->match == SS_NAME_STARTS)
		return length && *text == *name;
	if (!text[0] || !text[1])
		return true;
	pair = letter_pair_at(text);
	return pairs->bits[pair / 64] >> pair % 64 & 1;
}

static bool pattern_matches(const struct ss_name_pattern *pattern, const char *name, size_t length,
			    const struct letter_pairs *pairs)
{
	size_t text_length;

	if (!pattern_may_match(pattern, name, length, pairs))
		return false;
	text_length = strlen(pattern->text);
	if (text_length > length)
		return false;
	switch (pattern->match) {
	case SS_NAME_IS:
		return text_length == length && memcmp(name, pattern->text, length) == 0;
	case SS_NAME_STARTS:
		return memcmp(name, pattern->text, text_length) == 0;
	case SS_NAME_ENDS:
		return memcmp(name + length - text_length, pattern->text, text_length) == 0;
	case SS_NAME_HAS:
		return ss_text_has(name, length, pattern->text, text_length);
	}
	return false;
}

uint32_t ss_name_flags(const char *name, size_t length)
{
	static const struct ss_name_table *const tables[] = {
		&ss_names_comm,
		&ss_names_tensor_core,
		&ss_names_calls,
		&ss_names_ranges,
	};
	struct letter_pairs pairs = { 0 };
	uint32_t flags = 0;

	letter_pairs_note(&pairs, name, length);
	for (size_t t = 0; t < SS_COUNT(tables); t++)
		for (size_t i = 0; i < tables[t]->count; i++)
			if (pattern_matches(&tables[t]->patterns[i], name, length, &pairs))
				flags |= tables[t]->patterns[i].flags;
	/* the loader's ranges are its __next__ calls; other parts of it are ordinary ranges */
	if ((flags & SS_NAME_DATALOADER) && length >= 22 &&
	    memcmp(name, "enumerate(DataLoader)#", 22) == 0 &&
	    (length < 9 || memcmp(name + length - 9, ".__next__", 9) != 0))
		flags &= ~(uint32_t)SS_NAME_DATALOADER;
	/* the xmma kernels that multiply on the vector units say so: ..._ffma_aligna4_... */
	if ((flags & SS_NAME_TENSOR_CORE) && ss_text_has(name, length, "_ffma", 5))
		flags &= ~(uint32_t)SS_NAME_TENSOR_CORE;
	return flags;
}

enum ss_kind ss_name_refine(enum ss_kind kind, uint32_t flags)
{
	const uint32_t ranges = SS_NAME_STEP | SS_NAME_DATALOADER | SS_NAME_OPTIMIZER_STEP |
				SS_NAME_ZERO_GRAD | SS_NAME_COMM_RANGE | SS_NAME_WRAPPER;

	if (kind == SS_KIND_OP && (flags & ranges))
		return SS_KIND_ANNOTATION;
	if (kind == SS_KIND_KERNEL && (flags & SS_NAME_DMA))
		return SS_KIND_MEMCPY;
	if (kind == SS_KIND_KERNEL && (flags & SS_NAME_DEVICE_SYNC))
		return SS_KIND_SYNC;
	return kind;
}

/* The patterns by which names are known, one table per subject. */

#define COPY SS_NAME_COPY_CALL
#define COPY_SYNC (SS_NAME_COPY_CALL | SS_NAME_SYNC_CALL)

/* Runtime and driver calls: what each does to the CPU thread. */
static const struct ss_name_pattern calls_patterns[] = {
	{ SS_NAME_STARTS, "cudaLaunchKernel", SS_NAME_LAUNCH },
	{ SS_NAME_STARTS, "cudaLaunchCooperativeKernel", SS_NAME_LAUNCH },
	{ SS_NAME_STARTS, "cuLaunchKernel", SS_NAME_LAUNCH },
	{ SS_NAME_STARTS, "cuLaunchCooperativeKernel", SS_NAME_LAUNCH },
	{ SS_NAME_STARTS, "hipLaunchKernel", SS_NAME_LAUNCH },
	{ SS_NAME_STARTS, "hipExtLaunchKernel", SS_NAME_LAUNCH },
	{ SS_NAME_STARTS, "hipModuleLaunchKernel", SS_NAME_LAUNCH },
	{ SS_NAME_STARTS, "hipExtModuleLaunchKernel", SS_NAME_LAUNCH },
	{ SS_NAME_STARTS, "hipHccModuleLaunchKernel", SS_NAME_LAUNCH },
	{ SS_NAME_STARTS, "hipLaunchCooperativeKernel", SS_NAME_LAUNCH },
	{ SS_NAME_STARTS, "hipLaunchByPtr", SS_NAME_LAUNCH },
	{ SS_NAME_STARTS, "urEnqueueKernelLaunch", SS_NAME_LAUNCH },
	{ SS_NAME_STARTS, "urEnqueueCooperativeKernelLaunch", SS_NAME_LAUNCH },
	{ SS_NAME_STARTS, "piEnqueueKernelLaunch", SS_NAME_LAUNCH },
	{ SS_NAME_STARTS, "zeCommandListAppendLaunch", SS_NAME_LAUNCH },
	{ SS_NAME_STARTS, "runFunction", SS_NAME_LAUNCH },
	{ SS_NAME_STARTS, "cudaGraphLaunch", SS_NAME_GRAPH_LAUNCH },
	{ SS_NAME_STARTS, "cuGraphLaunch", SS_NAME_GRAPH_LAUNCH },
	{ SS_NAME_STARTS, "hipGraphLaunch", SS_NAME_GRAPH_LAUNCH },
	{ SS_NAME_IS, "cudaMemcpy", COPY_SYNC },
	{ SS_NAME_IS, "cudaMemcpy2D", COPY_SYNC },
	{ SS_NAME_IS, "cudaMemcpy3D", COPY_SYNC },
	{ SS_NAME_IS, "cudaMemcpyToSymbol", COPY_SYNC },
	{ SS_NAME_IS, "cudaMemcpyFromSymbol", COPY_SYNC },
	/* with --default-stream per-thread */
	{ SS_NAME_IS, "cudaMemcpy_ptds", COPY_SYNC },
	{ SS_NAME_IS, "cudaMemcpy2D_ptds", COPY_SYNC },
	{ SS_NAME_IS, "cudaMemcpy3D_ptds", COPY_SYNC },
	{ SS_NAME_IS, "cuMemcpyHtoD_v2", COPY_SYNC },
	{ SS_NAME_IS, "cuMemcpyDtoH_v2", COPY_SYNC },
	{ SS_NAME_IS, "hipMemcpy", COPY_SYNC },
	{ SS_NAME_IS, "hipMemcpy_spt", COPY_SYNC },
	{ SS_NAME_IS, "hipMemcpyHtoD", COPY_SYNC },
	{ SS_NAME_IS, "hipMemcpyDtoH", COPY_SYNC },
	{ SS_NAME_IS, "hipMemcpy2D", COPY_SYNC },
	{ SS_NAME_IS, "hipMemcpy3D", COPY_SYNC },
	{ SS_NAME_IS, "hipMemcpyToSymbol", COPY_SYNC },
	{ SS_NAME_IS, "hipMemcpyFromSymbol", COPY_SYNC },
	{ SS_NAME_IS, "hipMemcpyWithStream", COPY_SYNC },
	{ SS_NAME_STARTS, "cudaMemcpyAsync", COPY },
	{ SS_NAME_STARTS, "cudaMemcpy2DAsync", COPY },
	{ SS_NAME_STARTS, "cudaMemcpy3DAsync", COPY },
	{ SS_NAME_STARTS, "cudaMemcpyBatchAsync", COPY },
	{ SS_NAME_STARTS, "cudaMemcpyPeerAsync", COPY },
	{ SS_NAME_STARTS, "cuMemcpy", COPY },
	{ SS_NAME_STARTS, "cudaMemset", COPY },
	{ SS_NAME_STARTS, "cuMemset", COPY },
	{ SS_NAME_STARTS, "hipMemcpyAsync", COPY },
	{ SS_NAME_STARTS, "hipMemcpyDtoD", COPY },
	{ SS_NAME_STARTS, "hipMemcpyHtoDAsync", COPY },
	{ SS_NAME_STARTS, "hipMemcpyDtoHAsync", COPY },
	{ SS_NAME_STARTS, "hipMemcpy2DAsync", COPY },
	{ SS_NAME_STARTS, "hipMemcpy3DAsync", COPY },
	{ SS_NAME_STARTS, "hipMemcpyPeerAsync", COPY },
	{ SS_NAME_STARTS, "hipMemset", COPY },
	{ SS_NAME_STARTS, "urEnqueueMem", COPY },
	{ SS_NAME_STARTS, "urEnqueueUSMMemcpy", COPY },
	{ SS_NAME_STARTS, "urEnqueueUSMFill", COPY },
	{ SS_NAME_STARTS, "piEnqueueMem", COPY },
	{ SS_NAME_STARTS, "piextUSMEnqueueMem", COPY },
	{ SS_NAME_STARTS, "zeCommandListAppendMemory", COPY },
	{ SS_NAME_STARTS, "enqueueCommand memcpy", COPY },
	{ SS_NAME_STARTS, "cudaDeviceSynchronize", SS_NAME_SYNC_CALL },
	{ SS_NAME_STARTS, "cudaStreamSynchronize", SS_NAME_SYNC_CALL },
	{ SS_NAME_STARTS, "cudaEventSynchronize", SS_NAME_SYNC_CALL },
	{ SS_NAME_STARTS, "cuCtxSynchronize", SS_NAME_SYNC_CALL },
	{ SS_NAME_STARTS, "cuStreamSynchronize", SS_NAME_SYNC_CALL },
	{ SS_NAME_STARTS, "cuEventSynchronize", SS_NAME_SYNC_CALL },
	{ SS_NAME_STARTS, "hipDeviceSynchronize", SS_NAME_SYNC_CALL },
	{ SS_NAME_STARTS, "hipStreamSynchronize", SS_NAME_SYNC_CALL },
	{ SS_NAME_STARTS, "hipEventSynchronize", SS_NAME_SYNC_CALL },
	{ SS_NAME_STARTS, "hipCtxSynchronize", SS_NAME_SYNC_CALL },
	{ SS_NAME_STARTS, "urQueueFinish", SS_NAME_SYNC_CALL },
	{ SS_NAME_STARTS, "urEventWait", SS_NAME_SYNC_CALL },
	{ SS_NAME_STARTS, "piQueueFinish", SS_NAME_SYNC_CALL },
	{ SS_NAME_STARTS, "piEventsWait", SS_NAME_SYNC_CALL },
	{ SS_NAME_STARTS, "zeCommandQueueSynchronize", SS_NAME_SYNC_CALL },
	{ SS_NAME_STARTS, "zeCommandListHostSynchronize", SS_NAME_SYNC_CALL },
	{ SS_NAME_STARTS, "zeEventHostSynchronize", SS_NAME_SYNC_CALL },
	{ SS_NAME_STARTS, "zeFenceHostSynchronize", SS_NAME_SYNC_CALL },
	{ SS_NAME_STARTS, "synchronize", SS_NAME_SYNC_CALL },
	{ SS_NAME_STARTS, "cudaStreamWaitEvent", SS_NAME_STREAM_WAIT },
	{ SS_NAME_STARTS, "cuStreamWaitEvent", SS_NAME_STREAM_WAIT },
	{ SS_NAME_STARTS, "hipStreamWaitEvent", SS_NAME_STREAM_WAIT },
	{ SS_NAME_STARTS, "urEnqueueEventsWait", SS_NAME_STREAM_WAIT },
	{ SS_NAME_STARTS, "cudaMalloc", SS_NAME_MALLOC_CALL },
	{ SS_NAME_STARTS, "cudaFree", SS_NAME_MALLOC_CALL },
	{ SS_NAME_STARTS, "cudaHostAlloc", SS_NAME_MALLOC_CALL },
	{ SS_NAME_STARTS, "cudaHostRegister", SS_NAME_MALLOC_CALL },
	{ SS_NAME_STARTS, "cuMemCreate", SS_NAME_MALLOC_CALL },
	{ SS_NAME_STARTS, "cuMemMap", SS_NAME_MALLOC_CALL },
	{ SS_NAME_STARTS, "cuMemUnmap", SS_NAME_MALLOC_CALL },
	{ SS_NAME_STARTS, "hipMalloc", SS_NAME_MALLOC_CALL },
	{ SS_NAME_STARTS, "hipFree", SS_NAME_MALLOC_CALL },
	{ SS_NAME_STARTS, "hipHostMalloc", SS_NAME_MALLOC_CALL },
	{ SS_NAME_STARTS, "hipExtMallocWithFlags", SS_NAME_MALLOC_CALL },
	{ SS_NAME_HAS, "EventQuery", SS_NAME_QUERY_CALL },
	{ SS_NAME_HAS, "StreamQuery", SS_NAME_QUERY_CALL },
	{ SS_NAME_HAS, "StreamIsCapturing", SS_NAME_QUERY_CALL },
	{ SS_NAME_HAS, "StreamGetCaptureInfo", SS_NAME_QUERY_CALL },
	{ SS_NAME_HAS, "GetAttribute", SS_NAME_QUERY_CALL },
	{ SS_NAME_HAS, "GetDeviceProperties", SS_NAME_QUERY_CALL },
	{ SS_NAME_HAS, "GetLastError", SS_NAME_QUERY_CALL },
	{ SS_NAME_HAS, "PeekAtLastError", SS_NAME_QUERY_CALL },
	{ SS_NAME_HAS, "OccupancyMax", SS_NAME_QUERY_CALL },
	/* MTIA device rows */
	{ SS_NAME_STARTS, "dma", SS_NAME_DMA },
	{ SS_NAME_IS, "event_wait", SS_NAME_DEVICE_SYNC },
	{ SS_NAME_IS, "event_record", SS_NAME_DEVICE_SYNC },
};

const struct ss_name_table ss_names_calls = { calls_patterns, SS_COUNT(calls_patterns) };

/*
 * Kernels that move data between devices, and the ranges and
 * operators around them.
 *
 * The words "dispatch", "combine" and "all_reduce" alone mean nothing: cub::DispatchReduce is
 * compute, and Inductor names a pointwise kernel triton_poi_fused_add_all_reduce_4. So kernels of
 * expert parallelism count by their namespace, and custom all-reduces by the kernel's whole word.
 */
static const struct ss_name_pattern comm_patterns[] = {
	{ SS_NAME_STARTS, "nccl", SS_NAME_COMM_KERNEL },
	{ SS_NAME_STARTS, "rccl", SS_NAME_COMM_KERNEL },
	{ SS_NAME_HAS, "ncclKernel", SS_NAME_COMM_KERNEL },
	{ SS_NAME_HAS, "ncclDevKernel", SS_NAME_COMM_KERNEL },
	{ SS_NAME_HAS, "rcclGenericKernel", SS_NAME_COMM_KERNEL },
	{ SS_NAME_HAS, "oneccl", SS_NAME_COMM_KERNEL },
	{ SS_NAME_HAS, "nvshmem", SS_NAME_COMM_KERNEL },
	{ SS_NAME_HAS, "rocshmem", SS_NAME_COMM_KERNEL },
	{ SS_NAME_HAS, "mscclpp", SS_NAME_COMM_KERNEL },
	/* DeepEP (csrc/kernels/internode.cu, intranode.cu, internode_ll.cu) and copies of it */
	{ SS_NAME_HAS, "deep_ep", SS_NAME_COMM_KERNEL },
	{ SS_NAME_HAS, "dpsk::ep::", SS_NAME_COMM_KERNEL },
	{ SS_NAME_HAS, "::internode::", SS_NAME_COMM_KERNEL },
	{ SS_NAME_HAS, "::intranode::", SS_NAME_COMM_KERNEL },
	{ SS_NAME_HAS, "::internode_ll::", SS_NAME_COMM_KERNEL },
	/* ROCm/mori: src/ops/dispatch_combine; compiled at run time without its namespace */
	{ SS_NAME_HAS, "mori::", SS_NAME_COMM_KERNEL },
	{ SS_NAME_HAS, "EpDispatchIntraNode", SS_NAME_COMM_KERNEL },
	{ SS_NAME_HAS, "EpDispatchInterNode", SS_NAME_COMM_KERNEL },
	{ SS_NAME_HAS, "EpCombineIntraNode", SS_NAME_COMM_KERNEL },
	{ SS_NAME_HAS, "EpCombineInterNode", SS_NAME_COMM_KERNEL },
	/* vLLM, SGLang, aiter: custom_all_reduce.cuh, quick_all_reduce.cuh */
	{ SS_NAME_HAS, "cross_device_reduce", SS_NAME_COMM_KERNEL },
	{ SS_NAME_HAS, "quickreduce::", SS_NAME_COMM_KERNEL },
	{ SS_NAME_HAS, "allreduce_prototype_twoshot", SS_NAME_COMM_KERNEL },
	/* PyTorch: symmetric memory (CUDASymmetricMemoryOps.cu), intra_node_comm.cu */
	{ SS_NAME_HAS, "multimem_", SS_NAME_COMM_KERNEL },
	{ SS_NAME_HAS, "one_shot_all_reduce_kernel", SS_NAME_COMM_KERNEL },
	{ SS_NAME_HAS, "two_shot_all_reduce_kernel", SS_NAME_COMM_KERNEL },
	/* TensorRT-LLM (customAllReduceKernels.cu, allReduceFusionKernels.cu, mnnvl), FlashInfer */
	{ SS_NAME_HAS, "neShotAllReduceKernel", SS_NAME_COMM_KERNEL },
	{ SS_NAME_HAS, "woShotAllReduceKernel", SS_NAME_COMM_KERNEL },
	{ SS_NAME_HAS, "one_shot_all_reduce_norm_kernel", SS_NAME_COMM_KERNEL },
	{ SS_NAME_HAS, "allreduce_fusion_kernel", SS_NAME_COMM_KERNEL },
	{ SS_NAME_HAS, "shot_allreduce", SS_NAME_COMM_KERNEL },
	{ SS_NAME_HAS, "shotAllreduce", SS_NAME_COMM_KERNEL },
	{ SS_NAME_HAS, "moeAllToAllKernel", SS_NAME_COMM_KERNEL },
	/* TransformerEngine: comm_gemm_overlap/userbuffers */
	{ SS_NAME_HAS, "userbuffers_", SS_NAME_COMM_KERNEL },
	{ SS_NAME_STARTS, "nccl:", SS_NAME_COMM_RANGE },
	{ SS_NAME_STARTS, "gloo:", SS_NAME_COMM_RANGE },
	{ SS_NAME_STARTS, "xccl:", SS_NAME_COMM_RANGE },
	{ SS_NAME_STARTS, "mpi:", SS_NAME_COMM_RANGE },
	{ SS_NAME_STARTS, "c10d::", SS_NAME_COMM_OP },
	{ SS_NAME_IS, "record_param_comms", SS_NAME_COMM_OP },
};

const struct ss_name_table ss_names_comm = { comm_patterns, SS_COUNT(comm_patterns) };

/*
 * Ranges and operators by which a program's phases are known:
 * steps, input, optimizer, backward, compiling, garbage collection.
 */
static const struct ss_name_pattern ranges_patterns[] = {
	{ SS_NAME_STARTS, "ProfilerStep#", SS_NAME_STEP },
	/* SGLang, vLLM, and what people call their own loops */
	{ SS_NAME_STARTS, "step[", SS_NAME_STEP_LIKE },
	{ SS_NAME_STARTS, "execute_", SS_NAME_STEP_LIKE },
	{ SS_NAME_STARTS, "train_step", SS_NAME_STEP_LIKE },
	{ SS_NAME_STARTS, "## train_step", SS_NAME_STEP_LIKE },
	{ SS_NAME_STARTS, "enumerate(DataLoader)#", SS_NAME_DATALOADER },
	{ SS_NAME_STARTS, "enumerate(DataPipe)#", SS_NAME_DATALOADER },
	{ SS_NAME_STARTS, "Optimizer.step#", SS_NAME_OPTIMIZER_STEP },
	{ SS_NAME_STARTS, "Optimizer.zero_grad#", SS_NAME_ZERO_GRAD },
	{ SS_NAME_IS, "DataParallel.forward", SS_NAME_WRAPPER },
	{ SS_NAME_IS, "DistributedDataParallel.forward", SS_NAME_WRAPPER },
	{ SS_NAME_STARTS, "FullyShardedDataParallel.", SS_NAME_WRAPPER },
	{ SS_NAME_STARTS, "autograd::engine::evaluate_function: ", SS_NAME_BACKWARD },
	/* ATen's operators of a GPU's libraries (native_functions.yaml: dispatch CUDA alone) */
	{ SS_NAME_STARTS, "aten::cudnn_convolution", SS_NAME_DEVICE_OP },
	{ SS_NAME_STARTS, "aten::cudnn_batch_norm", SS_NAME_DEVICE_OP },
	{ SS_NAME_STARTS, "aten::_cudnn_", SS_NAME_DEVICE_OP },
	{ SS_NAME_STARTS, "aten::miopen_", SS_NAME_DEVICE_OP },
	{ SS_NAME_STARTS, "Torch-Compiled Region", SS_NAME_COMPILE },
	{ SS_NAME_STARTS, "TorchDynamo Cache Lookup", SS_NAME_COMPILE },
	{ SS_NAME_ENDS, "(dynamo_timed)", SS_NAME_COMPILE },
	{ SS_NAME_IS, "Python GC", SS_NAME_GC },
	{ SS_NAME_IS, "<built-in function collect>", SS_NAME_GC }, /* gc.collect() */
	{ SS_NAME_STARTS, "nn.Module: ", SS_NAME_MODULE },
	{ SS_NAME_STARTS, "Iteration Start", SS_NAME_WINDOW },
	{ SS_NAME_IS, "Record Window End", SS_NAME_WINDOW },
	{ SS_NAME_IS, "[memory]", SS_NAME_MEMORY },
	{ SS_NAME_IS, "[OutOfMemory]", SS_NAME_OUT_OF_MEMORY },
};

const struct ss_name_table ss_names_ranges = { ranges_patterns, SS_COUNT(ranges_patterns) };

/*
 * Kernels that use tensor cores (NVIDIA) or matrix cores
 * (AMD), Volta to Blackwell.
 *
 * The first group is what the TensorBoard plugin knew in 2020; the rest is what
 * came after it: Hopper and Blackwell cuBLAS (nvjet), warp-group MMA, flash
 * attention, CUTLASS tensor-op kernels, Tensile's MFMA kernels.
 */
static const struct ss_name_pattern tensor_core_patterns[] = {
	{ SS_NAME_HAS, "h884", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "s884", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "h1688", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "s1688", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "c1688", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "hmma", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "i8816", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "16816", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "dgrad_1x1_stride_2x2", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "first_layer_wgrad_kernel", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "conv1x1", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "conv2d_c1_k1", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "direct_group", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "xmma_implicit_gemm", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "xmma_sparse_conv", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "xmma_warp_specialized_implicit_gemm", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "xmma_gemm", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "xmma_sparse_gemm", SS_NAME_TENSOR_CORE },
	/* since Ampere */
	{ SS_NAME_HAS, "xmma_fprop", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "xmma_dgrad", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "xmma_wgrad", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "tensorop", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "wmma", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "flash_fwd", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "flash_bwd", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "fmha", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "tf32f32", SS_NAME_TENSOR_CORE },
	/* Hopper and Blackwell */
	{ SS_NAME_HAS, "gmma", SS_NAME_TENSOR_CORE },
	{ SS_NAME_STARTS, "nvjet", SS_NAME_TENSOR_CORE },
	{ SS_NAME_STARTS, "bmm_E4m3", SS_NAME_TENSOR_CORE },
	{ SS_NAME_STARTS, "bmm_Bfloat16", SS_NAME_TENSOR_CORE },
	/* AMD: Tensile names its MFMA kernels _MI<m>x<n>x..., CK by xdl */
	{ SS_NAME_HAS, "_MFMA", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "_MI16x16x", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "_MI32x32x", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "_MI4x4x", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "xdl", SS_NAME_TENSOR_CORE },
	/* MIOpen's implicit GEMMs for MFMA */
	{ SS_NAME_STARTS, "igemm_fwd_gtcx", SS_NAME_TENSOR_CORE },
	{ SS_NAME_STARTS, "igemm_bwd_gtcx", SS_NAME_TENSOR_CORE },
	{ SS_NAME_STARTS, "igemm_wrw_gtcx", SS_NAME_TENSOR_CORE },
	/* flash attention in Triton: ROCm's of PyTorch (aotriton) */
	{ SS_NAME_IS, "attn_fwd", SS_NAME_TENSOR_CORE },
	{ SS_NAME_IS, "bwd_kernel_dk_dv", SS_NAME_TENSOR_CORE },
	{ SS_NAME_IS, "bwd_kernel_dq", SS_NAME_TENSOR_CORE },
};

const struct ss_name_table ss_names_tensor_core = { tensor_core_patterns,
						    SS_COUNT(tensor_core_patterns) };
