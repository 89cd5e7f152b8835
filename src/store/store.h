/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h - a store: a folder of Parquet files with what was found in many runs.
 *
 *     STORE/stepscope.json                        the version of the layout
 *     STORE/TABLE/date=2026-11-17/RUN.parquet     one file per run and table
 *     STORE/TABLE/date=2026-11-17/compact-HASH.parquet   many runs in one file
 *
 * Files appear complete, by rename. The file of the table `runs` is the last one of a run: a run
 * is there when it is in `runs`. Names that begin with a point are not part of the tables.
 *
 * Who writes. Adding a run holds a shared lock on stepscope.json while its files get their names;
 * what replaces files holds it alone for the moment in which it does so. So any number of
 * processes may add runs, and readers need no lock. A process that is killed leaves a folder with
 * a temporary name, which the next one that compacts or drops removes: the lock of its owner is
 * gone.
 */
#ifndef SS_STORE_STORE_H
#define SS_STORE_STORE_H

#include "base/system/new_file.h"
#include "view/view.h"
#include "stepscope.h"

#define SS_RUN_STORE_LAYOUT 1
#define SS_RUN_ID_BYTES 17 /* 16 hexadecimal digits */
#define SS_DATE_BYTES 11   /* "2026-11-17" */

struct ss_run_store {
	char path[SS_PATH_BYTES]; /* absolute */
	int fd;                   /* of stepscope.json; -1: closed */
};

/*
 * Opens the store; with `creates` makes the folder and its description if they are missing.
 * Refuses folders that have other files, and layouts of newer versions.
 */
SS_MUST_USE
enum ss_status ss_run_store_open(const char *path, bool creates, struct ss_run_store *out,
				 struct ss_error *err);
void ss_run_store_close(struct ss_run_store *store);

/* Texts that the user gives to a run; NULL: none. All are UTF-8. */
struct ss_stored_label {
	const char *key, *value;
};

struct ss_stored_run {
	const char *job, *commit, *source;
	const struct ss_stored_label *labels;
	size_t label_count;
	uint32_t threads;            /* of DuckDB; 0: one per core */
	uint64_t memory_limit_bytes; /* of the session and DuckDB; 0: no limit */
	bool (*is_stopped)(void *context);
	void *context;
};

struct ss_stored_added {
	char run_id[SS_RUN_ID_BYTES];
	char date[SS_DATE_BYTES];
	bool was_there; /* nothing was changed */
	uint64_t bytes; /* of its files */
};

/* Judges the session's run and adds it; the same run again changes nothing. DuckDB is loaded. */
SS_MUST_USE
enum ss_status ss_run_store_add(struct ss_run_store *store, struct ss_session *session,
				const struct ss_stored_run *run, struct ss_stored_added *out,
				struct ss_error *err);

/* What compacting or dropping did. */
struct ss_store_change {
	uint32_t days, files; /* files that were replaced or removed */
	uint64_t bytes_before, bytes_after;
};

/*
 * compact.c: makes one file per table and day. Readers see the rows of a run once at every moment,
 * also if this is killed: the folder of a day is exchanged with a new one in one step.
 */
SS_MUST_USE
enum ss_status ss_run_store_compact(struct ss_run_store *store, const struct ss_stored_run *run,
				    struct ss_store_change *out, struct ss_error *err);

/* drop.c: removes the runs of all days before the date. */
SS_MUST_USE
enum ss_status ss_run_store_drop(struct ss_run_store *store, const char *before,
				 struct ss_store_change *out, struct ss_error *err);

/* list.c: one row per day. */
extern const struct ss_view ss_store_days_view;
SS_MUST_USE
enum ss_status ss_run_store_list(struct ss_run_store *store, struct ss_table *out,
				 struct ss_error *err);

/* list.c: one row per column of the tables. */
extern const struct ss_view ss_store_columns_view;
void ss_run_store_columns(struct ss_table *out);

/*
 * run_id.c: from the names and times of all events, so it does not depend on paths, compression,
 * or whether a trace is packed.
 */
void ss_run_id_of(const struct ss_session *session, char out[SS_RUN_ID_BYTES]);

#endif
