/* SPDX-License-Identifier: Apache-2.0 */
/*
 * served.h - routes that only the server has: SQL on the open runs, live numbers.
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
#include "serve/serve.h"
#include "store/store.h"

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

struct served;
struct fleet;

/* What routes of the server find in ss_own_routes.context; NULL: they are not offered. */
struct served_context {
	struct served *served;
	struct fleet *fleet;
};

struct served {
	struct ss_own_routes own;
	struct served_context context;
	struct served_sql sql;
	struct ss_open_options live; /* how live numbers are read again */
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

/* live.c: adds the route that reads the live numbers of these paths again. */
void served_add_live(struct served *served, const struct ss_open_options *open);

extern const struct ss_route route_sql, route_sql_stop, route_sql_schema;

/*
 * Routes of `serve --store`: queries on all runs, and the runs that were opened. A server of
 * digests has those of open runs, too: a run is the trace of one digest, its id the number of the
 * file.
 *
 * An open run has its own struct ss_runs and its own SQL; requests about it come wrapped:
 * in?id=RUN&ask=REQUEST, or in-apart for routes that are `apart`.
 */

/* Runs that stay open: opening another one closes the least recently used. */
#define FLEET_RUNS_MAX 3

struct fleet_run {
	char id[SS_RUN_ID_BYTES]; /* "": the slot is free */
	struct ss_session *session;
	struct ss_runs *runs;
	struct served served; /* its SQL */
	uint32_t users;       /* requests in progress */
	uint64_t used;        /* last use, by the fleet's clock */
};

struct fleet {
	struct ss_own_routes own;
	struct served_context context;
	struct ss_run_store store;
	const struct ss_runs *digests; /* instead of a store; borrowed */
	struct ss_sql *sql;            /* for the worker of routes that are `apart` */
	struct ss_stored_run limits;
	struct ss_open_options open; /* for opening runs */
	struct ss_error problem;     /* why DuckDB is not available */
	struct ss_server *server;
	bool (*is_over)(void);
	struct ss_gate *gate; /* guards the runs */
	struct fleet_run runs[FLEET_RUNS_MAX];
	uint64_t clock;
};

/* Opens the store; always call cli_fleet_end(). `served`: where DuckDB was prepared. */
SS_MUST_USE
enum ss_status cli_fleet_begin(struct fleet *fleet, const char *store, const struct served *served,
			       const struct ss_open_options *open, bool (*is_over)(void),
			       struct ss_error *err);
/* Adds the routes of open runs to those of a server of digests; always call cli_fleet_end(). */
SS_MUST_USE
enum ss_status cli_fleet_of_digests(struct fleet *fleet, struct served *served,
				    const struct ss_open_options *open, bool (*is_over)(void),
				    struct ss_error *err);
void cli_fleet_end(struct fleet *fleet);

/* fleet.c: the routes for open runs. */
extern const struct ss_route route_open, route_in, route_in_apart;

#endif
