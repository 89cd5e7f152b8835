/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.c - the five GPUs.
 *
 * Sizes, limits and versions are those that profiles of such devices state. Rates
 * are what large kernels of the vendors' libraries sustain, a half to nine tenths
 * of the data sheet. None is taken from the table that the rules use (peaks.c).
 * These agree with measurements: A100 in half precision, 228 to 254 TFLOP/s at sizes
 * 4,096 to 8,192, and its copies, 1.61 TB/s (Azure's AI benchmarking guide); streams
 * on MI300X, 3.9 to 4.2 TB/s (RRZE's gpu-benches); pinned copies, 12.4 GB/s over
 * PCIe 3 (the same), 26 over PCIe 4, 51 to 55 over PCIe 5 (nvbandwidth, Azure);
 * collectives, 214 to 228 GB/s on A100 (Azure), 350 to 360 on H100
 * (NVIDIA/nccl#1281), 673 to 682 on B200 (ml-engineering), 313 on MI300X (AMD).
 * The others are assumptions.
 */
#include "sim/devices/device.h"

#include <string.h>

static const struct ss_sim_device v100 = {
	.id = "v100",
	.name = "Tesla V100-SXM2-32GB",
	.arch = SS_SIM_VOLTA,
	.memory_bytes = UINT64_C(34089730048),
	.compute_major = 7,
	.compute_minor = 0,
	.sm_count = 80,
	.warp_size = 32,
	.threads_per_sm = 2048,
	.shared_per_block = 49152,
	.shared_per_block_optin = 98304,
	.shared_per_sm = 98304,
	.fp32_flops = 13e12,
	.half_flops = 95e12,
	.memory_rate = 0.8e12,
	.pinned_rate = 12e9,
	.pageable_rate = 6e9,
	.link_rate = 120e9,
	.network_rate = 10e9,
	.runtime_version = 12040,
	.driver_version = 12040,
	.nccl_version = "2.21.5",
};

static const struct ss_sim_device a100 = {
	.id = "a100",
	.name = "NVIDIA A100-SXM4-80GB",
	.arch = SS_SIM_AMPERE,
	.memory_bytes = UINT64_C(85097971712),
	.compute_major = 8,
	.compute_minor = 0,
	.sm_count = 108,
	.warp_size = 32,
	.threads_per_sm = 2048,
	.shared_per_block = 49152,
	.shared_per_block_optin = 166912,
	.shared_per_sm = 167936,
	.fp32_flops = 17e12,
	.half_flops = 240e12,
	.memory_rate = 1.6e12,
	.pinned_rate = 24e9,
	.pageable_rate = 12e9,
	.link_rate = 220e9,
	.network_rate = 22e9,
	.runtime_version = 12040,
	.driver_version = 12040,
	.nccl_version = "2.21.5",
};

static const struct ss_sim_device h100 = {
	.id = "h100",
	.name = "NVIDIA H100 80GB HBM3",
	.arch = SS_SIM_HOPPER,
	.memory_bytes = UINT64_C(85018279936),
	.compute_major = 9,
	.compute_minor = 0,
	.sm_count = 132,
	.warp_size = 32,
	.threads_per_sm = 2048,
	.shared_per_block = 49152,
	.shared_per_block_optin = 232448,
	.shared_per_sm = 233472,
	.fp32_flops = 45e12,
	.half_flops = 600e12,
	.memory_rate = 2.6e12,
	.pinned_rate = 52e9,
	.pageable_rate = 26e9,
	.link_rate = 360e9,
	.network_rate = 42e9,
	.runtime_version = 12040,
	.driver_version = 12090,
	.nccl_version = "2.21.5",
};

static const struct ss_sim_device b200 = {
	.id = "b200",
	.name = "NVIDIA B200",
	.arch = SS_SIM_BLACKWELL,
	.memory_bytes = UINT64_C(191503138816),
	.compute_major = 10,
	.compute_minor = 0,
	.sm_count = 148,
	.warp_size = 32,
	.threads_per_sm = 2048,
	.shared_per_block = 49152,
	.shared_per_block_optin = 232448,
	.shared_per_sm = 233472,
	.fp32_flops = 65e12,
	.half_flops = 1500e12,
	.memory_rate = 6.5e12,
	.pinned_rate = 55e9,
	.pageable_rate = 27.5e9,
	.link_rate = 700e9,
	.network_rate = 45e9,
	.runtime_version = 12090,
	.driver_version = 13000,
	.nccl_version = "2.27.5",
};

static const struct ss_sim_device mi300x = {
	.id = "mi300x",
	.name = "AMD Instinct MI300X",
	.arch = SS_SIM_CDNA3,
	.rocm = true,
	.memory_bytes = UINT64_C(206141652992),
	.compute_major = 9,
	.compute_minor = 4,
	.sm_count = 304,
	.warp_size = 64,
	.threads_per_sm = 2048,
	.shared_per_block = 65536,
	.shared_per_block_optin = 65536,
	.shared_per_sm = 65536,
	.fp32_flops = 90e12,
	.half_flops = 550e12,
	.memory_rate = 4.0e12,
	.pinned_rate = 50e9,
	.pageable_rate = 25e9,
	.link_rate = 310e9,
	.network_rate = 40e9,
	.runtime_version = 60443483,
	.driver_version = 60443483,
	.nccl_version = "2.22.3",
};

const struct ss_sim_device *const ss_sim_devices[] = { &v100, &a100, &h100, &b200, &mi300x };
const size_t ss_sim_device_count = SS_COUNT(ss_sim_devices);

const struct ss_sim_device *ss_sim_device_find(const char *id)
{
	for (size_t i = 0; i < ss_sim_device_count; i++)
		if (strcmp(ss_sim_devices[i]->id, id) == 0)
			return ss_sim_devices[i];
	return NULL;
}

const char *ss_sim_dtype_name(const struct ss_sim_device *device, enum ss_sim_dtype dtype)
{
	if (dtype == SS_SIM_FP32)
		return "float";
	if (dtype == SS_SIM_INT32)
		return "int";
	return device->arch == SS_SIM_VOLTA ? "c10::Half" : "c10::BFloat16";
}

uint32_t ss_sim_dtype_bytes(enum ss_sim_dtype dtype)
{
	return dtype == SS_SIM_HALF ? 2 : 4;
}
