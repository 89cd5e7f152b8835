/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel.c - from a wish to a kernel: what all families have in common.
 *
 * Occupancy is estimated as Kineto does it: it asks CUDA's occupancy calculator
 * with the default limit of shared memory a block, so a kernel that opted in to
 * more has no resident blocks and an estimate of 0. Kineto counts in float, and
 * so do we: the last printed digit depends on it.
 */
#include "sim/devices/kernel_parts.h"

#include <string.h>

#define REGISTERS_PER_SM 65536u
#define BLOCKS_PER_SM_MAX 32u
#define FLOOR_NS 1500.0
/* A word in a word in a name: a functor with types in it. */
#define DEPTH_MAX 4

static void (*const kernel_makers[SS_SIM_KERNEL_CLASSES])(struct ss_sim_make *make) = {
	[SS_SIM_GEMM] = ss_sim_make_gemm,
	[SS_SIM_CONV_FORWARD] = ss_sim_make_conv,
	[SS_SIM_CONV_DATA] = ss_sim_make_conv,
	[SS_SIM_CONV_WEIGHT] = ss_sim_make_conv,
	[SS_SIM_FLASH_FORWARD] = ss_sim_make_attention,
	[SS_SIM_FLASH_BACKWARD] = ss_sim_make_attention,
	[SS_SIM_PAGED_ATTENTION] = ss_sim_make_attention,
	[SS_SIM_LAYER_NORM] = ss_sim_make_norm,
	[SS_SIM_LAYER_NORM_BACKWARD] = ss_sim_make_norm,
	[SS_SIM_LAYER_NORM_WEIGHT_BACKWARD] = ss_sim_make_norm,
	[SS_SIM_RMS_NORM] = ss_sim_make_norm,
	[SS_SIM_SOFTMAX] = ss_sim_make_norm,
	[SS_SIM_LOG_SOFTMAX] = ss_sim_make_norm,
	[SS_SIM_LOG_SOFTMAX_BACKWARD] = ss_sim_make_norm,
	[SS_SIM_EMBEDDING] = ss_sim_make_lookup,
	[SS_SIM_EMBEDDING_BACKWARD] = ss_sim_make_lookup,
	[SS_SIM_ARGMAX] = ss_sim_make_reduction,
	[SS_SIM_BATCH_NORM] = ss_sim_make_image,
	[SS_SIM_BATCH_NORM_BACKWARD] = ss_sim_make_image,
	[SS_SIM_MAX_POOL] = ss_sim_make_image,
	[SS_SIM_MAX_POOL_BACKWARD] = ss_sim_make_image,
	[SS_SIM_ADD] = ss_sim_make_pointwise,
	[SS_SIM_MUL] = ss_sim_make_pointwise,
	[SS_SIM_GELU] = ss_sim_make_pointwise,
	[SS_SIM_GELU_BACKWARD] = ss_sim_make_pointwise,
	[SS_SIM_RELU] = ss_sim_make_pointwise,
	[SS_SIM_RELU_BACKWARD] = ss_sim_make_pointwise,
	[SS_SIM_SILU_MUL] = ss_sim_make_serving,
	[SS_SIM_ROTARY] = ss_sim_make_serving,
	[SS_SIM_CACHE_WRITE] = ss_sim_make_serving,
	[SS_SIM_CAST] = ss_sim_make_pointwise,
	[SS_SIM_FILL] = ss_sim_make_pointwise,
	[SS_SIM_DIV] = ss_sim_make_pointwise,
	[SS_SIM_COMPARE] = ss_sim_make_pointwise,
	[SS_SIM_SUM] = ss_sim_make_reduction,
	[SS_SIM_MEAN] = ss_sim_make_reduction,
	[SS_SIM_NORM] = ss_sim_make_reduction,
	[SS_SIM_NONZERO] = ss_sim_make_reduction,
	[SS_SIM_NLL] = ss_sim_make_reduction,
	[SS_SIM_NLL_BACKWARD] = ss_sim_make_reduction,
	[SS_SIM_BIAS_BACKWARD] = ss_sim_make_reduction,
	[SS_SIM_ADAM] = ss_sim_make_update,
	[SS_SIM_ADAM_FOREACH] = ss_sim_make_update,
	[SS_SIM_FLATTEN] = ss_sim_make_update,
	[SS_SIM_TRITON] = ss_sim_make_triton,
	[SS_SIM_NCCL_ALL_REDUCE] = ss_sim_make_nccl,
	[SS_SIM_NCCL_ALL_GATHER] = ss_sim_make_nccl,
	[SS_SIM_NCCL_REDUCE_SCATTER] = ss_sim_make_nccl,
	[SS_SIM_NCCL_SEND_RECV] = ss_sim_make_nccl,
	[SS_SIM_NCCL_BROADCAST] = ss_sim_make_nccl,
};

