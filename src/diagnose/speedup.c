/*
 * speedup.c - a roofline of two precisions.
 *
 * Work reaches some part of what its device can do. In bf16 it is taken to reach the same
 * part of a higher roof: FLOPs at the peak of the tensor cores, half the bytes at the
 * memory's bandwidth. It is no faster than the work in half types that the trace has
 * itself, where it has some. Where that has products of the same kind and size (other layers),
 * it takes as long as those.
 */
#include "diagnose/speedup.h"

#include <stdlib.h>

/*
 * Where sizes or peaks are not known: twice as fast at least, four times as people see for
 * whole networks, eight times what cores promise (users.md 5.2).
 */
#define TIMES_LOW 2
#define TIMES 4
#define TIMES_HIGH 8

static bool is_half(enum ss_dtype dtype)
{
	return dtype == SS_DTYPE_FP16 || dtype == SS_DTYPE_BF16;
}

static int by_size(const void *a, const void *b)
{
	const struct ss_twin *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	return x->size < y->size ? -1 : x->size > y->size;
}

/* What its twins in half types are known by; kind SS_WORK_OTHER: it has none. */
static struct ss_twin twin_of(const struct ss_speedup *speedup, uint32_t row)
{
	const struct ss_work *work = ss_works_of(speedup->works, row);
	struct ss_twin twin = { 0 };

	if (!work || (work->dtype != SS_DTYPE_FP32 && !is_half(work->dtype)))
		return twin;
	if (work->kind >= SS_WORK_MATMUL && work->has_flops) {
		twin.kind = work->kind;
		twin.size = work->flops;
	} else if (work->kind > SS_WORK_COPY && work->kind < SS_WORK_MATMUL && work->has_bytes) {
		twin.kind = work->kind;
		twin.name = speedup->works->ops->trace->slices.name[row];
		twin.size = is_half(work->dtype) ? work->moved_bytes : work->moved_bytes / 2;
	}
	return twin;
}

/* Twins of one size become one; those that nothing was measured of go. */
static void join_twins(struct ss_speedup *speedup)
{
	struct ss_twin *twins = speedup->twins;
	uint32_t count = 0;

	qsort(twins, speedup->twin_count, sizeof(*twins), by_size);
	for (uint32_t i = 0; i < speedup->twin_count; i++) {
		if (twins[i].count <= 0)
			continue;
		if (count && by_size(&twins[count - 1], &twins[i]) == 0) {
			twins[count - 1].ns += twins[i].ns;
			twins[count - 1].count += twins[i].count;
		} else {
			twins[count++] = twins[i];
		}
	}
	speedup->twin_count = count;
}

static bool measure(struct ss_speedup *speedup, struct ss_arena *arena)
{
	const struct ss_works *works = speedup->works;
	double flops[SS_WORK_KIND_COUNT] = { 0 }, ns[SS_WORK_KIND_COUNT] = { 0 };

	speedup->twin_count = works->keys.count;
	speedup->twins = SS_ARENA_NEW(arena, struct ss_twin, (size_t)speedup->twin_count + 1);
	if (!speedup->twins)
		return false;
	for (uint32_t row = 0; row < works->ops->row_count; row++) {
		const struct ss_work *work = ss_works_of(works, row);
		struct ss_twin *twin, own;

		if (!work || !is_half(work->dtype) || works->device_ns[row] <= 0 ||
		    (work->kind >= SS_WORK_MATMUL && !(work->has_flops && works->tensor[row])))
			continue;
		flops[work->kind] += work->flops;
		ns[work->kind] += (double)works->device_ns[row];
		own = twin_of(speedup, row);
		if (own.kind == SS_WORK_OTHER)
			continue;
		twin = &speedup->twins[works->item[row]];
		own.ns = twin->ns + (double)works->device_ns[row];
		own.count = twin->count + 1;
		*twin = own;
	}
	for (int i = 0; i < SS_WORK_KIND_COUNT; i++)
		speedup->rate[i] = ns[i] > 0 ? flops[i] * 1e9 / ns[i] : 0;
	join_twins(speedup);
	return true;
}

static const struct ss_device *device_of(const struct ss_look *look)
{
	const struct ss_trace_info *info = &look->trace->info;

	for (uint32_t i = 0; i < info->device_count; i++)
		if (info->devices[i].id == look->digest->device)
			return &info->devices[i];
	return info->device_count ? &info->devices[0] : NULL;
}

