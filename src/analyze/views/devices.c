/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devices.c - view: the devices that were used, and what ran on them.
 *
 * Files list every device of the host; a rank usually uses one. ROCm files number the used
 * device differently from the listed ones: if only one device is listed, its name is
 * shown.
 */
#include "view/view.h"
#include "trace/trace.h"

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "device", SS_COLUMN_ID, "number of the device", SS_COLUMN_FILLED },
	{ "name", SS_COLUMN_TEXT, "name of the device", 0 },
	{ "kernels", SS_COLUMN_COUNT, "kernels that ran on it, including communication",
	  SS_COLUMN_FILLED },
	{ "comm_kernels", SS_COLUMN_COUNT, "of these, communication kernels", SS_COLUMN_FILLED },
	{ "memcpys", SS_COLUMN_COUNT, "copies", SS_COLUMN_FILLED },
	{ "memsets", SS_COLUMN_COUNT, "memsets", SS_COLUMN_DETAIL | SS_COLUMN_FILLED },
	{ "orphans", SS_COLUMN_COUNT, "device events whose launch is not in the file", 0 },
	{ "memory_bytes", SS_COLUMN_BYTES, "memory size of the device", 0 },
	{ "multiprocessors", SS_COLUMN_COUNT, "number of SMs or compute units", SS_COLUMN_DETAIL },
	{ "compute", SS_COLUMN_TEXT, "compute capability or gfx generation", SS_COLUMN_DETAIL },
	{ "warp_size", SS_COLUMN_COUNT, "threads per warp or wavefront", SS_COLUMN_DETAIL },
};

struct device_tally {
	int64_t device;
	int64_t kernels, comm_kernels, memcpys, memsets, orphans;
};

static void device_count_track(const struct ss_trace *trace, uint32_t track,
			       struct device_tally *tally)
{
	struct ss_track_sums sums;

	ss_track_sum(trace, track, &sums);
	for (int kind = 0; kind < SS_KIND_COUNT; kind++)
		if (ss_kind_is_kernel((enum ss_kind)kind))
			tally->kernels += sums.kinds[kind];
	tally->comm_kernels += sums.kinds[SS_KIND_COMM_KERNEL];
	tally->memcpys += sums.kinds[SS_KIND_MEMCPY];
	tally->memsets += sums.kinds[SS_KIND_MEMSET];
	tally->orphans += sums.unlinked;
}

static const struct ss_device *devices_find(const struct ss_trace *trace, int64_t id, bool used)
{
	const struct ss_trace_info *info = &trace->info;

	for (uint32_t i = 0; i < info->device_count; i++)
		if (info->devices[i].id == id)
			return &info->devices[i];
	return used && info->device_count == 1 ? &info->devices[0] : NULL;
}

static void devices_add_row(const struct ss_trace *trace, struct ss_table *out,
			    const struct device_tally *tally)
{
	const struct ss_device *device = devices_find(trace, tally->device, tally->kernels > 0);

	ss_row_begin(out);
	ss_row_int(out, tally->device);
	ss_row_text(out, device ? ss_strings_text(&trace->texts, device->name) : NULL);
	ss_row_int(out, tally->kernels);
	ss_row_int(out, tally->comm_kernels);
	ss_row_int(out, tally->memcpys);
	ss_row_int(out, tally->memsets);
	ss_row_int(out, tally->orphans);
	ss_row_int_known(out, device ? device->memory_bytes : -1);
	ss_row_int_known(out, device && device->multiprocessors ? device->multiprocessors : -1);
	ss_row_text(out, device && device->compute_major
				 ? ss_table_print(out, "%d.%d", device->compute_major,
						  device->compute_minor)
				 : NULL);
	ss_row_int_known(out, device && device->warp_size ? device->warp_size : -1);
	ss_row_end(out);
}

static enum ss_status devices_run(const struct ss_subject *subject, struct ss_table *out,
				  struct ss_error *err)
{
	const struct ss_trace *trace = subject->trace;
	struct device_tally *tallies;
	struct ss_records devices;

	if (!SS_ALLOC(out->arena, tallies, (size_t)trace->track_count + 1) ||
	    !ss_records_init(&devices, trace->memory, sizeof(int64_t)))
		return ss_fail_memory(err, "the devices");
	for (uint32_t i = 0; i < trace->track_count; i++) {
		const struct ss_track *track = &trace->tracks[i];
		uint32_t at;

		if (track->class != SS_TRACK_DEVICE || !track->row_count)
			continue;
		at = ss_records_add(&devices, &track->pid);
		if (at == SS_NO_ID) {
			out->failed = true;
			break;
		}
		tallies[at].device = track->pid;
		device_count_track(trace, i, &tallies[at]);
	}
	for (uint32_t i = 0; i < devices.count; i++)
		devices_add_row(trace, out, &tallies[i]);
	ss_records_release(&devices);
	return SS_OK;
}

const struct ss_view ss_view_devices = {
	.name = "devices",
	.summary = "The devices that were used, and what ran on them",
	.empty = "No GPU work: the files have no kernels, copies or memsets (record them with "
		 "ProfilerActivity.CUDA or XPU).",
	SS_TABLE_COLUMNS(columns),
	.sums = "kernels comm_kernels memcpys memsets orphans",
	.basis = SS_BASIS_FILE,
	.reads = SS_COLUMNS_NONE,
	.kept = { 32 },
	.run = devices_run,
};
