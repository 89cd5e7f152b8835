/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folder.c - opens stores; manages their paths and the files that are written into them.
 */
#include "store/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/hash/hash.h"
#include "base/system/thread.h"
#include "base/utf8.h"

#define DESCRIPTION "stepscope.json"
#define DESCRIPTION_BYTES 4096

static enum ss_status fail_system(const char *doing, const char *path, struct ss_error *err)
{
	return ss_fail(err, SS_ERR_IO, "cannot %s '%.200s': %s", doing, path, strerror(errno));
}

enum ss_status ss_run_store_path(const struct ss_run_store *store, char out[SS_PATH_BYTES],
				 struct ss_error *err, const char *format, ...)
{
	size_t length = strlen(store->path);
	va_list arguments;
	int more;

	memcpy(out, store->path, length);
	out[length++] = '/';
	va_start(arguments, format);
	more = vsnprintf(out + length, SS_PATH_BYTES - length, format, arguments);
	va_end(arguments);
	if (more < 0 || (size_t)more >= SS_PATH_BYTES - length)
		return ss_fail(err, SS_ERR_USAGE, "the path of the store is too long");
	return SS_OK;
}

/* --- opening ------------------------------------------------------------------------ */

/* Only an empty folder can become a store. */
static enum ss_status check_empty(const char *path, struct ss_error *err)
{
	SS_STORE_NAMES(names);

	SS_TRY(ss_run_store_names_read(path, &names, err));
	for (uint32_t i = 0; i < names.count; i++)
		if (names.items[i][0] != '.')
			return ss_fail(err, SS_ERR_USAGE,
				       "'%.200s' has other files and is not a store: name a new "
				       "or an empty folder",
				       path);
	return SS_OK;
}

enum ss_status ss_run_store_describe(struct ss_run_store *store, struct ss_error *err)
{
	char path[SS_PATH_BYTES], text[128];
	struct ss_new_file file;
	enum ss_status status;

	if (store->layout == SS_RUN_STORE_LAYOUT)
		return SS_OK;
	SS_TRY(ss_run_store_path(store, path, err, DESCRIPTION));
	SS_TRY(ss_new_file_open(path, &file, err));
	snprintf(text, sizeof(text), "{\"schema\": \"stepscope.store\", \"layout\": %d}\n",
		 SS_RUN_STORE_LAYOUT);
	status = ss_new_file_write(&file, text, strlen(text), err);
	if (status != SS_OK) {
		ss_new_file_drop(&file);
		return status;
	}
	SS_TRY(ss_new_file_close(&file, err));
	store->layout = SS_RUN_STORE_LAYOUT;
	return SS_OK;
}

/* The number after "layout"; 0: none. */
static unsigned long layout_of(const char *text)
{
	static const char key[] = "\"layout\"";
	const char *at = strstr(text, key);

	at = at ? at + sizeof(key) - 1 : "";
	at += strspn(at, " \t\r\n:");
	return strtoul(at, NULL, 10);
}

/* Reads the layout; 0 without an error: there is no description. */
static enum ss_status read_layout(struct ss_run_store *store, const char *path,
				  struct ss_error *err)
{
	char description[SS_PATH_BYTES], text[DESCRIPTION_BYTES] = "";
	unsigned long layout;
	ssize_t length;
	int fd;

