/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_folders.c - compares the ranks of folders.
 */
#include "load/job_folders.h"

#include <string.h>

#include "base/search.h"
#include "base/sort.h"

/* A file and its path, to sort. */
struct placed_file {
	const char *path;
	uint32_t file;
};

SS_COMPARATOR(placed_file_compare, struct placed_file, SS_ORDERED(strcmp, path) SS_ASCENDING(file))

struct ss_job_folders *ss_job_folders_make(const struct ss_job *job, struct ss_arena *arena)
{
	size_t room = (size_t)job->file_count + 1;
	struct ss_job_folders *out = SS_ARENA_NEW(arena, struct ss_job_folders, 1);
	struct placed_file *placed = SS_ARENA_NEW(arena, struct placed_file, room);

	if (!out || !placed)
		return NULL;
	out->files = job->files;
	out->count = job->file_count;
	if (!SS_ALLOC(arena, out->by_path, room) || !SS_ALLOC(arena, out->below, room) ||
	    !SS_ALLOC(arena, out->beside, room))
		return NULL;
	for (uint32_t i = 0; i < out->count; i++)
		placed[i] = (struct placed_file){ job->files[i].subject.path, i };
	SS_SORT(placed, out->count, placed_file_compare);
	for (uint32_t i = 0; i < out->count; i++)
		out->by_path[i] = placed[i].file;
	return out;
}

size_t ss_job_folders_shared(const char *a, const char *b)
{
	size_t shared = 0;

	for (size_t i = 0; a[i] && a[i] == b[i]; i++)
		if (a[i] == '/')
			shared = i + 1;
	return shared;
}

static const char *path_at(const struct ss_job_folders *folders, uint32_t place)
{
	return folders->files[folders->by_path[place]].subject.path;
}

/* Where the files begin whose paths begin as this one does. */
static uint32_t folder_begin(const struct ss_job_folders *folders, const char *path, size_t length)
{
	uint32_t low = 0, high = folders->count;

	SS_SEARCH(low, high, at, strncmp(path_at(folders, at), path, length) < 0);
	return low;
}

/* The length of the path of a folder below the shared one; the shared one: the file is in it. */
static size_t folder_length(const char *path, size_t shared)
{
	const char *slash = strchr(path + shared, '/');

	return slash ? (size_t)(slash - path) + 1 : shared;
}

/* Lists the files of a folder by rank: all below it, or if it is the shared one those in it. */
static uint32_t folder_list(const struct ss_job_folders *folders, const char *path, size_t length,
			    size_t shared, uint32_t *out)
{
	uint32_t count = 0;

	for (uint32_t i = folder_begin(folders, path, length);
	     i < folders->count && strncmp(path_at(folders, i), path, length) == 0; i++)
		if (folders->files[folders->by_path[i]].subject.rank >= 0 &&
		    (length > shared || !strchr(path_at(folders, i) + shared, '/')))
			out[count++] = folders->by_path[i];
	SS_SORT(out, count, ss_sort_compare_uint32);
	return count;
}

/* Whether a rank has files in both lists that are not copies. */
static bool lists_share_rank(const struct ss_job_folders *folders, uint32_t count, uint32_t others)
{
	for (uint32_t i = 0, k = 0; i < count && k < others;) {
		const struct ss_job_file *a = &folders->files[folders->below[i]];
		const struct ss_job_file *b = &folders->files[folders->beside[k]];

		if (a->subject.rank == b->subject.rank && !ss_job_files_are_copies(a, b))
			return true;
		if (folders->below[i] < folders->beside[k])
			i++;
		else
			k++;
	}
	return false;
}

bool ss_job_folders_are_apart(struct ss_job_folders *folders, uint32_t file, uint32_t other)
{
	const char *a = folders->files[file].subject.path, *b = folders->files[other].subject.path;
	size_t shared = ss_job_folders_shared(a, b);
	size_t length = folder_length(a, shared), length_b = folder_length(b, shared);
	struct ss_job_folders_pair *pair;
	uint32_t first, second;

	if (length == shared && length_b == shared)
		return false;
	first = folder_begin(folders, a, length);
	second = folder_begin(folders, b, length_b);
	pair = &folders->known[(first * 31 + second) % SS_JOB_FOLDERS_KNOWN];
	if (!pair->is_known || pair->first != first || pair->second != second) {
		uint32_t count = folder_list(folders, a, length, shared, folders->below);
		uint32_t others = folder_list(folders, b, length_b, shared, folders->beside);

		*pair = (struct ss_job_folders_pair){ first, second, true,
						      lists_share_rank(folders, count, others) };
	}
	return pair->are_apart;
}
