/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nsys.c - exports of Nsight Systems (nsys export --type sqlite): kernels, copies and calls.
 *
 * NVIDIA changes the schema with every release: tables are made only when they have rows, and
 * columns come and go. So tables and columns are looked up by name, and what is not there is not
 * recorded. Categories and names become those of Kineto, on which all analysis rests.
 */
#include "trace/nsys/nsys.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/sort.h"
#include "base/text.h"

/* The schema's major number; a higher one breaks what readers know. */
#define SCHEMA_MAX 3

bool nsys_is_wanted(const struct nsys_load *nsys, int64_t global)
{
	return !nsys->is_part || NSYS_PROCESS(global) == nsys->process;
}

/* Each process counts its correlations from 1. */
static int64_t nsys_correlation(const struct nsys_load *nsys, int64_t global, int64_t id)
{
	uint32_t low = 0, high = nsys->process_count;

	SS_SEARCH(low, high, at, nsys->processes[at] < NSYS_PROCESS(global));
	return id > 0 && id <= UINT32_MAX ? (nsys->is_part ? id : (int64_t)low << 32 | id) : 0;
}

/* --- work of devices --------------------------------------------------------------------- */

static const char *const kernel_columns[] = { "start",
					      "end",
					      "deviceId",
					      "streamId",
					      "correlationId",
					      "globalPid",
					      "demangledName",
					      "shortName",
					      "gridX",
					      "gridY",
					      "gridZ",
					      "blockX",
					      "blockY",
					      "blockZ",
					      "registersPerThread",
					      "staticSharedMemory",
					      "dynamicSharedMemory",
					      "graphId",
					      "graphNodeId",
					      NULL };

static int32_t nsys_number32(const struct ss_database_row *row, int column)
{
	int64_t value = ss_database_number(row, column, -1);

	return value < -1 || value > INT32_MAX ? -1 : (int32_t)value;
}

/* The first columns are the same in all tables of devices. */
static struct ss_named_slice nsys_device_slice(const struct nsys_load *nsys,
					       const struct ss_database_row *row)
{
	return (struct ss_named_slice){
		.start_ns = ss_database_number(row, 0, INT64_MIN),
		.end_ns = ss_database_number(row, 1, INT64_MIN),
		.pid = ss_database_number(row, 2, 0),
		.tid = ss_database_number(row, 3, 0),
		.id = nsys_correlation(nsys, ss_database_number(row, 5, 0),
				       ss_database_number(row, 4, 0)),
		.args = SS_NO_ARGS,
	};
}

static uint32_t nsys_kernel_args(struct ss_batch *batch, const struct ss_database_row *row)
{
	int64_t fixed = ss_database_number(row, 15, 0), asked = ss_database_number(row, 16, 0);
	struct ss_kernel_args args = { .registers = nsys_number32(row, 14),
				       .shared_bytes = -1,
				       .graph_id = ss_database_number(row, 17, -1),
				       .graph_node = ss_database_number(row, 18, -1),
				       .blocks_per_sm = NAN,
				       .warps_per_sm = NAN,
				       .occupancy_percent = NAN };

	for (int i = 0; i < 3; i++) {
		args.grid[i] = nsys_number32(row, 8 + i);
		args.block[i] = nsys_number32(row, 11 + i);
	}
	if (!ss_database_is_null(row, 15) && fixed >= 0 && fixed <= INT32_MAX && asked >= 0 &&
	    asked <= INT32_MAX)
		args.shared_bytes = fixed + asked;
	return ss_batch_record(batch, &batch->kernel_args, &args);
}

/* A kernel; or a graph as a whole, which is how graphs are recorded by default. */
static enum ss_status nsys_take_kernel(void *context, const struct ss_database_row *row,
				       struct ss_error *err)
{
	struct ss_sqlite_load *load = context;
	struct nsys_load *nsys = load->own;
	struct ss_named_slice slice = nsys_device_slice(nsys, row);
	char graph[48];

