/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest.c - reads and makes the manifests of a store.
 */
#include "store/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sort.h"
#include "store/folder.h"
#include "store/tables.h"

#define FOLDER "manifest"
#define HEAD "file,bytes,gone\n"
#define NUMBER "%010" PRIu64 ".csv"
#define NUMBER_DIGITS 10

/* After this many a manifest has all rows again: readers read no more files than this. */
#define CONTINUED_MAX 32

/* Those before the first that readers need: for readers that began earlier. */
#define KEPT 64

/* Times that the files can vanish while they are read: new ones have replaced them. */
#define READS_MAX 100

/* --- names ---------------------------------------------------------------------------------- */

static bool manifest_is_name(const char *name)
{
	size_t table = strspn(name, "abcdefghijklmnopqrstuvwxyz_");
	const char *day = name + table + 1;
	char date[SS_DATE_BYTES] = "";

	if (!table || strlen(name) >= SS_MANIFEST_NAME_BYTES || name[table] != '/' ||
	    strncmp(day, "date=", 5) != 0 || strlen(day) < 5 + SS_DATE_BYTES)
		return false;
	memcpy(date, day + 5, SS_DATE_BYTES - 1);
	day += 5 + SS_DATE_BYTES - 1;
	if (!ss_run_store_is_date(date) || *day++ != '/')
		return false;
	day += strspn(day, "0123456789abcdefghijklmnopqrstuvwxyz-");
	return strcmp(day, ".parquet") == 0 && day[-1] != '/';
}

const char *ss_manifest_base(const struct ss_manifest_file *file)
{
	return strrchr(file->name, '/') + 1;
}

const char *ss_manifest_date(const struct ss_manifest_file *file)
{
	return ss_manifest_base(file) - SS_DATE_BYTES;
}

bool ss_manifest_counts(const struct ss_manifest_file *file, const char *table, const char *date)
{
	size_t length = table ? strlen(table) : 0;

	return !file->gone_s &&
	       (!table || (strncmp(file->name, table, length) == 0 && file->name[length] == '/')) &&
	       (!date || strncmp(ss_manifest_date(file), date, SS_DATE_BYTES - 1) == 0);
}

bool ss_manifest_is_single(const struct ss_manifest_file *file)
{
	return strspn(ss_manifest_base(file), "0123456789abcdef") == SS_RUN_ID_BYTES - 1;
}

/* --- rows ----------------------------------------------------------------------------------- */

SS_COMPARATOR(manifest_compare, struct ss_manifest_file,
	      SS_ORDERED(strcmp, name) SS_ASCENDING(order))

static void manifest_begin(struct ss_manifest *out)
{
	ss_manifest_release(out);
	ss_memory_init(&out->memory, 0);
	ss_arena_init(&out->arena, &out->memory);
}

void ss_manifest_release(struct ss_manifest *manifest)
{
	ss_memory_free(&manifest->memory, manifest->files,
		       manifest->capacity * sizeof(*manifest->files));
	ss_arena_release(&manifest->arena);
	ss_text_release(&manifest->rows);
	*manifest = (struct ss_manifest){ 0 };
}

static enum ss_status manifest_append(struct ss_manifest *out, struct ss_manifest_file file,
				      struct ss_error *err)
{
	file.name = ss_arena_copy(&out->arena, file.name, strlen(file.name));
	file.order = out->count;
	if (!file.name || !ss_memory_reserve(&out->memory, (void **)&out->files, &out->capacity,
					     out->count + 1, sizeof(*out->files)))
		return ss_fail_memory(err, "the manifest");
	out->files[out->count++] = file;
	return SS_OK;
}

/* Sorts the rows by name; of those of one file the last one holds. */
static void manifest_sort(struct ss_manifest *manifest)
{
	uint32_t kept = 0;

	SS_SORT(manifest->files, manifest->count, manifest_compare);
	for (uint32_t i = 0; i < manifest->count; i++) {
		if (kept && strcmp(manifest->files[kept - 1].name, manifest->files[i].name) == 0)
			kept--;
		manifest->files[kept++] = manifest->files[i];
	}
	manifest->count = kept;
}

