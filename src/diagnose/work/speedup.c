/* SPDX-License-Identifier: Apache-2.0 */
/*
 * speedup.c - a roofline for two precisions.
 *
 * Work reaches some share of what its device can do. In bf16 we assume the same share of a higher
 * roof: FLOPs at the peak of the tensor cores, half the bytes at the memory bandwidth. The result
 * is never faster than the half-precision work in the trace itself, if there is any; and it is as
 * fast as half-precision work of its own size.
 */
#include "diagnose/work/speedup.h"

#include <string.h>

#include "diagnose/work/slow_work.h"

/*
 * If sizes or peaks are unknown: at least twice as fast, four times as users report for whole
 * networks, and at most eight times, the ratio of the peak rates.
 */
#define TIMES_LOW 2
#define TIMES 4
#define TIMES_HIGH 8

static bool dtype_is_half(enum ss_dtype dtype)
{
	return dtype == SS_DTYPE_FP16 || dtype == SS_DTYPE_BF16;
}

/* FLOPs are whole numbers: products with equal FLOPs have the same size. */
static bool speedup_is_of_size(const struct ss_speedup_size *size, const struct ss_work *work)
{
	return size->kind == work->kind && size->flops >= work->flops && size->flops <= work->flops;
}

static void speedup_add_size(struct ss_speedup *speedup, const struct ss_work *work, double ns)
{
	uint32_t at = 0;

	while (at < speedup->size_count && !speedup_is_of_size(&speedup->sizes[at], work))
		at++;
	if (at == SS_SPEEDUP_SIZES)
		return;
	if (at == speedup->size_count)
		speedup->sizes[speedup->size_count++] =
			(struct ss_speedup_size){ .kind = work->kind, .flops = work->flops };
	speedup->sizes[at].ns += ns;
	speedup->sizes[at].count++;
}

/* Whether the attention of a row goes backward. */
static bool speedup_is_backward(const struct ss_speedup *speedup, uint32_t row)
{
	const struct ss_trace *trace = speedup->trace;

	return strstr(ss_strings_text(&trace->names, trace->slices.name[row]), "backward") != NULL;
}

/* The mask and so the FLOPs are often not recorded, but a network has attention of one size. */
static void speedup_add_attention(struct ss_speedup *speedup, const struct ss_worker *worker)
{
	struct ss_speedup_size *size =
		&speedup->attention[speedup_is_backward(speedup, worker->row)];

	size->ns += (double)worker->device_ns;
	size->count++;
}

/* Measures the speed of the trace's own half-precision work, by kind and by size. */
static void speedup_measure(struct ss_speedup *speedup)
{
	const struct ss_works *works = speedup->works;
	double flops[SS_WORK_KIND_COUNT] = { 0 }, ns[SS_WORK_KIND_COUNT] = { 0 };

	for (uint32_t i = 0; i < works->worker_count; i++) {
		const struct ss_worker *worker = &works->workers[i];
		const struct ss_work *work = ss_works_item(works, worker);

		if (!work || !dtype_is_half(work->dtype) || worker->device_ns <= 0)
			continue;
		if (!work->has_flops && work->kind == SS_WORK_ATTENTION)
			speedup_add_attention(speedup, worker);
		if (!work->has_flops || !worker->tensor)
			continue;
		speedup_add_size(speedup, work, (double)worker->device_ns);
		flops[work->kind] += work->flops;
		ns[work->kind] += (double)worker->device_ns;
	}
	for (int i = 0; i < SS_WORK_KIND_COUNT; i++)
		speedup->rate[i] = ns[i] > 0 ? flops[i] * 1e9 / ns[i] : 0;
}

static const struct ss_device *speedup_device(const struct ss_rule_context *context)
{
	const struct ss_trace_info *info = &context->trace->info;

	for (uint32_t i = 0; i < info->device_count; i++)
		if (info->devices[i].id == context->digest->device)
			return &info->devices[i];
	return info->device_count ? &info->devices[0] : NULL;
}

/*
 * The generation that a file without the GPU's name shows: libraries name kernels after the oldest
 * one that runs them. 0: unknown.
 */
static int32_t speedup_generation(const struct ss_trace *trace)
{
	static const struct {
		const char *start;
		int32_t major;
	} families[] = { { "volta_", 7 }, { "turing_", 7 }, { "ampere_", 8 },
			 { "sm80_", 8 },  { "sm90_", 9 },   { "sm100_", 10 } };
	int32_t major = 0;

	for (uint32_t i = 0; i < trace->names.count; i++)
		for (size_t k = 0; k < SS_COUNT(families); k++)
			if (families[k].major > major &&
			    strncmp(ss_strings_text(&trace->names, i), families[k].start,
				    strlen(families[k].start)) == 0)
				major = families[k].major;
	return major;
}

