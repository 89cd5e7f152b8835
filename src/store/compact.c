/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compact.c - makes one file per table and day.
 *
 * For each table of a day, DuckDB writes the rows of all its files into one file, in a folder with
 * a temporary name. Files that arrived in the meantime are linked into that folder; then it is
 * exchanged with the folder of the day, in one atomic step. So a reader finds either the old files
 * or the new one, and a killed process leaves only a folder that no reader opens. `runs` is
 * compacted last: while a run has its own file there, its other files are not mistaken for those
 * of a run that was never completed.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/hash/hash.h"
#include "base/sort.h"
#include "base/text.h"
#include "store/folder.h"
#include "store/tables.h"

#ifndef RENAME_EXCHANGE
#define RENAME_EXCHANGE (1 << 1)
#endif

struct compacting {
	struct ss_run_store *store;
	struct ss_sql *sql;
	struct ss_run_store_work work;
	const char *date;
	struct ss_store_change *change;
};

/* Whether the sorted names have the name. */
static bool has_name(const struct ss_run_store_names *names, const char *name)
{
	return bsearch(&name, names->items, names->count, sizeof(*names->items),
		       ss_sort_compare_strings);
}

/* --- listing the files ----------------------------------------------------------------- */

static enum ss_status read_day(const struct compacting *compacting, const char *table,
			       struct ss_run_store_names *out, struct ss_error *err)
{
	char path[SS_PATH_BYTES];
	uint32_t kept = 0;

	SS_TRY(ss_run_store_path(compacting->store, path, err, "%s/date=%s", table,
				 compacting->date));
	SS_TRY(ss_run_store_names_read(path, out, err));
	for (uint32_t i = 0; i < out->count; i++)
		if (ss_run_store_is_compact(out->items[i]) || ss_run_store_is_run(out->items[i]))
			out->items[kept++] = out->items[i];
	out->count = kept;
	SS_SORT(out->items, kept, ss_sort_compare_strings);
	return SS_OK;
}

/*
 * Removes files of runs that were never completed, from the list and from disk: their writer is
 * gone, because nobody else holds the lock.
 */
static enum ss_status remove_orphans(const struct compacting *compacting, const char *table,
				     const struct ss_run_store_names *runs,
				     struct ss_run_store_names *names, struct ss_error *err)
{
	uint32_t kept = 0;

	for (uint32_t i = 0, at = 0; i < names->count; i++) {
		char path[SS_PATH_BYTES];

		/* both lists are sorted */
		while (at < runs->count && strcmp(runs->items[at], names->items[i]) < 0)
			at++;
		if (ss_run_store_is_compact(names->items[i]) ||
		    (at < runs->count && strcmp(runs->items[at], names->items[i]) == 0)) {
			names->items[kept++] = names->items[i];
			continue;
		}
		SS_TRY(ss_run_store_path(compacting->store, path, err, "%s/date=%s/%s", table,
					 compacting->date, names->items[i]));
		unlink(path);
	}
	names->count = kept;
	return SS_OK;
}

/* --- writing the new file -------------------------------------------------------------- */

static void compacting_add_files(const struct compacting *compacting, const char *table,
				 const struct ss_run_store_names *names, struct ss_text *out)
{
	ss_text_add_string(out, "from read_parquet([");
	for (uint32_t i = 0; i < names->count; i++) {
		ss_text_add_string(out, i ? ", '" : "'");
		ss_sql_add_quoted(out, compacting->store->path, '\'');
		ss_text_addf(out, "/%s/date=%s/%s'", table, compacting->date, names->items[i]);
	}
	ss_text_add_string(out, "], union_by_name = true, hive_partitioning = false)");
}

static uint64_t hash_names(const struct ss_run_store_names *names)
{
	uint64_t hash = SS_HASH_SEED;

	for (uint32_t i = 0; i < names->count; i++)
		hash = ss_hash_mix(hash, ss_hash_bytes(names->items[i], strlen(names->items[i])));
	return hash;
}

/* Writes the rows of all files into FOLDER/compact-HASH.parquet. */
static enum ss_status write_rows(const struct compacting *compacting,
				 const struct ss_stored_table *table,
				 const struct ss_run_store_names *names, const char *folder,
				 struct ss_error *err)
{
	char path[SS_PATH_BYTES];
	SS_TEXT(query);
	uint64_t bytes = 0;
	enum ss_status status;

	snprintf(path, sizeof(path), "%.3000s/compact-%016" PRIx64 ".parquet", folder,
		 hash_names(names));
	compacting_add_files(compacting, table->name, names, &query);
	if (table->order)
		ss_text_addf(&query, " order by %s", table->order);
	status = ss_text_failed(&query)
			 ? ss_fail_memory(err, "the query")
			 : ss_sql_copy(compacting->sql,
				       &(struct ss_sql_text){ query.data, query.length }, path,
				       err);
	if (status == SS_OK)
		status = ss_run_store_sync(path, &bytes, err);
	compacting->change->bytes_after += bytes;
	return status;
}

