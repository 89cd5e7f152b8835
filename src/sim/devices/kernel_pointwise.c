/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_pointwise.c - kernels that touch each element once: torch's elementwise
 * kernels, the optimizer's, copies into a bucket, vLLM's, and what torch.compile
 * fuses.
 */
#include "base/text.h"
#include "sim/devices/kernel_parts.h"

/* $F: the functor; $A: how many tensors */
#define VECTORIZED                                                                         \
	"void at::native::vectorized_elementwise_kernel<$V, $F, std::array<char*, $Aul> >" \
	"(int, $F, std::array<char*, $Aul>)"

struct pointwise_functor {
	enum ss_sim_kernel_class class;
	const char *text;
	const char *tensors;
	uint32_t registers;
	double reads, writes; /* elements of the dtype for each element */
	double extra;         /* further bytes */
	double flops;
};

static const struct pointwise_functor functors[] = {
	{ SS_SIM_ADD, "at::native::CUDAFunctor_add<$T>", "3", 24, 2, 1, 0, 1 },
	{ SS_SIM_MUL,
	  "at::native::BinaryFunctor<$T, $T, $T, at::native::binary_internal::MulFunctor<float> >",
	  "3", 24, 2, 1, 0, 1 },
	{ SS_SIM_GELU,
	  "at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::"
	  "{lambda()#2}::operator()() const::{lambda()#$L}::operator()() const::{lambda($T)#1}",
	  "2", 30, 1, 1, 0, 20 },
	{ SS_SIM_GELU_BACKWARD,
	  "at::native::GeluBackwardCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::"
	  "{lambda()#2}::operator()() const::{lambda()#$L}::operator()() const::"
	  "{lambda($T, $T)#1}",
	  "3", 38, 2, 1, 0, 30 },
	/* $N: the type's place among the real ones */
	{ SS_SIM_RELU,
	  "at::native::(anonymous namespace)::launch_clamp_scalar(at::TensorIteratorBase&, "
	  "c10::Scalar, c10::Scalar, at::native::detail::ClampLimits)::{lambda()#1}::operator()() "
	  "const::{lambda()#$N}::operator()() const::{lambda($T)#1}",
	  "2", 18, 1, 1, 0, 1 },
	{ SS_SIM_RELU_BACKWARD,
	  "at::native::BinaryFunctor<$T, $T, $T, at::native::(anonymous namespace)::"
	  "threshold_kernel_impl<$T>(at::TensorIteratorBase&, $T, $T)::{lambda($T, $T)#1}>",
	  "3", 22, 2, 1, 0, 1 },
	/* $W: what is copied to what */
	{ SS_SIM_CAST, "at::native::$W", "2", 16, 0, 0, 6, 0 },
	{ SS_SIM_FILL, "at::native::FillFunctor<$T>", "1", 16, 0, 1, 0, 0 },
	/* a division by a number is a product with its inverse */
	{ SS_SIM_DIV,
	  "at::native::BUnaryFunctor<$T, $T, $T, at::native::binary_internal::MulFunctor<float> >",
	  "2", 22, 1, 1, 0, 1 },
	{ SS_SIM_COMPARE,
	  "at::native::compare_scalar_kernel<$T>(at::TensorIteratorBase&, "
	  "at::native::(anonymous namespace)::OpType, $T)::{lambda($T)#1}",
	  "2", 20, 1, 0, 1, 1 },
};

#define COPY "(at::TensorIteratorBase&)::"

static const char *cast_functor(const struct ss_sim_make *make)
{
	bool volta = make->device->arch == SS_SIM_VOLTA;

	if (make->wish->dtype == SS_SIM_FP32)
		return volta ? "float16tofloat32_copy_kernel_cuda" COPY "{lambda(c10::Half)#1}"
			     : "bfloat16tofloat32_copy_kernel_cuda" COPY
			       "{lambda(c10::BFloat16)#1}";
	return volta ? "float16_copy_kernel_cuda" COPY "{lambda(float)#1}"
		     : "bfloat16_copy_kernel_cuda" COPY "{lambda(float)#1}";
}

