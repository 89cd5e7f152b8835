/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_link.c - the bandwidth between a device and its host: that of the pinned copies in the
 * trace, if need be in the other direction. Without any, twice that of the best pageable copy, at
 * most what the generation of the device allows.
 *
 * Sixteen lanes of PCI Express carry 15.75, 31.5 and 63 GB/s each way in generations 3,
 * 4 and 5. Headers and credits take a fifth: copies of many megabytes from pinned memory
 * reach 12, 25 and 53. Devices with other links are in peaks.c.
 */
#include <string.h>

#include "analyze/work/host_link.h"
#include "analyze/work/peaks.h"

#define PCIE3 12e9
#define PCIE4 25e9
#define PCIE5 53e9

/*
 * Pinned copies compared with the best pageable one of the same host: 1.1 and 1.9 times as fast
 * on a virtual machine with A100 (5.0 and 8.7 GB/s of 25), more where only the link limits them.
 */
#define PINNED_TIMES 2

/* In smaller copies, latency hides the bandwidth of the link. */
#define RATE_BYTES (1 << 20)

struct pcie_generation {
	int32_t major, minor; /* from this compute capability on */
	double rate;
};

/* The newest first. */
static const struct pcie_generation nvidia_generations[] = {
	{ 9, 0, PCIE5 }, /* Hopper, Blackwell */
	{ 8, 0, PCIE4 }, /* Ampere, Ada */
	{ 5, 0, PCIE3 }, /* Maxwell, Pascal, Volta, Turing */
};

/* gfx numbers: 9.4 is MI300, 9.0 MI50 to MI250, 10 and 11 the Radeons before RDNA 4. */
static const struct pcie_generation amd_generations[] = {
	{ 12, 0, PCIE5 },
	{ 10, 0, PCIE4 },
	{ 9, 4, PCIE5 },
	{ 9, 0, PCIE4 },
};

static double pcie_rate_of(const struct pcie_generation *generations, size_t count,
			   const struct ss_device *device)
{
	for (size_t i = 0; i < count; i++)
		if (device->compute_major > generations[i].major ||
		    (device->compute_major == generations[i].major &&
		     device->compute_minor >= generations[i].minor))
			return generations[i].rate;
	return 0;
}

static double link_rate_by_device(const struct ss_trace *trace, const struct ss_device *device,
				  int way)
{
	const char *name = ss_strings_text(&trace->texts, device->name);
	const struct ss_peaks *peaks = ss_peaks_find(name);

	if (peaks && peaks->host_gb_per_s[way] > 0)
		return peaks->host_gb_per_s[way] * 1e9;
	if (device->warp_size == 64 || strstr(name, "AMD") || strstr(name, "Radeon"))
		return pcie_rate_of(amd_generations, SS_COUNT(amd_generations), device);
	if (device->warp_size > 0 && device->warp_size != 32)
		return 0; /* another vendor */
	return pcie_rate_of(nvidia_generations, SS_COUNT(nvidia_generations), device);
}

static const struct ss_device *link_find_device(const struct ss_trace_info *info, int64_t number)
{
	for (uint32_t i = 0; i < info->device_count; i++)
		if (info->devices[i].id == number)
			return &info->devices[i];
	return info->device_count ? &info->devices[0] : NULL;
}

/* "Memcpy HtoD (Pageable -> Device)", "Memcpy HtoD (Host -> Device)", "CopyDeviceToHost". */
static struct ss_copy_kind copy_kind_of_name(const char *name)
{
	struct ss_copy_kind kind = { .memory = SS_COPY_HOST };

	if (strstr(name, "HtoD") || strstr(name, "HostToDevice"))
		kind.way = SS_COPY_IN;
	else if (strstr(name, "DtoH") || strstr(name, "DeviceToHost"))
		kind.way = SS_COPY_OUT;
	else
		return (struct ss_copy_kind){ 0 };
	if (strstr(name, "Pageable"))
		kind.memory = SS_COPY_PAGEABLE;
	else if (strstr(name, "Pinned"))
		kind.memory = SS_COPY_PINNED;
	return kind;
}

int64_t ss_copy_bytes(const struct ss_trace *trace, uint32_t row)
{
	uint32_t number = trace->slices.args[row];
	const struct ss_copy_args *args;

	if (number == SS_NO_ARGS)
		return -1;
	args = ss_records_at(&trace->copy_args, number);
	return args->bytes;
}

bool ss_copy_blocks_host(const struct ss_trace *trace, uint32_t row)
{
	const struct ss_slices *slices = &trace->slices;
	uint32_t call = ss_slice_launch(slices, row);

	return call < trace->device_from &&
	       ss_slice_end(slices, call) >= slices->start_ns[row] + slices->dur_ns[row] / 2;
}

/* Keeps the best rate of pinned copies; if the name does not say, of those that did not block. */
static void link_measure_copy(struct ss_host_link *link, const struct ss_trace *trace, uint32_t row,
			      double *pageable)
{
	struct ss_copy_kind kind = link->kinds[trace->slices.name[row]];
	int64_t bytes = ss_copy_bytes(trace, row), dur_ns = trace->slices.dur_ns[row];
	double rate;

	if (kind.memory == SS_COPY_NONE || dur_ns <= 0 || bytes < RATE_BYTES)
		return;
	rate = (double)bytes * 1e9 / (double)dur_ns;
	if (kind.memory == SS_COPY_PAGEABLE && rate > pageable[kind.way])
		pageable[kind.way] = rate;
	if (kind.memory < SS_COPY_PINNED ||
	    (kind.memory == SS_COPY_HOST && ss_copy_blocks_host(trace, row)))
		return;
	if (rate > link->rate[kind.way])
		link->rate[kind.way] = rate;
	link->is_measured[kind.way] = true;
}

/* Estimates the rate of pinned copies for a direction without any. */
static double link_guess_rate(const struct ss_host_link *link, int way, double pageable)
{
	int other = way == SS_COPY_IN ? SS_COPY_OUT : SS_COPY_IN;

	if (link->is_measured[other] && link->rate[other] > pageable)
		return link->rate[other];
	return pageable > 0 && PINNED_TIMES * pageable < link->most[way] ? PINNED_TIMES * pageable
									 : link->most[way];
}

bool ss_host_link_init(struct ss_host_link *link, const struct ss_trace *trace, int64_t device,
		       struct ss_arena *arena)
{
	const struct ss_device *known = link_find_device(&trace->info, device);
	uint8_t *seen = SS_ARENA_NEW(arena, uint8_t, (size_t)trace->names.count + 1);
	double pageable[SS_COPY_WAYS] = { 0 };

	*link = (struct ss_host_link){ .kinds = SS_ARENA_NEW(arena, struct ss_copy_kind,
							     (size_t)trace->names.count + 1) };
	if (!link->kinds || !seen)
		return false;
	for (uint32_t row = trace->device_from; row < trace->device_to; row++) {
		uint32_t name = trace->slices.name[row];

		if (trace->slices.kind[row] != SS_KIND_MEMCPY)
			continue;
		if (!seen[name])
			link->kinds[name] = copy_kind_of_name(ss_strings_text(&trace->names, name));
		seen[name] = true;
		link_measure_copy(link, trace, row, pageable);
	}
	for (int i = 0; i < SS_COPY_WAYS; i++)
		link->most[i] = known ? link_rate_by_device(trace, known, i) : 0;
	for (int i = 0; i < SS_COPY_WAYS; i++)
		if (!link->is_measured[i])
			link->rate[i] = link_guess_rate(link, i, pageable[i]);
	return true;
}
