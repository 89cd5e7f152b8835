/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folder.h - paths of a store and the files that are written into it, for the files of this folder.
 */
#ifndef SS_STORE_FOLDER_H
#define SS_STORE_FOLDER_H

#include "sql/sql.h"
#include "store/manifest.h"

/* "STORE/a/b"; fails if it is too long. */
SS_MUST_USE
__attribute__((format(printf, 4, 5))) enum ss_status ss_run_store_path(
	const struct ss_run_store *store, char out[SS_PATH_BYTES], struct ss_error *err,
	const char *format, ...);

/* Writes the description of the newest layout, if the store has an older one, or none. */
SS_MUST_USE
enum ss_status ss_run_store_describe(struct ss_run_store *store, struct ss_error *err);

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

/* Whether it is a date such as "2026-11-17". */
bool ss_run_store_is_date(const char *text);

/* Names of layout 1: "compact-HASH.parquet" and "RUN.parquet". */
bool ss_run_store_is_compact(const char *name);
bool ss_run_store_is_run(const char *name);

/* Appends an SQL string, or NULL. Parquet allows only UTF-8. */
void ss_run_store_add_literal(struct ss_text *out, const char *text);

/* Files that a process has written, and that no manifest names yet. */
#define SS_RUN_STORE_MADE_MAX 256

struct ss_run_store_made {
	struct ss_manifest_file files[SS_RUN_STORE_MADE_MAX];
	char names[SS_RUN_STORE_MADE_MAX][SS_MANIFEST_NAME_BYTES];
	uint32_t count;
};

/* Writes the rows of the query as a file of its own: "TABLE/date=DATE/BEGIN-....parquet". */
SS_MUST_USE
enum ss_status ss_run_store_write(const struct ss_run_store *store, struct ss_sql *sql,
				  const struct ss_text *query, const char *table, const char *date,
				  const char *begin, struct ss_run_store_made *made,
				  struct ss_error *err);

/* Lets them count in the manifest. */
SS_MUST_USE
enum ss_status ss_run_store_name_made(const struct ss_run_store *store,
				      const struct ss_run_store_made *made,
				      struct ss_manifest *manifest, struct ss_error *err);

/* Deletes those that no manifest names. */
void ss_run_store_delete_made(const struct ss_run_store *store, struct ss_run_store_made *made);

/* Opens DuckDB without tables, for queries on the files of the store. */
SS_MUST_USE
enum ss_status ss_run_store_query_open(const struct ss_run_store *store,
				       const struct ss_stored_run *run, struct ss_sql **out,
				       struct ss_error *err);

#endif