/* "NAME,BYTES,GONE"; the commas become ends of texts. */
static bool manifest_parse_row(char *line, struct ss_manifest_file *out)
{
	char *comma = strchr(line, ','), *end;

	if (!comma)
		return false;
	*comma = '\0';
	out->name = line;
	out->bytes = strtoull(comma + 1, &end, 10);
	if (end == comma + 1 || *end != ',')
		return false;
	comma = end;
	out->gone_s = strtoll(comma + 1, &end, 10);
	return end != comma + 1 && !*end;
}

/* The number in "0000000042.csv"; 0: another file. */
static uint64_t manifest_number_of(const char *name)
{
	size_t digits = strspn(name, "0123456789");

	return digits == NUMBER_DIGITS && strcmp(name + digits, ".csv") == 0
		       ? strtoull(name, NULL, 10)
		       : 0;
}

/* Reads the rows of a manifest behind those of others; *first: the one it continues. */
static enum ss_status manifest_parse(char *text, struct ss_manifest *out, uint64_t *first,
				     struct ss_error *err)
{
	char *line = text, *next;

	*first = 0;
	if (strncmp(line, HEAD, sizeof(HEAD) - 1) != 0)
		return ss_fail(err, SS_ERR_FORMAT, "it does not begin with '%.*s'",
			       (int)sizeof(HEAD) - 2, HEAD);
	for (line += sizeof(HEAD) - 1; *line; line = next) {
		struct ss_manifest_file file = { 0 };

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (!next || !manifest_parse_row(line, &file))
			return ss_fail(err, SS_ERR_FORMAT, "'%.100s' is no row of it", line);
		if (!*first && ss_string_begins_with(file.name, FOLDER "/"))
			*first = manifest_number_of(file.name + sizeof(FOLDER));
		else if (*first && manifest_is_name(file.name))
			SS_TRY(manifest_append(out, file, err));
		else
			return ss_fail(err, SS_ERR_FORMAT, "'%.100s' is no file of a store", line);
	}
	return *first ? SS_OK : ss_fail(err, SS_ERR_FORMAT, "it has no rows");
}

/* --- reading -------------------------------------------------------------------------------- */

/* SS_ERR_MISSING: it was deleted, since newer ones do not need it. */
static enum ss_status manifest_load(const char *path, char **text, struct ss_arena *arena,
				    struct ss_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), reason = errno;
	struct stat info;
	size_t length = 0;
	ssize_t count = -1;

	if (fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) {
		*text = ss_arena_alloc(arena, (size_t)info.st_size + 1, 1);
		count = *text ? 1 : 0;
		while (count > 0 && length < (size_t)info.st_size) {
			count = read(fd, *text + length, (size_t)info.st_size - length);
			length += count > 0 ? (size_t)count : 0;
		}
	}
	reason = count < 0 && fd >= 0 ? errno : reason;
	if (fd >= 0)
		close(fd);
	if (count > 0) {
		(*text)[length] = '\0';
		return SS_OK;
	}
	return ss_fail(err,
		       count < 0 && (reason == ENOENT || reason == ESTALE) ? SS_ERR_MISSING
									   : SS_ERR_IO,
		       "cannot read it: %s", count < 0 ? strerror(reason) : "it is truncated");
}

static enum ss_status manifest_read_one(const struct ss_run_store *store, uint64_t number,
					struct ss_manifest *out, uint64_t *first,
					struct ss_error *err)
{
	SS_SCRATCH(scratch, &out->memory);
	struct ss_error own = { 0 };
	char path[SS_PATH_BYTES], *text = NULL;
	enum ss_status status;

	SS_TRY(ss_run_store_path(store, path, err, FOLDER "/" NUMBER, number));
	status = manifest_load(path, &text, &scratch, &own);
	if (status == SS_OK)
		status = manifest_parse(text, out, first, &own);
	return status == SS_OK ? SS_OK : ss_fail(err, status, "'%.180s': %.60s", path, own.text);
}

/*
 * The newest number; 0: none. Lists of folders can be old on NFS, so those that follow are looked
 * for by name.
 */