	(void)err;
	if (!nsys_is_wanted(nsys, ss_database_number(row, 5, 0)))
		return SS_OK;
	slice.category = "kernel";
	slice.args = nsys_kernel_args(&load->batch, row);
	slice.name = ss_sqlite_text_of(load, ss_database_number(row, 6, -1), &slice.name_length);
	if (!slice.name_length)
		slice.name = ss_sqlite_text_of(load, ss_database_number(row, 7, -1),
					       &slice.name_length);
	if (!slice.name_length && !ss_database_is_null(row, 17)) {
		slice.name_length = (size_t)snprintf(graph, sizeof(graph), "CUDA graph %lld",
						     (long long)ss_database_number(row, 17, 0));
		slice.name = graph;
	}
	ss_batch_add_named(&load->batch, &slice);
	return SS_OK;
}

static const char *const copy_columns[] = { "start",         "end",       "deviceId", "streamId",
					    "correlationId", "globalPid", "bytes",    "copyKind",
					    "srcKind",       "dstKind",   NULL };
static const char *const set_columns[] = { "start",    "end",           "deviceId",
					   "streamId", "correlationId", "globalPid",
					   "bytes",    "memKind",       NULL };

/* By CUPTI's number (CUpti_ActivityMemcpyKind, CUpti_ActivityMemoryKind), in Kineto's words. */
static const char *const copy_kinds[] = {
	"Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD",
	"DtoA",    "DtoD", "HtoH", "PtoP", "HtoD", "DtoH", "DtoD"
};
static const char *const memory_kinds[] = {
	"Pageable", "Pinned",        "Device",         "Array",
	"Managed",  "Device Static", "Managed Static", "Unknown"
};

#define WORD(list, value) \
	((value) >= 0 && (value) < (int64_t)SS_COUNT(list) ? (list)[value] : "Unknown")

static enum ss_status nsys_take_memory(void *context, const struct ss_database_row *row,
				       bool copies)
{
	struct ss_sqlite_load *load = context;
	struct nsys_load *nsys = load->own;
	struct ss_named_slice slice = nsys_device_slice(nsys, row);
	struct ss_copy_args args = { ss_database_number(row, 6, -1) };
	char name[96];

	if (!nsys_is_wanted(nsys, ss_database_number(row, 5, 0)))
		return SS_OK;
	slice.category = copies ? "gpu_memcpy" : "gpu_memset";
	slice.name = name;
	if (copies)
		slice.name_length =
			(size_t)snprintf(name, sizeof(name), "Memcpy %s (%s -> %s)",
					 WORD(copy_kinds, ss_database_number(row, 7, -1)),
					 WORD(memory_kinds, ss_database_number(row, 8, -1)),
					 WORD(memory_kinds, ss_database_number(row, 9, -1)));
	else
		slice.name_length = (size_t)snprintf(name, sizeof(name), "Memset (%s)",
						     WORD(memory_kinds,
							  ss_database_number(row, 7, -1)));
	slice.args = ss_batch_record(&load->batch, &load->batch.copy_args, &args);
	ss_batch_add_named(&load->batch, &slice);
	return SS_OK;
}

static enum ss_status nsys_take_copy(void *context, const struct ss_database_row *row,
				     struct ss_error *err)
{
	(void)err;
	return nsys_take_memory(context, row, true);
}

static enum ss_status nsys_take_set(void *context, const struct ss_database_row *row,
				    struct ss_error *err)
{
	(void)err;
	return nsys_take_memory(context, row, false);
}

/* --- threads ----------------------------------------------------------------------------- */

static const char *const call_columns[] = { "start",  "end",        "globalTid", "correlationId",
					    "nameId", "eventClass", NULL };

/* "cudaMemcpyAsync_v3020" is cudaMemcpyAsync; numbers below 1000 are part of the name (_v2). */
static size_t nsys_call_length(const char *name, size_t length)
{
	size_t digits = 0;

	while (digits < length && ss_char_is_digit(name[length - digits - 1]))
		digits++;
	if (digits >= 4 && length > digits + 2 && name[length - digits - 1] == 'v' &&
	    name[length - digits - 2] == '_')
		return length - digits - 2;
	return length;
}

