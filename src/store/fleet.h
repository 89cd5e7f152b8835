/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet.h - questions about all runs of a store: a few declared queries, no others.
 *
 * GPU time is that of the recorded steps: ranks x steps x the mean step, or what a finding costs
 * per step and rank. Jobs train longer than they record; nothing is extrapolated.
 */
#ifndef SS_STORE_FLEET_H
#define SS_STORE_FLEET_H

#include "sql/sql.h"
#include "store/store.h"

/* Of more runs, lists and series have the newest. */
#define SS_FLEET_NEWEST "10000"

struct ss_fleet_query {
	const char *name;
	const char *summary;
	/* on the tables runs, findings, rank_steps; {label}, {run} and {titles} are filled in */
	const char *text;
};

/* NULL: there is none of that name. */
const struct ss_fleet_query *ss_fleet_query_find(const char *name);

/*
 * Runs the query up to its first rows; end the answer in any case. `label`: the key of the label
 * that groups; `run`: the id of a run; NULL: none. A store without runs is SS_ERR_MISSING.
 */
SS_MUST_USE
enum ss_status ss_fleet_ask(const struct ss_run_store *store, struct ss_sql *sql,
			    const struct ss_fleet_query *query, const char *label, const char *run,
			    struct ss_sql_answer *out, struct ss_error *err);

/* DuckDB for these queries: reads the files of the store, and nothing else. */
SS_MUST_USE
enum ss_status ss_fleet_open(const struct ss_run_store *store, const struct ss_stored_run *run,
			     struct ss_sql **out, struct ss_error *err);

#endif
