/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_nccl.c - collectives of NCCL and RCCL: the name and the launch only.
 *
 * NCCL builds its kernels for the low-latency protocol and lets them run the
 * others, so RING_LL stands in the name whatever is used. RCCL has one kernel.
 */
#include "sim/devices/kernel_parts.h"

/* Bytes that are worth one more channel. */
#define CHANNEL_BYTES 65536u
#define ARGUMENTS "(ncclDevKernelArgsStorage<4096ul>)"

struct nccl_launch {
	uint32_t channels, threads, registers, shared_bytes;
	const char *call;
};

static const struct nccl_launch nccl_launches[] = {
	[SS_SIM_VOLTA] = { 12, 544, 96, 42024, "cudaLaunchKernelExC" },
	[SS_SIM_AMPERE] = { 24, 544, 96, 88016, "cudaLaunchKernelExC" },
	[SS_SIM_HOPPER] = { 24, 544, 96, 88016, "cudaLaunchKernelExC" },
	[SS_SIM_BLACKWELL] = { 32, 544, 96, 103808, "cuLaunchKernelEx" },
	[SS_SIM_CDNA3] = { 56, 256, 104, 38144, "hipExtLaunchKernel" },
};

static const char *nccl_name_pattern(const struct ss_sim_make *make)
{
	if (make->device->rocm)
		return "ncclDevKernel_Generic" ARGUMENTS;
	switch (make->wish->class) {
	case SS_SIM_NCCL_ALL_GATHER:
		return "ncclDevKernel_AllGather_RING_LL" ARGUMENTS;
	case SS_SIM_NCCL_REDUCE_SCATTER:
		return "ncclDevKernel_ReduceScatter_Sum_$W_RING_LL" ARGUMENTS;
	case SS_SIM_NCCL_SEND_RECV:
		return "ncclDevKernel_SendRecv" ARGUMENTS;
	case SS_SIM_NCCL_BROADCAST:
		return "ncclDevKernel_Broadcast_RING_LL" ARGUMENTS;
	default:
		return "ncclDevKernel_AllReduce_Sum_$W_RING_LL" ARGUMENTS;
	}
}

void ss_sim_make_nccl(struct ss_sim_make *make)
{
	const struct nccl_launch *layout = &nccl_launches[make->device->arch];
	uint64_t channels = ss_sim_ceil(make->size[0], CHANNEL_BYTES);

	if (make->wish->dtype == SS_SIM_FP32)
		ss_sim_make_word(make, 'W', "f32");
	else if (make->wish->dtype == SS_SIM_INT32)
		ss_sim_make_word(make, 'W', "u32"); /* sums of both kinds are the same */
	else
		ss_sim_make_word(make, 'W', make->device->arch == SS_SIM_VOLTA ? "f16" : "bf16");
	ss_sim_make_name(make, nccl_name_pattern(make));
	ss_sim_make_grid(make, ss_sim_least(channels, layout->channels), 1, 1);
	ss_sim_make_block(make, layout->threads, 1, layout->registers, layout->shared_bytes);
	make->out->call = layout->call;
	make->out->bytes = (double)make->size[0];
}