/* eventClass 1 is the driver; older exports have names alone: cudaX and cuX. */
static enum ss_status nsys_take_call(void *context, const struct ss_database_row *row,
				     struct ss_error *err)
{
	struct ss_sqlite_load *load = context;
	struct nsys_load *nsys = load->own;
	int64_t global = ss_database_number(row, 2, 0);
	struct ss_named_slice slice = {
		.start_ns = ss_database_number(row, 0, INT64_MIN),
		.end_ns = ss_database_number(row, 1, INT64_MIN),
		.pid = NSYS_PID(global),
		.tid = NSYS_TID(global),
		.id = nsys_correlation(nsys, global, ss_database_number(row, 3, 0)),
		.args = SS_NO_ARGS,
	};
	bool is_driver;

	(void)err;
	if (!nsys_is_wanted(nsys, global))
		return SS_OK;
	slice.name = ss_sqlite_text_of(load, ss_database_number(row, 4, -1), &slice.name_length);
	slice.name_length = nsys_call_length(slice.name, slice.name_length);
	is_driver = ss_database_number(row, 5, 0) == 1 ||
		    (strncmp(slice.name, "cu", 2) == 0 && strncmp(slice.name, "cuda", 4) != 0);
	slice.category = is_driver ? "cuda_driver" : "cuda_runtime";
	ss_batch_add_named(&load->batch, &slice);
	return SS_OK;
}

static const char *const overhead_columns[] = { "start",     "end",          "globalTid",
						"globalTid", "overheadType", NULL };

/*
 * The profiler's own work, by ENUM_CUPTI_OVERHEAD_TYPE. Its other kinds are CUDA's: loading of
 * modules, a full queue of launches. They are inside of calls that are recorded anyway.
 */
static enum ss_status nsys_take_overhead(void *context, const struct ss_database_row *row,
					 struct ss_error *err)
{
	static const char *const names[] = {
		[3] = "Buffer Flush", [4] = "Instrumentation", [5] = "Resource"
	};
	int64_t type = ss_database_number(row, 4, -1);
	struct ss_sqlite_load *load = context;
	int64_t global = ss_database_number(row, 2, 0);
	struct ss_named_slice slice = {
		.category = "overhead",
		.name = type >= 3 && type < (int64_t)SS_COUNT(names) ? names[type] : NULL,
		.start_ns = ss_database_number(row, 0, INT64_MIN),
		.end_ns = ss_database_number(row, 1, INT64_MIN),
		.pid = NSYS_PID(global),
		.tid = NSYS_TID(global),
		.args = SS_NO_ARGS,
	};

	(void)err;
	if (!slice.name || !nsys_is_wanted(load->own, global))
		return SS_OK;
	slice.name_length = strlen(slice.name);
	ss_batch_add_named(&load->batch, &slice);
	return SS_OK;
}

static const char *const thread_columns[] = { "globalTid", "nameId", NULL };

static enum ss_status nsys_take_thread(void *context, const struct ss_database_row *row,
				       struct ss_error *err)
{
	struct ss_sqlite_load *load = context;
	int64_t global = ss_database_number(row, 0, 0);
	struct ss_meta meta = { .pid = NSYS_PID(global),
				.tid = NSYS_TID(global),
				.what = SS_META_THREAD_NAME };
	size_t length;
	const char *name = ss_sqlite_text_of(load, ss_database_number(row, 1, -1), &length);

	(void)err;
	if (!length || !nsys_is_wanted(load->own, global))
		return SS_OK;
	meta.text = ss_batch_text(&load->batch, &load->batch.texts, name, length);
	ss_batch_add_meta(&load->batch, &meta);
	return SS_OK;
}

/* --- the recording ----------------------------------------------------------------------- */

