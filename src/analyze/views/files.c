/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files.c - view: one row per file: rank, recording settings, contents.
 */
#include <string.h>

#include "base/median.h"
#include "view/view.h"

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "file", SS_COLUMN_TEXT, "file name", 0 },
	{ "folder", SS_COLUMN_TEXT, "name of the folder that the file is in", SS_COLUMN_CONTEXT },
	{ "events", SS_COLUMN_COUNT, "entries in traceEvents", 0 },
	{ "steps", SS_COLUMN_COUNT, "counted steps", 0 },
	{ "median_step_ns", SS_COLUMN_NS, "median duration of the counted steps", 0 },
	{ "span_ns", SS_COLUMN_NS, "from the first start to the last end of all events", 0 },
	{ "device_events", SS_COLUMN_COUNT, "kernels, copies and memsets", 0 },
	{ "oddities", SS_COLUMN_COUNT, "kinds of lost or repaired events; see the quality view",
	  0 },
	{ "problem", SS_COLUMN_TEXT, "why the file could not be read; empty if it was read",
	  SS_COLUMN_CONTEXT },
	{ "device", SS_COLUMN_TEXT, "name of the first device that was used", SS_COLUMN_DETAIL },
	{ "world_size", SS_COLUMN_COUNT, "number of ranks in the job, as recorded",
	  SS_COLUMN_DETAIL },
	{ "backend", SS_COLUMN_TEXT, "backend of torch.distributed", SS_COLUMN_DETAIL },
	{ "process_groups", SS_COLUMN_COUNT, "process groups of the job", SS_COLUMN_DETAIL },
	{ "host", SS_COLUMN_TEXT, "host name", SS_COLUMN_DETAIL },
	{ "run_id", SS_COLUMN_TEXT, "id of the run, if the program recorded one",
	  SS_COLUMN_DETAIL },
	{ "start_ns", SS_COLUMN_ID, "wall-clock time of the first event, in ns since 1970",
	  SS_COLUMN_DETAIL },
	{ "command", SS_COLUMN_TEXT, "command that started the program, if recorded",
	  SS_COLUMN_DETAIL },
	{ "commit", SS_COLUMN_TEXT, "commit of the training code, if recorded", SS_COLUMN_DETAIL },
	{ "trace_id", SS_COLUMN_TEXT, "id that the profiler gave to this recording",
	  SS_COLUMN_DETAIL },
	{ "software", SS_COLUMN_TEXT, "versions of CUDA, HIP and NCCL, where recorded",
	  SS_COLUMN_DETAIL },
	{ "flags", SS_COLUMN_TEXT, "options with which the profiler recorded", SS_COLUMN_CONTEXT },
	{ "kept_events", SS_COLUMN_COUNT, "events kept in memory: slices, allocations, counters",
	  SS_COLUMN_DETAIL },
	{ "unpacked_bytes", SS_COLUMN_BYTES, "size of the file, uncompressed", SS_COLUMN_DETAIL },
	{ "base_time_ns", SS_COLUMN_ID, "wall-clock time of file time 0, in ns since 1970",
	  SS_COLUMN_DETAIL },
	{ "origin_ns", SS_COLUMN_ID, "file time of the first event", SS_COLUMN_DETAIL },
	{ "path", SS_COLUMN_TEXT, "path of the file", SS_COLUMN_DETAIL | SS_COLUMN_FILLED },
	{ "packed_of", SS_COLUMN_TEXT, "file from which this pack was made", SS_COLUMN_DETAIL },
	{ "disk_bytes", SS_COLUMN_BYTES,
	  "size of the file on disk; for a pack: size of the original file", SS_COLUMN_DETAIL },
};

/* -1 without steps; for an even number, the mean of the middle two. */
static int64_t files_median_step(const struct ss_trace *trace, struct ss_table *out)
{
	int64_t *durs = SS_ARENA_NEW(out->arena, int64_t, (size_t)trace->steps.count + 1);
	uint32_t count = 0;

	if (!durs) {
		out->failed = true;
		return -1;
	}
	for (uint32_t i = 0; i < trace->steps.count; i++)
		if (!trace->steps.items[i].dropped)
			durs[count++] = trace->steps.items[i].end_ns -
					trace->steps.items[i].start_ns;
	return count ? ss_median(durs, count) : -1;
}

static const char *files_device_name(const struct ss_trace *trace)
{
	for (uint32_t i = 0; i < trace->track_count; i++) {
		const struct ss_track *track = &trace->tracks[i];

		if (track->class != SS_TRACK_DEVICE || !track->row_count)
			continue;
		for (uint32_t k = 0; k < trace->info.device_count; k++)
			if (trace->info.devices[k].id == track->pid)
				return ss_strings_text(&trace->texts, trace->info.devices[k].name);
		break;
	}
	return trace->info.device_count == 1
		       ? ss_strings_text(&trace->texts, trace->info.devices[0].name)
		       : NULL;
}

static const char *files_flags_text(const struct ss_trace_info *info, struct ss_table *out)
{
	const char *text = ss_table_print(out, "%s%s%s%s%s",
					  info->record_shapes ? " record_shapes" : "",
					  info->profile_memory ? " profile_memory" : "",
					  info->with_stack ? " with_stack" : "",
					  info->with_modules ? " with_modules" : "",
					  info->with_flops ? " with_flops" : "");

	return *text ? text + 1 : text;
}