/* --- replacing the old files ----------------------------------------------------------- */

static enum ss_status compacting_fail_to_place(const char *path, struct ss_error *err)
{
	if (errno == EINVAL || errno == ENOSYS)
		return ss_fail(err, SS_ERR_IO,
			       "cannot compact '%.200s': its file system cannot exchange two "
			       "folders in one step (network file systems cannot); compact a copy "
			       "on a local disk",
			       path);
	return ss_fail(err, SS_ERR_IO, "cannot write '%.200s': %s", path, strerror(errno));
}

/* Links files that the new one does not replace: runs that were added in the meantime. */
static enum ss_status link_others(const char *day, const char *folder,
				  const struct ss_run_store_names *replaced, struct ss_error *err)
{
	SS_STORE_NAMES(names);

	SS_TRY(ss_run_store_names_read(day, &names, err));
	for (uint32_t i = 0; i < names.count; i++) {
		char from[SS_PATH_BYTES], to[SS_PATH_BYTES];

		if (has_name(replaced, names.items[i]))
			continue;
		snprintf(from, sizeof(from), "%.3000s/%.1000s", day, names.items[i]);
		snprintf(to, sizeof(to), "%.3000s/%.1000s", folder, names.items[i]);
		if (link(from, to) != 0)
			return compacting_fail_to_place(to, err);
	}
	return SS_OK;
}

static bool exchange_folders(const char *a, const char *b)
{
#ifdef SYS_renameat2
	return syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE) == 0;
#else
	(void)a;
	(void)b;
	errno = ENOSYS;
	return false;
#endif
}

/* Exchanges the new folder and that of the day, under the exclusive lock. */
static enum ss_status compacting_exchange_day(const struct compacting *compacting,
					      const char *table,
					      const struct ss_run_store_names *names,
					      const char *folder, struct ss_error *err)
{
	char day[SS_PATH_BYTES], parent[SS_PATH_BYTES];
	enum ss_status status;

	SS_TRY(ss_run_store_path(compacting->store, parent, err, "%s", table));
	SS_TRY(ss_run_store_path(compacting->store, day, err, "%s/date=%s", table,
				 compacting->date));
	SS_TRY(ss_run_store_lock(compacting->store, true, err));
	status = link_others(day, folder, names, err);
	if (status == SS_OK)
		status = ss_new_file_sync_folder(folder, err);
	if (status == SS_OK && !exchange_folders(folder, day))
		status = compacting_fail_to_place(day, err);
	if (status == SS_OK)
		status = ss_new_file_sync_folder(parent, err);
	ss_run_store_unlock(compacting->store);
	return status;
}

/* Counts the bytes of the replaced files. */
static void count_old(const struct compacting *compacting, const char *folder,
		      const struct ss_run_store_names *names)
{
	for (uint32_t i = 0; i < names->count; i++) {
		char path[SS_PATH_BYTES];
		struct stat info;

		snprintf(path, sizeof(path), "%.3000s/%.1000s", folder, names->items[i]);
		if (stat(path, &info) == 0)
			compacting->change->bytes_before += (uint64_t)info.st_size;
	}
	compacting->change->files += names->count;
}

static enum ss_status compact_table(struct compacting *compacting,
				    const struct ss_stored_table *table,
				    const struct ss_run_store_names *names, struct ss_error *err)
{
	char folder[SS_PATH_BYTES];

	if (names->count < 2)
		return SS_OK;
	snprintf(folder, sizeof(folder), "%.2000s/%s", compacting->work.path, table->name);
	if (mkdir(folder, 0777) != 0)
		return compacting_fail_to_place(folder, err);
	SS_TRY(write_rows(compacting, table, names, folder, err));
	SS_TRY(compacting_exchange_day(compacting, table->name, names, folder, err));
	/* after the exchange it has the old files */
	count_old(compacting, folder, names);
	if (!ss_run_store_remove(folder))
		return compacting_fail_to_place(folder, err);
	return SS_OK;
}

/* --- all tables and days --------------------------------------------------------------- */

#define TABLES_MAX 16

/* Lists the files of all tables at one moment; `runs` is the last table. */
static enum ss_status read_tables(const struct compacting *compacting,
				  struct ss_run_store_names names[TABLES_MAX], struct ss_error *err)
{
	const size_t runs = ss_stored_table_count - 1;
	enum ss_status status = SS_OK;