/* A thread takes one vector; AMD's blocks are twice as large. */
static void pointwise_set_grid(struct ss_sim_make *make, uint64_t elements, uint32_t registers)
{
	uint32_t threads = make->device->rocm ? 256 : 128;
	uint64_t vector = make->words['V' - 'A'][0] == '8' ? 8 : 4;

	ss_sim_make_block(make, threads, 1, registers, 0);
	ss_sim_make_grid(make, ss_sim_ceil(elements, threads * vector), 1, 1);
}

void ss_sim_make_pointwise(struct ss_sim_make *make)
{
	const struct pointwise_functor *functor = functors;
	double elements = (double)make->size[0];
	bool half = make->wish->dtype == SS_SIM_HALF;

	while (functor->class != make->wish->class)
		functor++;
	ss_sim_make_word(make, 'F', functor->text);
	ss_sim_make_word(make, 'A', functor->tensors);
	ss_sim_make_word(make, 'W', cast_functor(make));
	ss_sim_make_word(make, 'N', half ? (make->device->arch == SS_SIM_VOLTA ? "8" : "9") : "7");
	/* conversions have a float on one side: four at a time */
	if (functor->class == SS_SIM_CAST)
		ss_sim_make_word(make, 'V', "4");
	ss_sim_make_name(make, VECTORIZED);
	pointwise_set_grid(make, make->size[0], functor->registers);
	make->out->flops = functor->flops * elements;
	make->out->bytes = ((functor->reads + functor->writes) * make->width + functor->extra) *
			   elements;
}

/* --- vLLM's ------------------------------------------------------------------------ */

void ss_sim_make_serving(struct ss_sim_make *make)
{
	double elements = (double)make->size[0];
	bool rocm = make->device->rocm;

	/* vLLM takes half for 16 bits without a type */
	if (make->device->arch == SS_SIM_VOLTA && make->wish->dtype == SS_SIM_HALF)
		ss_sim_make_word(make, 'C', "unsigned short");
	if (make->wish->class == SS_SIM_SILU_MUL) {
		ss_sim_make_name(make, "void vllm::act_and_mul_kernel<$T, &($T "
				       "vllm::silu_kernel<$T>($T const&)), true>($T*, $T const*, "
				       "int)");
		ss_sim_make_block(make, 1024, 1, 32, 0);
		ss_sim_make_grid(make, ss_sim_ceil(make->size[0], 4096), 1, 1);
		make->out->flops = 8 * elements;
		make->out->bytes = 3 * elements * make->width;
	} else if (make->wish->class == SS_SIM_ROTARY) {
		ss_sim_make_name(make,
				 "void vllm::rotary_embedding_kernel<$T, true>(long const*, "
				 "$T*, $T*, $T const*, int, long, long, long, int, int, int)");
		ss_sim_make_block(make, rocm ? 512 : 256, 1, 32, 0);
		ss_sim_make_grid(make, ss_sim_ceil(make->size[0], 4096), 1, 1);
		make->out->flops = 4 * elements;
		make->out->bytes = 2 * elements * make->width;
	} else {
		ss_sim_make_name(make, "void vllm::reshape_and_cache_flash_kernel<$C, $C, "
				       "(vllm::Fp8KVCacheDataType)0>($C const*, $C const*, $C*, "
				       "$C*, long const*, long, long, long, long, long, int, int, "
				       "int, float const*, float const*)");
		ss_sim_make_block(make, 512, 1, 32, 0);
		ss_sim_make_grid(make, ss_sim_ceil(make->size[0], 2048), 1, 1);
		make->out->bytes = 2 * elements * make->width;
	}
}

/* --- lists of tensors --------------------------------------------------------------- */

#define ANONYMOUS "at::native::(anonymous namespace)::"
#define LIST_KERNEL(arguments) \
	"void " ANONYMOUS "multi_tensor_apply_kernel<" arguments ">(" arguments ")"
