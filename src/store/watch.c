/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.c - finds the traces below a folder, and the runs that are complete and were not handled.
 */
#include "store/watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash/hash.h"
#include "base/sort.h"
#include "base/system/clock.h"

/* --- traces below the folder, and their runs ----------------------------------------------- */

/* Depth of nested folders; links to folders are not followed. */
#define DEPTH_MAX 32

/* The folder of the ranks: "a/b" of "a/b/rank0.json" and of "a/b/rank_0/trace.json". */
static const char *watched_run_folder(struct ss_arena *arena, const char *path)
{
	size_t length = strlen(path);
	int levels = ss_find_rank_in_name(path) >= 0 ? 1 : ss_find_rank(path) >= 0 ? 2 : 0;

	for (; levels; levels--) {
		while (length && path[length - 1] != '/')
			length--;
		if (!length)
			return path;
		length--;
	}
	return ss_arena_copy(arena, path, length);
}

static enum ss_status watched_add_file(struct ss_watcher *watcher, const char *path,
				       const struct stat *info, struct ss_error *err)
{
	struct ss_watched_file *file;

	if (!SS_GROW(&watcher->memory, watcher->files, watcher->file_capacity, watcher->file_count))
		return ss_fail_memory(err, "the list of files");
	file = &watcher->files[watcher->file_count];
	file->path = ss_arena_copy(&watcher->arena, path, strlen(path));
	/* folders above the watched one do not name a rank */
	file->run = file->path ? watched_run_folder(&watcher->arena, file->path) : NULL;
	if (file->run && strlen(file->run) < strlen(watcher->folder))
		file->run = watcher->folder;
	file->device = (uint64_t)info->st_dev;
	file->inode = (uint64_t)info->st_ino;
	file->bytes = (uint64_t)info->st_size;
	file->changed_ns = (int64_t)info->st_mtim.tv_sec * 1000000000 +
			   (int64_t)info->st_mtim.tv_nsec;
	if (!file->run)
		return ss_fail_memory(err, "the list of files");
	watcher->file_count++;
	return SS_OK;
}

static enum ss_status watch_scan_folder(struct ss_watcher *watcher, const char *folder, int depth,
					struct ss_error *err);

static enum ss_status watched_look_at_file(struct ss_watcher *watcher, const char *path,
					   const char *name, int depth, struct ss_error *err)
{
	struct stat info;
	bool is_link;

	if (lstat(path, &info) != 0)
		return SS_OK;
	is_link = S_ISLNK(info.st_mode);
	if (S_ISDIR(info.st_mode))
		return depth < DEPTH_MAX ? watch_scan_folder(watcher, path, depth + 1, err) : SS_OK;
	if (!ss_find_is_trace(name) || ss_find_is_snapshot(name) || stat(path, &info) != 0 ||
	    !S_ISREG(info.st_mode))
		return SS_OK;
	SS_TRY(watched_add_file(watcher, path, &info, err));
	watcher->files[watcher->file_count - 1].is_link = is_link;
	return SS_OK;
}

/* Skips a folder that cannot be read: it may be readable later. */
static enum ss_status watch_scan_folder(struct ss_watcher *watcher, const char *folder, int depth,
					struct ss_error *err)
{
	enum ss_status status = SS_OK;
	const struct dirent *entry;
	DIR *opened;

	if (strcmp(folder, watcher->output) == 0)
		return SS_OK;
	ss_notify_add(watcher->notify, folder);
	opened = opendir(folder);
	if (!opened && !depth)
		return ss_fail(err, SS_ERR_IO, "cannot open '%.200s': %s", folder, strerror(errno));
	while (opened && status == SS_OK && (entry = readdir(opened))) {
		char path[SS_PATH_BYTES];
		int length = snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);

		if (entry->d_name[0] != '.' && length > 0 && (size_t)length < sizeof(path))
			status = watched_look_at_file(watcher, path, entry->d_name, depth, err);
	}
	if (opened)
		closedir(opened);
	return status;
}

static int watched_run_compare(const void *a, const void *b)
{
	const struct ss_watched_file *one = a, *other = b;
	int order = strcmp(one->run, other->run);

	return order ? order : ss_find_compare_names(one->path, other->path);
}