static enum ss_status manifest_newest(const struct ss_run_store *store, uint64_t *out,
				      struct ss_error *err)
{
	char path[SS_PATH_BYTES];
	SS_STORE_NAMES(names);
	int fd;

	*out = 0;
	SS_TRY(ss_run_store_path(store, path, err, FOLDER));
	SS_TRY(ss_run_store_names_read(path, &names, err));
	for (uint32_t i = 0; i < names.count; i++) {
		uint64_t number = manifest_number_of(names.items[i]);

		*out = number > *out ? number : *out;
	}
	for (;; ++*out) {
		SS_TRY(ss_run_store_path(store, path, err, FOLDER "/" NUMBER, *out + 1));
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return SS_OK;
		close(fd);
	}
}

/* Those of layout 1; files of runs that were never completed do not count. */
static enum ss_status manifest_read_folders(const struct ss_run_store *store,
					    struct ss_manifest *out, struct ss_error *err)
{
	uint32_t kept = 0;

	SS_TRY(ss_manifest_list_folders(store, out, err));
	for (uint32_t i = 0; i < out->count; i++) {
		struct ss_manifest_file file = out->files[i];
		const char *day = strchr(file.name, '/');
		char run[SS_MANIFEST_NAME_BYTES + 8];
		bool is_of_run = false;

		file.gone_s = 0;
		for (size_t k = 0; k < ss_stored_table_count; k++)
			is_of_run |= ss_manifest_counts(&file, ss_stored_tables[k]->name, NULL);
		snprintf(run, sizeof(run), "runs%s", day);
		/* the list is by name, and what was kept of it moves to its begin */
		if (ss_run_store_is_compact(ss_manifest_base(&file)) ||
		    (ss_run_store_is_run(ss_manifest_base(&file)) &&
		     (!is_of_run || ss_manifest_counts(&file, "runs", NULL) ||
		      bsearch(&(const char *){ run }, out->files + i, out->count - i,
			      sizeof(*out->files), ss_sort_compare_strings))))
			out->files[kept++] = file;
	}
	out->count = kept;
	return SS_OK;
}

static enum ss_status manifest_read_newest(const struct ss_run_store *store,
					   struct ss_manifest *out, struct ss_error *err)
{
	uint64_t ignored;

	manifest_begin(out);
	SS_TRY(manifest_newest(store, &out->number, err));
	if (!out->number)
		return manifest_read_folders(store, out, err);
	SS_TRY(manifest_read_one(store, out->number, out, &out->first, err));
	if (out->first == out->number) {
		manifest_sort(out);
		return SS_OK;
	}
	if (out->first > out->number || out->number - out->first > 2 * CONTINUED_MAX)
		return ss_fail(err, SS_ERR_FORMAT, "the manifest of '%.180s' continues no other",
			       store->path);
	/* from the first on, in order */
	out->count = 0;
	for (uint64_t i = out->first; i <= out->number; i++)
		SS_TRY(manifest_read_one(store, i, out, &ignored, err));
	manifest_sort(out);
	return SS_OK;
}

enum ss_status ss_manifest_read(const struct ss_run_store *store, struct ss_manifest *out,
				struct ss_error *err)
{
	enum ss_status status = SS_ERR_MISSING;

	for (int i = 0; status == SS_ERR_MISSING && i < READS_MAX; i++) {
		struct ss_error own = { 0 };

		status = manifest_read_newest(store, out, &own);
		if (err && status != SS_OK)
			*err = own;
	}
	if (err && status == SS_OK)
		*err = (struct ss_error){ 0 };
	return status;
}

/* --- making --------------------------------------------------------------------------------- */

const struct ss_manifest_file *ss_manifest_find(const struct ss_manifest *manifest,
						const char *name)
{
	return !manifest->count ? NULL
				: bsearch(&name, manifest->files, manifest->count,
					  sizeof(*manifest->files), ss_sort_compare_strings);
}

static void manifest_add_row(const struct ss_manifest_file *file, struct ss_text *out)
{
	ss_text_addf(out, "%s,%" PRIu64 ",%" PRId64 "\n", file->name, file->bytes, file->gone_s);
}

