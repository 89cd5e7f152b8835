/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet.h - routes of `serve --store`: questions about all runs, and the runs that were opened.
 *
 * A run that is opened has its own list of runs and its own SQL; requests about it come wrapped:
 * in?id=RUN&ask=REQUEST, or in-apart for routes that are apart.
 */
#ifndef SS_CLI_SERVED_FLEET_H
#define SS_CLI_SERVED_FLEET_H

#include "cli/served/served.h"
#include "serve/serve.h"
#include "store/store.h"

/* Runs that stay open: the next one closes the one that was used least recently. */
#define FLEET_RUNS_MAX 3

struct fleet_run {
	char id[SS_RUN_ID_BYTES]; /* "": the place is free */
	struct ss_session *session;
	struct ss_runs *runs;
	struct served served; /* its SQL */
	uint32_t users;       /* requests at work */
	uint64_t used;        /* when; by the fleet's clock */
};

struct fleet {
	struct ss_own_routes own;
	struct ss_run_store store;
	struct ss_sql *sql; /* of the worker for routes that are apart */
	struct ss_stored_run limits;
	struct ss_open_options open; /* of runs */
	struct ss_error problem;     /* why there is no DuckDB */
	struct ss_server *server;
	bool (*is_over)(void);
	struct ss_gate *gate; /* of the runs */
	struct fleet_run runs[FLEET_RUNS_MAX];
	uint64_t clock;
};

/* Opens the store; end it in any case. `served`: DuckDB was prepared there. */
SS_MUST_USE
enum ss_status cli_fleet_begin(struct fleet *fleet, const char *store, const struct served *served,
			       const struct ss_open_options *open, bool (*is_over)(void),
			       struct ss_error *err);
void cli_fleet_end(struct fleet *fleet);

/* fleet_runs.c: the routes of runs. */
extern const struct ss_route route_open, route_in, route_in_apart;
void cli_fleet_run_close(struct fleet_run *run);

#endif