/* Names and links of the same file next to each other, its own name first. */
static int watched_file_compare(const void *a, const void *b)
{
	const struct ss_watched_file *one = a, *other = b;

	if (one->device != other->device)
		return one->device < other->device ? -1 : 1;
	if (one->inode != other->inode)
		return one->inode < other->inode ? -1 : 1;
	if (one->is_link != other->is_link)
		return one->is_link ? 1 : -1;
	return ss_find_compare_names(one->path, other->path);
}

/* A file counts once, however many links lead to it; some file systems have no numbers. */
static void watcher_drop_links(struct ss_watcher *watcher)
{
	uint32_t kept = 0;

	SS_SORT(watcher->files, watcher->file_count, watched_file_compare);
	for (uint32_t i = 0; i < watcher->file_count; i++) {
		const struct ss_watched_file *file = &watcher->files[i];

		if (!i || !file->inode || file->inode != file[-1].inode ||
		    file->device != file[-1].device)
			watcher->files[kept++] = *file;
	}
	watcher->file_count = kept;
}

/* Fills `files`, sorted by run and name. */
static enum ss_status watcher_find_files(struct ss_watcher *watcher, struct ss_error *err)
{
	ss_arena_release(&watcher->arena);
	ss_arena_init(&watcher->arena, &watcher->memory);
	watcher->file_count = 0;
	SS_TRY(watch_scan_folder(watcher, watcher->folder, 0, err));
	if (!watcher->file_count)
		return SS_OK;
	watcher_drop_links(watcher);
	SS_SORT(watcher->files, watcher->file_count, watched_run_compare);
	return SS_OK;
}

/* A line of the list: a signature as 16 hexadecimal digits. */
#define LINE_BYTES 17

/* Time between scans without notifications, and the longest time between scans with them. */
#define LOOK_AGAIN_NS ((int64_t)1000000000)
#define LOOK_LEAST_NS (60 * LOOK_AGAIN_NS)

/* Files that were renamed to their names are whole at once. */
#define EARLY_NS ((int64_t)1000000000)
/* Looks that find nothing whole while files arrive take this share of the time at most. */
#define EARLY_SHARE 10

/* --- the list of handled runs ---------------------------------------------------------- */

/* Skips lines that are incomplete because a process was killed. */
static enum ss_status watcher_read_list(struct ss_watcher *watcher, struct ss_error *err)
{
	FILE *file = fdopen(dup(watcher->list), "rb");
	char line[64];
	enum ss_status status = SS_OK;

	if (!file)
		return ss_fail(err, SS_ERR_IO, "cannot read what was added: %s", strerror(errno));
	rewind(file);
	while (status == SS_OK && fgets(line, sizeof(line), file)) {
		uint64_t signature = strtoull(line, NULL, 16);

		if (strlen(line) == LINE_BYTES &&
		    ss_records_add(&watcher->done, &signature) == SS_NO_ID)
			status = ss_fail_memory(err, "the list of what was added");
	}
	fclose(file);
	return status;
}

static enum ss_status watcher_open_list(struct ss_watcher *watcher, const char *host,
					struct ss_error *err)
{
	char path[SS_PATH_BYTES];
	uint64_t name = ss_hash_bytes(watcher->folder, strlen(watcher->folder));

	if (*host)
		name = ss_hash_mix(name, ss_hash_bytes(host, strlen(host)));
	if (snprintf(path, sizeof(path), "%s/.watched-%016" PRIx64, watcher->output, name) >=
	    (int)sizeof(path))
		return ss_fail(err, SS_ERR_USAGE, "the path of the output is too long");
	watcher->list = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (watcher->list < 0)
		return ss_fail(err, SS_ERR_IO, "cannot write '%.200s': %s", path, strerror(errno));
	return watcher_read_list(watcher, err);
}

