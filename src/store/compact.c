/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compact.c - makes one file per table and day, drops days, and deletes files that no reader needs.
 *
 * A file of a day has the rows of several; it begins to count in the manifest in which the others
 * end. If another process has compacted or dropped the day meanwhile, the new files are deleted.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "store/folder.h"
#include "store/tables.h"

/* The name of files of many runs begins with this. */
#define MANY "many"

/* Files that no manifest names are of writers that work on them, unless they are that old. */
#define LEFTOVER_S 3600

struct compacting {
	struct ss_run_store *store;
	struct ss_sql *sql;
	struct ss_manifest manifest; /* from which it reads */
	const char *date;
	struct ss_run_store_made made;
	struct ss_store_change *change;
};

static const struct ss_stored_table *compacting_table_at(size_t index)
{
	if (index < ss_stored_table_count)
		return ss_stored_tables[index];
	index -= ss_stored_table_count;
	return index < ss_stored_live_table_count ? ss_stored_live_tables[index] : NULL;
}

/* --- compacting ----------------------------------------------------------------------------- */

static uint32_t compacting_count(const struct compacting *compacting, const char *table)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < compacting->manifest.count; i++)
		count += ss_manifest_counts(&compacting->manifest.files[i], table,
					    compacting->date);
	return count;
}

static enum ss_status compact_table(struct compacting *compacting,
				    const struct ss_stored_table *table, struct ss_error *err)
{
	SS_TEXT(query);

	ss_text_add_string(&query, "from ");
	ss_manifest_add_files(compacting->store, &compacting->manifest, table->name,
			      compacting->date, compacting->date, &query);
	if (table->order)
		ss_text_addf(&query, " order by %s", table->order);
	return ss_run_store_write(compacting->store, compacting->sql, &query, table->name,
				  compacting->date, MANY, &compacting->made, err);
}

/* Whether a file of the table and day was made. */
static bool compacting_replaces(const struct compacting *compacting,
				const struct ss_manifest_file *file)
{
	for (uint32_t i = 0; i < compacting->made.count; i++) {
		const char *name = compacting->made.names[i];
		size_t folders = (size_t)(strrchr(name, '/') + 1 - name);

		if (!file->gone_s && strncmp(file->name, name, folders) == 0)
			return true;
	}
	return false;
}

/* Puts the new files into the manifest in place of the others; false: some are gone already. */
static enum ss_status compacting_replace(const struct compacting *compacting,
					 struct ss_manifest *newest, bool *holds,
					 struct ss_error *err)
{
	int64_t now = time(NULL);

	*holds = true;
	for (uint32_t i = 0; *holds && i < compacting->manifest.count; i++) {
		struct ss_manifest_file file = compacting->manifest.files[i];
		const struct ss_manifest_file *there;

		if (!compacting_replaces(compacting, &file))
			continue;
		there = ss_manifest_find(newest, file.name);
		*holds = there && !there->gone_s;
		file.gone_s = now;
		if (*holds)
			SS_TRY(ss_manifest_set(compacting->store, newest, &file, err));
	}
	return *holds ? ss_run_store_name_made(compacting->store, &compacting->made, newest, err)
		      : SS_OK;
}

static enum ss_status compacting_name_made(struct compacting *compacting, struct ss_error *err)
{
	struct ss_store_change *change = compacting->change;
	bool is_late = true, holds = true;
	SS_MANIFEST(newest);

	while (is_late && holds) {
		SS_TRY(ss_manifest_read(compacting->store, &newest, err));
		SS_TRY(compacting_replace(compacting, &newest, &holds, err));
		if (holds)
			SS_TRY(ss_manifest_commit(compacting->store, &newest, &is_late, err));
	}
	for (uint32_t i = 0; holds && i < compacting->manifest.count; i++)
		if (compacting_replaces(compacting, &compacting->manifest.files[i])) {
			change->files++;
			change->bytes_before += compacting->manifest.files[i].bytes;
		}
	for (uint32_t i = 0; holds && i < compacting->made.count; i++)
		change->bytes_after += compacting->made.files[i].bytes;
	change->days += holds;
	if (holds)
		compacting->made.count = 0;
	return SS_OK;
}

/* All tables of a day at once: readers see each run in all of them or in none. */
static enum ss_status compact_day(struct compacting *compacting, struct ss_error *err)
{
	const struct ss_stored_table *table;

	compacting->made.count = 0;
	for (size_t i = 0; (table = compacting_table_at(i)); i++)
		if (compacting_count(compacting, table->name) > 1)
			SS_TRY(compact_table(compacting, table, err));
	if (compacting->made.count)
		SS_TRY(compacting_name_made(compacting, err));
	ss_run_store_delete_made(compacting->store, &compacting->made);
	return SS_OK;
}

static enum ss_status compact_days(struct compacting *compacting, struct ss_error *err)
{
	SS_TRY(ss_manifest_read(compacting->store, &compacting->manifest, err));
	for (uint32_t i = 0; i < compacting->manifest.count; i++) {
		const struct ss_manifest_file *file = &compacting->manifest.files[i];
		char date[SS_DATE_BYTES] = "";
		bool is_first = true;

		memcpy(date, ss_manifest_date(file), SS_DATE_BYTES - 1);
		for (uint32_t k = 0; is_first && k < i; k++)
			is_first = !ss_manifest_counts(&compacting->manifest.files[k], NULL, date);
		compacting->date = date;
		if (is_first && !file->gone_s)
			SS_TRY(compact_day(compacting, err));
	}
	return SS_OK;
}

/* --- deleting what no reader needs ---------------------------------------------------------- */

