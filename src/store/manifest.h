/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest.h - which files of a store count.
 *
 *     STORE/manifest/0000000042.csv
 *         file,bytes,gone
 *         manifest/0000000033.csv,0,1
 *         runs/date=2026-11-17/b3faac033ed9a1ec-5a0e71c2d3b4f695.parquet,5012,0
 *         runs/date=2026-11-16/4e5d10f2c3a7b968-0c1d2e3f4a5b6978.parquet,4981,1795000000
 *
 * The first row is the manifest that this one continues: whoever reads the newest reads all from
 * that one on, and the last row of a file holds. `gone` is 0 while the file counts, otherwise since
 * when it does not (seconds since 1970). Such a file is deleted an hour later, so that readers of
 * an older manifest still find it, and then no row names it.
 *
 * To change what counts, a writer makes the manifest with the next number. Only one can: a link or
 * a rename that fails if there is such a file gives it the name, which file systems do in one step,
 * NFS included. Those that come late read the new one and decide again. No locks are needed.
 *
 * Where there is no manifest yet, the files of layout 1 count: one per run, or "compact-...".
 */
#ifndef SS_STORE_MANIFEST_H
#define SS_STORE_MANIFEST_H

#include "base/text.h"
#include "store/store.h"

/* "rank_minutes/date=2026-11-17/0123456789abcdef-0123456789abcdef.parquet" */
#define SS_MANIFEST_NAME_BYTES 128

struct ss_manifest_file {
	const char *name; /* within the store */
	uint64_t bytes;
	int64_t gone_s; /* 0: it counts */
	uint32_t order; /* of its row */
};

struct ss_manifest {
	uint64_t number, first;         /* 0: there is none; the one that this one continues */
	struct ss_manifest_file *files; /* by name */
	uint32_t count, capacity;
	struct ss_text rows; /* what this process changed */
	bool is_whole;       /* write all rows */
	struct ss_arena arena;
	struct ss_memory memory;
};

#define SS_MANIFEST(name) SS_OWNED(ss_manifest_release) struct ss_manifest name = { 0 }

/* Reads the newest manifest; what was in *out is released. */
SS_MUST_USE
enum ss_status ss_manifest_read(const struct ss_run_store *store, struct ss_manifest *out,
				struct ss_error *err);
void ss_manifest_release(struct ss_manifest *manifest);

/* Whether the file counts and is of the table and the day; NULL: of any. */
bool ss_manifest_counts(const struct ss_manifest_file *file, const char *table, const char *date);

/* The part of a name behind its folders; the day, of SS_DATE_BYTES - 1 characters. */
const char *ss_manifest_base(const struct ss_manifest_file *file);
const char *ss_manifest_date(const struct ss_manifest_file *file);

/* Whether the file has one run, or live numbers that were added at once; "runs" of others: many. */
bool ss_manifest_is_single(const struct ss_manifest_file *file);

/* NULL: no row names the file. */
const struct ss_manifest_file *ss_manifest_find(const struct ss_manifest *manifest,
						const char *name);

/*
 * Adds a row. A file that begins to count must be there: one that was written more than an hour ago
 * and not yet named may have been deleted as a leftover, which is an error.
 */
SS_MUST_USE
enum ss_status ss_manifest_set(const struct ss_run_store *store, struct ss_manifest *manifest,
			       const struct ss_manifest_file *file, struct ss_error *err);

/* Makes the next manifest. *is_late: another process did; read again. */
SS_MUST_USE
enum ss_status ss_manifest_commit(struct ss_run_store *store, struct ss_manifest *manifest,
				  bool *is_late, struct ss_error *err);

/*
 * Appends "read_parquet([...], ...)" of the files that count; false: there are none. `from` and
 * `to` are the first and last day, NULL: any; with `from` the rows have no column "date".
 */
bool ss_manifest_add_files(const struct ss_run_store *store, const struct ss_manifest *manifest,
			   const char *table, const char *from, const char *to,
			   struct ss_text *out);

/* Reads the names of all Parquet files in the folders; gone_s is when they were last written. */
SS_MUST_USE
enum ss_status ss_manifest_list_folders(const struct ss_run_store *store, struct ss_manifest *out,
					struct ss_error *err);

#endif
