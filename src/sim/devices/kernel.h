/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel.h - what a kernel is called on each device, how it is launched, and how
 * long it takes when it has the device for itself.
 *
 * The names are those that torch, cuBLAS, cuDNN, rocBLAS, MIOpen, NCCL and Triton
 * give to such kernels on that device. Time is a roofline: the larger of
 * flops / rate and bytes / rate, and a floor that no kernel goes below; a grid
 * that does not fill the device makes it longer in proportion.
 */
#ifndef SS_SIM_DEVICES_KERNEL_H
#define SS_SIM_DEVICES_KERNEL_H

#include "base/text.h"
#include "sim/devices/device.h"

enum ss_sim_kernel_class {
	/* size: M, N, K (batch: how many of them) */
	SS_SIM_GEMM,
	/* size: images, channels, output channels, output pixels, taps (1, 9, 49) */
	SS_SIM_CONV_FORWARD,
	SS_SIM_CONV_DATA,   /* gradient of the input */
	SS_SIM_CONV_WEIGHT, /* gradient of the weight */
	/* size: batch * heads, query length, key length, head size */
	SS_SIM_FLASH_FORWARD,
	SS_SIM_FLASH_BACKWARD,
	SS_SIM_PAGED_ATTENTION, /* decode: query length 1 */
	/* size: rows, columns */
	SS_SIM_LAYER_NORM,
	SS_SIM_LAYER_NORM_BACKWARD,        /* of the input */
	SS_SIM_LAYER_NORM_WEIGHT_BACKWARD, /* gamma and beta */
	SS_SIM_RMS_NORM,
	SS_SIM_SOFTMAX,
	SS_SIM_LOG_SOFTMAX,
	SS_SIM_LOG_SOFTMAX_BACKWARD,
	SS_SIM_EMBEDDING,
	SS_SIM_EMBEDDING_BACKWARD,
	SS_SIM_ARGMAX,
	/* size: images, channels, pixels */
	SS_SIM_BATCH_NORM,
	SS_SIM_BATCH_NORM_BACKWARD,
	SS_SIM_MAX_POOL,
	SS_SIM_MAX_POOL_BACKWARD,
	/* size: elements */
	SS_SIM_ADD,
	SS_SIM_MUL,
	SS_SIM_GELU,
	SS_SIM_GELU_BACKWARD,
	SS_SIM_RELU,
	SS_SIM_RELU_BACKWARD,
	SS_SIM_SILU_MUL,
	SS_SIM_ROTARY,
	SS_SIM_CACHE_WRITE, /* keys and values into the paged cache */
	SS_SIM_CAST,        /* a copy that converts */
	SS_SIM_FILL,
	SS_SIM_DIV,
	SS_SIM_COMPARE, /* gives bool */
	SS_SIM_SUM,
	SS_SIM_MEAN,
	SS_SIM_NORM,
	SS_SIM_NONZERO, /* cub::DeviceSelect */
	SS_SIM_NLL,
	SS_SIM_NLL_BACKWARD,
	SS_SIM_BIAS_BACKWARD, /* sum over rows */
	SS_SIM_ADAM,          /* fused: parameters, gradients and both moments */
	SS_SIM_ADAM_FOREACH,  /* one of the passes of the foreach form */
	SS_SIM_FLATTEN,       /* torch::cat of gradients into a bucket, or of shards */
	SS_SIM_TRITON,        /* what torch.compile fuses; `tag` becomes part of the name */
	/* size: bytes; the name only: time comes from the network */
	SS_SIM_NCCL_ALL_REDUCE,
	SS_SIM_NCCL_ALL_GATHER,
	SS_SIM_NCCL_REDUCE_SCATTER,
	SS_SIM_NCCL_SEND_RECV,
	SS_SIM_NCCL_BROADCAST,
	SS_SIM_KERNEL_CLASSES,
};

struct ss_sim_kernel_wish {
	enum ss_sim_kernel_class class;
	enum ss_sim_dtype dtype;
	uint64_t size[5]; /* as the class says; unused ones are 0 or 1 */
	uint32_t batch;   /* GEMM: how many; 0 is 1 */
	bool transpose_a, transpose_b;
	uint32_t starved_permille; /* grid cut to this part of what it should be; 0: not */
	const char *tag;           /* TRITON: "add_native_layer_norm", for instance */
};

struct ss_sim_kernel {
	char name[640];
	uint32_t grid[3], block[3];
	uint32_t registers, shared_bytes;
	uint32_t occupancy_percent;                       /* as Kineto estimates it: 0 to 100 */
	uint64_t blocks_per_sm_micro, warps_per_sm_micro; /* in millionths, as printed */
	/* how it is launched: "cudaLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernel",
	 * "hipLaunchKernel", "hipExtModuleLaunchKernel", ... */
	const char *call;
	double flops, bytes;
	int64_t duration_ns; /* alone on the device; 0 for NCCL */
};

/* Fills `out` for the device. Deterministic: integers, + - * / only. */
void ss_sim_kernel_make(const struct ss_sim_device *device, const struct ss_sim_kernel_wish *wish,
			struct ss_sim_kernel *out);

#endif
