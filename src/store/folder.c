/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folder.c - opens stores; manages their paths, locks and temporary folders.
 */
#include "store/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

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

static enum ss_status store_folder_describe(const struct ss_run_store *store, struct ss_error *err)
{
	char path[SS_PATH_BYTES], text[128];
	struct ss_new_file file;
	enum ss_status status;

	SS_TRY(check_empty(store->path, err));
	SS_TRY(ss_run_store_path(store, path, err, DESCRIPTION));
	SS_TRY(ss_new_file_open(path, &file, err));
	snprintf(text, sizeof(text), "{\"schema\": \"stepscope.store\", \"layout\": %d}\n",
		 SS_RUN_STORE_LAYOUT);
	status = ss_new_file_write(&file, text, strlen(text), err);
	if (status != SS_OK) {
		ss_new_file_drop(&file);
		return status;
	}
	return ss_new_file_close(&file, err);
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

static enum ss_status check_layout(const struct ss_run_store *store, const char *path,
				   struct ss_error *err)
{
	char text[DESCRIPTION_BYTES] = "";
	ssize_t length = pread(store->fd, text, sizeof(text) - 1, 0);
	unsigned long layout = length > 0 ? layout_of(text) : 0;

	if (length < 0)
		return fail_system("read", path, err);
	if (!layout)
		return ss_fail(err, SS_ERR_FORMAT,
			       "'%.200s/" DESCRIPTION "' does not describe a store", path);
	if (layout > SS_RUN_STORE_LAYOUT)
		return ss_fail(err, SS_ERR_FORMAT,
			       "the store '%.200s' has layout %lu, and this version knows layouts "
			       "up to %d: use a newer stepscope",
			       path, layout, SS_RUN_STORE_LAYOUT);
	return SS_OK;
}

/* Opens the description; read-only if the user may not write to the store. */
static int open_description(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	return fd < 0 && (errno == EACCES || errno == EROFS) ? open(path, O_RDONLY | O_CLOEXEC)
							     : fd;
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

enum ss_status ss_run_store_open(const char *path, bool creates, struct ss_run_store *out,
				 struct ss_error *err)
{
	char description[SS_PATH_BYTES];
	enum ss_status status;

	*out = (struct ss_run_store){ .fd = -1 };
	SS_TRY(store_folder_find(path, creates, out, err));
	SS_TRY(ss_run_store_path(out, description, err, DESCRIPTION));
	out->fd = open_description(description);
	if (out->fd < 0 && errno == ENOENT && creates) {
		SS_TRY(store_folder_describe(out, err));
		out->fd = open_description(description);
	}
	if (out->fd < 0 && errno == ENOENT)
		return ss_fail(err, SS_ERR_USAGE,
			       "'%.200s' is not a store: it has no " DESCRIPTION
			       "; 'stepscope store add' makes one",
			       path);
	if (out->fd < 0)
		return fail_system("open", description, err);
	status = check_layout(out, path, err);
	if (status != SS_OK)
		ss_run_store_close(out);
	return status;
}

void ss_run_store_close(struct ss_run_store *store)
{
	if (store->fd >= 0)
		close(store->fd);
	store->fd = -1;
}

/* --- locks and temporary folders ------------------------------------------------------ */

/* Whether the last lock failed because its file system has none. */
static bool lacks_locks(void)
{
	return errno == ENOLCK || errno == ENOSYS || errno == EOPNOTSUPP || errno == EINVAL;
}

/* Files that are added appear whole and under new names: that needs no lock. */
static enum ss_status take_lock(struct ss_run_store *store, int kind, struct ss_error *err)
{
	while (flock(store->fd, kind) != 0) {
		if (kind == LOCK_SH && lacks_locks())
			return SS_OK;
		if (errno != EINTR)
			return fail_system("lock", store->path, err);
	}
	return SS_OK;
}

enum ss_status ss_run_store_lock(struct ss_run_store *store, bool is_alone, struct ss_error *err)
{
	enum ss_status status = take_lock(store, is_alone ? LOCK_EX : LOCK_SH, err);

	if (status != SS_OK || !ss_run_store_is_dropping(store))
		return status;
	/* an interrupted drop must be completed first, or its dates could come back */
	status = is_alone ? SS_OK : take_lock(store, LOCK_EX, err);
	if (status == SS_OK)
		status = ss_run_store_finish_drop(store, err);
	if (status != SS_OK)
		ss_run_store_unlock(store);
	return status;
}

void ss_run_store_unlock(struct ss_run_store *store)
{
	flock(store->fd, LOCK_UN);
}

enum ss_status ss_run_store_work_begin(struct ss_run_store *store, struct ss_run_store_work *out,
				       struct ss_error *err)
{
	enum ss_status status;

	*out = (struct ss_run_store_work){ .fd = -1 };
	/* whoever removes leftovers waits until this folder is locked */
	SS_TRY(ss_run_store_lock(store, false, err));
	status = ss_new_folder(store->path, out->path, err);
	if (status == SS_OK)
		out->fd = open(out->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (status == SS_OK &&
	    (out->fd < 0 || (flock(out->fd, LOCK_EX | LOCK_NB) != 0 && !lacks_locks()))) {
		status = fail_system("lock", out->path, err);
		rmdir(out->path);
	}
	if (status != SS_OK)
		out->path[0] = '\0';
	ss_run_store_unlock(store);
	return status;
}

void ss_run_store_work_end(struct ss_run_store_work *work)
{
	if (work->path[0])
		ss_run_store_remove(work->path);
	if (work->fd >= 0)
		close(work->fd);
	*work = (struct ss_run_store_work){ .fd = -1 };
}

bool ss_run_store_remove(const char *path)
{
	DIR *folder = opendir(path);
	const struct dirent *entry;
	bool is_fine = true;

	if (!folder)
		return errno == ENOENT || (errno == ENOTDIR && unlink(path) == 0);
	while ((entry = readdir(folder))) {
		char inner[SS_PATH_BYTES];
		int length = snprintf(inner, sizeof(inner), "%s/%s", path, entry->d_name);

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (length < 0 || (size_t)length >= sizeof(inner))
			is_fine = false;
		else if (unlink(inner) != 0 && errno != ENOENT)
			is_fine = (errno == EISDIR || errno == EPERM) &&
				  ss_run_store_remove(inner) && is_fine;
	}
	closedir(folder);
	return (rmdir(path) == 0 || errno == ENOENT) && is_fine;
}

/* Removes temporary folders whose owner is gone. */
static enum ss_status remove_left(struct ss_run_store *store, struct ss_error *err)
{
	static const char begin[] = ".stepscope.";
	SS_STORE_NAMES(names);

	SS_TRY(ss_run_store_names_read(store->path, &names, err));
	for (uint32_t i = 0; i < names.count; i++) {
		char path[SS_PATH_BYTES];
		int fd;

		if (strncmp(names.items[i], begin, sizeof(begin) - 1) != 0)
			continue;
		SS_TRY(ss_run_store_path(store, path, err, "%s", names.items[i]));
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
			ss_run_store_remove(path);
		if (fd >= 0)
			close(fd);
	}
	return SS_OK;
}

/* Whether the lock that is held on the file refuses another one. */
static bool locks_exclude(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	bool excludes = fd < 0 || (flock(fd, LOCK_EX | LOCK_NB) != 0 && !lacks_locks());

	if (fd >= 0)
		close(fd);
	return excludes;
}

/* Locks the file of who compacts or drops, or says why not. */
static enum ss_status take_upkeep(const struct ss_run_store *store, const char *path, int fd,
				  struct ss_error *err)
{
	if (flock(fd, LOCK_EX | LOCK_NB) != 0 && !lacks_locks())
		return ss_fail(err, SS_ERR_IO,
			       "another process compacts or drops in '%.200s'; try again when it "
			       "is done",
			       store->path);
	/* what is added meanwhile would be lost */
	return locks_exclude(path)
		       ? SS_OK
		       : ss_fail(err, SS_ERR_IO,
				 "the file system of '%.200s' has no locks: compact or drop in a "
				 "copy on a local disk",
				 store->path);
}

enum ss_status ss_run_store_upkeep(struct ss_run_store *store, int *lock, struct ss_error *err)
{
	char path[SS_PATH_BYTES];
	enum ss_status status;

	SS_TRY(ss_run_store_path(store, path, err, ".upkeep"));
	*lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (*lock < 0)
		return fail_system("write", path, err);
	status = take_upkeep(store, path, *lock, err);
	if (status == SS_OK)
		status = ss_run_store_lock(store, true, err);
	if (status == SS_OK) {
		status = remove_left(store, err);
		ss_run_store_unlock(store);
	}
	if (status != SS_OK)
		close(*lock);
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

const char *ss_run_store_date_of(const char *name)
{
	static const char begin[] = "date=";

	if (strncmp(name, begin, sizeof(begin) - 1) != 0)
		return NULL;
	name += sizeof(begin) - 1;
	return ss_run_store_is_date(name) ? name : NULL;
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

enum ss_status ss_run_store_sync(const char *path, uint64_t *bytes, struct ss_error *err)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	enum ss_status status = SS_OK;
	struct stat info = { 0 };

	if (fd < 0 || fstat(fd, &info) != 0 || fsync(fd) != 0)
		status = fail_system("write", path, err);
	*bytes = (uint64_t)info.st_size;
	if (fd >= 0)
		close(fd);
	return status;
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

enum ss_status ss_run_store_write(const struct ss_run_store_work *work, struct ss_sql *sql,
				  const struct ss_text *query, const char *name, uint64_t *bytes,
				  struct ss_error *err)
{
	char path[SS_PATH_BYTES];
	uint64_t own = 0;
	int length = snprintf(path, sizeof(path), "%s/%s", work->path, name);

	if (length < 0 || (size_t)length >= sizeof(path))
		return ss_fail(err, SS_ERR_USAGE, "the path of the store is too long");
	if (ss_text_failed(query))
		return ss_fail_memory(err, "the query");
	SS_TRY(ss_sql_copy(sql, &(struct ss_sql_text){ query->data, query->length }, path, err));
	SS_TRY(ss_run_store_sync(path, &own, err));
	*bytes += own;
	return SS_OK;
}

enum ss_status ss_run_store_place(const struct ss_run_store *store,
				  const struct ss_run_store_work *work, const char *table,
				  const char *date, const char *name, struct ss_error *err)
{
	char from[SS_PATH_BYTES], folder[SS_PATH_BYTES], to[SS_PATH_BYTES];
	int length = snprintf(from, sizeof(from), "%s/%s", work->path, table);

	if (length < 0 || (size_t)length >= sizeof(from))
		return ss_fail(err, SS_ERR_USAGE, "the path of the store is too long");
	SS_TRY(ss_run_store_path(store, folder, err, "%s", table));
	if (mkdir(folder, 0777) != 0 && errno != EEXIST)
		return fail_system("write", folder, err);
	SS_TRY(ss_run_store_path(store, folder, err, "%s/date=%s", table, date));
	if (mkdir(folder, 0777) != 0 && errno != EEXIST)
		return fail_system("write", folder, err);
	SS_TRY(ss_run_store_path(store, to, err, "%s/date=%s/%s.parquet", table, date, name));
	if (rename(from, to) != 0)
		return fail_system("write", to, err);
	return ss_new_file_sync_folder(folder, err);
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
