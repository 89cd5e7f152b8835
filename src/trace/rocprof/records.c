/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records.c - records of rocprofv3 as slices, whichever file they are from.
 */
#include <math.h>
#include <string.h>

#include "base/search.h"
#include "base/sort.h"
#include "base/text.h"
#include "trace/rocprof/rocprof.h"

/* --- numbers by number ------------------------------------------------------------------- */

SS_COMPARATOR(item_compare_key, struct rocprof_item, SS_ASCENDING(key) SS_ASCENDING(first))

static const struct rocprof_item *rocprof_find(struct rocprof_map *map, int64_t key)
{
	static const struct rocprof_item none = { -1, -1, -1 };
	uint32_t low = 0, high = map->count;

	if (!map->has_order)
		SS_SORT(map->items, map->count, item_compare_key);
	map->has_order = true;
	SS_SEARCH(low, high, at, map->items[at].key < key);
	return low < map->count && map->items[low].key == key ? &map->items[low] : &none;
}

enum ss_status rocprof_map_add(struct rocprof_load *rocprof, struct rocprof_map *map,
			       struct rocprof_item item, struct ss_error *err)
{
	if (!SS_GROW(rocprof->import->memory, map->items, map->capacity, map->count))
		return ss_fail_memory(err, "the events of this trace");
	map->items[map->count++] = item;
	map->has_order = false;
	return SS_OK;
}

void rocprof_clear(struct rocprof_load *rocprof)
{
	struct rocprof_map *const maps[] = { &rocprof->agents, &rocprof->events, &rocprof->threads,
					     &rocprof->processes };

	for (size_t i = 0; i < SS_COUNT(maps); i++) {
		SS_FREE(rocprof->import->memory, maps[i]->items, maps[i]->capacity);
		*maps[i] = (struct rocprof_map){ 0 };
	}
	rocprof->import->text_count = 0;
	rocprof->import->builder.trace->info.recorder = SS_RECORDER_ROCPROF;
}

/* --- names and ids ----------------------------------------------------------------------- */

/* The name in `column`: of an operation if `api_column` says of which API, else a string. */
static const char *rocprof_name(struct ss_import *import, const struct ss_database_row *row,
				int column, int api_column, size_t *length)
{
	int64_t name = ss_database_number(row, column, -1);
	int64_t api = ss_database_number(row, api_column, -1);

	if (api < 0)
		return ss_import_text(import, ROCPROF_STRINGS, name, length);
	if (api > INT16_MAX || name < 0 || name > UINT32_MAX)
		name = -1;
	return ss_import_text(import, ROCPROF_OPERATIONS, name < 0 ? -1 : api << 32 | name, length);
}

/* Links a dispatch with its call. */
static int64_t rocprof_id(struct rocprof_load *rocprof, int64_t event)
{
	int64_t call = rocprof->events.count ? rocprof_find(&rocprof->events, event)->first : event;

	return call > 0 && call <= UINT32_MAX ? rocprof->part << 32 | call : 0;
}

/* The category of a host call by its API: "HIP_RUNTIME_API", "MARKER_CORE_API" ... */
static const char *rocprof_category(const char *api, size_t length)
{
	if (length >= 3 && memcmp(api, "HIP", 3) == 0)
		return "cuda_runtime";
	if (length >= 3 && memcmp(api, "HSA", 3) == 0)
		return "cuda_driver";
	return "user_annotation";
}

/* "Memcpy HtoD (Host -> Device)" for "MEMORY_COPY_HOST_TO_DEVICE". */
static const char *rocprof_copy_name(const char *operation, size_t length)
{
	static const struct {
		const char *part, *name;
	} names[] = {
		{ "HOST_TO_DEVICE", "Memcpy HtoD (Host -> Device)" },
		{ "DEVICE_TO_HOST", "Memcpy DtoH (Device -> Host)" },
		{ "DEVICE_TO_DEVICE", "Memcpy DtoD (Device -> Device)" },
		{ "HOST_TO_HOST", "Memcpy HtoH (Host -> Host)" },
	};

	for (size_t i = 0; i < SS_COUNT(names); i++)
		if (ss_text_has(operation, length, names[i].part, strlen(names[i].part)))
			return names[i].name;
	return "Memcpy";
}

/* --- records ----------------------------------------------------------------------------- */

enum ss_status rocprof_take_agent(void *context, const struct ss_database_row *row,
				  struct ss_error *err)
{
	struct ss_import *import = context;
	struct rocprof_load *rocprof = import->own;
	struct rocprof_item item = { ss_database_number(row, 0, -1),
				     ss_database_number(row, 2, ss_database_number(row, 3, 0)), 0 };
	struct ss_device device = { .id = item.first, .memory_bytes = -1 };
	int64_t units = ss_database_number(row, 6, 0);
	size_t length;
	const char *text = ss_database_text(row, 1, &length);

