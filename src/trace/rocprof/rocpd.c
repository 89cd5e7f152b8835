/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rocpd.c - SQLite files of rocprofv3 (the default since ROCm 7.0), schemas 3.0.0 to 3.0.5.
 *
 * Every table ends in the id of its process ("rocpd_region_0000b27c_..."); the views without it
 * are never used. A dispatch and the call that launched it have events with the same stack_id.
 * rocpd_info_process.environment is never read.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/sort.h"
#include "base/text.h"
#include "trace/rocprof/rocprof.h"
#include "trace/sqlite/sqlite.h"

#define SCHEMA 3

/* --- what both files share ------------------------------------------------------------------- */

uint32_t rocprof_kernel_args(struct ss_batch *batch, const int64_t grid[3],
			     const int64_t workgroup[3], int64_t lds_bytes)
{
	struct ss_kernel_args args = { .registers = -1,
				       .shared_bytes = lds_bytes,
				       .graph_id = -1,
				       .graph_node = -1,
				       .blocks_per_sm = NAN,
				       .warps_per_sm = NAN,
				       .occupancy_percent = NAN };

	for (int i = 0; i < 3; i++) {
		bool known = workgroup[i] > 0 && workgroup[i] <= INT32_MAX && grid[i] > 0;
		int64_t groups = known ? (grid[i] - 1) / workgroup[i] + 1 : -1;

		args.block[i] = known ? (int32_t)workgroup[i] : -1;
		args.grid[i] = groups <= INT32_MAX ? (int32_t)groups : -1;
	}
	return ss_batch_record(batch, &batch->kernel_args, &args);
}

const char *rocprof_category(const char *api, size_t length)
{
	if (length >= 3 && memcmp(api, "HIP", 3) == 0)
		return "cuda_runtime";
	if (length >= 3 && memcmp(api, "HSA", 3) == 0)
		return "cuda_driver";
	return "user_annotation";
}

const char *rocprof_copy_name(const char *operation, size_t length)
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

/* --- numbers by number ----------------------------------------------------------------------- */

/* A row of a small table: what its key stands for. */
struct rocpd_item {
	int64_t key, first, second;
};

struct rocpd_map {
	struct rocpd_item *items;
	uint32_t count, capacity;
};

struct rocpd_load {
	struct ss_sqlite_load *load;
	const char *suffix;
	uint32_t part;              /* in the id of events: each process counts for itself */
	struct rocpd_map events;    /* stack_id, category_id */
	struct rocpd_map threads;   /* tid, process */
	struct rocpd_map processes; /* pid */
	struct rocpd_map agents;    /* index among its kind, whether it is a GPU */
	struct rocpd_map *filled;   /* the one that is being read */
};

SS_COMPARATOR(item_compare_key, struct rocpd_item, SS_ASCENDING(key) SS_ASCENDING(first))

static const struct rocpd_item *rocpd_find(const struct rocpd_map *map, int64_t key)
{
	static const struct rocpd_item none = { -1, -1, -1 };
	uint32_t low = 0, high = map->count;

	SS_SEARCH(low, high, at, map->items[at].key < key);
	return low < map->count && map->items[low].key == key ? &map->items[low] : &none;
}

static enum ss_status rocpd_map_add(struct rocpd_load *rocpd, struct rocpd_map *map,
				    struct rocpd_item item, struct ss_error *err)
{
	if (!ss_memory_reserve(rocpd->load->batch.memory, (void **)&map->items, &map->capacity,
			       (size_t)map->count + 1, sizeof(*map->items)))
		return ss_fail_memory(err, "the events of this trace");
	map->items[map->count++] = item;
	return SS_OK;
}

static enum ss_status rocpd_take_item(void *context, const struct ss_database_row *row,
				      struct ss_error *err)
{
	struct rocpd_load *rocpd = ((struct ss_sqlite_load *)context)->own;