	SS_TRY(ss_run_store_path(store, description, err, DESCRIPTION));
	fd = open(description, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? SS_OK : fail_system("open", description, err);
	length = pread(fd, text, sizeof(text) - 1, 0);
	close(fd);
	if (length < 0)
		return fail_system("read", path, err);
	layout = layout_of(text);
	if (!layout)
		return ss_fail(err, SS_ERR_FORMAT,
			       "'%.200s/" DESCRIPTION "' does not describe a store", path);
	if (layout > SS_RUN_STORE_LAYOUT)
		return ss_fail(err, SS_ERR_FORMAT,
			       "the store '%.200s' has layout %lu, and this version knows layouts "
			       "up to %d: use a newer stepscope",
			       path, layout, SS_RUN_STORE_LAYOUT);
	store->layout = (int)layout;
	return SS_OK;
}

static enum ss_status store_folder_find(const char *path, bool creates, struct ss_run_store *out,
					struct ss_error *err)
{
	if (creates && mkdir(path, 0777) != 0 && errno != EEXIST)
		return fail_system("create the folder", path, err);
	if (!realpath(path, out->path))
		return fail_system("open", path, err);
	/* leave space for file names */
	if (strlen(out->path) > sizeof(out->path) / 2)
		return ss_fail(err, SS_ERR_USAGE, "the path of the store is too long");
	if (ss_utf8_check(out->path, strlen(out->path)) & SS_UTF8_BAD_BYTES)
		return ss_fail(err, SS_ERR_USAGE, "the path of the store is not UTF-8");
	return SS_OK;
}

/* Another process may make the store at the same time. */
static enum ss_status store_folder_make(struct ss_run_store *store, const char *path,
					struct ss_error *err)
{
	struct ss_error own = { 0 };
	enum ss_status status = check_empty(store->path, &own);

	if (status == SS_OK)
		return ss_run_store_describe(store, err);
	SS_TRY(read_layout(store, path, err));
	return store->layout ? SS_OK : ss_fail(err, status, "%s", own.text);
}

enum ss_status ss_run_store_open(const char *path, bool creates, struct ss_run_store *out,
				 struct ss_error *err)
{
	enum ss_status status;

	*out = (struct ss_run_store){ 0 };
	SS_TRY(store_folder_find(path, creates, out, err));
	status = read_layout(out, path, err);
	if (status == SS_OK && !out->layout && creates)
		status = store_folder_make(out, path, err);
	if (status == SS_OK && !out->layout)
		status = ss_fail(err, SS_ERR_USAGE,
				 "'%.200s' is not a store: it has no " DESCRIPTION
				 "; 'stepscope store add' makes one",
				 path);
	return status;
}

/* --- names ---------------------------------------------------------------------------- */

static bool store_names_add(struct ss_run_store_names *names, const char *name)
{
	const char *copy = ss_arena_copy(&names->arena, name, strlen(name));

	if (!copy || !ss_memory_reserve(&names->memory, (void **)(uintptr_t)&names->items,
					&names->capacity, names->count + 1, sizeof(*names->items)))
		return false;
	names->items[names->count++] = copy;
	return true;
}

enum ss_status ss_run_store_names_read(const char *folder, struct ss_run_store_names *out,
				       struct ss_error *err)
{
	DIR *opened = opendir(folder);
	const struct dirent *entry;
	enum ss_status status = SS_OK;