static const char *const device_columns[] = {
	"id",      "name",           "totalMemory",   "computeMajor", "computeMinor",
	"smCount", "threadsPerWarp", "maxWarpsPerSm", "cuDevice",     NULL
};

static enum ss_status nsys_take_device(void *context, const struct ss_database_row *row,
				       struct ss_error *err)
{
	struct ss_sqlite_load *load = context;
	struct ss_device device = { .id = ss_database_number(row, 8,
							     ss_database_number(row, 0, -1)),
				    .memory_bytes = ss_database_number(row, 2, -1) };
	int32_t warps = nsys_number32(row, 7), numbers[4];
	size_t length;
	const char *name = ss_database_text(row, 1, &length);

	for (int i = 0; i < 4; i++)
		numbers[i] = nsys_number32(row, 3 + i) > 0 ? nsys_number32(row, 3 + i) : 0;
	device.compute_major = numbers[0];
	device.compute_minor = numbers[1];
	device.multiprocessors = numbers[2];
	device.warp_size = numbers[3];
	if (warps > 0 && warps <= 1024 && device.warp_size <= 1024)
		device.threads_per_multiprocessor = warps * device.warp_size;
	return ss_builder_text(&load->builder, name ? name : "", length, &device.name) &&
			       ss_builder_add_device(&load->builder, &device)
		       ? SS_OK
		       : ss_fail_memory(err, "the devices");
}

static const char *const start_columns[] = { "utcEpochNs", NULL };

static enum ss_status nsys_take_start(void *context, const struct ss_database_row *row,
				      struct ss_error *err)
{
	struct ss_sqlite_load *load = context;
	int64_t start_ns = ss_database_number(row, 0, 0);

	(void)err;
	if (start_ns >= SS_WALL_CLOCK_MIN)
		load->builder.trace->info.base_time_ns = start_ns;
	return SS_OK;
}

static const char *const export_columns[] = { "name", "value", NULL };

static enum ss_status nsys_check_version(void *context, const struct ss_database_row *row,
					 struct ss_error *err)
{
	char version[SS_SQLITE_VERSION_BYTES];

	(void)context;
	if (ss_sqlite_version(row, "EXPORT_SCHEMA_VERSION", version) <= SCHEMA_MAX)
		return SS_OK;
	return ss_fail(err, SS_ERR_FORMAT,
		       "it is an export of Nsight Systems with schema %s, and stepscope knows "
		       "schemas up to %d: export the .nsys-rep file with Nsight Systems 2026.2",
		       version, SCHEMA_MAX);
}

/* --- processes --------------------------------------------------------------------------- */

static const char *const process_columns[] = { "globalPid", NULL };

static enum ss_status nsys_take_process(void *context, const struct ss_database_row *row,
					struct ss_error *err)
{
	struct ss_sqlite_load *load = context;
	struct nsys_load *nsys = load->own;
	int64_t process = NSYS_PROCESS(ss_database_number(row, 0, 0));
	uint32_t low = 0, high = nsys->process_count;

	SS_SEARCH(low, high, at, nsys->processes[at] < process);
	if (ss_database_is_null(row, 0) ||
	    (low < nsys->process_count && nsys->processes[low] == process))
		return SS_OK;
	if (nsys->process_count == NSYS_PROCESSES_MAX)
		return ss_fail(err, SS_ERR_LIMIT, "it has more than %d processes",
			       NSYS_PROCESSES_MAX);
	memmove(&nsys->processes[low + 1], &nsys->processes[low],
		(nsys->process_count - low) * sizeof(*nsys->processes));
	nsys->processes[low] = process;
	nsys->process_count++;
	return SS_OK;
}

#define CUPTI(table) "CUPTI_ACTIVITY_KIND_" table

