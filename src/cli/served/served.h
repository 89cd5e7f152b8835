/* SPDX-License-Identifier: Apache-2.0 */
/*
 * served.h - routes that only the server has: SQL on the open runs.
 *
 *     served_prepare(&served)           before the sandbox is entered
 *     served_begin(&served, ...)        routes for ss_server_options.own and ss_runs.own
 *     served_end(&served)               after the server was closed, before its sessions are
 */
#ifndef SS_CLI_SERVED_SERVED_H
#define SS_CLI_SERVED_SERVED_H

#include "api/viewer/route.h"
#include "base/system/thread.h"
#include "sql/sql.h"

/* SQL of the page. */
struct served_sql {
	struct ss_error problem; /* why DuckDB is not available */
	struct ss_sql_options options;
	struct ss_sql *sqls[SS_RUNS_MAX]; /* opened by the first query on the run */
	/*
	 * numbers that the page gives to queries: the running one, and the last one to stop; 0:
	 * none
	 */
	struct ss_gate *gate;
	int64_t running, stopped;
	int64_t end_ns; /* deadline of the running query */
	bool (*is_over)(void);
};

struct served {
	struct ss_own_routes own;
	struct served_sql sql;
};

/* Loads DuckDB. If it is missing, the page explains how to get it. */
void served_prepare(struct served *served);

/*
 * False without memory; call served_end() all the same. `is_over`: whether the server is stopping.
 */
SS_MUST_USE
bool served_begin(struct served *served, uint32_t threads, uint64_t memory_limit_bytes,
		  bool (*is_over)(void));
void served_end(struct served *served);

extern const struct ss_route route_sql, route_sql_stop, route_sql_schema;

#endif