/* Marks files that no manifest names and that nobody has written to for an hour. */
static enum ss_status clean_mark_leftovers(struct ss_run_store *store,
					   const struct ss_manifest *found,
					   struct ss_manifest *manifest, int64_t now,
					   struct ss_error *err)
{
	for (uint32_t i = 0; i < found->count; i++) {
		struct ss_manifest_file file = found->files[i];

		if (ss_manifest_find(manifest, file.name) || now - file.gone_s < LEFTOVER_S)
			continue;
		file.gone_s = now;
		SS_TRY(ss_manifest_set(store, manifest, &file, err));
	}
	return SS_OK;
}

/* Deletes files that have not counted for `grace_s`, and forgets their rows. */
static enum ss_status clean_delete(const struct ss_run_store *store, struct ss_manifest *manifest,
				   int64_t before, struct ss_error *err)
{
	char path[SS_PATH_BYTES];
	uint32_t kept = 0;

	for (uint32_t i = 0; i < manifest->count; i++) {
		const struct ss_manifest_file *file = &manifest->files[i];

		if (file->gone_s && file->gone_s <= before) {
			SS_TRY(ss_run_store_path(store, path, err, "%s", file->name));
			manifest->is_whole = true;
			if (unlink(path) == 0 || errno == ENOENT)
				continue;
		}
		manifest->files[kept++] = *file;
	}
	manifest->count = kept;
	return SS_OK;
}

static enum ss_status store_clean(struct ss_run_store *store, int64_t grace_s, struct ss_error *err)
{
	char path[SS_PATH_BYTES];
	bool is_late = true;
	SS_MANIFEST(found);
	SS_MANIFEST(manifest);

	/* what is written from now on is not among them */
	SS_TRY(ss_manifest_list_folders(store, &found, err));
	while (is_late) {
		int64_t now = time(NULL);

		SS_TRY(ss_manifest_read(store, &manifest, err));
		/* a store of layout 1 stays as it is until something is added or compacted */
		if (!manifest.number)
			return SS_OK;
		SS_TRY(clean_mark_leftovers(store, &found, &manifest, now, err));
		SS_TRY(clean_delete(store, &manifest, now - grace_s, err));
		if (!manifest.is_whole && !manifest.rows.length)
			return SS_OK;
		SS_TRY(ss_manifest_commit(store, &manifest, &is_late, err));
	}
	SS_TRY(ss_run_store_path(store, path, err, "manifest"));
	ss_new_file_sweep(path);
	return SS_OK;
}

enum ss_status ss_run_store_compact(struct ss_run_store *store, const struct ss_stored_run *run,
				    int64_t grace_s, struct ss_store_change *out,
				    struct ss_error *err)
{
	struct compacting compacting = { .store = store, .change = out };
	enum ss_status status;

	*out = (struct ss_store_change){ 0 };
	status = ss_run_store_query_open(store, run, &compacting.sql, err);
	if (status == SS_OK)
		status = compact_days(&compacting, err);
	ss_sql_close(compacting.sql);
	ss_run_store_delete_made(store, &compacting.made);
	ss_manifest_release(&compacting.manifest);
	return status == SS_OK ? store_clean(store, grace_s, err) : status;
}

/* --- dropping days -------------------------------------------------------------------------- */

/* Whether `drop` takes the file: of runs, or of the table of live numbers. */
static bool drop_takes(const struct ss_manifest_file *file, const char *table, const char *before)
{
	bool is_of_run = false;

	for (size_t i = 0; i < ss_stored_table_count; i++)
		is_of_run |= ss_manifest_counts(file, ss_stored_tables[i]->name, NULL);
	return (table ? ss_manifest_counts(file, table, NULL) : is_of_run) &&
	       strncmp(ss_manifest_date(file), before, SS_DATE_BYTES - 1) < 0;
}

static enum ss_status drop_days(struct ss_run_store *store, struct ss_manifest *manifest,
				const char *table, const char *before, struct ss_store_change *out,
				struct ss_error *err)
{
	int64_t now = time(NULL);

	*out = (struct ss_store_change){ 0 };
	for (uint32_t i = 0; i < manifest->count; i++) {
		struct ss_manifest_file file = manifest->files[i];
		bool is_new_day = true;

		if (!drop_takes(&file, table, before))
			continue;
		/* each table has its days, and no more of them than runs */
		for (uint32_t k = 0; k < i; k++)
			is_new_day &= manifest->files[k].gone_s != now ||
				      strncmp(ss_manifest_date(&manifest->files[k]),
					      ss_manifest_date(&file), SS_DATE_BYTES - 1) != 0;
		file.gone_s = now;
		out->files++;
		out->days += is_new_day;
		out->bytes_before += file.bytes;
		SS_TRY(ss_manifest_set(store, manifest, &file, err));
	}
	return SS_OK;
}

enum ss_status ss_run_store_drop(struct ss_run_store *store, const char *table, const char *before,
				 int64_t grace_s, struct ss_store_change *out, struct ss_error *err)
{
	bool is_late = true;
	SS_MANIFEST(manifest);

	*out = (struct ss_store_change){ 0 };
	if (!ss_run_store_is_date(before))
		return ss_fail(err, SS_ERR_USAGE,
			       "'before' takes a date such as 2026-11-17, not '%.60s'", before);
	while (is_late) {
		SS_TRY(ss_manifest_read(store, &manifest, err));
		SS_TRY(drop_days(store, &manifest, table, before, out, err));
		is_late = false;
		if (out->files)
			SS_TRY(ss_manifest_commit(store, &manifest, &is_late, err));
	}
	return store_clean(store, grace_s, err);
}
