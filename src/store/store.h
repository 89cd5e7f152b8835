/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h - a store: a folder of Parquet files with the findings of many runs.
 *
 *     STORE/stepscope.json                                  the version of the layout
 *     STORE/TABLE/date=2026-11-17/RUN-KEY.parquet           one file per run and table
 *     STORE/TABLE/date=2026-11-17/many-KEY.parquet          many runs in one file
 *     STORE/manifest/NUMBER.csv                             which of the files count (manifest.h)
 *
 * Files have names that nobody used before and never change. Any number of processes on any number
 * of hosts may add runs, compact and drop at once, without locks: each makes the next manifest, and
 * whoever comes late decides again. Readers take the newest manifest. A killed process leaves files
 * that no manifest names, which `compact` and `drop` delete.
 */
#ifndef SS_STORE_STORE_H
#define SS_STORE_STORE_H

#include "api/check/checking.h"
#include "api/views_list.h"
#include "base/system/new_file.h"
#include "sql/sql.h"
#include "stepscope.h"

#define SS_RUN_STORE_LAYOUT 2
#define SS_RUN_ID_BYTES 17 /* 16 hexadecimal digits */
#define SS_DATE_BYTES 11   /* "2026-11-17" */

struct ss_run_store {
	char path[SS_PATH_BYTES]; /* absolute */
	int layout;               /* 0: not opened */
};

/*
 * Opens the store; with `creates` it creates the folder and its description if missing. Refuses
 * folders with other files, and layouts of newer versions.
 */
SS_MUST_USE
enum ss_status ss_run_store_open(const char *path, bool creates, struct ss_run_store *out,
				 struct ss_error *err);

/* Texts that the user attaches to a run; NULL: none. All are UTF-8. */
struct ss_stored_label {
	const char *key, *value;
};

struct ss_stored_run {
	const char *job, *commit, *source;
	const struct ss_stored_label *labels;
	size_t label_count;
	uint32_t threads;            /* for DuckDB; 0: one per core */
	uint64_t memory_limit_bytes; /* for the session and DuckDB together; 0: no limit */
	bool (*is_stopped)(void *context);
	void *context;
};

struct ss_stored_added {
	char run_id[SS_RUN_ID_BYTES];
	char date[SS_DATE_BYTES];
	bool was_there; /* nothing was changed */
	uint64_t bytes; /* of its files */
};

/* Diagnoses the session's run and adds it; adding it again changes nothing. Load DuckDB first. */
SS_MUST_USE
enum ss_status ss_run_store_add(struct ss_run_store *store, struct ss_session *session,
				const struct ss_stored_run *run, struct ss_stored_added *out,
				struct ss_error *err);

/*
 * live.c: adds the live numbers of the session to the tables job_steps and rank_minutes: rows that
 * are newer than those of the job that are there.
 */
struct ss_stored_live {
	char job[64];
	uint64_t steps, minutes; /* rows that were added: of jobs, of ranks */
};

SS_MUST_USE
enum ss_status ss_run_store_add_live(struct ss_run_store *store, struct ss_session *session,
				     const struct ss_stored_run *run, struct ss_stored_live *out,
				     struct ss_error *err);

/* changes.c: where the level of a job's steps changed, from job_steps, and whose part did. */
extern const struct ss_view ss_store_changes_view;
SS_MUST_USE
enum ss_status ss_run_store_changes(struct ss_run_store *store, const struct ss_stored_run *run,
				    struct ss_table *out, struct ss_error *err);

/* What compacting or dropping did. */
struct ss_store_change {
	uint32_t days, files; /* files that were replaced or removed */
	uint64_t bytes_before, bytes_after;
};

/*
 * compact.c: makes one file per table and day. Readers see each run's rows exactly once at any
 * time, even if the process is killed. Files that have not counted for `grace_s` are deleted.
 */
#define SS_RUN_STORE_GRACE_S 3600

SS_MUST_USE
enum ss_status ss_run_store_compact(struct ss_run_store *store, const struct ss_stored_run *run,
				    int64_t grace_s, struct ss_store_change *out,
				    struct ss_error *err);

/*
 * compact.c: drops the runs of all days before the date, or those days of a table of live numbers.
 */
SS_MUST_USE
enum ss_status ss_run_store_drop(struct ss_run_store *store, const char *table, const char *before,
				 int64_t grace_s, struct ss_store_change *out,
				 struct ss_error *err);

/* list.c: one row per day. */
extern const struct ss_view ss_store_days_view;
SS_MUST_USE
enum ss_status ss_run_store_list(struct ss_run_store *store, struct ss_table *out,
				 struct ss_error *err);

/* list.c: one row per column of the tables. */
extern const struct ss_view ss_store_columns_view;
void ss_run_store_columns(struct ss_table *out);

/*
 * add.c: a hash of the names and times of all events. It does not depend on paths, compression,
 * or whether a trace is packed.
 */
void ss_run_id_of(const struct ss_session *session, char out[SS_RUN_ID_BYTES]);

/* --- baseline.c: earlier runs as the baseline of a check ----------------------------------- */

struct ss_stored_baseline {
	const struct ss_stored_label *labels; /* all must match; "job" and "commit" are columns */
	size_t label_count;
	const char *except; /* id of the run being checked; NULL: none */
	bool has_moment;    /* excludes runs that started after this moment: */
	int64_t moment_ns;  /* since 1970 */
};

/*
 * Reads the newest runs that match, at most SS_CHECK_RUNS_MAX, in order of time. Load DuckDB first.
 * The arena owns what the runs refer to.
 */
SS_MUST_USE
enum ss_status ss_run_store_baseline(struct ss_run_store *store,
				     const struct ss_stored_baseline *wanted,
				     struct ss_check_run *runs, uint32_t *count,
				     struct ss_arena *arena, struct ss_error *err);

/* --- fleet.c: a fixed set of queries on all runs ------------------------------------------- */

/*
 * GPU time covers the recorded steps only: ranks x steps x the mean step, or what a finding costs
 * per step and rank. Jobs train longer than they record, but nothing is extrapolated.
 */

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
