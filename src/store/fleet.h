/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet.h - a fixed set of queries on all runs of a store.
 *
 * GPU time covers the recorded steps only: ranks x steps x the mean step, or what a finding costs
 * per step and rank. Jobs train longer than they record, but nothing is extrapolated.
 */
#ifndef SS_STORE_FLEET_H
#define SS_STORE_FLEET_H

#include "sql/sql.h"
#include "store/store.h"

/* Lists and series have at most this many runs, the newest. */
#define SS_FLEET_NEWEST "10000"

struct ss_fleet_query {
	const char *name;
	const char *summary;
	/*
	 * reads the tables runs, findings, rank_steps; {label}, {run} and {titles} are substituted
	 */
	const char *text;
};

/* NULL: no query with that name. */
const struct ss_fleet_query *ss_fleet_query_find(const char *name);

/*
 * Runs the query up to its first rows; always end the answer. `label`: key of the label to group
 * by; `run`: id of a run; NULL: none. A store without runs is SS_ERR_MISSING.
 */
SS_MUST_USE
enum ss_status ss_fleet_ask(const struct ss_run_store *store, struct ss_sql *sql,
			    const struct ss_fleet_query *query, const char *label, const char *run,
			    struct ss_sql_answer *out, struct ss_error *err);

/* Opens DuckDB for these queries: it can read only the files of the store. */
SS_MUST_USE
enum ss_status ss_fleet_open(const struct ss_run_store *store, const struct ss_stored_run *run,
			     struct ss_sql **out, struct ss_error *err);

#endif