	return rocpd_map_add(rocpd, rocpd->filled,
			     (struct rocpd_item){ ss_database_number(row, 0, -1),
						  ss_database_number(row, 1, -1),
						  ss_database_number(row, 2, -1) },
			     err);
}

/* --- events ---------------------------------------------------------------------------------- */

/* Links a dispatch with its call. */
static int64_t rocpd_id(const struct rocpd_load *rocpd, int64_t event)
{
	int64_t stack = rocpd_find(&rocpd->events, event)->first;

	return stack > 0 && stack <= UINT32_MAX ? (int64_t)rocpd->part << 32 | stack : 0;
}

static const char *const dispatch_columns[] = { "start",
						"end",
						"agent_id",
						"stream_id",
						"queue_id",
						"event_id",
						"kernel_id",
						"group_segment_size",
						"grid_size_x",
						"grid_size_y",
						"grid_size_z",
						"workgroup_size_x",
						"workgroup_size_y",
						"workgroup_size_z",
						NULL };

/* Columns 0 to 5 are the same for dispatches and copies. */
static struct ss_named_slice rocpd_device_slice(const struct rocpd_load *rocpd,
						const struct ss_database_row *row, int64_t agent)
{
	return (struct ss_named_slice){
		.start_ns = ss_database_number(row, 0, INT64_MIN),
		.end_ns = ss_database_number(row, 1, INT64_MIN),
		.pid = rocpd_find(&rocpd->agents, agent)->first,
		.tid = ss_database_number(row, 3, ss_database_number(row, 4, 0)),
		.id = rocpd_id(rocpd, ss_database_number(row, 5, -1)),
	};
}

static enum ss_status rocpd_take_dispatch(void *context, const struct ss_database_row *row,
					  struct ss_error *err)
{
	struct ss_sqlite_load *load = context;
	struct ss_named_slice slice = rocpd_device_slice(load->own, row,
							 ss_database_number(row, 2, -1));
	int64_t grid[3], workgroup[3];

	(void)err;
	for (int i = 0; i < 3; i++) {
		grid[i] = ss_database_number(row, 8 + i, -1);
		workgroup[i] = ss_database_number(row, 11 + i, -1);
	}
	slice.category = "kernel";
	slice.name = ss_sqlite_text_of(load, ss_database_number(row, 6, -1), &slice.name_length);
	slice.args = rocprof_kernel_args(&load->batch, grid, workgroup,
					 ss_database_number(row, 7, -1));
	ss_batch_add_named(&load->batch, &slice);
	return SS_OK;
}

static const char *const copy_columns[] = { "start",        "end",      "dst_agent_id", "stream_id",
					    "queue_id",     "event_id", "name_id",      "size",
					    "src_agent_id", NULL };

/* A copy is the work of the GPU that gets the bytes, else of the one that gives them. */
static enum ss_status rocpd_take_copy(void *context, const struct ss_database_row *row,
				      struct ss_error *err)
{
	struct ss_sqlite_load *load = context;
	struct rocpd_load *rocpd = load->own;
	int64_t agent = ss_database_number(row, 2, -1);
	struct ss_copy_args args = { ss_database_number(row, 7, -1) };
	struct ss_named_slice slice;
	const char *operation;
	size_t length;

	(void)err;
	if (rocpd_find(&rocpd->agents, agent)->second != 1)
		agent = ss_database_number(row, 8, -1);
	slice = rocpd_device_slice(rocpd, row, agent);
	operation = ss_sqlite_text_of(load, ss_database_number(row, 6, -1), &length);
	slice.category = "gpu_memcpy";
	slice.name = rocprof_copy_name(operation, length);
	slice.name_length = strlen(slice.name);
	slice.args = ss_batch_record(&load->batch, &load->batch.copy_args, &args);
	ss_batch_add_named(&load->batch, &slice);
	return SS_OK;
}

