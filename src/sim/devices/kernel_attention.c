/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_attention.c - fused attention: flash attention 2 as torch and vLLM build
 * it, the memory-efficient kernels where a device or a type has none, AOTriton's
 * and vLLM's Triton kernels on AMD.
 */
#include "sim/devices/kernel_parts.h"

#define FORWARD_NAME(space, kernel, traits, flags)                                     \
	"void " space kernel "<" space "Flash_fwd_kernel_traits<" traits               \
	", 4, false, false, cutlass::bfloat16_t, " space "Flash_kernel_traits<" traits \
	", 4, cutlass::bfloat16_t> >, " flags ">(" space "Flash_fwd_params)"
#define BACKWARD_NAME(traits, warps)                                                      \
	"void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<"               \
	"pytorch_flash::Flash_bwd_kernel_traits<" traits ", 8, " warps                    \
	", false, false, cutlass::bfloat16_t, pytorch_flash::Flash_kernel_traits<" traits \
	", 8, cutlass::bfloat16_t> >, false, $Q, false, false, $E, true, false>"          \
	"(pytorch_flash::Flash_bwd_params)"
/* $Q: causal; $E: the lengths are whole blocks */
#define TORCH_FORWARD(traits)                                       \
	FORWARD_NAME("pytorch_flash::", "flash_fwd_kernel", traits, \
		     "false, $Q, false, false, $E, true, false")
#define VLLM_SPLIT(traits)                                          \
	FORWARD_NAME("flash::", "flash_fwd_splitkv_kernel", traits, \
		     "false, false, false, false, true, false, true, false")
#define EFFICIENT(way, type, struct_name, arguments) \
	"fmha_cutlass" way "(PyTorchMemEffAttention::" struct_name "<" type arguments ">::Params)"

struct attention_head {
	uint64_t size;
	const char *forward, *backward, *split;
	uint32_t forward_rows, forward_shared;
	uint32_t backward_shared;
	uint32_t split_shared;
};

/* By head size; the first that is large enough is used. */
static const struct attention_head attention_heads[] = {
	{ 32, TORCH_FORWARD("32, 128, 128"), BACKWARD_NAME("32, 128, 128", "4, 4, 4"),
	  VLLM_SPLIT("32, 64, 256"), 128, 24576, 90112, 36864 },
	{ 64, TORCH_FORWARD("64, 128, 128"), BACKWARD_NAME("64, 128, 128", "4, 4, 4"),
	  VLLM_SPLIT("64, 64, 256"), 128, 49152, 147456, 73728 },
	{ 96, TORCH_FORWARD("96, 128, 64"), BACKWARD_NAME("96, 64, 128", "2, 4, 4"),
	  VLLM_SPLIT("96, 64, 128"), 128, 49152, 118784, 61440 },
	{ 128, TORCH_FORWARD("128, 128, 64"), BACKWARD_NAME("128, 64, 128", "2, 4, 2"),
	  VLLM_SPLIT("128, 64, 128"), 128, 65536, 147456, 81920 },
	{ 256, TORCH_FORWARD("256, 64, 64"), BACKWARD_NAME("256, 64, 64", "4, 2, 2"),
	  VLLM_SPLIT("256, 64, 64"), 64, 98304, 163840, 98304 },
};

static const struct attention_head *attention_head_find(uint64_t size)
{
	for (size_t i = 0; i + 1 < SS_COUNT(attention_heads); i++)
		if (size <= attention_heads[i].size)
			return &attention_heads[i];
	return &attention_heads[SS_COUNT(attention_heads) - 1];
}

/* The grid has batch and heads apart; the wish has their product. */
static void attention_set_grid(struct ss_sim_make *make, uint64_t x)
{
	static const uint64_t usual[] = { 32, 16, 12, 8, 4, 2, 1 };
	uint64_t both = make->size[0];
	size_t i = 0;

	while (both % usual[i] != 0)
		i++;
	ss_sim_make_grid(make, x, both / usual[i], usual[i]);
}

/* The share of the matrix-product rate that attention reaches. */
static double attention_rate_share(const struct ss_sim_device *device)
{
	switch (device->arch) {
	case SS_SIM_VOLTA:
		return 0.45;
	case SS_SIM_AMPERE:
		return 0.75;
	case SS_SIM_HOPPER:
		return 0.58;
	case SS_SIM_BLACKWELL:
		return 0.4;
	case SS_SIM_CDNA3:
		return 0.55;
	}
	return 0.5;
}