	*out = (struct ss_run_store_names){ 0 };
	ss_memory_init(&out->memory, 0);
	ss_arena_init(&out->arena, &out->memory);
	if (!opened)
		return errno == ENOENT ? SS_OK : fail_system("open", folder, err);
	while (status == SS_OK && (entry = readdir(opened)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
		    !store_names_add(out, entry->d_name))
			status = ss_fail_memory(err, "the files of the store");
	closedir(opened);
	return status;
}

void ss_run_store_names_release(struct ss_run_store_names *names)
{
	ss_memory_free(&names->memory, (void *)(uintptr_t)names->items,
		       names->capacity * sizeof(*names->items));
	ss_arena_release(&names->arena);
	*names = (struct ss_run_store_names){ 0 };
}

bool ss_run_store_is_date(const char *text)
{
	static const char form[] = "0000-00-00";

	for (size_t i = 0; i < sizeof(form); i++)
		if (form[i] == '0' ? text[i] < '0' || text[i] > '9' : text[i] != form[i])
			return false;
	return true;
}

static bool ends_as_parquet(const char *name, size_t from)
{
	return strlen(name) > from && strcmp(name + from, ".parquet") == 0;
}

bool ss_run_store_is_compact(const char *name)
{
	static const char begin[] = "compact-";

	return strncmp(name, begin, sizeof(begin) - 1) == 0 &&
	       ends_as_parquet(name, sizeof(begin) - 1 + SS_RUN_ID_BYTES - 1);
}

bool ss_run_store_is_run(const char *name)
{
	return strspn(name, "0123456789abcdef") == SS_RUN_ID_BYTES - 1 &&
	       ends_as_parquet(name, SS_RUN_ID_BYTES - 1);
}

void ss_run_store_add_literal(struct ss_text *out, const char *text)
{
	struct ss_text sound = { 0 };
	size_t length = text ? strlen(text) : 0;

	if (!text) {
		ss_text_add_string(out, "cast(null as varchar)");
		return;
	}
	if (!(ss_utf8_check(text, length) & SS_UTF8_BAD_BYTES)) {
		ss_text_add_string(&sound, text);
	} else if (ss_text_reserve(&sound, 3 * length)) {
		sound.length = ss_utf8_repair(text, length, sound.data);
		sound.data[sound.length] = '\0';
	}
	ss_text_add_string(out, "'");
	ss_sql_add_quoted(out, sound.data ? sound.data : "", '\'');
	ss_text_add_string(out, "'");
	ss_text_end(&sound, out);
}

/* --- writing files -------------------------------------------------------------------------- */

/*
 * DuckDB writes a table into a pipe, and a second thread writes the file: DuckDB itself locks the
 * files that it writes, which some network file systems refuse.
 */
struct store_piping {
	struct ss_sql *sql;
	const struct ss_sql_text *query;
	int to, from, file;
	uint64_t bytes;
	int problem; /* errno of writing */
	enum ss_status status;
	struct ss_error *err;
};

static void store_piping_fill(struct store_piping *piping)
{
	char path[32];

	snprintf(path, sizeof(path), SS_SQL_DESCRIPTORS "%d", piping->to);
	piping->status = ss_sql_copy(piping->sql, piping->query, path, piping->err);
	close(piping->to);
	piping->to = -1;
}

/* Reads to the end also when the file cannot be written: DuckDB must not wait for ever. */
static void store_piping_drain(struct store_piping *piping)
{
	char block[1 << 16];
	ssize_t count, written;

	while ((count = read(piping->from, block, sizeof(block))) != 0) {
		if (count < 0 && errno != EINTR)
			break;
		for (ssize_t at = 0; at < count && !piping->problem; at += written) {
			written = write(piping->file, block + at, (size_t)(count - at));
			if (written < 0 && errno != EINTR)
				piping->problem = errno;
			written = written < 0 ? 0 : written;
			piping->bytes += (uint64_t)written;
		}
	}
}

static void store_piping_work(void *context, uint32_t index)
{
	if (index)
		store_piping_drain(context);
	else
		store_piping_fill(context);
}

static void store_piping_stop(void *context)
{
	struct store_piping *piping = context;

	if (piping->to >= 0)
		close(piping->to);
	piping->to = -1;
}

static enum ss_status store_pipe(struct store_piping *piping, const char *path,
				 struct ss_error *err)
{
	int ends[2], problem;