static const char *const region_columns[] = { "start", "end", "tid", "name_id", "event_id", NULL };

static enum ss_status rocpd_take_region(void *context, const struct ss_database_row *row,
					struct ss_error *err)
{
	struct ss_sqlite_load *load = context;
	const struct rocpd_load *rocpd = load->own;
	const struct rocpd_item *thread = rocpd_find(&rocpd->threads,
						     ss_database_number(row, 2, -1));
	int64_t event = ss_database_number(row, 4, -1);
	struct ss_named_slice slice = {
		.start_ns = ss_database_number(row, 0, INT64_MIN),
		.end_ns = ss_database_number(row, 1, INT64_MIN),
		.pid = rocpd_find(&rocpd->processes, thread->second)->first,
		.tid = thread->first,
		.args = SS_NO_ARGS,
	};
	size_t length;
	const char *api = ss_sqlite_text_of(load, rocpd_find(&rocpd->events, event)->second,
					    &length);

	(void)err;
	slice.category = rocprof_category(api, length);
	slice.name = ss_sqlite_text_of(load, ss_database_number(row, 3, -1), &slice.name_length);
	if (slice.category[0] == 'c')
		slice.id = rocpd_id(rocpd, event);
	ss_batch_add_named(&load->batch, &slice);
	return SS_OK;
}

static const char *const agent_columns[] = { "id",           "type", "type_index", "logical_index",
					     "product_name", "name", NULL };

static enum ss_status rocpd_take_agent(void *context, const struct ss_database_row *row,
				       struct ss_error *err)
{
	struct ss_sqlite_load *load = context;
	struct rocpd_load *rocpd = load->own;
	struct rocpd_item item = { ss_database_number(row, 0, -1),
				   ss_database_number(row, 2, ss_database_number(row, 3, 0)), 0 };
	struct ss_device device = { .id = item.first, .memory_bytes = -1 };
	size_t length;
	const char *text = ss_database_text(row, 1, &length);

	item.second = text && strcmp(text, "GPU") == 0;
	SS_TRY(rocpd_map_add(rocpd, &rocpd->agents, item, err));
	if (!item.second)
		return SS_OK;
	text = ss_database_text(row, 4, &length);
	if (!text)
		text = ss_database_text(row, 5, &length);
	return ss_builder_text(&load->builder, text ? text : "", length, &device.name) &&
			       ss_builder_add_device(&load->builder, &device)
		       ? SS_OK
		       : ss_fail_memory(err, "the devices");
}

static const char *const metadata_columns[] = { "tag", "value", NULL };

static enum ss_status rocpd_check_version(void *context, const struct ss_database_row *row,
					  struct ss_error *err)
{
	char version[SS_SQLITE_VERSION_BYTES];
	int major = ss_sqlite_version(row, "schema_version", version);

	(void)context;
	if (major == -1 || major == SCHEMA)
		return SS_OK;
	return ss_fail(err, SS_ERR_FORMAT,
		       "it is a rocpd file with schema %s, and stepscope reads schema 3: record "
		       "with 'rocprofv3 --output-format json' and pass that file",
		       version);
}

/* --- a file ---------------------------------------------------------------------------------- */

/* The name of a table of the process. */
static const char *rocpd_table(const struct rocpd_load *rocpd, const char *base, char out[160])
{
	snprintf(out, 160, "rocpd_%s%s", base, rocpd->suffix);
	return out;
}

static enum ss_status rocpd_read_map(struct rocpd_load *rocpd, const char *base, const char *first,
				     const char *second, struct rocpd_map *map,
				     struct ss_error *err)
{
	const char *const columns[] = { "id", first, second, NULL };
	char table[160];

	rocpd->filled = map;
	SS_TRY(ss_sqlite_each(rocpd->load, rocpd_table(rocpd, base, table), columns,
			      rocpd_take_item, err));
	if (map->count)
		qsort(map->items, map->count, sizeof(*map->items), item_compare_key);
	return SS_OK;
}