enum ss_status ss_manifest_set(const struct ss_run_store *store, struct ss_manifest *manifest,
			       const struct ss_manifest_file *file, struct ss_error *err)
{
	const struct ss_manifest_file *before = ss_manifest_find(manifest, file->name);
	char path[SS_PATH_BYTES];
	int fd = -1;

	if (!file->gone_s) {
		SS_TRY(ss_run_store_path(store, path, err, "%s", file->name));
		/* NFS asks its server when a file is opened */
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd >= 0)
			close(fd);
		if (fd < 0 || before)
			return ss_fail(err, SS_ERR_IO,
				       "'%.180s' was deleted as a leftover: writing took more than "
				       "an hour; try again",
				       path);
	}
	manifest_add_row(file, &manifest->rows);
	if (before) {
		manifest->files[before - manifest->files].gone_s = file->gone_s;
		return SS_OK;
	}
	SS_TRY(manifest_append(manifest, *file, err));
	manifest_sort(manifest);
	return SS_OK;
}

/* Deletes manifests that nobody needs, the oldest first. */
static enum ss_status manifest_delete_old(const struct ss_run_store *store, uint64_t first,
					  struct ss_error *err)
{
	char path[SS_PATH_BYTES];
	SS_STORE_NAMES(names);

	SS_TRY(ss_run_store_path(store, path, err, FOLDER));
	SS_TRY(ss_run_store_names_read(path, &names, err));
	SS_SORT(names.items, names.count, ss_sort_compare_strings);
	for (uint32_t i = 0; i < names.count; i++) {
		uint64_t number = manifest_number_of(names.items[i]);

		if (!number || number + KEPT >= first)
			continue;
		SS_TRY(ss_run_store_path(store, path, err, FOLDER "/%s", names.items[i]));
		if (unlink(path) != 0 && errno != ENOENT)
			return SS_OK; /* another one may: order matters */
	}
	return SS_OK;
}

/* Writes the file under its name; *is_late: there is one of that name. */
static enum ss_status manifest_write(const struct ss_run_store *store, uint64_t number,
				     const struct ss_text *text, bool *is_late,
				     struct ss_error *err)
{
	char path[SS_PATH_BYTES];
	struct ss_new_file file;
	enum ss_status status;

	SS_TRY(ss_run_store_path(store, path, err, FOLDER));
	if (mkdir(path, 0777) != 0 && errno != EEXIST)
		return ss_fail(err, SS_ERR_IO, "cannot write '%.200s': %s", path, strerror(errno));
	SS_TRY(ss_run_store_path(store, path, err, FOLDER "/" NUMBER, number));
	*is_late = access(path, F_OK) == 0;
	if (*is_late)
		return SS_OK;
	SS_TRY(ss_new_file_open(path, &file, err));
	file.is_first = true;
	status = ss_new_file_write(&file, text->data, text->length, err);
	if (status != SS_OK) {
		ss_new_file_drop(&file);
		return status;
	}
	status = ss_new_file_close(&file, err);
	*is_late = file.is_late;
	if (*is_late && err)
		*err = (struct ss_error){ 0 };
	return *is_late ? SS_OK : status;
}

enum ss_status ss_manifest_commit(struct ss_run_store *store, struct ss_manifest *manifest,
				  bool *is_late, struct ss_error *err)
{
	uint64_t number = manifest->number + 1, newest;
	bool is_whole = manifest->is_whole || !manifest->number ||
			number - manifest->first > CONTINUED_MAX;
	SS_TEXT(text);

	ss_text_addf(&text, HEAD FOLDER "/" NUMBER ",0,1\n", is_whole ? number : manifest->first);
	if (is_whole)
		for (uint32_t i = 0; i < manifest->count; i++)
			manifest_add_row(&manifest->files[i], &text);
	else
		ss_text_add(&text, manifest->rows.data, manifest->rows.length);
	if (ss_text_failed(&text) || ss_text_failed(&manifest->rows))
		return ss_fail_memory(err, "the manifest");
	SS_TRY(ss_run_store_describe(store, err));
	SS_TRY(manifest_write(store, number, &text, is_late, err));
	if (*is_late)
		return SS_OK;
	/* a process that stood still for long may have made one again that was deleted as old */
	SS_TRY(manifest_newest(store, &newest, err));
	*is_late = newest >= number + KEPT;
	return is_whole && !*is_late ? manifest_delete_old(store, number, err) : SS_OK;
}

