/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.h - the GPUs that can be simulated: their peaks, their links, and what
 * the profiler writes about them.
 *
 * Peaks are those of the vendors' data sheets (dense, not sparse); the
 * efficiencies say which part of them a large kernel reaches.
 */
#ifndef SS_SIM_DEVICES_DEVICE_H
#define SS_SIM_DEVICES_DEVICE_H

#include "base/error.h"

enum ss_sim_arch {
	SS_SIM_VOLTA,
	SS_SIM_AMPERE,
	SS_SIM_HOPPER,
	SS_SIM_BLACKWELL,
	SS_SIM_CDNA3,
};

/* Numbers of a matrix product. */
enum ss_sim_dtype {
	SS_SIM_FP32,  /* without tensor cores */
	SS_SIM_HALF,  /* c10::Half on Volta, c10::BFloat16 elsewhere */
	SS_SIM_INT32, /* of maps that are reduced, never of products */
};

struct ss_sim_device {
	const char *id;   /* "h100" */
	const char *name; /* as the profiler writes it */
	enum ss_sim_arch arch;
	bool rocm;
	uint64_t memory_bytes;
	uint32_t compute_major, compute_minor;
	uint32_t sm_count, warp_size;
	uint32_t threads_per_sm; /* at most resident */
	uint32_t shared_per_block, shared_per_block_optin, shared_per_sm;
	/* FLOP/s and bytes/s that large kernels reach, not the peaks */
	double fp32_flops, half_flops, memory_rate;
	/*
	 * bytes/s: host to device, then a collective's bus within a host and across. Pageable
	 * copies of real hosts reach from half of the pinned rate to nearly all of it.
	 */
	double pinned_rate, pageable_rate, link_rate, network_rate;
	uint32_t runtime_version, driver_version;
	const char *nccl_version;
};

extern const struct ss_sim_device *const ss_sim_devices[];
extern const size_t ss_sim_device_count;

/* By id; NULL when there is none. */
const struct ss_sim_device *ss_sim_device_find(const char *id);

/* "c10::Half", "c10::BFloat16", "float" or "int", as `Input type` has it. */
const char *ss_sim_dtype_name(const struct ss_sim_device *device, enum ss_sim_dtype dtype);

uint32_t ss_sim_dtype_bytes(enum ss_sim_dtype dtype);

#endif