static enum ss_status rocpd_read_process(struct rocpd_load *rocpd, struct ss_error *err)
{
	struct ss_sqlite_load *load = rocpd->load;
	struct rocpd_map *agents = &rocpd->agents;
	char table[160];

	SS_TRY(ss_sqlite_each(load, rocpd_table(rocpd, "metadata", table), metadata_columns,
			      rocpd_check_version, err));
	SS_TRY(rocpd_read_map(rocpd, "event", "stack_id", "category_id", &rocpd->events, err));
	SS_TRY(rocpd_read_map(rocpd, "info_thread", "tid", "pid", &rocpd->threads, err));
	SS_TRY(rocpd_read_map(rocpd, "info_process", "pid", "pid", &rocpd->processes, err));
	SS_TRY(ss_sqlite_each(load, rocpd_table(rocpd, "info_agent", table), agent_columns,
			      rocpd_take_agent, err));
	if (agents->count)
		qsort(agents->items, agents->count, sizeof(*agents->items), item_compare_key);
	SS_TRY(ss_sqlite_read_texts(load, rocpd_table(rocpd, "info_kernel_symbol", table), "id",
				    "display_name", err));
	SS_TRY(ss_sqlite_each(load, rocpd_table(rocpd, "kernel_dispatch", table), dispatch_columns,
			      rocpd_take_dispatch, err));
	SS_TRY(ss_sqlite_read_texts(load, rocpd_table(rocpd, "string", table), "id", "string",
				    err));
	SS_TRY(ss_sqlite_each(load, rocpd_table(rocpd, "memory_copy", table), copy_columns,
			      rocpd_take_copy, err));
	return ss_sqlite_each(load, rocpd_table(rocpd, "region", table), region_columns,
			      rocpd_take_region, err);
}

static void rocpd_clear(struct rocpd_load *rocpd)
{
	struct rocpd_map *const maps[] = { &rocpd->events, &rocpd->threads, &rocpd->processes,
					   &rocpd->agents };

	for (size_t i = 0; i < SS_COUNT(maps); i++) {
		ss_memory_free(rocpd->load->batch.memory, maps[i]->items,
			       (size_t)maps[i]->capacity * sizeof(*maps[i]->items));
		*maps[i] = (struct rocpd_map){ 0 };
	}
}

static const char metadata[] = "rocpd_metadata";

static enum ss_status rocpd_load(struct ss_sqlite_load *load, struct ss_error *err)
{
	struct rocpd_load rocpd = { .load = load };
	uint32_t wanted = load->options->part;
	enum ss_status status = SS_OK;
	const char *table;

	load->own = &rocpd;
	if (wanted)
		load->builder.trace->info.rank = (int64_t)wanted - 1;
	while (status == SS_OK &&
	       (table = ss_database_table(load->database, metadata, rocpd.part)) != NULL) {
		rocpd.suffix = table + strlen(metadata);
		rocpd.part++;
		if (wanted && rocpd.part != wanted)
			continue;
		status = rocpd_read_process(&rocpd, err);
		rocpd_clear(&rocpd);
	}
	load->own = NULL;
	return status;
}

static enum ss_status rocpd_count_parts(struct ss_sqlite_load *load, uint32_t *out,
					struct ss_error *err)
{
	(void)err;
	for (*out = 0; ss_database_table(load->database, metadata, *out);)
		++*out;
	return SS_OK;
}

/* Older tools of AMD have rocpd_metadata, too, but no tables about the machine. */
static bool rocpd_matches(const struct ss_database *database)
{
	return ss_database_table(database, metadata, 0) &&
	       ss_database_table(database, "rocpd_info_", 0);
}

const struct ss_sqlite_kind ss_sqlite_kind_rocpd = {
	.matches = rocpd_matches,
	.count_parts = rocpd_count_parts,
	.load = rocpd_load,
};