/* --- names ------------------------------------------------------------------ */

void ss_sim_make_word(struct ss_sim_make *make, char letter, const char *text)
{
	assert(letter >= 'A' && letter <= 'Z');
	make->words[letter - 'A'] = text;
}

/* Appends the pattern to the name; returns the name's new length. */
static size_t name_expand(struct ss_sim_make *make, size_t length, const char *pattern, int depth)
{
	assert(depth < DEPTH_MAX);
	for (; *pattern && length + 1 < sizeof(make->out->name); pattern++) {
		if (*pattern != '$') {
			make->out->name[length++] = *pattern;
			continue;
		}
		pattern++;
		assert(*pattern >= 'A' && *pattern <= 'Z');
		assert(make->words[*pattern - 'A']);
		length = name_expand(make, length, make->words[*pattern - 'A'], depth + 1);
	}
	return length;
}

void ss_sim_make_name(struct ss_sim_make *make, const char *pattern)
{
	make->out->name[name_expand(make, 0, pattern, 0)] = '\0';
}

static void kernel_set_words(struct ss_sim_make *make)
{
	const struct ss_sim_device *device = make->device;
	bool half = make->wish->dtype == SS_SIM_HALF;
	bool volta = device->arch == SS_SIM_VOLTA;
	/* torch 2.7 and later, which these devices need, read 16 bytes at a time */
	bool wide = device->arch == SS_SIM_BLACKWELL || device->arch == SS_SIM_CDNA3;

	ss_sim_make_word(make, 'T', ss_sim_dtype_name(device, make->wish->dtype));
	ss_sim_make_word(make, 'L', half ? (volta ? "3" : "4") : "2");
	ss_sim_make_word(make, 'V', half && wide ? "8" : "4");
	ss_sim_make_word(make, 'R', wide ? ", 4" : "");
	if (!half)
		ss_sim_make_word(make, 'C', "float");
	else if (volta)
		ss_sim_make_word(make, 'C', "__half");
	else
		ss_sim_make_word(make, 'C', device->rocm ? "__hip_bfloat16" : "__nv_bfloat16");
}

/* --- launch ------------------------------------------------------------------ */

void ss_sim_make_grid(struct ss_sim_make *make, uint64_t x, uint64_t y, uint64_t z)
{
	/* CUDA's limits */
	make->out->grid[0] = (uint32_t)ss_sim_least(x ? x : 1, INT32_MAX);
	make->out->grid[1] = (uint32_t)ss_sim_least(y ? y : 1, UINT16_MAX);
	make->out->grid[2] = (uint32_t)ss_sim_least(z ? z : 1, UINT16_MAX);
}

void ss_sim_make_block(struct ss_sim_make *make, uint32_t x, uint32_t y, uint32_t registers,
		       uint32_t shared_bytes)
{
	make->out->block[0] = x;
	make->out->block[1] = y;
	make->out->block[2] = 1;
	make->out->registers = registers;
	make->out->shared_bytes = shared_bytes;
}

static void grid_starve(struct ss_sim_make *make)
{
	uint32_t permille = make->wish->starved_permille;
	uint64_t cut = (uint64_t)make->out->grid[0] * permille / 1000;

	if (permille > 0 && permille < 1000)
		make->out->grid[0] = cut > 0 ? (uint32_t)cut : 1;
}

static uint64_t grid_block_count(const struct ss_sim_kernel *kernel)
{
	return (uint64_t)kernel->grid[0] * kernel->grid[1] * kernel->grid[2];
}

/* --- occupancy --------------------------------------------------------------- */

/* Registers go to warps in units of 256, and to four partitions of the SM. */
static uint32_t resident_by_registers(const struct ss_sim_make *make, uint32_t warps)
{
	uint32_t warp_size = make->device->warp_size;
	uint32_t of_warp = (uint32_t)ss_sim_ceil(make->out->registers * warp_size, 256) * 256;

	if (of_warp == 0)
		return BLOCKS_PER_SM_MAX;
	return REGISTERS_PER_SM / 4 / of_warp * 4 / warps;
}

