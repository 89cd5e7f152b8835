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
	struct ss_import *import = context;
	struct nsys_load *nsys = import->own;
	struct ss_named_slice slice = nsys_device_slice(nsys, row);
	char graph[48];

	(void)err;
	if (!nsys_is_wanted(nsys, ss_database_number(row, 5, 0)))
		return SS_OK;
	slice.category = "kernel";
	slice.args = nsys_kernel_args(&import->batch, row);
	slice.name = ss_import_text(import, 0, ss_database_number(row, 6, -1), &slice.name_length);
	if (!slice.name_length)
		slice.name = ss_import_text(import, 0, ss_database_number(row, 7, -1),
					    &slice.name_length);
	if (!slice.name_length && !ss_database_is_null(row, 17)) {
		slice.name_length = (size_t)snprintf(graph, sizeof(graph), "CUDA graph %lld",
						     (long long)ss_database_number(row, 17, 0));
		slice.name = graph;
	}
	ss_batch_add_named(&import->batch, &slice);
	return SS_OK;
}

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

/* Copies, and memsets, which have no kind of copy. */
static enum ss_status nsys_take_memory(void *context, const struct ss_database_row *row,
				       struct ss_error *err)
{
	struct ss_import *import = context;
	struct ss_named_slice slice = nsys_device_slice(import->own, row);
	struct ss_copy_args args = { ss_database_number(row, 6, -1) };
	const char *from = WORD(memory_kinds, ss_database_number(row, 8, -1));
	bool is_copy = !ss_database_is_null(row, 7);
	char name[96];

	(void)err;
	if (!nsys_is_wanted(import->own, ss_database_number(row, 5, 0)))
		return SS_OK;
	if (is_copy)
		snprintf(name, sizeof(name), "Memcpy %s (%s -> %s)",
			 WORD(copy_kinds, ss_database_number(row, 7, -1)), from,
			 WORD(memory_kinds, ss_database_number(row, 9, -1)));
	else
		snprintf(name, sizeof(name), "Memset (%s)", from);
	slice.category = is_copy ? "gpu_memcpy" : "gpu_memset";
	slice.name = name;
	slice.name_length = strlen(name);
	slice.args = ss_batch_record(&import->batch, &import->batch.copy_args, &args);
	ss_batch_add_named(&import->batch, &slice);
	return SS_OK;
}

/* --- threads ----------------------------------------------------------------------------- */

struct ss_named_slice nsys_thread_slice(const struct ss_database_row *row)
{
	int64_t global = ss_database_number(row, 2, 0);

	return (struct ss_named_slice){
		.start_ns = ss_database_number(row, 0, INT64_MIN),
		.end_ns = ss_database_number(row, 1, INT64_MIN),
		.pid = NSYS_PID(global),
		.tid = NSYS_TID(global),
		.args = SS_NO_ARGS,
	};
}

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
	struct ss_import *import = context;
	int64_t global = ss_database_number(row, 2, 0);
	struct ss_named_slice slice = nsys_thread_slice(row);
	bool is_driver;

	(void)err;
	if (!nsys_is_wanted(import->own, global))
		return SS_OK;
	slice.id = nsys_correlation(import->own, global, ss_database_number(row, 3, 0));
	slice.name = ss_import_text(import, 0, ss_database_number(row, 4, -1), &slice.name_length);
	slice.name_length = nsys_call_length(slice.name, slice.name_length);
	is_driver = ss_database_number(row, 5, 0) == 1 ||
		    (strncmp(slice.name, "cu", 2) == 0 && strncmp(slice.name, "cuda", 4) != 0);
	slice.category = is_driver ? "cuda_driver" : "cuda_runtime";
	ss_batch_add_named(&import->batch, &slice);
	return SS_OK;
}

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
	struct ss_import *import = context;
	struct ss_named_slice slice = nsys_thread_slice(row);
	int64_t type = ss_database_number(row, 3, -1);

	(void)err;
	if (type < 3 || type >= (int64_t)SS_COUNT(names) ||
	    !nsys_is_wanted(import->own, ss_database_number(row, 2, 0)))
		return SS_OK;
	slice.category = "overhead";
	slice.name = names[type];
	slice.name_length = strlen(slice.name);
	ss_batch_add_named(&import->batch, &slice);
	return SS_OK;
}

static enum ss_status nsys_take_thread(void *context, const struct ss_database_row *row,
				       struct ss_error *err)
{
	struct ss_import *import = context;
	int64_t global = ss_database_number(row, 0, 0);
	struct ss_meta meta = { .pid = NSYS_PID(global),
				.tid = NSYS_TID(global),
				.what = SS_META_THREAD_NAME };
	size_t length;
	const char *name = ss_import_text(import, 0, ss_database_number(row, 1, -1), &length);