	if (pipe(ends) != 0)
		return fail_system("write", path, err);
	piping->from = ends[0];
	piping->to = ends[1];
	problem = ss_thread_run_all(2, store_piping_work, store_piping_stop, piping);
	store_piping_stop(piping);
	close(piping->from);
	if (!problem && piping->status != SS_OK)
		return piping->status;
	problem = problem ? problem : piping->problem;
	if (!problem && fsync(piping->file) != 0 && errno != EINVAL)
		problem = errno;
	return !problem ? SS_OK
			: ss_fail(err, SS_ERR_IO, "cannot write '%.200s': %s", path,
				  strerror(problem));
}

/* Makes a file with a name that no process has used: "TABLE/date=DATE/BEGIN-KEY.parquet". */
static enum ss_status store_new_file(const struct ss_run_store *store, const char *table,
				     const char *date, const char *begin,
				     char name[SS_MANIFEST_NAME_BYTES], char path[SS_PATH_BYTES],
				     int *fd, struct ss_error *err)
{
	SS_TRY(ss_run_store_path(store, path, err, "%s", table));
	if (mkdir(path, 0777) != 0 && errno != EEXIST)
		return fail_system("write", path, err);
	SS_TRY(ss_run_store_path(store, path, err, "%s/date=%s", table, date));
	if (mkdir(path, 0777) != 0 && errno != EEXIST)
		return fail_system("write", path, err);
	do {
		struct timespec now = { 0 };
		uint64_t key;

		clock_gettime(CLOCK_REALTIME, &now);
		key = ss_hash_mix((uint64_t)now.tv_sec, (uint64_t)now.tv_nsec);
		key = ss_hash_mix(key, (uint64_t)getpid());
		key = ss_hash_mix(key, (uint64_t)(uintptr_t)name);
		snprintf(name, SS_MANIFEST_NAME_BYTES, "%s/date=%s/%s-%016" PRIx64 ".parquet",
			 table, date, begin, key);
		SS_TRY(ss_run_store_path(store, path, err, "%s", name));
		*fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	} while (*fd < 0 && errno == EEXIST);
	return *fd >= 0 ? SS_OK : fail_system("write", path, err);
}

enum ss_status ss_run_store_write(const struct ss_run_store *store, struct ss_sql *sql,
				  const struct ss_text *query, const char *table, const char *date,
				  const char *begin, struct ss_run_store_made *made,
				  struct ss_error *err)
{
	const struct ss_sql_text text = { query->data, query->length };
	struct store_piping piping = { .sql = sql, .query = &text, .err = err };
	struct ss_manifest_file *file;
	char path[SS_PATH_BYTES];
	enum ss_status status;

	if (ss_text_failed(query))
		return ss_fail_memory(err, "the query");
	if (made->count == SS_COUNT(made->files))
		return ss_fail(err, SS_ERR_LIMIT, "these rows are of more than %d days",
			       SS_RUN_STORE_MADE_MAX / 2);
	file = &made->files[made->count];
	SS_TRY(store_new_file(store, table, date, begin, made->names[made->count], path,
			      &piping.file, err));
	*file = (struct ss_manifest_file){ .name = made->names[made->count++] };
	status = store_pipe(&piping, path, err);
	close(piping.file);
	file->bytes = piping.bytes;
	*strrchr(path, '/') = '\0';
	return status == SS_OK ? ss_new_file_sync_folder(path, err) : status;
}

enum ss_status ss_run_store_name_made(const struct ss_run_store *store,
				      const struct ss_run_store_made *made,
				      struct ss_manifest *manifest, struct ss_error *err)
{
	for (uint32_t i = 0; i < made->count; i++)
		SS_TRY(ss_manifest_set(store, manifest, &made->files[i], err));
	return SS_OK;
}

void ss_run_store_delete_made(const struct ss_run_store *store, struct ss_run_store_made *made)
{
	char path[SS_PATH_BYTES];
	SS_MANIFEST(manifest);

	/* of a process that came late in a strange way, other manifests may name them */
	if (made->count && ss_manifest_read(store, &manifest, NULL) == SS_OK)
		for (uint32_t i = 0; i < made->count; i++)
			if (!ss_manifest_find(&manifest, made->names[i]) &&
			    ss_run_store_path(store, path, NULL, "%s", made->names[i]) == SS_OK)
				unlink(path);
	made->count = 0;
}

enum ss_status ss_run_store_query_open(const struct ss_run_store *store,
				       const struct ss_stored_run *run, struct ss_sql **out,
				       struct ss_error *err)
{
	const struct ss_sql_options options = { .threads = run ? run->threads : 0,
						.memory_limit_bytes = run ? run->memory_limit_bytes
									  : 0,
						.folder = store->path,
						.is_stopped = run ? run->is_stopped : NULL,
						.context = run ? run->context : NULL };

	return ss_sql_open(NULL, &options, out, err);
}