/* NVIDIA has tensor cores since 7.0, bf16 and TF32 since 8.0; AMD matrix cores since gfx908. */
static void speedup_find_cores(struct ss_speedup *speedup, const struct ss_device *device,
			       const char *name)
{
	int32_t major = device ? device->compute_major : 0;
	bool is_amd;

	if (!device && !*name)
		major = speedup_generation(speedup->trace);
	/* without a device the name is that of AMD's instruction set */
	is_amd = device ? device->warp_size == 64 : *name != '\0';
	speedup->peaks = ss_peaks_find(name);
	/* the number does not tell gfx908 from its predecessors: the table must know it */
	speedup->has_cores = speedup->peaks != NULL;
	if (speedup->peaks && (speedup->peaks->fp32 <= 0 || speedup->peaks->fp16 <= 0))
		speedup->peaks = NULL;
	if (is_amd) {
		speedup->has_bf16 = speedup->has_cores;
		return;
	}
	speedup->has_cores = major >= 7;
	speedup->has_bf16 = speedup->has_tf32 = major >= 8;
}

enum ss_status ss_speedup_init(struct ss_speedup *speedup, const struct ss_rule_context *context,
			       struct ss_error *err)
{
	const struct ss_device *device = speedup_device(context);

	*speedup = (struct ss_speedup){ .trace = context->trace };
	speedup_find_cores(speedup, device, ss_slow_work_device(context));
	if (!speedup->has_cores)
		return SS_OK;
	SS_TRY(ss_facts_works(context->subject->facts, &speedup->works, err));
	speedup_measure(speedup);
	return SS_OK;
}

static double larger_of(double a, double b)
{
	return a > b ? a : b;
}

/* The least time that the work takes, in seconds. */
static double roofline_seconds(const struct ss_work *work, double flops, double bytes,
			       double bandwidth)
{
	double compute = flops > 0 ? work->flops / flops : 0;
	double memory = work->has_bytes && bandwidth > 0 ? bytes / bandwidth : 0;

	return larger_of(compute, memory);
}

static int64_t speedup_bounded_ns(double ns, int64_t most_ns)
{
	ns = larger_of(ns, SS_SPEEDUP_FLOOR_NS);
	return ns < (double)most_ns ? (int64_t)ns : most_ns;
}

struct ss_faster ss_speedup_of_kernel(int64_t own_ns)
{
	return (struct ss_faster){ speedup_bounded_ns((double)own_ns / TIMES, own_ns),
				   speedup_bounded_ns((double)own_ns / TIMES_LOW, own_ns),
				   speedup_bounded_ns((double)own_ns / TIMES_HIGH, own_ns) };
}

/* What the work takes in half precision, by work of its size or kind in this trace. */
static double speedup_measured_ns(const struct ss_speedup *speedup, const struct ss_work *work,
				  double half_ns)
{
	for (uint32_t i = 0; i < speedup->size_count; i++)
		if (speedup_is_of_size(&speedup->sizes[i], work))
			return speedup->sizes[i].ns / speedup->sizes[i].count;
	return speedup->rate[work->kind] > 0
		       ? larger_of(half_ns, work->flops * 1e9 / speedup->rate[work->kind])
		       : half_ns;
}

struct ss_faster ss_speedup_of(const struct ss_speedup *speedup, const struct ss_worker *worker)
{
	const struct ss_work *work = ss_works_item(speedup->works, worker);
	const struct ss_peaks *peaks = speedup->peaks;
	int64_t own_ns = worker->device_ns;
	double half_peak, now, half, tf32, part, bandwidth, expected;

	if (!peaks || !work)
		return ss_speedup_of_kernel(own_ns);
	half_peak = (speedup->has_bf16 ? peaks->bf16 : peaks->fp16) * 1e12;
	now = peaks->fp32 * 1e12;
	if (half_peak <= now)
		return (struct ss_faster){ own_ns, own_ns, own_ns };
	if (!work->has_flops) {
		const struct ss_speedup_size *size =
			&speedup->attention[speedup_is_backward(speedup, worker->row)];

		half = (double)own_ns * now / half_peak;
		if (work->kind == SS_WORK_ATTENTION && size->count && size->ns / size->count < half)
			half = size->ns / size->count;
		return (struct ss_faster){ speedup_bounded_ns(half, own_ns),
					   speedup_bounded_ns(2 * half, own_ns),
					   speedup_bounded_ns(half, own_ns) };
	}
	bandwidth = peaks->gb_per_s * 1e9;
	part = roofline_seconds(work, now, work->moved_bytes, bandwidth) * 1e9 / (double)own_ns;
	/* if it is faster than the roof, the formula counts more than was done */
	part = part < 1 ? part : 1;
	if (part <= 0)
		return ss_speedup_of_kernel(own_ns);
	half = roofline_seconds(work, half_peak, work->moved_bytes / 2, bandwidth) * 1e9 / part;
	tf32 = speedup->has_tf32 && peaks->fp32_matrix > peaks->fp32
		       ? roofline_seconds(work, peaks->fp32_matrix * 1e12, work->moved_bytes,
					  bandwidth) *
				 1e9 / part
		       : 2 * half;
	expected = speedup_measured_ns(speedup, work, half);
	half = half < expected ? half : expected;
	return (struct ss_faster){ speedup_bounded_ns(expected, own_ns),
				   speedup_bounded_ns(larger_of(tf32, expected), own_ns),
				   speedup_bounded_ns(half, own_ns) };
}
