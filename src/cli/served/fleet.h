/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet.h - routes of `serve --store`: queries on all runs, and the runs that were opened.
 *
 * An open run has its own struct ss_runs and its own SQL; requests about it come wrapped:
 * in?id=RUN&ask=REQUEST, or in-apart for routes that are `apart`.
 */
#ifndef SS_CLI_SERVED_FLEET_H
#define SS_CLI_SERVED_FLEET_H

#include "cli/served/served.h"
#include "serve/serve.h"
#include "store/store.h"

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
	struct ss_run_store store;
	struct ss_sql *sql; /* for the worker of routes that are `apart` */
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
void cli_fleet_end(struct fleet *fleet);

/* fleet_runs.c: the routes for open runs. */
extern const struct ss_route route_open, route_in, route_in_apart;
void cli_fleet_run_close(struct fleet_run *run);

#endif