static const char *files_software_text(const struct ss_trace *trace, struct ss_table *out)
{
	const struct ss_trace_info *info = &trace->info;
	const char *nccl = ss_strings_text(&trace->texts, info->nccl_version);
	const char *text = "";

	if (info->cuda_runtime > 0)
		text = ss_table_print(out, ", CUDA %lld.%lld", (long long)info->cuda_runtime / 1000,
				      (long long)info->cuda_runtime % 1000 / 10);
	if (info->cuda_driver > 0)
		text = ss_table_print(out, "%s, driver for CUDA %lld.%lld", text,
				      (long long)info->cuda_driver / 1000,
				      (long long)info->cuda_driver % 1000 / 10);
	if (info->hip_runtime > 0)
		text = ss_table_print(out, "%s, HIP %lld.%lld", text,
				      (long long)info->hip_runtime / 10000000,
				      (long long)info->hip_runtime / 100000 % 100);
	if (*nccl)
		text = ss_table_print(out, "%s, NCCL %s", text, nccl);
	return *text ? text + 2 : text;
}

static int64_t files_count_flaws(const struct ss_trace *trace)
{
	int64_t kinds = 0;

	for (int odd = 0; odd < SS_ODD_COUNT; odd++)
		kinds += trace->quality.rows[odd].count &&
			 ss_oddity_info((enum ss_oddity)odd)->severity >= SS_SEVERITY_REPAIRED;
	return kinds;
}

static const char *files_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The last folder of the path; NULL: it has none. */
static const char *files_folder_name(const char *path, struct ss_table *out)
{
	const char *end = strrchr(path, '/'), *from = end;

	while (from && from > path && from[-1] != '/')
		from--;
	return end > from ? ss_table_print(out, "%.*s", (int)(end - from), from) : NULL;
}

static void files_add_failed(const struct ss_subject *subject, struct ss_table *out)
{
	ss_row_begin(out);
	ss_row_text(out, files_base_name(subject->path));
	ss_row_text(out, files_folder_name(subject->path, out));
	for (uint32_t i = 3; i < SS_COUNT(columns); i++) {
		if (strcmp(columns[i].name, "problem") == 0)
			ss_row_text(out, subject->problem);
		else if (strcmp(columns[i].name, "path") == 0)
			ss_row_text(out, subject->path);
		else
			ss_row_null(out);
	}
	ss_row_end(out);
}

static enum ss_status files_run(const struct ss_subject *subject, struct ss_table *out,
				struct ss_error *err)
{
	const struct ss_trace *trace = subject->trace;
	const struct ss_trace_info *info = trace ? &trace->info : NULL;

	(void)err;
	if (!trace) {
		files_add_failed(subject, out);
		return SS_OK;
	}
	ss_row_begin(out);
	ss_row_text(out, files_base_name(subject->path));
	ss_row_text(out, files_folder_name(subject->path, out));
	ss_row_int(out, (int64_t)trace->event_count);
	ss_row_int(out, trace->steps.kept_count);
	ss_row_int_known(out, files_median_step(trace, out));
	ss_row_int(out, trace->span_ns);
	ss_row_int(out, (int64_t)trace->device_event_count);
	ss_row_int(out, files_count_flaws(trace));
	ss_row_text(out, NULL);
	ss_row_text(out, files_device_name(trace));
	ss_row_int_known(out, info->world_size);
	ss_row_text(out, ss_strings_text(&trace->texts, info->backend));
	ss_row_int_known(out, info->group_count);
	ss_row_text(out, ss_strings_text(&trace->texts, info->run[SS_RUN_HOST]));
	ss_row_text(out, ss_strings_text(&trace->texts, info->run[SS_RUN_ID]));
	ss_row_int_known(out, ss_trace_start(trace));
	ss_row_text(out, ss_strings_text(&trace->texts, info->run[SS_RUN_COMMAND]));
	ss_row_text(out, ss_strings_text(&trace->texts, info->run[SS_RUN_COMMIT]));
	ss_row_text(out, ss_strings_text(&trace->texts, info->trace_id));
	ss_row_text(out, files_software_text(trace, out));
	ss_row_text(out, files_flags_text(info, out));
	ss_row_int(out,
		   (int64_t)trace->slices.count + trace->allocations.count + trace->counter_count);
	ss_row_int_known(out, info->part > 1 ? -1 : (int64_t)trace->file_bytes);
	ss_row_int_known(out, info->base_time_ns ? info->base_time_ns : -1);
	ss_row_int(out, trace->origin_ns);
	ss_row_text(out, subject->path);
	ss_row_text(out, trace->packed_of);
	ss_row_int_known(out, info->part > 1 ? -1 : (int64_t)trace->disk_bytes);
	ss_row_end(out);
	return SS_OK;
}

const struct ss_view ss_view_files = {
	.name = "files",
	.summary = "One row per file: rank, recording settings, contents",
	.empty = "No files.",
	SS_TABLE_COLUMNS(columns),
	.sums = "events device_events kept_events unpacked_bytes disk_bytes",
	.wants_failed = true,
	.kept = { 1 },
	.reads = SS_COLUMNS_NONE,
	.run = files_run,
};
