/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reach.c - a time is that of the slower of FLOPs and bytes at the rates that are reached, and a
 * latency.
 */
#include "analyze/work/reach.h"

#include "analyze/time/roles.h"

/* Machines have 16 at most. */
#define DEVICES_MAX 64

/*
 * What products take beyond FLOPs and bytes at the best rate. Products of 1,024^3 take 10 us more
 * on A100, 6 on H100 and 4 on GB200 (Azure's table by size); vectors times matrices 6 to 8 on H100
 * and B200 (cutlass#1139, vllm#20071). Other kernels: starting and ending one (torchao).
 */
#define PRODUCT_NS 10000
#define KERNEL_NS 3000

/*
 * Attention reaches 0.7 to 0.8 of the rate of products: 189 of 271 TFLOP/s on A100 (FA2), 616 of
 * 794 on H100 (FA3), 1,418 of 1,745 on B200 (FA4), with heads of 128 numbers; heads of 64 reach
 * 0.56 to 0.87 of that. Short sequences reach less: at 512 keys 0.45 of what long ones do, at
 * 1,024 0.65.
 */
#define ATTENTION 0.7
#define ATTENTION_NARROW 0.6
#define ATTENTION_KEYS 600

/* The file's own rates: of work that is so long that latency does not matter. */
#define OWN_NS 100000
#define OWN_BYTES 64e6

const char *ss_limit_name(enum ss_limit limit)
{
	static const char *const names[] = {
		[SS_LIMIT_UNKNOWN] = NULL,           [SS_LIMIT_SIZE] = "size",
		[SS_LIMIT_MEMORY] = "memory",        [SS_LIMIT_VECTORS] = "vector units",
		[SS_LIMIT_TENSORS] = "tensor cores",
	};

	return names[limit];
}

/* The name that all listed devices share: ROCm numbers the used ones differently. */
static const char *device_common_name(const struct ss_trace *trace)
{
	const struct ss_device *devices = trace->info.devices;

	for (uint32_t i = 1; i < trace->info.device_count; i++)
		if (devices[i].name != devices[0].name)
			return "";
	return trace->info.device_count ? ss_strings_text(&trace->texts, devices[0].name) : "";
}

static const char *device_name_of(const struct ss_trace *trace, int64_t device)
{
	for (uint32_t i = 0; i < trace->info.device_count; i++)
		if (trace->info.devices[i].id == device)
			return ss_strings_text(&trace->texts, trace->info.devices[i].name);
	return device_common_name(trace);
}

const char *ss_reach_device_name(const struct ss_trace *trace, uint32_t *count)
{
	const char *name = NULL;
	int64_t device = INT64_MIN;

	/* finding each device takes a pass over the tracks, so their number is limited */
	for (*count = 0; *count < DEVICES_MAX && ss_device_next(trace, device, &device); ++*count) {
		const char *found = device_name_of(trace, device);

		if (name && strcmp(name, found) != 0)
			return "";
		name = found;
	}
	return name && *count < DEVICES_MAX ? name : "";
}

/* Keeps the fastest products and copies of the file. */
static void reachable_measure(struct ss_reachable *reachable)
{
	const struct ss_works *works = reachable->works;

	for (uint32_t i = 0; i < works->worker_count; i++) {
		const struct ss_worker *worker = &works->workers[i];
		const struct ss_work *work = ss_works_item(works, worker);
		double seconds = (double)worker->device_ns / 1e9;

		if (!work || worker->device_ns < OWN_NS || worker->across)
			continue;
		if (work->has_flops && work->kind == SS_WORK_MATMUL) {
			double *rate = &reachable->products[work->dtype][worker->tensor];

			*rate = *rate > work->flops / seconds ? *rate : work->flops / seconds;
		}
		if (work->has_bytes && work->moved_bytes >= OWN_BYTES &&
		    work->moved_bytes / seconds > reachable->memory)
			reachable->memory = work->moved_bytes / seconds;
	}
}

