/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rocpd.c - SQLite files of rocprofv3 (the default since ROCm 7.0), schemas 3.0.0 to 3.0.5.
 *
 * Every table ends in the id of its process ("rocpd_region_0000b27c_..."); the views without it
 * are never used. A dispatch and the call that launched it have events with the same stack_id.
 * rocpd_info_process.environment is never read.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "trace/rocprof/rocprof.h"
#include "trace/sqlite/sqlite.h"

#define SCHEMA 3

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

static enum ss_status rocpd_take_item(void *context, const struct ss_database_row *row,
				      struct ss_error *err)
{
	struct rocprof_load *rocprof = ((struct ss_import *)context)->own;

	return rocprof_map_add(rocprof, rocprof->filled,
			       (struct rocprof_item){ ss_database_number(row, 0, -1),
						      ss_database_number(row, 1, -1),
						      ss_database_number(row, 2, -1) },
			       err);
}

#define IN_LOAD(map) offsetof(struct rocprof_load, map)

/* What is read of a process, in this order. */
static const struct {
	const char *table, *columns;
	ss_database_visit *take; /* NULL: texts */
	size_t into;             /* of rocprof_load: the map */
	enum rocprof_names list;
} tables[] = {
	{ "metadata", "tag value", .take = rocpd_check_version },
	{ "event", "id stack_id category_id", rocpd_take_item, .into = IN_LOAD(events) },
	{ "info_thread", "id tid pid", rocpd_take_item, .into = IN_LOAD(threads) },
	{ "info_process", "id pid", rocpd_take_item, .into = IN_LOAD(processes) },
	{ "info_agent", "id type type_index logical_index product_name name cu_count",
	  .take = rocprof_take_agent },
	{ "info_kernel_symbol", "id display_name", .list = ROCPROF_KERNELS },
	{ "string", "id string", .list = ROCPROF_STRINGS },
	{ "kernel_dispatch",
	  "start end agent_id stream_id queue_id event_id kernel_id group_segment_size "
	  "grid_size_x grid_size_y grid_size_z workgroup_size_x workgroup_size_y workgroup_size_z",
	  .take = rocprof_take_dispatch },
	{ "memory_copy",
	  "start end dst_agent_id stream_id queue_id event_id name_id size src_agent_id api",
	  .take = rocprof_take_copy },
	{ "region", "start end tid name_id event_id api", .take = rocprof_take_region },
};

static enum ss_status rocpd_read_process(struct rocprof_load *rocprof, const char *suffix,
					 struct ss_error *err)
{
	char table[160];

	for (size_t i = 0; i < SS_COUNT(tables); i++) {
		snprintf(table, sizeof(table), "rocpd_%s%s", tables[i].table, suffix);
		rocprof->filled = (struct rocprof_map *)((char *)rocprof + tables[i].into);
		if (tables[i].take)
			SS_TRY(ss_sqlite_each(rocprof->import, table, tables[i].columns,
					      tables[i].take, err));
		else
			SS_TRY(ss_sqlite_read_texts(rocprof->import, (int)tables[i].list, table,
						    tables[i].columns, err));
	}
	return SS_OK;
}

static const char metadata[] = "rocpd_metadata";

static enum ss_status rocpd_read(struct ss_import *import, struct ss_error *err)
{
	struct rocprof_load rocprof = { .import = import };
	uint32_t wanted = import->options->part;
	enum ss_status status = SS_OK;
	const char *table;

	import->own = &rocprof;
	if (wanted)
		import->builder.trace->info.rank = (int64_t)wanted - 1;
	while (status == SS_OK && (table = ss_database_table(import->database, metadata,
							     (uint32_t)rocprof.part)) != NULL) {
		rocprof.part++;
		if (wanted && rocprof.part != wanted)
			continue;
		status = rocpd_read_process(&rocprof, table + strlen(metadata), err);
		rocprof_clear(&rocprof);
	}
	import->own = NULL;
	return status;
}

static uint32_t rocpd_count_parts(struct ss_import *import)
{
	uint32_t count = 0;

	while (ss_database_table(import->database, metadata, count))
		count++;
	return count;
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
	.read = rocpd_read,
};