enum ss_status ss_watcher_open(const char *folder, const char *output, const char *host,
			       int64_t settle_ns, struct ss_watcher *out, struct ss_error *err)
{
	enum ss_status status;

	*out = (struct ss_watcher){ .settle_ns = settle_ns, .notify = -1, .list = -1 };
	ss_memory_init(&out->memory, 0);
	ss_arena_init(&out->arena, &out->memory);
	if (!realpath(folder, out->folder))
		return ss_fail(err, SS_ERR_IO, "cannot open '%.200s': %s", folder, strerror(errno));
	if (!realpath(output, out->output))
		return ss_fail(err, SS_ERR_IO, "cannot open '%.200s': %s", output, strerror(errno));
	status = ss_strings_init(&out->keys, &out->memory) &&
				 ss_records_init(&out->done, &out->memory, sizeof(uint64_t))
			 ? SS_OK
			 : ss_fail_memory(err, "the list of files");
	if (status == SS_OK)
		status = watcher_open_list(out, host, err);
	out->notify = ss_notify_open();
	return status;
}

void ss_watcher_close(struct ss_watcher *watcher)
{
	SS_FREE(&watcher->memory, watcher->files, watcher->file_capacity);
	SS_FREE(&watcher->memory, watcher->states, watcher->state_capacity);
	ss_arena_release(&watcher->arena);
	ss_strings_release(&watcher->keys);
	ss_records_release(&watcher->done);
	if (watcher->notify >= 0)
		close(watcher->notify);
	if (watcher->list >= 0)
		close(watcher->list);
}

static enum ss_status watcher_remember(struct ss_watcher *watcher, uint64_t signature,
				       struct ss_error *err)
{
	char line[LINE_BYTES + 1];

	snprintf(line, sizeof(line), "%016" PRIx64 "\n", signature);
	if (ss_records_add(&watcher->done, &signature) == SS_NO_ID)
		return ss_fail_memory(err, "the list of what was added");
	if (write(watcher->list, line, LINE_BYTES) != LINE_BYTES)
		return ss_fail(err, SS_ERR_IO, "cannot write what was added: %s", strerror(errno));
	return SS_OK;
}

/*
 * Locks a byte of the list for each run that is worked on: another process leaves that run alone,
 * and if this one is killed the lock is gone. File systems without locks have none: there a run
 * that two processes add is recognized by its id.
 */
static bool watcher_lock(const struct ss_watcher *watcher, uint64_t signature, bool is_begin)
{
#ifdef F_OFD_SETLK
	struct flock lock = { .l_type = is_begin ? F_WRLCK : F_UNLCK,
			      .l_whence = SEEK_SET,
			      .l_start = (off_t)(signature >> 2),
			      .l_len = 1 };

	return fcntl(watcher->list, F_OFD_SETLK, &lock) == 0 ||
	       (errno != EAGAIN && errno != EACCES);
#else
	(void)watcher, (void)signature, (void)is_begin;
	return true;
#endif
}

bool ss_watcher_lock_live(const struct ss_watcher *watcher, bool is_begin)
{
	return watcher_lock(watcher, UINT64_MAX, is_begin);
}

/* --- runs in the folder ---------------------------------------------------------------- */

static uint64_t watched_files_signature(const struct ss_watched_file *files, uint32_t count)
{
	uint64_t hash = SS_HASH_SEED;

	for (uint32_t i = 0; i < count; i++) {
		hash = ss_hash_mix(hash, ss_hash_bytes(files[i].path, strlen(files[i].path)));
		hash = ss_hash_mix(hash, files[i].bytes);
		hash = ss_hash_mix(hash, (uint64_t)files[i].changed_ns);
	}
	return hash;
}

/* The number of files, from this one on, that belong to the same run. */
static uint32_t count_files(const struct ss_watcher *watcher, uint32_t first)
{
	uint32_t count = 1;

	while (first + count < watcher->file_count &&
	       strcmp(watcher->files[first].run, watcher->files[first + count].run) == 0)
		count++;
	return count;
}

/* Notes the state of one run: if its files have changed, its quiet time begins anew. */
static enum ss_status watcher_note_run(struct ss_watcher *watcher, uint32_t first, uint32_t count,
				       struct ss_error *err)
{
	const struct ss_watched_file *files = &watcher->files[first];
	uint32_t known = watcher->keys.count;
	uint32_t key = ss_strings_add(&watcher->keys, files->run, strlen(files->run));
	uint64_t signature = watched_files_signature(files, count);
	struct ss_watched_state *state;