	SS_TRY(ss_run_store_lock(compacting->store, true, err));
	for (size_t i = 0; status == SS_OK && i <= runs; i++)
		status = read_day(compacting, ss_stored_tables[i]->name, &names[i], err);
	for (size_t i = 0; status == SS_OK && i < runs; i++)
		status = remove_orphans(compacting, ss_stored_tables[i]->name, &names[runs],
					&names[i], err);
	ss_run_store_unlock(compacting->store);
	return status;
}

static enum ss_status compact_day(struct compacting *compacting, struct ss_error *err)
{
	struct ss_run_store_names names[TABLES_MAX] = { { .count = 0 } };
	uint32_t before = compacting->change->files;
	enum ss_status status;

	assert(ss_stored_table_count <= TABLES_MAX);
	status = read_tables(compacting, names, err);
	for (size_t i = 0; status == SS_OK && i < ss_stored_table_count; i++)
		status = compact_table(compacting, ss_stored_tables[i], &names[i], err);
	for (size_t i = 0; i < ss_stored_table_count; i++)
		ss_run_store_names_release(&names[i]);
	compacting->change->days += compacting->change->files != before;
	return status;
}

/* Compacts the days of any table, because a killed process may have written to only some tables. */
static enum ss_status compact_days(struct compacting *compacting, struct ss_error *err)
{
	char path[SS_PATH_BYTES];
	SS_STORE_NAMES(days);

	SS_TRY(ss_run_store_path(compacting->store, path, err, "%s", ss_stored_tables[0]->name));
	SS_TRY(ss_run_store_names_read(path, &days, err));
	for (uint32_t i = 0; i < days.count; i++) {
		compacting->date = ss_run_store_date_of(days.items[i]);
		if (compacting->date)
			SS_TRY(compact_day(compacting, err));
	}
	return SS_OK;
}

/* Each file of live numbers is whole by itself. */
static enum ss_status compact_live_table(struct compacting *compacting,
					 const struct ss_stored_table *table, struct ss_error *err)
{
	char path[SS_PATH_BYTES];
	SS_STORE_NAMES(days);

	SS_TRY(ss_run_store_path(compacting->store, path, err, "%s", table->name));
	SS_TRY(ss_run_store_names_read(path, &days, err));
	for (uint32_t i = 0; i < days.count; i++) {
		uint32_t before = compacting->change->files;
		SS_STORE_NAMES(names);

		compacting->date = ss_run_store_date_of(days.items[i]);
		if (!compacting->date)
			continue;
		SS_TRY(read_day(compacting, table->name, &names, err));
		SS_TRY(compact_table(compacting, table, &names, err));
		compacting->change->days += compacting->change->files != before;
	}
	return SS_OK;
}

enum ss_status ss_run_store_compact(struct ss_run_store *store, const struct ss_stored_run *run,
				    struct ss_store_change *out, struct ss_error *err)
{
	struct compacting compacting = { .store = store, .change = out, .work = { .fd = -1 } };
	enum ss_status status;
	int upkeep;

	*out = (struct ss_store_change){ 0 };
	SS_TRY(ss_run_store_upkeep(store, &upkeep, err));
	status = ss_run_store_work_begin(store, &compacting.work, err);
	if (status == SS_OK)
		status = ss_run_store_query_open(store, run, &compacting.sql, err);
	if (status == SS_OK)
		status = compact_days(&compacting, err);
	for (size_t i = 0; status == SS_OK && i < ss_stored_live_table_count; i++)
		status = compact_live_table(&compacting, ss_stored_live_tables[i], err);
	ss_sql_close(compacting.sql);
	ss_run_store_work_end(&compacting.work);
	close(upkeep);
	return status;
}

/*
 * Removes the runs of old days.
 *
 * A file with the date records the operation. If the process is killed, the next one that takes
 * the lock completes it: otherwise a run of such a day that is added again would find some of its
 * old files.
 */

#define MARK ".dropping"

bool ss_run_store_is_dropping(const struct ss_run_store *store)
{
	char path[SS_PATH_BYTES];
	struct stat info;

	return ss_run_store_path(store, path, NULL, MARK) == SS_OK && stat(path, &info) == 0;
}

static enum ss_status fail_to_drop(const char *path, struct ss_error *err)
{
	return ss_fail(err, SS_ERR_IO, "cannot remove '%.200s': %s", path, strerror(errno));
}

/* Counts the files of a day before it is removed. */
static enum ss_status count_day_files(const char *folder, struct ss_store_change *out,
				      struct ss_error *err)
{
	SS_STORE_NAMES(names);

