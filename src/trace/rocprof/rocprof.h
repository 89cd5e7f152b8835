/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rocprof.h - what the two files of rocprofv3 share: rocpd (SQLite) and JSON.
 *
 * Both have the same records under other names. rocprofiler-sdk counts a grid in work-items, names
 * copies by their direction and calls by their API; all becomes what Kineto writes for ROCm.
 */
#ifndef SS_TRACE_ROCPROF_ROCPROF_H
#define SS_TRACE_ROCPROF_ROCPROF_H

#include "trace/import/import.h"

/* Lists of names. Operations count in each API: API << 32 | operation. */
enum rocprof_names {
	ROCPROF_STRINGS,
	ROCPROF_KERNELS,
	ROCPROF_APIS,
	ROCPROF_OPERATIONS,
	ROCPROF_MESSAGES, /* of markers, by correlation */
};

/* What a number stands for. */
struct rocprof_item {
	int64_t key, first, second;
};

struct rocprof_map {
	struct rocprof_item *items;
	uint32_t count, capacity;
	bool has_order;
};

struct rocprof_load {
	struct ss_import *import;
	int64_t part;                 /* in the id of events: each process counts for itself */
	int64_t pid;                  /* of JSON, which has one per process */
	int64_t apis, operations;     /* of JSON: how many were named; operations of the last API */
	struct rocprof_map agents;    /* index among its kind, whether it is a GPU */
	struct rocprof_map events;    /* of rocpd: stack_id, category_id */
	struct rocprof_map threads;   /* of rocpd: tid, process */
	struct rocprof_map processes; /* of rocpd: pid */
	struct rocprof_map *filled;   /* the one that is being read */
};

SS_MUST_USE
enum ss_status rocprof_map_add(struct rocprof_load *rocprof, struct rocprof_map *map,
			       struct rocprof_item item, struct ss_error *err);

/* Forgets the maps and names of a process. */
void rocprof_clear(struct rocprof_load *rocprof);

/*
 * Visits with the import as their context, whose `own` is the rocprof_load. Columns in this order;
 * what a file lacks is null:
 *   agent: id, type, index among its type, another index, product, name, compute units
 *   dispatch: start, end, agent, stream, queue, event, kernel, bytes of LDS, grid x y z,
 *             workgroup x y z
 *   copy: start, end, agent that gets, stream, queue, event, name, bytes, agent that gives, API
 *   region: start, end, thread, name, event, API
 * A name is a string, or an operation of the API; an event leads to a call, or is its number.
 */
enum ss_status rocprof_take_agent(void *context, const struct ss_database_row *row,
				  struct ss_error *err);
enum ss_status rocprof_take_dispatch(void *context, const struct ss_database_row *row,
				     struct ss_error *err);
enum ss_status rocprof_take_copy(void *context, const struct ss_database_row *row,
				 struct ss_error *err);
enum ss_status rocprof_take_region(void *context, const struct ss_database_row *row,
				   struct ss_error *err);

#endif