	if (key == SS_NO_ID ||
	    !ss_memory_reserve(&watcher->memory, (void **)&watcher->states,
			       &watcher->state_capacity, (size_t)key + 1, sizeof(*state)))
		return ss_fail_memory(err, "the list of files");
	state = &watcher->states[key];
	if (key == known)
		*state = (struct ss_watched_state){ 0 };
	if (key != known && state->signature == signature)
		return SS_OK;
	state->signature = signature;
	state->since_ns = ss_clock_ns();
	state->not_before = 0;
	return SS_OK;
}

enum ss_status ss_watcher_scan(struct ss_watcher *watcher, struct ss_error *err)
{
	SS_TRY(watcher_find_files(watcher, err));
	for (uint32_t i = 0, count; i < watcher->file_count; i += count) {
		count = count_files(watcher, i);
		SS_TRY(watcher_note_run(watcher, i, count, err));
	}
	return SS_OK;
}

static bool watcher_is_done(const struct ss_watcher *watcher, const struct ss_watched_state *state)
{
	return state->handled == state->signature ||
	       ss_records_find(&watcher->done, &state->signature) != SS_NO_ID;
}

/* Whether the run is this process's now; another one may have handled it in the meantime. */
static bool watcher_claim(struct ss_watcher *watcher, const struct ss_watched_state *state)
{
	if (!watcher_lock(watcher, state->signature, true))
		return false;
	if (watcher_read_list(watcher, NULL) == SS_OK && !watcher_is_done(watcher, state))
		return true;
	(void)watcher_lock(watcher, state->signature, false);
	return false;
}

/* How long a run is quiet before it is reported for the first time. */
static int64_t watched_patience(const struct ss_watcher *watcher,
				const struct ss_watched_state *state)
{
	int64_t early_ns = EARLY_NS + EARLY_SHARE * state->looked_ns;

	return early_ns < watcher->settle_ns ? early_ns : watcher->settle_ns;
}

bool ss_watcher_next(struct ss_watcher *watcher, struct ss_arrived *out, bool *waiting)
{
	int64_t time = ss_clock_ns();

	*waiting = false;
	for (uint32_t i = 0, count; i < watcher->file_count; i += count) {
		const char *run = watcher->files[i].run;
		uint32_t key = ss_strings_find(&watcher->keys, run, strlen(run));
		const struct ss_watched_state *state = &watcher->states[key];
		int64_t quiet_ns = time - state->since_ns;

		count = count_files(watcher, i);
		if (watcher_is_done(watcher, state))
			continue;
		*waiting = true;
		if (quiet_ns < watched_patience(watcher, state) || time < state->not_before ||
		    !watcher_claim(watcher, state))
			continue;
		*out = (struct ss_arrived){ .run = run,
					    .files = &watcher->files[i],
					    .file_count = count,
					    .key = key,
					    .quiet_ns = quiet_ns,
					    .is_early = quiet_ns < watcher->settle_ns };
		return true;
	}
	return false;
}

enum ss_status ss_watcher_handled(struct ss_watcher *watcher, const struct ss_arrived *arrived,
				  bool is_done, struct ss_error *err)
{
	struct ss_watched_state *state = &watcher->states[arrived->key];
	enum ss_status status = SS_OK;

	state->handled = state->signature;
	if (is_done)
		status = watcher_remember(watcher, state->signature, err);
	(void)watcher_lock(watcher, state->signature, false);
	return status;
}

void ss_watcher_postpone(struct ss_watcher *watcher, const struct ss_arrived *arrived,
			 int64_t wait_ns)
{
	struct ss_watched_state *state = &watcher->states[arrived->key];

	state->not_before = ss_clock_ns() + wait_ns;
	(void)watcher_lock(watcher, state->signature, false);
}

void ss_watcher_wait_for_rest(struct ss_watcher *watcher, const struct ss_arrived *arrived)
{
	struct ss_watched_state *state = &watcher->states[arrived->key];

	state->looked_ns = ss_clock_ns() - state->since_ns - arrived->quiet_ns;
	ss_watcher_postpone(watcher, arrived,
			    watcher->settle_ns - arrived->quiet_ns - state->looked_ns);
}

/* What is remembered of a name or a file, and cannot be taken for the signature of a run. */
enum remembered { REMEMBERED_FOREIGN = 1, REMEMBERED_KEPT, REMEMBERED_TOLD, REMEMBERED_DUE };

