/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_norms.c - kernels that work row by row or channel by channel: norms,
 * softmax, embeddings, and those of images that are no convolutions.
 */
#include "sim/devices/kernel_parts.h"

#define ANONYMOUS "at::native::(anonymous namespace)::"

/* Longest row that a warp takes for itself. */
#define WARP_COLUMNS 1024u

static void norm_make_layer(struct ss_sim_make *make)
{
	bool half = make->wish->dtype == SS_SIM_HALF;
	double columns = (double)make->size[1];

	ss_sim_make_name(make, "void " ANONYMOUS "vectorized_layer_norm_kernel<$T, float>(int, "
			       "float, $T const*, $T const*, $T const*, float*, float*, $T*)");
	ss_sim_make_block(make, make->device->warp_size, 4, half ? 34 : 40, 24);
	ss_sim_make_grid(make, make->size[0], 1, 1);
	make->out->bytes += 2 * columns * make->width + 8 * (double)make->size[0];
}

/* A block takes 32 columns and all rows. */
static void norm_make_layer_weight(struct ss_sim_make *make)
{
	ss_sim_make_name(make, "void " ANONYMOUS "GammaBetaBackwardCUDAKernel_32x32<$T, float>"
			       "(long, long, $T const*, $T const*, float const*, float const*, "
			       "$T*, $T*)");
	ss_sim_make_block(make, 32, 32, 38, 8192);
	ss_sim_make_grid(make, ss_sim_ceil(make->size[1], 32), 1, 1);
}

/* The next power of two, as in softmax_warp_forward. */
static const char *softmax_row_exponent(uint64_t columns)
{
	static const char *const exponents[] = { "0", "1", "2", "3", "4", "5",
						 "6", "7", "8", "9", "10" };
	size_t exponent = 0;

	while (((uint64_t)1 << exponent) < columns)
		exponent++;
	assert(exponent < SS_COUNT(exponents));
	return exponents[exponent];
}

static void norm_make_softmax(struct ss_sim_make *make)
{
	enum ss_sim_kernel_class class = make->wish->class;
	bool backward = class == SS_SIM_LOG_SOFTMAX_BACKWARD;
	uint64_t rows = make->size[0], columns = make->size[1];
	uint32_t threads = 128;

	make->memory_rate *= 0.75;
	ss_sim_make_word(make, 'W', class == SS_SIM_SOFTMAX ? "false" : "true");
	ss_sim_make_word(make, 'E', class == SS_SIM_SOFTMAX ? "" : "Log");
	ss_sim_make_word(make, 'N', make->width == 2 ? "8" : "4");
	if (columns <= WARP_COLUMNS) {
		ss_sim_make_word(make, 'X', softmax_row_exponent(columns));
		if (backward)
			ss_sim_make_name(make, "void (anonymous namespace)::softmax_warp_backward<"
					       "$T, $T, float, $X, $W, false>($T*, $T const*, "
					       "$T const*, int, int, int, bool const*)");
		else
			ss_sim_make_name(make, "void (anonymous namespace)::softmax_warp_forward<"
					       "$T, $T, float, $X, $W, false>($T*, $T const*, "
					       "int, int, int, bool const*, int, bool)");
		ss_sim_make_block(make, 32, 4, backward ? 80 : 64, 0);
		ss_sim_make_grid(make, ss_sim_ceil(rows, columns <= 128 ? 8 : 4), 1, 1);
		return;
	}
	if (backward)
		ss_sim_make_name(make, "void " ANONYMOUS "cunn_SoftMaxBackward<$N, $T, float, $T, "
				       "" ANONYMOUS "$ESoftMaxBackwardEpilogue>($T*, $T const*, "
				       "$T const*, long)");
	else
		ss_sim_make_name(make, "void " ANONYMOUS "cunn_SoftMaxForward<$N, $T, float, $T, "
				       "" ANONYMOUS "$ESoftMaxForwardEpilogue>($T*, $T const*, "
				       "int)");
	while (threads < 1024 && threads * (16 / make->width) * 2 <= columns)
		threads *= 2;
	ss_sim_make_block(make, threads, 1, 32, threads / make->device->warp_size * 4);
	ss_sim_make_grid(make, rows, 1, 1);
}

void ss_sim_make_norm(struct ss_sim_make *make)
{
	double elements = (double)make->size[0] * (double)make->size[1];

	make->memory_rate *= 0.85;
	make->out->flops = 8 * elements;
	make->out->bytes = 2 * elements * make->width;
	switch (make->wish->class) {
	case SS_SIM_LAYER_NORM:
		norm_make_layer(make);
		break;
	case SS_SIM_LAYER_NORM_BACKWARD:
		ss_sim_make_name(make, "void " ANONYMOUS "layer_norm_grad_input_kernel_vectorized<"
				       "$T, float>($T const*, $T const*, float const*, "
				       "float const*, $T const*, $T*, int)");
		ss_sim_make_block(make, 128, 1, 40, 16);
		ss_sim_make_grid(make, make->size[0], 1, 1);
		make->out->bytes = 3 * elements * make->width;
		break;
	case SS_SIM_LAYER_NORM_WEIGHT_BACKWARD:
		norm_make_layer_weight(make);
		break;
	case SS_SIM_RMS_NORM:
		ss_sim_make_name(make, "void vllm::rms_norm_kernel<$T, 8, 2>($T*, $T const*, long, "
				       "long, long, long, long, $T const*, float, int, int)");
		ss_sim_make_block(make, 256, 1, 32, 168);
		ss_sim_make_grid(make, make->size[0], 1, 1);
		break;
	case SS_SIM_LOG_SOFTMAX_BACKWARD:
		make->out->bytes = 3 * elements * make->width;
		norm_make_softmax(make);
		break;
	default:
		norm_make_softmax(make);
		break;
	}
}

