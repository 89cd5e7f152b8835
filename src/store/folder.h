/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folder.h - paths, locks and temporary folders of a store, for the files of this folder.
 */
#ifndef SS_STORE_FOLDER_H
#define SS_STORE_FOLDER_H

#include "sql/sql.h"
#include "store/store.h"

/* "STORE/a/b"; fails if it is too long. */
SS_MUST_USE
__attribute__((format(printf, 4, 5))) enum ss_status ss_run_store_path(
	const struct ss_run_store *store, char out[SS_PATH_BYTES], struct ss_error *err,
	const char *format, ...);

/* Waits for the lock: shared to add files, exclusive to replace files. */
SS_MUST_USE
enum ss_status ss_run_store_lock(struct ss_run_store *store, bool is_alone, struct ss_error *err);
void ss_run_store_unlock(struct ss_run_store *store);

/*
 * Takes the maintenance lock, so that no other process compacts or drops until it is closed, and
 * removes leftovers of killed processes. Fails if another process holds it.
 */
SS_MUST_USE
enum ss_status ss_run_store_upkeep(struct ss_run_store *store, int *lock, struct ss_error *err);

/* compact.c: completes what a killed process began to drop; needs the exclusive lock. */
SS_MUST_USE
enum ss_status ss_run_store_finish_drop(struct ss_run_store *store, struct ss_error *err);
bool ss_run_store_is_dropping(const struct ss_run_store *store);

/* A folder with a temporary name that only its owner uses. */
struct ss_run_store_work {
	char path[SS_PATH_BYTES];
	int fd; /* holds a lock, so that nobody takes the folder for a leftover */
};

SS_MUST_USE
enum ss_status ss_run_store_work_begin(struct ss_run_store *store, struct ss_run_store_work *out,
				       struct ss_error *err);
/* Removes the folder and its contents. */
void ss_run_store_work_end(struct ss_run_store_work *work);

/* Removes a folder recursively. False: errno says why; a missing folder is no error. */
bool ss_run_store_remove(const char *path);

/* Names in a folder, in no order; none if the folder is missing. */
struct ss_run_store_names {
	struct ss_arena arena;
	struct ss_memory memory;
	const char **items;
	uint32_t count, capacity;
};

SS_MUST_USE
enum ss_status ss_run_store_names_read(const char *folder, struct ss_run_store_names *out,
				       struct ss_error *err);
void ss_run_store_names_release(struct ss_run_store_names *names);
#define SS_STORE_NAMES(name) \
	SS_OWNED(ss_run_store_names_release) struct ss_run_store_names name = { 0 }

/* The date in "date=2026-11-17", or NULL. */
const char *ss_run_store_date_of(const char *name);
bool ss_run_store_is_date(const char *text);

/* "compact-HASH.parquet" and "RUN.parquet". */
bool ss_run_store_is_compact(const char *name);
bool ss_run_store_is_run(const char *name);

/* Syncs a file that DuckDB wrote to disk, and returns its size. */
SS_MUST_USE
enum ss_status ss_run_store_sync(const char *path, uint64_t *bytes, struct ss_error *err);

/* Appends an SQL string, or NULL. Parquet allows only UTF-8. */
void ss_run_store_add_literal(struct ss_text *out, const char *text);

/* Writes the rows of the query as a file of the temporary folder, and adds its size to *bytes. */
SS_MUST_USE
enum ss_status ss_run_store_write(const struct ss_run_store_work *work, struct ss_sql *sql,
				  const struct ss_text *query, const char *name, uint64_t *bytes,
				  struct ss_error *err);

/* Renames the file of a table from the temporary folder to TABLE/date=DATE/NAME.parquet. */
SS_MUST_USE
enum ss_status ss_run_store_place(const struct ss_run_store *store,
				  const struct ss_run_store_work *work, const char *table,
				  const char *date, const char *name, struct ss_error *err);

/* Opens DuckDB without tables, for queries on the files of the store. */
SS_MUST_USE
enum ss_status ss_run_store_query_open(const struct ss_run_store *store,
				       const struct ss_stored_run *run, struct ss_sql **out,
				       struct ss_error *err);

#endif