/* Where there is no flash attention: Volta, and float. */
static void attention_make_efficient(struct ss_sim_make *make, bool backward)
{
	bool half = make->wish->dtype == SS_SIM_HALF;
	bool volta = make->device->arch == SS_SIM_VOLTA;

	ss_sim_make_word(make, 'S', volta ? "70" : "80");
	ss_sim_make_word(make, 'U', half ? "f16" : "f32");
	ss_sim_make_word(make, 'W', half ? "cutlass::half_t" : "float");
	if (backward) {
		ss_sim_make_name(make, EFFICIENT("B_$U_aligned_64x64_k64_sm$S", "$W",
						 "AttentionBackwardKernel",
						 ", cutlass::arch::Sm$S, true, false, true, 64, "
						 "64, 64, false"));
		ss_sim_make_block(make, 32, 4, 168, half ? 44032 : 88064);
		attention_set_grid(make, 1);
	} else {
		ss_sim_make_name(make,
				 EFFICIENT("F_$U_aligned_64x64_rf_sm$S", "$W", "AttentionKernel",
					   ", cutlass::arch::Sm$S, true, 64, 64, 64, true, "
					   "true"));
		ss_sim_make_block(make, 32, 4, 168, half ? 25600 : 47104);
		attention_set_grid(make, ss_sim_ceil(make->size[1], 64));
	}
}

static void attention_make_flash(struct ss_sim_make *make, bool backward)
{
	const struct attention_head *head = attention_head_find(make->size[3]);
	bool even = make->size[1] % 128 == 0 && make->size[2] % 128 == 0;

	ss_sim_make_word(make, 'Q', make->size[1] == make->size[2] ? "true" : "false");
	ss_sim_make_word(make, 'E', even ? "true" : "false");
	if (backward) {
		ss_sim_make_name(make, head->backward);
		ss_sim_make_block(make, 256, 1, 255, head->backward_shared);
		attention_set_grid(make, ss_sim_ceil(make->size[2], 128));
	} else {
		ss_sim_make_name(make, head->forward);
		ss_sim_make_block(make, 128, 1, 255, head->forward_shared);
		attention_set_grid(make, ss_sim_ceil(make->size[1], head->forward_rows));
	}
}

/* AOTriton's kernels, compiled ahead of time. */
static void attention_make_triton(struct ss_sim_make *make, bool backward)
{
	ss_sim_make_name(make, backward ? "bwd_kernel_dk_dv" : "attn_fwd");
	ss_sim_make_block(make, 256, 1, 128, backward ? 65536 : 32768);
	attention_set_grid(make, ss_sim_ceil(make->size[backward ? 2 : 1], 128));
	make->out->call = "hipModuleLaunchKernel";
}

/* One query for each sequence: the time is that of reading keys and values. */
static void attention_make_paged(struct ss_sim_make *make)
{
	const struct attention_head *head = attention_head_find(make->size[3]);
	uint64_t parts = ss_sim_ceil(make->size[2], 512);

	make->memory_rate *= 0.75;
	if (make->device->rocm) {
		ss_sim_make_name(make, "kernel_unified_attention_3d");
		ss_sim_make_block(make, 256, 1, 128, 32768);
		ss_sim_make_grid(make, make->size[0], 1, 16);
		make->out->call = "hipModuleLaunchKernel";
		return;
	}
	if (make->device->arch == SS_SIM_VOLTA || make->wish->dtype == SS_SIM_FP32) {
		/* vLLM takes half for 16 bits without a type */
		ss_sim_make_word(make, 'W',
				 make->wish->dtype == SS_SIM_HALF ? "unsigned short" : "float");
		ss_sim_make_name(make,
				 "void vllm::paged_attention_v2_kernel<$W, $W, 64, 16, 128, "
				 "(vllm::Fp8KVCacheDataType)0, false, 512>(float*, float*, $W*, "
				 "$W const*, $W const*, $W const*, int, float, int const*, "
				 "int const*, int, float const*, int, int, int, float const*, "
				 "float const*, int, int, int, int, int)");
		ss_sim_make_block(make, 128, 1, 64, 2112);
		ss_sim_make_grid(make, make->size[0], 1, parts);
		return;
	}
	ss_sim_make_name(make, head->split);
	ss_sim_make_block(make, 128, 1, 255, head->split_shared);
	ss_sim_make_grid(make, 1, parts, make->size[0]);
}

void ss_sim_make_attention(struct ss_sim_make *make)
{
	const struct ss_sim_device *device = make->device;
	bool backward = make->wish->class == SS_SIM_FLASH_BACKWARD;
	double both = (double)make->size[0], queries = (double)make->size[1];
	double keys = (double)make->size[2], head = (double)make->size[3];
	bool half = make->wish->dtype == SS_SIM_HALF;

	make->flop_rate = half ? device->half_flops : device->fp32_flops;
	make->flop_rate *= attention_rate_share(device) * (backward ? 0.8 : 1.0);
	/* two products going forward, five going backward; a causal mask halves both */
	make->out->flops = both * queries * keys * head * (backward ? 10.0 : 4.0);
	if (make->size[1] == make->size[2])
		make->out->flops /= 2;
	make->out->bytes = both * head * 2 * (queries + keys) * make->width;
	if (backward)
		make->out->bytes *= 2;

	if (make->wish->class == SS_SIM_PAGED_ATTENTION)
		attention_make_paged(make);
	else if (device->rocm)
		attention_make_triton(make, backward);
	else if (device->arch == SS_SIM_VOLTA || !half)
		attention_make_efficient(make, backward);
	else
		attention_make_flash(make, backward);
}