/* --- embeddings ------------------------------------------------------------------------ */

void ss_sim_make_lookup(struct ss_sim_make *make)
{
	/* torch sorts the indices when there are more */
	const uint64_t feature_rows = 3072;
	uint64_t rows = make->size[0], columns = make->size[1];
	uint32_t threads = make->device->rocm ? 512 : 128;

	make->memory_rate *= 0.7;
	make->out->bytes = 2.0 * (double)rows * (double)columns * make->width + 8 * (double)rows;
	if (make->wish->class == SS_SIM_EMBEDDING) {
		ss_sim_make_name(
			make, "void " ANONYMOUS "indexSelectLargeIndex<$T, long, unsigned int, "
			      "2, 2, -2, true>(at::cuda::detail::TensorInfo<$T, unsigned int>, "
			      "at::cuda::detail::TensorInfo<$T const, unsigned int>, "
			      "at::cuda::detail::TensorInfo<long const, unsigned int>, int, int, "
			      "unsigned int, unsigned int, long)");
		ss_sim_make_block(make, threads, 1, 32, 0);
		ss_sim_make_grid(make,
				 ss_sim_least(ss_sim_ceil(rows * columns, threads),
					      make->device->sm_count * 8),
				 1, 1);
	} else if (rows <= feature_rows) {
		ss_sim_make_name(make, "void " ANONYMOUS "embedding_backward_feature_kernel<$T, "
				       "float, long>(long const*, $T const*, $T*, int, long, int)");
		ss_sim_make_block(make, 32, 32, 40, 8320);
		ss_sim_make_grid(make, ss_sim_ceil(columns, 32), 1, 1);
	} else {
		ss_sim_make_name(make, "void " ANONYMOUS "compute_grad_weight<$T, long>"
				       "(long const*, $T const*, long const*, long, long, "
				       "long const*, long const*, "
				       "at::AccumulateType<$T, true>::type*, long)");
		ss_sim_make_block(make, 1024, 1, 24, 0);
		ss_sim_make_grid(make, ss_sim_ceil(ss_sim_ceil(rows, 10) * columns, 1024), 1, 1);
	}
}

/* --- images ------------------------------------------------------------------------------ */

static void norm_make_batch(struct ss_sim_make *make, bool backward)
{
	/* one block per channel */
	ss_sim_make_grid(make, make->size[1], 1, 1);
	if (make->device->rocm) {
		ss_sim_make_name(make, backward ? "MIOpenBatchNormBwdSpatial"
						: "MIOpenBatchNormFwdTrainSpatial");
		ss_sim_make_block(make, 1024, 1, 32, backward ? 288 : 144);
		make->out->call = "hipExtModuleLaunchKernel";
	} else if (backward) {
		ss_sim_make_name(make, "void cudnn::bn_bw_1C11_kernel_new<$C, float, float2, 512, "
				       "true, 1>(float, float, float, float, cudnnTensorStruct, "
				       "$C const*, cudnnTensorStruct, $C const*, "
				       "cudnnTensorStruct, $C*, float const*, float*, float*, "
				       "float const*, float const*, float)");
		ss_sim_make_block(make, 512, 1, 40, 400);
	} else {
		ss_sim_make_name(make, "void cudnn::bn_fw_tr_1C11_kernel_NCHW<$C, float, int, 512, "
				       "true, 1, true>(cudnnTensorStruct, $C const*, "
				       "cudnnTensorStruct, $C*, float const*, float const*, float, "
				       "float, float*, float*, float*, float*, float, float)");
		ss_sim_make_block(make, 512, 1, 40, 144);
	}
}

void ss_sim_make_image(struct ss_sim_make *make)
{
	uint64_t count = make->size[0] * make->size[1] * make->size[2];
	double elements = (double)count;

	make->memory_rate *= 0.75;
	make->out->flops = 8 * elements;
	switch (make->wish->class) {
	case SS_SIM_BATCH_NORM:
		norm_make_batch(make, false);
		make->out->bytes = 2 * elements * make->width;
		break;
	case SS_SIM_BATCH_NORM_BACKWARD:
		norm_make_batch(make, true);
		make->out->bytes = 3 * elements * make->width;
		break;
	case SS_SIM_MAX_POOL:
		ss_sim_make_name(make, "void " ANONYMOUS "max_pool_forward_nchw<$T>(int, "
				       "$T const*, long, long, long, int, int, int, int, int, int, "
				       "int, int, int, int, $T*, long*)");
		ss_sim_make_block(make, 256, 1, 26, 0);
		ss_sim_make_grid(make, ss_sim_ceil(count, 256), 1, 1);
		/* four inputs and an index for each output: windows step by two */
		make->out->bytes = elements * (5 * make->width + 8);
		break;
	default:
		ss_sim_make_name(make, "void " ANONYMOUS "max_pool_backward_nchw<$T, float>"
				       "($T const*, long const*, int, long, long, long, int, int, "
				       "int, int, int, int, int, int, int, int, $T*)");
		ss_sim_make_block(make, 256, 1, 32, 0);
		ss_sim_make_grid(make, ss_sim_ceil(4 * make->size[2], 256), make->size[1],
				 make->size[0]);
		make->out->bytes = elements * (5 * make->width + 8);
		break;
	}
}