	(void)err;
	if (!length || !nsys_is_wanted(import->own, global))
		return SS_OK;
	meta.text = ss_batch_text(&import->batch, &import->batch.texts, name, length);
	ss_batch_add_meta(&import->batch, &meta);
	return SS_OK;
}

/* --- the recording ----------------------------------------------------------------------- */

static enum ss_status nsys_take_device(void *context, const struct ss_database_row *row,
				       struct ss_error *err)
{
	struct ss_import *import = context;
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
	return ss_import_add_device(import, &device, name, length, err);
}

static enum ss_status nsys_take_start(void *context, const struct ss_database_row *row,
				      struct ss_error *err)
{
	struct ss_import *import = context;
	int64_t start_ns = ss_database_number(row, 0, 0);

	(void)err;
	if (start_ns >= SS_WALL_CLOCK_MIN)
		import->builder.trace->info.base_time_ns = start_ns;
	return SS_OK;
}

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

static enum ss_status nsys_take_process(void *context, const struct ss_database_row *row,
					struct ss_error *err)
{
	struct ss_import *import = context;
	struct nsys_load *nsys = import->own;
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
#define OF_DEVICE "start end deviceId streamId correlationId globalPid "
#define OF_KERNEL                                                            \
	OF_DEVICE "demangledName shortName gridX gridY gridZ blockX blockY " \
		  "blockZ registersPerThread staticSharedMemory "            \
		  "dynamicSharedMemory graphId graphNodeId"

/* What is read, in this order; the first ones are of devices. */
static const struct {
	const char *table, *columns;
	ss_database_visit *take;
	bool has_processes;
} tables[] = {
	{ CUPTI("KERNEL"), OF_KERNEL, nsys_take_kernel, true },
	{ CUPTI("GRAPH_TRACE"), OF_KERNEL, nsys_take_kernel, true },
	{ CUPTI("MEMCPY"), OF_DEVICE "bytes copyKind srcKind dstKind", nsys_take_memory, true },
	{ CUPTI("MEMSET"), OF_DEVICE "bytes copyKind memKind", nsys_take_memory, true },
	{ CUPTI("RUNTIME"), "start end globalTid correlationId nameId eventClass",
	  .take = nsys_take_call },
	{ CUPTI("OVERHEAD"), "start end globalTid overheadType", .take = nsys_take_overhead },
	{ "ThreadNames", "globalTid nameId", .take = nsys_take_thread },
	{ "TARGET_INFO_GPU",
	  "id name totalMemory computeMajor computeMinor smCount threadsPerWarp maxWarpsPerSm "
	  "cuDevice",
	  .take = nsys_take_device },
	{ "TARGET_INFO_SESSION_START_TIME", "utcEpochNs", .take = nsys_take_start },
};

static enum ss_status nsys_find_processes(struct nsys_load *nsys, struct ss_error *err)
{
	for (size_t i = 0; i < SS_COUNT(tables); i++)
		if (tables[i].has_processes)
			SS_TRY(ss_sqlite_each(nsys->import, tables[i].table, "globalPid",
					      nsys_take_process, err));
	return SS_OK;
}

static enum ss_status nsys_read(struct nsys_load *nsys, struct ss_error *err)
{
	struct ss_import *import = nsys->import;
	uint32_t part = import->options->part;

	SS_TRY(ss_sqlite_each(import, "META_DATA_EXPORT", "name value", nsys_check_version, err));
	import->builder.trace->info.recorder = SS_RECORDER_NSYS;
	SS_TRY(nsys_find_processes(nsys, err));
	nsys->is_part = part && part <= nsys->process_count && nsys->process_count > 1;
	if (nsys->is_part) {
		nsys->process = nsys->processes[part - 1];
		/* launchers start the processes of a machine in the order of their ranks */
		import->builder.trace->info.rank = part - 1;
	}
	SS_TRY(ss_sqlite_read_texts(import, 0, "StringIds", "id value", err));
	for (size_t i = 0; i < SS_COUNT(tables); i++)
		SS_TRY(ss_sqlite_each(import, tables[i].table, tables[i].columns, tables[i].take,
				      err));
	return nsys_read_nvtx(nsys, err);
}

static enum ss_status nsys_read_file(struct ss_import *import, struct ss_error *err)
{
	struct nsys_load nsys = { .import = import };
	enum ss_status status;

	import->own = &nsys;
	status = nsys_read(&nsys, err);
	SS_FREE(import->memory, nsys.schemas, nsys.schema_capacity);
	SS_FREE(import->memory, nsys.communicators, nsys.communicator_capacity);
	import->own = NULL;
	return status;
}

static uint32_t nsys_count_parts(struct ss_import *import)
{
	struct nsys_load nsys = { .import = import };
	uint32_t count = 1;

	import->own = &nsys;
	if (nsys_find_processes(&nsys, NULL) == SS_OK && nsys.process_count)
		count = nsys.process_count;
	import->own = NULL;
	return count;
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
	.read = nsys_read_file,
};
