/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_conv.c - convolutions of cuDNN and MIOpen, as the matmuls that
 * they are: rows are pixels of all images, the sum runs over channels and taps.
 */
#include "sim/devices/kernel_parts.h"

#define RUNTIME "cudaLaunchKernel"
#define RUNTIME_EX "cudaLaunchKernelExC"
#define HIP_MODULE "hipExtModuleLaunchKernel"

enum { FORWARD, DATA, WEIGHT, DIRECTIONS };
/* A square tile, and a narrow one for few channels. */
enum { TILES = 2 };

#define SCUDNN(name)                                                 \
	{                                                            \
		{                                                    \
			name, 64, 128, 128, 128, 16384, 1.0, RUNTIME \
		}                                                    \
	}
#define SCUDNN_STRIDED(name)                                         \
	{                                                            \
		{                                                    \
			name, 64, 128, 128, 128, 32768, 0.9, RUNTIME \
		}                                                    \
	}
#define WGRAD_NAME                                                                      \
	"void cudnn::cnn::wgrad_alg0_engine<float, 128, 6, 7, 3, 3, 5, false, 512>"     \
	"(int, int, int, float const*, int, float*, float const*, kernel_grad_params, " \
	"unsigned long long, int, float, int, int, int, int)"
#define WGRAD_ENGINE                                                     \
	{                                                                \
		{                                                        \
			WGRAD_NAME, 64, 128, 256, 80, 6400, 0.8, RUNTIME \
		}                                                        \
	}

static const struct ss_sim_tile volta_float[DIRECTIONS][TILES] = {
	SCUDNN("volta_scudnn_128x64_relu_interior_nn_v1"),
	SCUDNN_STRIDED("volta_scudnn_128x64_stridedB_interior_nn_v1"),
	WGRAD_ENGINE,
};

static const struct ss_sim_tile ampere_float[DIRECTIONS][TILES] = {
	SCUDNN("ampere_scudnn_128x64_relu_xregs_large_nn_v1"),
	SCUDNN_STRIDED("ampere_scudnn_128x64_stridedB_interior_nn_v1"),
	WGRAD_ENGINE,
};

#define HMMA_70(before, after, part)                                                     \
	{                                                                                \
		{ "volta_fp16_s884cudnn_fp16_128x128_ldg8_" before "_exp_" after,        \
		  128,                                                                   \
		  128,                                                                   \
		  256,                                                                   \
		  126,                                                                   \
		  40960,                                                                 \
		  part,                                                                  \
		  RUNTIME },                                                             \
			{ "volta_fp16_s884cudnn_fp16_256x64_ldg8_" before "_exp_" after, \
			  64,                                                            \
			  256,                                                           \
			  256,                                                           \
			  126,                                                           \
			  40960,                                                         \
			  part - 0.05,                                                   \
			  RUNTIME },                                                     \
	}

static const struct ss_sim_tile volta_half[DIRECTIONS][TILES] = {
	HMMA_70("relu_f2f", "small_nhwc_tn_v1", 0.75),
	HMMA_70("dgrad_f2f", "small_nhwc_tt_v1", 0.7),
	HMMA_70("wgrad_idx", "interior_nhwc_nt_v1", 0.65),
};

#define XMMA_80(what, part)                                                                   \
	{                                                                                     \
		{ "sm80_xmma_" what "_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize128x128x32_" \
		  "stage4_warpsize2x2x1_g1_tensor16x8x16_execute_kernel__5x_cudnn",           \
		  128,                                                                        \
		  128,                                                                        \
		  128,                                                                        \
		  236,                                                                        \
		  65536,                                                                      \
		  part,                                                                       \
		  RUNTIME_EX },                                                               \
			{ "sm80_xmma_" what                                                   \
			  "_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize256x64x32_"            \
			  "stage3_warpsize4x1x1_g1_tensor16x8x16_execute_kernel__5x_cudnn",   \
			  64,                                                                 \
			  256,                                                                \
			  128,                                                                \
			  254,                                                                \
			  61440,                                                              \
			  part - 0.05,                                                        \
			  RUNTIME_EX },                                                       \
	}

static const struct ss_sim_tile ampere_half[DIRECTIONS][TILES] = {
	XMMA_80("fprop_implicit_gemm", 0.75),
	XMMA_80("dgrad_implicit_gemm", 0.7),
	XMMA_80("wgrad_implicit_gemm_indexed", 0.65),
};

