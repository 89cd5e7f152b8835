/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h - a store: a folder of Parquet files with the findings of many runs.
 *
 *     STORE/stepscope.json                        the version of the layout
 *     STORE/TABLE/date=2026-11-17/RUN.parquet     one file per run and table
 *     STORE/TABLE/date=2026-11-17/compact-HASH.parquet   many runs in one file
 *
 * Files appear complete, by rename. The file of the table `runs` is the last one of a run: a run
 * exists once it is in `runs`. Names that begin with a dot are not part of the tables.
 *
 * Locks: adding a run holds a shared lock on stepscope.json while its files are renamed; replacing
 * files takes it exclusively for a moment. So any number of processes may add runs, and readers
 * need no lock. A killed process leaves a folder with a temporary name, which is no longer locked;
 * the next process that compacts or drops removes it.
 */
#ifndef SS_STORE_STORE_H
#define SS_STORE_STORE_H

#include "api/views_list.h"
#include "base/system/new_file.h"
#include "stepscope.h"

#define SS_RUN_STORE_LAYOUT 1
#define SS_RUN_ID_BYTES 17 /* 16 hexadecimal digits */
#define SS_DATE_BYTES 11   /* "2026-11-17" */

struct ss_run_store {
	char path[SS_PATH_BYTES]; /* absolute */
	int fd;                   /* of stepscope.json; -1: closed */
};

/*
 * Opens the store; with `creates` it creates the folder and its description if missing. Refuses
 * folders with other files, and layouts of newer versions.
 */
SS_MUST_USE
enum ss_status ss_run_store_open(const char *path, bool creates, struct ss_run_store *out,
				 struct ss_error *err);
void ss_run_store_close(struct ss_run_store *store);

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

/* What compacting or dropping did. */
struct ss_store_change {
	uint32_t days, files; /* files that were replaced or removed */
	uint64_t bytes_before, bytes_after;
};

/*
 * compact.c: makes one file per table and day. Readers see each run's rows exactly once at any
 * time, even if the process is killed: the folder of a day is exchanged atomically.
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
 * run_id.c: a hash of the names and times of all events. It does not depend on paths, compression,
 * or whether a trace is packed.
 */
void ss_run_id_of(const struct ss_session *session, char out[SS_RUN_ID_BYTES]);

#endif
