/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_reduce.c - kernels that give less than they take: torch's reductions, the
 * loss, and cub's selection behind nonzero().
 */
#include "sim/devices/kernel_parts.h"

/* $F: the operation; $P: its result; $D: block and outputs of a thread */
#define REDUCE_OP "at::native::ReduceOp<$T, at::native::$F, unsigned int, $P, 4$R>"
#define REDUCE "void at::native::reduce_kernel<$D, " REDUCE_OP " >(" REDUCE_OP ")"

#define SUM                                                                     \
	"func_wrapper_t<$T, at::native::sum_functor<$T, float, $T>::operator()" \
	"(at::TensorIterator&)::{lambda(float, float)#1}>"

#define CUB "at_cuda_detail::cub::"
#define CUB_ARGUMENTS                                                           \
	CUB "CountingInputIterator<long, long>, bool const*, long*, int*, " CUB \
	    "ScanTileState<int, true>, " CUB "NullType, " CUB "NullType, int, "

/* To one number: as many blocks as fill the device, each for a part. */
static void reduce_all(struct ss_sim_make *make, const char *operation)
{
	uint64_t blocks = ss_sim_ceil(make->size[0], 512 * 16);

	ss_sim_make_word(make, 'F', operation);
	ss_sim_make_word(make, 'P', "$T");
	ss_sim_make_word(make, 'D', "512, 1");
	ss_sim_make_name(make, REDUCE);
	ss_sim_make_block(make, 512, 1, 32, 528);
	ss_sim_make_grid(make, 1, ss_sim_least(blocks, make->device->sm_count * 4), 1);
	make->out->flops = 2 * (double)make->size[0];
	make->out->bytes = (double)make->size[0] * make->width;
}

static void reduce_rows(struct ss_sim_make *make)
{
	double elements = (double)make->size[0] * (double)make->size[1];

	ss_sim_make_word(make, 'F', "ArgMaxOps<float>");
	ss_sim_make_word(make, 'P', "long");
	ss_sim_make_word(make, 'D', "512, 1");
	ss_sim_make_name(make, REDUCE);
	ss_sim_make_block(make, 512, 1, 32, 4112);
	ss_sim_make_grid(make, make->size[0], 1, 1);
	make->out->flops = elements;
	make->out->bytes = elements * make->width + 8 * (double)make->size[0];
}

/* Over rows: a block takes 128 columns and a part of the rows. */
static void reduce_columns(struct ss_sim_make *make)
{
	uint64_t elements = make->size[0] * make->size[1];
	uint64_t columns = make->size[1] > 1 ? make->size[1] : 1024;
	uint64_t across = ss_sim_ceil(columns, 128);
	uint64_t down = ss_sim_ceil(elements, across * 128 * 512);
	uint64_t room = make->device->sm_count * 2 / across;

	ss_sim_make_word(make, 'F', SUM);
	ss_sim_make_word(make, 'P', "$T");
	ss_sim_make_word(make, 'D', "128, 4");
	ss_sim_make_name(make, REDUCE);
	ss_sim_make_block(make, 32, 4, 50, 2064);
	ss_sim_make_grid(make, across, ss_sim_least(down, room ? room : 1), 1);
	make->out->flops = (double)elements;
	make->out->bytes = (double)elements * make->width;
}

/* One block of one warp forward, as many threads as rows backward. */
static void reduce_make_loss(struct ss_sim_make *make)
{
	double rows = (double)make->size[0];

	if (make->wish->class == SS_SIM_NLL)
		ss_sim_make_name(make, "void at::native::(anonymous namespace)::"
				       "nll_loss_forward_reduce_cuda_kernel_2d<$T, float, long>"
				       "($T*, $T*, $T const*, long const*, $T const*, bool, long, "
				       "long, long, long)");
	else
		ss_sim_make_name(make, "void at::native::(anonymous namespace)::"
				       "nll_loss_backward_reduce_cuda_kernel_2d<$T, long>"
				       "($T*, $T const*, long const*, $T const*, $T const*, bool, "
				       "int, int, long, long)");
	ss_sim_make_block(make, 32, 1, 32, 264);
	ss_sim_make_grid(make, 1, 1, 1);
	make->out->flops = rows;
	/* each row's element is a cache line of its own */
	make->memory_rate /= 16;
	make->out->bytes = rows * (make->width + 8);
}

static void reduce_make_selection(struct ss_sim_make *make)
{
	double elements = (double)make->size[0];

	if (make->device->rocm)
		ss_sim_make_name(make,
				 "void rocprim::detail::partition_kernel<"
				 "(rocprim::detail::select_method)1, true, "
				 "rocprim::default_config, long, "
				 "rocprim::counting_iterator<long, long>, bool const*, long*, "
				 "rocprim::empty_type*, int*, "
				 "rocprim::detail::offset_lookback_scan_state>"
				 "(rocprim::counting_iterator<long, long>, bool const*, long*, "
				 "rocprim::empty_type*, int*, unsigned long, "
				 "rocprim::detail::offset_lookback_scan_state, unsigned int)");
	else
		ss_sim_make_name(make, "void " CUB "DeviceSelectSweepKernel<" CUB
				       "detail::device_select_policy_hub<long, bool, int, false, "
				       "false>::Policy900, " CUB_ARGUMENTS "false>(" CUB_ARGUMENTS
				       "int)");
	ss_sim_make_block(make, make->device->rocm ? 256 : 128, 1, 39, 5120);
	ss_sim_make_grid(make, ss_sim_ceil(make->size[0], 1280), 1, 1);
	make->out->flops = 2 * elements;
	/* a flag in, a long out for the half that is set */
	make->out->bytes = 5 * elements;
}

void ss_sim_make_reduction(struct ss_sim_make *make)
{
	make->memory_rate *= 0.85;
	switch (make->wish->class) {
	case SS_SIM_ARGMAX:
		reduce_rows(make);
		break;
	case SS_SIM_BIAS_BACKWARD:
		reduce_columns(make);
		break;
	case SS_SIM_MEAN:
		reduce_all(make, "MeanOps<$T, float, float, $T>");
		break;
	case SS_SIM_NORM:
		reduce_all(make, "NormTwoOps<$T, float, $T>");
		break;
	case SS_SIM_NONZERO:
		reduce_make_selection(make);
		break;
	case SS_SIM_NLL:
	case SS_SIM_NLL_BACKWARD:
		reduce_make_loss(make);
		break;
	default:
		reduce_all(make, SUM);
		break;
	}
}