	/* in JSON a number: ROCPROFILER_AGENT_TYPE_GPU */
	item.second = text ? length == 3 && memcmp(text, "GPU", 3) == 0
			   : ss_database_number(row, 1, 0) == 2;
	SS_TRY(rocprof_map_add(rocprof, &rocprof->agents, item, err));
	if (!item.second)
		return SS_OK;
	device.multiprocessors = units > 0 && units <= INT32_MAX ? (int32_t)units : 0;
	text = ss_database_text(row, ss_database_is_null(row, 4) ? 5 : 4, &length);
	return ss_import_add_device(import, &device, text, length, err);
}

static uint32_t rocprof_kernel_args(struct ss_batch *batch, const struct ss_database_row *row)
{
	struct ss_kernel_args args = { .registers = -1,
				       .shared_bytes = ss_database_number(row, 7, -1),
				       .graph_id = -1,
				       .graph_node = -1,
				       .blocks_per_sm = NAN,
				       .warps_per_sm = NAN,
				       .occupancy_percent = NAN };

	for (int i = 0; i < 3; i++) {
		int64_t grid = ss_database_number(row, 8 + i, -1);
		int64_t group = ss_database_number(row, 11 + i, -1);
		bool known = group > 0 && group <= INT32_MAX && grid > 0;
		int64_t groups = known ? (grid - 1) / group + 1 : -1;

		args.block[i] = known ? (int32_t)group : -1;
		args.grid[i] = groups <= INT32_MAX ? (int32_t)groups : -1;
	}
	return ss_batch_record(batch, &batch->kernel_args, &args);
}

/* Columns 0 to 5 are the same for dispatches and copies. */
static struct ss_named_slice rocprof_device_slice(struct rocprof_load *rocprof,
						  const struct ss_database_row *row, int64_t agent)
{
	return (struct ss_named_slice){
		.start_ns = ss_database_number(row, 0, INT64_MIN),
		.end_ns = ss_database_number(row, 1, INT64_MIN),
		.pid = rocprof_find(&rocprof->agents, agent)->first,
		.tid = ss_database_number(row, 3, ss_database_number(row, 4, 0)),
		.id = rocprof_id(rocprof, ss_database_number(row, 5, -1)),
	};
}

enum ss_status rocprof_take_dispatch(void *context, const struct ss_database_row *row,
				     struct ss_error *err)
{
	struct ss_import *import = context;
	struct ss_named_slice slice = rocprof_device_slice(import->own, row,
							   ss_database_number(row, 2, -1));

	(void)err;
	slice.category = "kernel";
	slice.name = ss_import_text(import, ROCPROF_KERNELS, ss_database_number(row, 6, -1),
				    &slice.name_length);
	slice.args = rocprof_kernel_args(&import->batch, row);
	ss_batch_add_named(&import->batch, &slice);
	return SS_OK;
}

/* A copy is the work of the GPU that gets the bytes, else of the one that gives them. */
enum ss_status rocprof_take_copy(void *context, const struct ss_database_row *row,
				 struct ss_error *err)
{
	struct ss_import *import = context;
	struct rocprof_load *rocprof = import->own;
	int64_t agent = ss_database_number(row, 2, -1);
	struct ss_copy_args args = { ss_database_number(row, 7, -1) };
	struct ss_named_slice slice;
	size_t length;
	const char *operation = rocprof_name(import, row, 6, 9, &length);

	(void)err;
	if (rocprof_find(&rocprof->agents, agent)->second != 1)
		agent = ss_database_number(row, 8, -1);
	slice = rocprof_device_slice(rocprof, row, agent);
	slice.category = "gpu_memcpy";
	slice.name = rocprof_copy_name(operation, length);
	slice.name_length = strlen(slice.name);
	slice.args = ss_batch_record(&import->batch, &import->batch.copy_args, &args);
	ss_batch_add_named(&import->batch, &slice);
	return SS_OK;
}

enum ss_status rocprof_take_region(void *context, const struct ss_database_row *row,
				   struct ss_error *err)
{
	struct ss_import *import = context;
	struct rocprof_load *rocprof = import->own;
	int64_t event = ss_database_number(row, 4, -1), thread = ss_database_number(row, 2, -1);
	struct ss_named_slice slice = { .start_ns = ss_database_number(row, 0, INT64_MIN),
					.end_ns = ss_database_number(row, 1, INT64_MIN),
					.pid = rocprof->pid,
					.tid = thread,
					.args = SS_NO_ARGS };
	size_t length;
	const char *api = ss_import_text(import, ROCPROF_APIS, ss_database_number(row, 5, -1),
					 &length);

	(void)err;
	if (rocprof->threads.count) {
		const struct rocprof_item *found = rocprof_find(&rocprof->threads, thread);

		slice.pid = rocprof_find(&rocprof->processes, found->second)->first;
		slice.tid = found->first;
		api = ss_import_text(import, ROCPROF_STRINGS,
				     rocprof_find(&rocprof->events, event)->second, &length);
	}
	slice.category = rocprof_category(api, length);
	if (slice.category[0] == 'c')
		slice.id = rocprof_id(rocprof, event);
	else
		slice.name = ss_import_text(import, ROCPROF_MESSAGES, event, &slice.name_length);
	if (!slice.name_length)
		slice.name = rocprof_name(import, row, 3, 5, &slice.name_length);
	ss_batch_add_named(&import->batch, &slice);
	return SS_OK;
}