/* --- files for queries ---------------------------------------------------------------------- */

/* Appends a name in an SQL string; DuckDB takes it as a pattern. */
static void manifest_add_pattern(struct ss_text *out, const char *path)
{
	for (; *path; path++)
		if (strchr("*?[", *path))
			ss_text_addf(out, "[%c]", *path);
		else
			ss_text_add(out, *path == '\'' ? "''" : path, *path == '\'' ? 2 : 1);
}

bool ss_manifest_add_files(const struct ss_run_store *store, const struct ss_manifest *manifest,
			   const char *table, const char *from, const char *to, struct ss_text *out)
{
	const char *between = "read_parquet(['";
	SS_TEXT(path);
	bool has = false;

	manifest_add_pattern(&path, store->path);
	for (uint32_t i = 0; i < manifest->count; i++) {
		const struct ss_manifest_file *file = &manifest->files[i];
		const char *date = ss_manifest_date(file);

		if (!ss_manifest_counts(file, table, NULL) ||
		    (from && strncmp(date, from, SS_DATE_BYTES - 1) < 0) ||
		    (to && strncmp(date, to, SS_DATE_BYTES - 1) > 0))
			continue;
		ss_text_add_string(out, between);
		ss_text_add(out, path.data, path.length);
		ss_text_addf(out, "/%s'", file->name);
		between = ", '";
		has = true;
	}
	if (has)
		ss_text_add_string(out,
				   from ? "], union_by_name = true, hive_partitioning = false)"
					: "], union_by_name = true, hive_partitioning = true)");
	ss_text_end(&path, out);
	return has;
}

/* --- what is in the folders ----------------------------------------------------------------- */

static enum ss_status manifest_list_day(const struct ss_run_store *store, const char *table,
					const char *day, struct ss_manifest *out,
					struct ss_error *err)
{
	char path[SS_PATH_BYTES];
	SS_STORE_NAMES(names);

	SS_TRY(ss_run_store_path(store, path, err, "%s/%s", table, day));
	SS_TRY(ss_run_store_names_read(path, &names, err));
	for (uint32_t i = 0; i < names.count; i++) {
		char name[SS_MANIFEST_NAME_BYTES];
		struct stat info;
		int length = snprintf(name, sizeof(name), "%s/%s/%s", table, day, names.items[i]);

		if (length < 0 || (size_t)length >= sizeof(name) || !manifest_is_name(name))
			continue;
		SS_TRY(ss_run_store_path(store, path, err, "%s", name));
		if (stat(path, &info) != 0)
			continue;
		SS_TRY(manifest_append(out,
				       (struct ss_manifest_file){ .name = name,
								  .bytes = (uint64_t)info.st_size,
								  .gone_s = info.st_mtime },
				       err));
	}
	return SS_OK;
}

static enum ss_status manifest_list_table(const struct ss_run_store *store, const char *table,
					  struct ss_manifest *out, struct ss_error *err)
{
	char path[SS_PATH_BYTES];
	SS_STORE_NAMES(days);

	SS_TRY(ss_run_store_path(store, path, err, "%s", table));
	SS_TRY(ss_run_store_names_read(path, &days, err));
	for (uint32_t i = 0; i < days.count; i++)
		SS_TRY(manifest_list_day(store, table, days.items[i], out, err));
	return SS_OK;
}

enum ss_status ss_manifest_list_folders(const struct ss_run_store *store, struct ss_manifest *out,
					struct ss_error *err)
{
	manifest_begin(out);
	for (size_t i = 0; i < ss_stored_table_count; i++)
		SS_TRY(manifest_list_table(store, ss_stored_tables[i]->name, out, err));
	for (size_t i = 0; i < ss_stored_live_table_count; i++)
		SS_TRY(manifest_list_table(store, ss_stored_live_tables[i]->name, out, err));
	manifest_sort(out);
	return SS_OK;
}