#define FUSED                                                                                  \
	ANONYMOUS "FusedOptimizerTensorListMetadata<4>, " ANONYMOUS                            \
		  "FusedAdamMathFunctor<$T, 4, (at::native::ADAM_MODE)1, false>, "             \
		  "float const*, double, double, double, double, double, bool, float const*, " \
		  "float const*"
#define FOREACH                                       \
	ANONYMOUS "TensorListMetadata<2>, " ANONYMOUS \
		  "BinaryOpListAlphaFunctor<$T, 2, 2, 0>, std::plus<float>, float"
#define OPAQUE ANONYMOUS "OpaqueType<$Wu>"
#define CAT(kernel)                                                                              \
	"void " ANONYMOUS kernel "<" OPAQUE ", unsigned int, 1, 128, 1>(" OPAQUE "*, " ANONYMOUS \
	"CatArrInputTensorMetadata<" OPAQUE ", unsigned int, 128, 1>, " ANONYMOUS                \
	"TensorSizeStride<unsigned int, 4u>, int, unsigned int)"

void ss_sim_make_update(struct ss_sim_make *make)
{
	/* torch's chunk of a list: what one block does */
	const uint64_t chunk = 65536;
	double elements = (double)make->size[0];
	uint64_t blocks = ss_sim_ceil(make->size[0], chunk);

	make->memory_rate *= 0.9;
	if (make->wish->class == SS_SIM_ADAM) {
		ss_sim_make_name(make, LIST_KERNEL(FUSED));
		ss_sim_make_block(make, 512, 1, 46, 0);
		ss_sim_make_grid(make, blocks, 1, 1);
		make->out->flops = 14 * elements;
		make->out->bytes = 7 * elements * make->width;
	} else if (make->wish->class == SS_SIM_ADAM_FOREACH) {
		ss_sim_make_name(make, LIST_KERNEL(FOREACH));
		ss_sim_make_block(make, 512, 1, 32, 0);
		ss_sim_make_grid(make, blocks, 1, 1);
		make->out->flops = 2 * elements;
		make->out->bytes = 3 * elements * make->width;
	} else {
		ss_sim_make_word(make, 'W', make->width == 2 ? "2" : "4");
		ss_sim_make_name(make, make->device->rocm
					       ? CAT("CatArrayBatchedCopy_contig")
					       : CAT("CatArrayBatchedCopy_aligned16_contig"));
		ss_sim_make_block(make, 128, 1, 30, 0);
		ss_sim_make_grid(make, ss_sim_ceil(make->size[0], 128 * 16 / make->width), 1, 1);
		make->out->bytes = 2 * elements * make->width;
	}
}

/* --- torch.compile -------------------------------------------------------------------- */

void ss_sim_make_triton(struct ss_sim_make *make)
{
	static const char *const rows[] = { "norm", "mean" };
	static const char *const reductions[] = { "softmax", "sum", "loss", "amax" };
	const char *tag = make->wish->tag ? make->wish->tag : "add";
	double elements = (double)make->size[0];

	ss_sim_make_word(make, 'W', tag);
	if (ss_string_has_one_of(tag, reductions, SS_COUNT(reductions))) {
		ss_sim_make_name(make, "triton_red_fused_$W_0");
		ss_sim_make_block(make, 512, 1, 32, 64);
		ss_sim_make_grid(make, ss_sim_ceil(make->size[0], 8192), 1, 1);
	} else if (ss_string_has_one_of(tag, rows, SS_COUNT(rows))) {
		ss_sim_make_name(make, "triton_per_fused_$W_0");
		ss_sim_make_block(make, 256, 1, 32, 32);
		ss_sim_make_grid(make, ss_sim_ceil(make->size[0], 1024), 1, 1);
	} else {
		ss_sim_make_name(make, "triton_poi_fused_$W_0");
		ss_sim_make_block(make, make->device->rocm ? 256 : 128, 1, 24, 0);
		ss_sim_make_grid(make, ss_sim_ceil(make->size[0], 1024), 1, 1);
	}
	make->out->call = make->device->rocm ? "hipModuleLaunchKernel" : "cuLaunchKernel";
	make->out->flops = 8 * elements;
	make->out->bytes = 3 * elements * make->width;
}