/* NVIDIA has tensor cores since 7.0, bf16 and TF32 since 8.0; AMD matrix cores since gfx908. */
static void find_cores(struct ss_speedup *speedup, const struct ss_device *device, const char *name)
{
	bool is_amd;

	if (!device)
		return;
	is_amd = device->warp_size == 64;
	speedup->peaks = ss_peaks_find(name);
	if (speedup->peaks && speedup->peaks->fp32 <= 0)
		speedup->peaks = NULL;
	if (is_amd) {
		/* the number does not tell gfx908 from its predecessors: the table must know it */
		speedup->has_cores = speedup->peaks != NULL;
		speedup->has_bf16 = speedup->has_cores;
		return;
	}
	speedup->has_cores = device->compute_major >= 7;
	speedup->has_bf16 = speedup->has_tf32 = device->compute_major >= 8;
}

enum ss_status ss_speedup_init(struct ss_speedup *speedup, const struct ss_look *look,
			       struct ss_arena *arena, struct ss_error *err)
{
	const struct ss_device *device = device_of(look);

	*speedup = (struct ss_speedup){ 0 };
	find_cores(speedup, device,
		   device ? ss_strings_text(&look->trace->texts, device->name) : "");
	if (!speedup->has_cores)
		return SS_OK;
	SS_TRY(ss_bricks_works(look->subject->bricks, &speedup->works, err));
	return measure(speedup, arena) ? SS_OK : ss_fail_memory(err, "the matrix products");
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

/* Seconds that the work takes at least. */
static double roof(const struct ss_work *work, double flops, double bytes, double bandwidth)
{
	double compute = flops > 0 ? work->flops / flops : 0;
	double memory = work->has_bytes && bandwidth > 0 ? bytes / bandwidth : 0;

	return larger(compute, memory);
}

static int64_t bounded(double ns, int64_t most_ns)
{
	ns = larger(ns, SS_SPEEDUP_FLOOR_NS);
	return ns < (double)most_ns ? (int64_t)ns : most_ns;
}

struct ss_faster ss_speedup_of_kernel(int64_t own_ns)
{
	return (struct ss_faster){ bounded((double)own_ns / TIMES, own_ns),
				   bounded((double)own_ns / TIMES_LOW, own_ns),
				   bounded((double)own_ns / TIMES_HIGH, own_ns) };
}

/* What its twins take; 0: the trace has none. */
static double twin_ns(const struct ss_speedup *speedup, uint32_t row)
{
	const struct ss_twin wanted = twin_of(speedup, row);
	const struct ss_twin *twin = bsearch(&wanted, speedup->twins, speedup->twin_count,
					     sizeof(wanted), by_size);

	return twin ? twin->ns / twin->count : 0;
}

int64_t ss_speedup_of_other(const struct ss_speedup *speedup, uint32_t row)
{
	int64_t own_ns = speedup->works->device_ns[row];
	double ns = twin_ns(speedup, row);

	return ns > 0 && ns < (double)own_ns ? (int64_t)ns : own_ns;
}

struct ss_faster ss_speedup_of(const struct ss_speedup *speedup, uint32_t worker)
{
	const struct ss_work *work = ss_works_of(speedup->works, worker);
	const struct ss_peaks *peaks = speedup->peaks;
	int64_t own_ns = speedup->works->device_ns[worker];
	double half_peak, now, half, tf32, part, bandwidth, expected;

	if (!peaks || !work)
		return ss_speedup_of_kernel(own_ns);
	half_peak = (speedup->has_bf16 ? peaks->bf16 : peaks->fp16) * 1e12;
	now = peaks->fp32 * 1e12;
	if (half_peak <= now)
		return (struct ss_faster){ own_ns, own_ns, own_ns };
	if (!work->has_flops) {
		half = (double)own_ns * now / half_peak;
		return (struct ss_faster){ bounded(half, own_ns), bounded(2 * half, own_ns),
					   bounded(half, own_ns) };
	}
	bandwidth = peaks->gb_per_s * 1e9;
	part = roof(work, now, work->moved_bytes, bandwidth) * 1e9 / (double)own_ns;
	/* faster than the roof: the formula counts more than was done */
	part = part < 1 ? part : 1;
	if (part <= 0)
		return ss_speedup_of_kernel(own_ns);
	half = roof(work, half_peak, work->moved_bytes / 2, bandwidth) * 1e9 / part;
	tf32 = speedup->has_tf32 && peaks->fp32_matrix > peaks->fp32
		       ? roof(work, peaks->fp32_matrix * 1e12, work->moved_bytes, bandwidth) * 1e9 /
				 part
		       : 2 * half;
	expected = twin_ns(speedup, worker);
	if (expected <= 0)
		expected = speedup->rate[work->kind] > 0
				   ? larger(half, work->flops * 1e9 / speedup->rate[work->kind])
				   : half;
	return (struct ss_faster){ bounded(expected, own_ns),
				   bounded(larger(tf32, expected), own_ns),
				   bounded(half < expected ? half : expected, own_ns) };
}