#define XMMA_90(what, part)                                                                   \
	{                                                                                     \
		{ "sm90_xmma_" what "_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize128x128x64_" \
		  "warpgroupsize1x1x1_g1_execute_segment_k_off_kernel__5x_cudnn",             \
		  128,                                                                        \
		  128,                                                                        \
		  384,                                                                        \
		  168,                                                                        \
		  231424,                                                                     \
		  part,                                                                       \
		  RUNTIME_EX },                                                               \
			{ "sm90_xmma_" what                                                   \
			  "_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize256x64x64_"            \
			  "warpgroupsize2x1x1_g1_execute_segment_k_off_kernel__5x_cudnn",     \
			  64,                                                                 \
			  256,                                                                \
			  384,                                                                \
			  168,                                                                \
			  221184,                                                             \
			  part - 0.05,                                                        \
			  RUNTIME_EX },                                                       \
	}

static const struct ss_sim_tile hopper_half[DIRECTIONS][TILES] = {
	XMMA_90("fprop_implicit_gemm", 0.7),
	XMMA_90("dgrad_implicit_gemm", 0.65),
	XMMA_90("wgrad_implicit_gemm_indexed", 0.6),
};

/* Winograd in assembly: the fastest path of MIOpen without matrix cores. */
#define WINOGRAD(variant, part)                                                                 \
	{                                                                                       \
		{                                                                               \
			"miopenSp3AsmConv_v30_3_1_gfx9_fp32_" variant, 64, 64, 512, 128, 65536, \
				part, HIP_MODULE                                                \
		}                                                                               \
	}
#define GRIDWISE(what, part)                                                     \
	{                                                                        \
		{ "gridwise_convolution_" what "_xdlops_nchw_kcyx_nkhw",         \
		  128,                                                           \
		  128,                                                           \
		  256,                                                           \
		  128,                                                           \
		  32768,                                                         \
		  part,                                                          \
		  HIP_MODULE },                                                  \
			{ "gridwise_convolution_" what "_xdlops_nchw_kcyx_nkhw", \
			  64,                                                    \
			  256,                                                   \
			  256,                                                   \
			  128,                                                   \
			  40960,                                                 \
			  part - 0.05,                                           \
			  HIP_MODULE },                                          \
	}

static const struct ss_sim_tile cdna3_float[DIRECTIONS][TILES] = {
	WINOGRAD("f2x3_stride1", 0.9),
	WINOGRAD("f3x2_stride1", 0.85),
	WINOGRAD("f3x2_stride2", 0.75),
};

static const struct ss_sim_tile cdna3_half[DIRECTIONS][TILES] = {
	GRIDWISE("forward_implicit_gemm_v4r4", 0.55),
	GRIDWISE("backward_data_implicit_gemm_v4r1", 0.5),
	GRIDWISE("backward_weights_implicit_gemm_v4r4", 0.45),
};

/* By architecture and dtype; cuDNN has Ampere's kernels on Blackwell. */
static const struct ss_sim_tile (*const tables[][2])[TILES] = {
	[SS_SIM_VOLTA] = { volta_float, volta_half },
	[SS_SIM_AMPERE] = { ampere_float, ampere_half },
	[SS_SIM_HOPPER] = { ampere_float, hopper_half },
	[SS_SIM_BLACKWELL] = { ampere_float, ampere_half },
	[SS_SIM_CDNA3] = { cdna3_float, cdna3_half },
};

void ss_sim_make_conv(struct ss_sim_make *make)
{
	const struct ss_sim_tile(*table)[TILES] = tables[make->device->arch][make->wish->dtype];
	uint64_t pixels = make->size[0] * make->size[3];
	uint64_t in = make->size[1], out = make->size[2], taps = make->size[4];
	struct ss_sim_product product = { .batch = 1 };
	int direction = FORWARD;

	if (make->wish->class == SS_SIM_CONV_DATA) {
		direction = DATA;
		product.rows = pixels;
		product.columns = in;
		product.depth = out * taps;
	} else if (make->wish->class == SS_SIM_CONV_WEIGHT) {
		direction = WEIGHT;
		product.rows = out;
		product.columns = in * taps;
		product.depth = pixels;
	} else {
		product.rows = pixels;
		product.columns = out;
		product.depth = in * taps;
	}
	ss_sim_make_product(make, &product, table[direction],
			    table[direction][TILES - 1].name ? TILES : 1);
	make->out->bytes = ((double)pixels * (double)(in + out) + (double)(in * out * taps)) *
			   make->width;
}