static uint64_t watched_path_mark(const char *path)
{
	return ss_hash_mix(ss_hash_bytes(path, strlen(path)), REMEMBERED_FOREIGN);
}

bool ss_watcher_is_foreign(const struct ss_watcher *watcher, const char *run)
{
	uint64_t mark = watched_path_mark(run);

	return ss_records_find(&watcher->done, &mark) != SS_NO_ID;
}

enum ss_status ss_watcher_tell_foreign(struct ss_watcher *watcher, const char *run,
				       struct ss_error *err)
{
	return ss_watcher_is_foreign(watcher, run)
		       ? SS_OK
		       : watcher_remember(watcher, watched_path_mark(run), err);
}

static uint64_t watched_file_mark(const struct ss_watched_file *file)
{
	return ss_hash_mix(watched_files_signature(file, 1), REMEMBERED_KEPT);
}

bool ss_watcher_is_kept(const struct ss_watcher *watcher, const struct ss_watched_file *file)
{
	uint64_t mark = watched_file_mark(file);

	return ss_records_find(&watcher->done, &mark) != SS_NO_ID;
}

enum ss_status ss_watcher_keep(struct ss_watcher *watcher, const struct ss_watched_file *file,
			       struct ss_error *err)
{
	return ss_watcher_is_kept(watcher, file)
		       ? SS_OK
		       : watcher_remember(watcher, watched_file_mark(file), err);
}

static bool watcher_has_told(const struct ss_watcher *watcher, uint64_t job, uint32_t step,
			     uint32_t slack)
{
	for (uint32_t at = step > slack ? step - slack : 0; at <= step + slack; at++) {
		uint64_t mark = ss_hash_mix(job, at);

		if (ss_records_find(&watcher->done, &mark) != SS_NO_ID)
			return true;
	}
	return false;
}

bool ss_watcher_may_tell(struct ss_watcher *watcher, const char *job, int64_t begin_ns,
			 uint32_t step, uint32_t slack)
{
	uint64_t mark = ss_hash_mix(watched_path_mark(job), REMEMBERED_TOLD);
	bool may_tell;

	mark = ss_hash_mix(mark, (uint64_t)begin_ns);
	if (watcher_has_told(watcher, mark, step, slack) || !watcher_lock(watcher, mark, true))
		return false;
	/* a list that cannot be written makes an event come again, never none */
	may_tell = watcher_read_list(watcher, NULL) != SS_OK ||
		   !watcher_has_told(watcher, mark, step, slack);
	if (may_tell)
		(void)watcher_remember(watcher, ss_hash_mix(mark, step), NULL);
	(void)watcher_lock(watcher, mark, false);
	return may_tell;
}

static uint64_t watched_run_mark(const char *run_id, enum remembered what)
{
	return ss_hash_mix(ss_hash_bytes(run_id, strlen(run_id)), what);
}

bool ss_watcher_begin_run(struct ss_watcher *watcher, const char *run_id)
{
	uint64_t due = watched_run_mark(run_id, REMEMBERED_DUE);
	uint64_t told = watched_run_mark(run_id, REMEMBERED_TOLD);

	/* another process is about to tell them */
	if (!watcher_lock(watcher, due, true))
		return false;
	(void)watcher_read_list(watcher, NULL);
	if (ss_records_find(&watcher->done, &due) == SS_NO_ID) {
		(void)watcher_remember(watcher, due, NULL);
		return false;
	}
	return ss_records_find(&watcher->done, &told) == SS_NO_ID;
}

void ss_watcher_end_run(struct ss_watcher *watcher, const char *run_id)
{
	uint64_t told = watched_run_mark(run_id, REMEMBERED_TOLD);

	if (ss_records_find(&watcher->done, &told) == SS_NO_ID)
		(void)watcher_remember(watcher, told, NULL);
	(void)watcher_lock(watcher, watched_run_mark(run_id, REMEMBERED_DUE), false);
}

void ss_watcher_wait(struct ss_watcher *watcher, bool waiting)
{
	int64_t wait_ns = watcher->notify < 0 || waiting ? LOOK_AGAIN_NS : LOOK_LEAST_NS;

	if (wait_ns > watcher->settle_ns && waiting)
		wait_ns = watcher->settle_ns;
	(void)ss_notify_wait(watcher->notify, (int)(wait_ns / 1000000));
}