	SS_TRY(ss_run_store_names_read(folder, &names, err));
	for (uint32_t i = 0; i < names.count; i++) {
		char path[SS_PATH_BYTES];
		struct stat info;

		snprintf(path, sizeof(path), "%.2000s/%.1000s", folder, names.items[i]);
		if (stat(path, &info) != 0)
			continue;
		out->files++;
		out->bytes_before += (uint64_t)info.st_size;
	}
	return SS_OK;
}

/* Renames the folder of a day, so that no reader sees it, then removes it. */
static enum ss_status drop_day(struct ss_run_store *store, const char *table, const char *day,
			       struct ss_store_change *out, struct ss_error *err)
{
	char path[SS_PATH_BYTES], gone[SS_PATH_BYTES];

	SS_TRY(ss_run_store_path(store, path, err, "%s/%s", table, day));
	SS_TRY(count_day_files(path, out, err));
	SS_TRY(ss_new_folder(store->path, gone, err));
	if (rename(path, gone) != 0)
		return fail_to_drop(path, err);
	return ss_run_store_remove(gone) ? SS_OK : fail_to_drop(path, err);
}

static enum ss_status drop_days(struct ss_run_store *store, const char *table, const char *before,
				struct ss_store_change *out, uint32_t *days, struct ss_error *err)
{
	char path[SS_PATH_BYTES];
	SS_STORE_NAMES(names);

	*days = 0;
	SS_TRY(ss_run_store_path(store, path, err, "%s", table));
	SS_TRY(ss_run_store_names_read(path, &names, err));
	for (uint32_t i = 0; i < names.count; i++) {
		const char *date = ss_run_store_date_of(names.items[i]);

		if (!date || strcmp(date, before) >= 0)
			continue;
		++*days;
		SS_TRY(drop_day(store, table, names.items[i], out, err));
	}
	return ss_new_file_sync_folder(path, err);
}

/*
 * `runs` is the last table of the list and is dropped first: a run that is not in it does not
 * exist.
 */
static enum ss_status drop_all(struct ss_run_store *store, const char *before,
			       struct ss_store_change *out, struct ss_error *err)
{
	char mark[SS_PATH_BYTES];

	for (size_t i = ss_stored_table_count; i--;) {
		uint32_t days;

		SS_TRY(drop_days(store, ss_stored_tables[i]->name, before, out, &days, err));
		out->days = days > out->days ? days : out->days;
	}
	SS_TRY(ss_run_store_path(store, mark, err, MARK));
	if (unlink(mark) != 0 && errno != ENOENT)
		return fail_to_drop(mark, err);
	return SS_OK;
}

enum ss_status ss_run_store_finish_drop(struct ss_run_store *store, struct ss_error *err)
{
	struct ss_store_change ignored = { 0 };
	char path[SS_PATH_BYTES], date[SS_DATE_BYTES] = "";
	FILE *file;
	size_t length;

	SS_TRY(ss_run_store_path(store, path, err, MARK));
	file = fopen(path, "rb");
	if (!file)
		return errno == ENOENT ? SS_OK : fail_to_drop(path, err);
	length = fread(date, 1, sizeof(date) - 1, file);
	fclose(file);
	if (length != sizeof(date) - 1 || !ss_run_store_is_date(date))
		return ss_fail(err, SS_ERR_FORMAT, "'%.200s' has no date", path);
	return drop_all(store, date, &ignored, err);
}

static enum ss_status set_mark(struct ss_run_store *store, const char *before, struct ss_error *err)
{
	char path[SS_PATH_BYTES];
	struct ss_new_file file;
	enum ss_status status;

	SS_TRY(ss_run_store_path(store, path, err, MARK));
	SS_TRY(ss_new_file_open(path, &file, err));
	status = ss_new_file_write(&file, before, SS_DATE_BYTES - 1, err);
	if (status != SS_OK) {
		ss_new_file_drop(&file);
		return status;
	}
	return ss_new_file_close(&file, err);
}

enum ss_status ss_run_store_drop(struct ss_run_store *store, const char *table, const char *before,
				 struct ss_store_change *out, struct ss_error *err)
{
	enum ss_status status;
	int upkeep;

	*out = (struct ss_store_change){ 0 };
	if (!ss_run_store_is_date(before))
		return ss_fail(err, SS_ERR_USAGE,
			       "'before' takes a date such as 2026-11-17, not '%.60s'", before);
	SS_TRY(ss_run_store_upkeep(store, &upkeep, err));
	status = ss_run_store_lock(store, true, err);
	if (status == SS_OK) {
		status = table ? drop_days(store, table, before, out, &out->days, err)
			       : set_mark(store, before, err);
		if (status == SS_OK && !table)
			status = drop_all(store, before, out, err);
		ss_run_store_unlock(store);
	}
	close(upkeep);
	return status;
}