/* What is read, in this order; the first ones are of devices. */
static const struct {
	const char *table;
	const char *const *columns;
	ss_database_visit *take;
	bool has_processes;
} tables[] = {
	{ CUPTI("KERNEL"), kernel_columns, nsys_take_kernel, true },
	{ CUPTI("GRAPH_TRACE"), kernel_columns, nsys_take_kernel, true },
	{ CUPTI("MEMCPY"), copy_columns, nsys_take_copy, true },
	{ CUPTI("MEMSET"), set_columns, nsys_take_set, true },
	{ CUPTI("RUNTIME"), call_columns, nsys_take_call, false },
	{ CUPTI("OVERHEAD"), overhead_columns, nsys_take_overhead, false },
	{ "ThreadNames", thread_columns, nsys_take_thread, false },
	{ "TARGET_INFO_GPU", device_columns, nsys_take_device, false },
	{ "TARGET_INFO_SESSION_START_TIME", start_columns, nsys_take_start, false },
};

static enum ss_status nsys_find_processes(struct nsys_load *nsys, struct ss_error *err)
{
	for (size_t i = 0; i < SS_COUNT(tables); i++)
		if (tables[i].has_processes)
			SS_TRY(ss_sqlite_each(nsys->load, tables[i].table, process_columns,
					      nsys_take_process, err));
	return SS_OK;
}

static enum ss_status nsys_read(struct nsys_load *nsys, struct ss_error *err)
{
	struct ss_sqlite_load *load = nsys->load;
	uint32_t part = load->options->part;

	SS_TRY(ss_sqlite_each(load, "META_DATA_EXPORT", export_columns, nsys_check_version, err));
	SS_TRY(nsys_find_processes(nsys, err));
	nsys->is_part = part && part <= nsys->process_count && nsys->process_count > 1;
	if (nsys->is_part) {
		nsys->process = nsys->processes[part - 1];
		/* launchers start the processes of a machine in the order of their ranks */
		load->builder.trace->info.rank = part - 1;
	}
	SS_TRY(ss_sqlite_read_texts(load, "StringIds", "id", "value", err));
	for (size_t i = 0; i < SS_COUNT(tables); i++)
		SS_TRY(ss_sqlite_each(load, tables[i].table, tables[i].columns, tables[i].take,
				      err));
	return nsys_read_nvtx(nsys, err);
}

static enum ss_status nsys_open(struct ss_sqlite_load *load, struct ss_error *err)
{
	struct nsys_load *nsys = ss_memory_zeroed(load->batch.memory, sizeof(*nsys));

	if (!nsys)
		return ss_fail_memory(err, "the processes");
	nsys->load = load;
	load->own = nsys;
	return SS_OK;
}

static void nsys_close(struct nsys_load *nsys)
{
	struct ss_memory *memory = nsys->load->batch.memory;

	ss_memory_free(memory, nsys->schemas,
		       (size_t)nsys->schema_capacity * sizeof(*nsys->schemas));
	ss_memory_free(memory, nsys->communicators,
		       (size_t)nsys->communicator_capacity * sizeof(*nsys->communicators));
	ss_memory_free(memory, nsys, sizeof(*nsys));
}

static enum ss_status nsys_load(struct ss_sqlite_load *load, struct ss_error *err)
{
	enum ss_status status = nsys_open(load, err);

	if (status == SS_OK) {
		status = nsys_read(load->own, err);
		nsys_close(load->own);
	}
	return status;
}

static enum ss_status nsys_count_parts(struct ss_sqlite_load *load, uint32_t *out,
				       struct ss_error *err)
{
	enum ss_status status = nsys_open(load, err);
	struct nsys_load *nsys = load->own;

	if (status != SS_OK)
		return status;
	status = nsys_find_processes(nsys, err);
	*out = nsys->process_count ? nsys->process_count : 1;
	nsys_close(nsys);
	return status;
}

static bool nsys_matches(const struct ss_database *database)
{
	return ss_database_has(database, "META_DATA_EXPORT") ||
	       (ss_database_has(database, "StringIds") &&
		ss_database_table(database, "CUPTI_ACTIVITY_KIND_", 0));
}

const struct ss_sqlite_kind ss_sqlite_kind_nsys = {
	.matches = nsys_matches,
	.count_parts = nsys_count_parts,
	.load = nsys_load,
};