/* From the peaks, and what is reached of them. */
static void reachable_set_rates(struct ss_reachable *reachable, double products, double memory)
{
	reachable->memory = reachable->peaks->gb_per_s * 1e9 * memory;
	for (int dtype = 0; dtype <= SS_DTYPE_OTHER; dtype++)
		for (int units = 0; units < SS_UNITS_COUNT; units++)
			reachable->products[dtype][units] = ss_peaks_flops(reachable->peaks,
									   (enum ss_dtype)dtype,
									   (enum ss_units)units) *
							    products;
}

void ss_reachable_init(struct ss_reachable *reachable, const struct ss_works *works,
		       const char *device_name)
{
	const struct ss_peaks *peaks = *device_name ? ss_peaks_find(device_name) : NULL;

	*reachable = (struct ss_reachable){ .works = works, .peaks = peaks };
	if (!peaks || peaks->products_reach <= 0 || peaks->gb_per_s <= 0) {
		reachable_measure(reachable);
		return;
	}
	reachable->is_published = true;
	reachable_set_rates(reachable, peaks->products_reach, peaks->memory_reach);
}

void ss_reachable_move(struct ss_reachable *out, const struct ss_reachable *from,
		       const struct ss_peaks *to)
{
	double products = to->products_reach, memory = to->memory_reach;

	if (products <= 0)
		products = from->peaks && from->peaks->products_reach > 0
				   ? from->peaks->products_reach
				   : 1;
	if (memory <= 0)
		memory = from->peaks && from->peaks->memory_reach > 0 ? from->peaks->memory_reach
								      : 1;
	*out = (struct ss_reachable){ .works = from->works, .peaks = to, .is_published = true };
	reachable_set_rates(out, products, memory);
}

/* Of the rate of products. */
static double attention_part(const struct ss_work *work)
{
	/* FLOPs per byte are half of the number of keys in half precision, a quarter if causal */
	double keys = 2 * work->flops / work->moved_bytes;

	return ATTENTION * (work->depth < 128 ? ATTENTION_NARROW : 1) * keys /
	       (keys + ATTENTION_KEYS);
}

/* FLOP/s; 0: unknown. */
static double reachable_rate(const struct ss_reachable *reachable, const struct ss_worker *worker,
			     const struct ss_work *work)
{
	double rate = reachable->products[work->dtype][worker->tensor];

	if (work->kind != SS_WORK_ATTENTION)
		return rate;
	/* kernels of attention in half precision use the cores, whatever they are called */
	if (work->dtype == SS_DTYPE_FP16 || work->dtype == SS_DTYPE_BF16)
		rate = reachable->products[work->dtype][1];
	return rate * attention_part(work);
}

struct ss_reach ss_reach_of(const struct ss_reachable *reachable, const struct ss_worker *worker)
{
	const struct ss_work *work = ss_works_item(reachable->works, worker);
	bool is_product = work && work->kind >= SS_WORK_MATMUL;
	double latency = is_product ? PRODUCT_NS : KERNEL_NS, compute = 0, memory, rate;
	struct ss_reach reach = { 0 };

	if (!work || !work->has_bytes || work->moved_bytes <= 0 || worker->device_ns <= 0 ||
	    worker->across || reachable->memory <= 0 || (is_product && !work->has_flops))
		return reach;
	if (work->has_flops) {
		rate = reachable_rate(reachable, worker, work);
		if (rate <= 0)
			return reach;
		compute = work->flops * 1e9 / rate;
	}
	memory = (work->moved_bytes + work->more_bytes) * 1e9 / reachable->memory;
	reach.ns = latency + (compute > memory ? compute : memory);
	reach.compute_ns = compute;
	reach.memory_ns = memory;
	if (compute < latency && memory < latency)
		reach.limit = SS_LIMIT_SIZE;
	else if (compute <= memory)
		reach.limit = SS_LIMIT_MEMORY;
	else
		reach.limit = worker->tensor || work->dtype == SS_DTYPE_FP16 ||
					      work->dtype == SS_DTYPE_BF16
				      ? SS_LIMIT_TENSORS
				      : SS_LIMIT_VECTORS;
	return reach;
}
