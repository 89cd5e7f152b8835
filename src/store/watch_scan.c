/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch_scan.c - the traces below a folder, and which of them are one run.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "api/find_files.h"
#include "store/notify.h"
#include "store/watch.h"

/* Folders in folders; links to folders are not followed. */
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

	if (!ss_memory_reserve(&watcher->memory, (void **)&watcher->files, &watcher->file_capacity,
			       watcher->file_count + 1, sizeof(*watcher->files)))
		return ss_fail_memory(err, "the list of files");
	file = &watcher->files[watcher->file_count];
	file->path = ss_arena_copy(&watcher->arena, path, strlen(path));
	/* what lies above the watched folder does not tell a rank */
	file->run = file->path ? watched_run_folder(&watcher->arena, file->path) : NULL;
	if (file->run && strlen(file->run) < strlen(watcher->folder))
		file->run = watcher->folder;
	file->bytes = (uint64_t)info->st_size;
	file->changed_ns = (int64_t)info->st_mtim.tv_sec * 1000000000 +
			   (int64_t)info->st_mtim.tv_nsec;
	if (!file->run)
		return ss_fail_memory(err, "the list of files");
	watcher->file_count++;
	return SS_OK;
}

static enum ss_status look_into(struct ss_watcher *watcher, const char *folder, int depth,
				struct ss_error *err);

static enum ss_status watched_look_at_file(struct ss_watcher *watcher, const char *path,
					   const char *name, int depth, struct ss_error *err)
{
	struct stat info;

	if (lstat(path, &info) != 0)
		return SS_OK;
	if (S_ISDIR(info.st_mode))
		return depth < DEPTH_MAX ? look_into(watcher, path, depth + 1, err) : SS_OK;
	if (!ss_find_is_trace(name) || ss_find_is_snapshot(name) || stat(path, &info) != 0 ||
	    !S_ISREG(info.st_mode))
		return SS_OK;
	return watched_add_file(watcher, path, &info, err);
}

/* A folder that cannot be read now may be readable later: it is left out. */
static enum ss_status look_into(struct ss_watcher *watcher, const char *folder, int depth,
				struct ss_error *err)
{
	enum ss_status status = SS_OK;
	const struct dirent *entry;
	DIR *opened;

	if (strcmp(folder, watcher->store) == 0)
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

enum ss_status ss_watcher_find(struct ss_watcher *watcher, struct ss_error *err)
{
	ss_arena_release(&watcher->arena);
	ss_arena_init(&watcher->arena, &watcher->memory);
	watcher->file_count = 0;
	SS_TRY(look_into(watcher, watcher->folder, 0, err));
	if (watcher->file_count)
		qsort(watcher->files, watcher->file_count, sizeof(*watcher->files),
		      watched_run_compare);
	return SS_OK;
}