static uint32_t resident_by_shared(const struct ss_sim_make *make)
{
	const struct ss_sim_device *device = make->device;
	uint32_t bytes = make->out->shared_bytes;
	uint32_t unit = device->arch == SS_SIM_VOLTA ? 256 : 128;

	if (bytes > device->shared_per_block)
		return 0;
	/* the driver keeps 1 kB of each block since Ampere */
	if (!device->rocm && device->arch != SS_SIM_VOLTA)
		bytes += 1024;
	if (bytes == 0)
		return BLOCKS_PER_SM_MAX;
	return device->shared_per_sm / ((uint32_t)ss_sim_ceil(bytes, unit) * unit);
}

/* Millionths, rounded like printf with six decimals: ties to even. */
static uint64_t to_micro(float value)
{
	double exact = (double)value * 1e6;
	uint64_t whole = (uint64_t)exact;
	double rest = exact - (double)whole;

	if (rest > 0.5 || (rest == 0.5 && whole % 2 == 1))
		whole++;
	return whole;
}

static void estimate_occupancy(struct ss_sim_make *make)
{
	const struct ss_sim_device *device = make->device;
	struct ss_sim_kernel *out = make->out;
	uint32_t threads = out->block[0] * out->block[1] * out->block[2];
	uint32_t warps = (uint32_t)ss_sim_ceil(threads, device->warp_size);
	uint64_t resident = device->threads_per_sm / (warps * device->warp_size);
	float blocks = (float)grid_block_count(out) / (float)device->sm_count;
	float of_threads = blocks * (float)threads;
	float per_sm = of_threads / (float)device->warp_size;
	float occupancy;
	double percent;

	out->blocks_per_sm_micro = to_micro(blocks);
	out->warps_per_sm_micro = to_micro(per_sm);
	resident = ss_sim_least(resident, BLOCKS_PER_SM_MAX);
	resident = ss_sim_least(resident, resident_by_registers(make, warps));
	resident = ss_sim_least(resident, resident_by_shared(make));
	if ((float)resident < blocks)
		blocks = (float)resident;
	of_threads = blocks * (float)threads;
	occupancy = of_threads / (float)device->threads_per_sm;
	percent = (double)occupancy * 100.0;
	out->occupancy_percent = (uint32_t)(percent + 0.5);
}

/* --- time --------------------------------------------------------------------- */

static void kernel_set_duration(struct ss_sim_make *make)
{
	struct ss_sim_kernel *out = make->out;
	double busy = (double)grid_block_count(out) / make->device->sm_count;
	double filled, by_flops, by_bytes, time_ns = FLOOR_NS;

	if (busy > 1)
		busy = 1;
	/* a small grid has all caches and the full clock for itself */
	if (busy < 1.0 / 16 && make->wish->starved_permille == 0)
		busy = 1.0 / 16;
	filled = make->filled < busy ? make->filled : busy;
	if (filled < 1.0 / 16 && make->wish->starved_permille == 0)
		filled = 1.0 / 16;
	by_flops = out->flops * 1e9 / (make->flop_rate * filled);
	by_bytes = out->bytes * 1e9 / (make->memory_rate * busy);
	if (by_flops > time_ns)
		time_ns = by_flops;
	if (by_bytes > time_ns)
		time_ns = by_bytes;
	out->duration_ns = (int64_t)(time_ns + 0.5);
}

void ss_sim_kernel_make(const struct ss_sim_device *device, const struct ss_sim_kernel_wish *wish,
			struct ss_sim_kernel *out)
{
	struct ss_sim_make make = {
		.device = device,
		.wish = wish,
		.out = out,
		.batch = wish->batch ? wish->batch : 1,
		.width = ss_sim_dtype_bytes(wish->dtype),
		.flop_rate = device->fp32_flops,
		.memory_rate = device->memory_rate,
		.filled = 1,
	};

	assert(wish->class < SS_SIM_KERNEL_CLASSES);
	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < SS_COUNT(make.size); i++)
		make.size[i] = wish->size[i] ? wish->size[i] : 1;
	kernel_set_words(&make);
	/* for torch's own kernels; makers set others */
	out->call = device->rocm ? "hipLaunchKernel" : "cudaLaunchKernel";
	kernel_makers[wish->class](&make);
	grid_starve(&make);
	estimate_occupancy(&make);
	if (kernel_makers[wish->class] != ss_sim_make_nccl)
		kernel_set_duration(&make);
}
