/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drop.c - removes the runs of old days.
 *
 * A file with the date says that this goes on. If the process is killed, the next one that takes
 * the lock finishes: otherwise a run of such a day that is added again would find the rest of its
 * first rows there.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/folder.h"
#include "store/tables.h"

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

/* Counts the files of a day before it goes. */
static enum ss_status count_day_files(const char *folder, struct ss_store_change *out,
				      struct ss_error *err)
{
	struct ss_run_store_names names;
	enum ss_status status = ss_run_store_names_read(folder, &names, err);

	for (uint32_t i = 0; status == SS_OK && i < names.count; i++) {
		char path[SS_PATH_BYTES];
		struct stat info;

		snprintf(path, sizeof(path), "%.2000s/%.1000s", folder, names.items[i]);
		if (stat(path, &info) != 0)
			continue;
		out->files++;
		out->bytes_before += (uint64_t)info.st_size;
	}
	ss_run_store_names_release(&names);
	return status;
}

/* Takes a day out of sight, then removes it. */
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
	struct ss_run_store_names names;
	enum ss_status status;

	*days = 0;
	SS_TRY(ss_run_store_path(store, path, err, "%s", table));
	status = ss_run_store_names_read(path, &names, err);
	for (uint32_t i = 0; status == SS_OK && i < names.count; i++) {
		const char *date = ss_run_store_date_of(names.items[i]);

		if (!date || strcmp(date, before) >= 0)
			continue;
		++*days;
		status = drop_day(store, table, names.items[i], out, err);
	}
	ss_run_store_names_release(&names);
	return status == SS_OK ? ss_new_file_sync_folder(path, err) : status;
}

/* `runs` is the last of the list and goes first: what is not in it is not there. */
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

enum ss_status ss_run_store_drop(struct ss_run_store *store, const char *before,
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
		status = set_mark(store, before, err);
		if (status == SS_OK)
			status = drop_all(store, before, out, err);
		ss_run_store_unlock(store);
	}
	close(upkeep);
	return status;
}
