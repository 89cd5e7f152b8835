/* SPDX-License-Identifier: Apache-2.0 */
/*
 * find.c - finds the trace files in folders and their subfolders, sorted by name.
 */
#include "load/files/find.h"
#include "stepscope.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "trace/formats.h"
#include "trace/pack/pack.h"

/* A job has at most some ten thousand ranks. */
#define FILES_MAX 100000u

/* Deeper folders are not searched: links can form cycles. */
#define DEPTH_MAX 8

bool ss_find_is_pack(const char *path)
{
	return ss_string_ends_with(path, ".stepscope");
}

bool ss_find_is_digest(const char *path)
{
	return ss_string_ends_with(path, ".digest");
}

bool ss_find_is_snapshot(const char *path)
{
	return ss_string_ends_with(path, ".pickle") || ss_string_ends_with(path, ".pickle.gz");
}

bool ss_find_is_trace(const char *name)
{
	return ss_trace_format_ending(name, true) > 0 || ss_find_is_snapshot(name);
}

size_t ss_find_stem(const char *path, bool derived)
{
	size_t length = strlen(path), ending = ss_trace_format_ending(path, derived);

	return length > ending ? length - ending : length;
}

/* What a folder has besides traces, for the error if it has no traces. */
struct folder_others {
	uint32_t count;
	char first[96];   /* the first of them in the order of names */
	const char *what; /* what `first` is, if its name shows it */
};

static void others_add_name(struct folder_others *others, const char *name)
{
	const char *what = ss_foreign_file_by_name(name);

	others->count++;
	if (others->what && !what)
		return;
	if (others->first[0] && !others->what == !what &&
	    ss_find_compare_names(name, others->first) > 0)
		return;
	others->what = what;
	snprintf(others->first, sizeof(others->first), "%s", name);
}

/* Says what the folder has instead of traces. */
static enum ss_status fail_no_traces(const char *folder, const struct folder_others *others,
				     struct ss_error *err)
{
	char list[160] = "";

	if (!others->count)
		return ss_fail(err, SS_ERR_MISSING,
			       "no trace files in '%.200s', the folder is empty: pass the folder "
			       "that tensorboard_trace_handler() or export_chrome_trace() wrote to",
			       folder);
	if (others->what)
		return ss_fail(err, SS_ERR_MISSING, "no trace files in '%.120s'; '%s': %s", folder,
			       others->first, others->what);
	for (size_t i = 0; i < ss_input_format_count; i++)
		for (size_t k = 0; k < SS_ENDINGS_MAX && ss_input_formats[i]->endings[k]; k++)
			ss_text_list(list, sizeof(list), ss_input_formats[i]->endings[k]);
	return ss_fail(
		err, SS_ERR_MISSING,
		"no trace files in '%.160s' (%u other file%s, such as '%s'): names of traces "
		"end in %s or .pickle",
		folder, others->count, others->count == 1 ? "" : "s", others->first, list);
}

/* The length of the digits without the zeros before them. */
static size_t path_digits_length(const char **at)
{
	size_t length = 0;

	while (**at == '0' && ss_char_is_digit((*at)[1]))
		(*at)++;
	while (ss_char_is_digit((*at)[length]))
		length++;
	return length;
}

int ss_find_compare_names(const char *a, const char *b)
{
	const char *whole_a = a, *whole_b = b;

	while (*a && *b) {
		size_t length_a, length_b;

		if (!ss_char_is_digit(*a) || !ss_char_is_digit(*b)) {
			if (*a != *b)
				return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
			a++;
			b++;
			continue;
		}
		length_a = path_digits_length(&a);
		length_b = path_digits_length(&b);
		if (length_a != length_b)
			return length_a < length_b ? -1 : 1;
		for (; length_a; length_a--, a++, b++)
			if (*a != *b)
				return *a < *b ? -1 : 1;
	}
	if (*a || *b)
		return *a ? 1 : -1;
	return strcmp(whole_a, whole_b);
}

static int path_compare(const void *a, const void *b)
{
	return ss_find_compare_names(((const struct ss_path *)a)->path,
				     ((const struct ss_path *)b)->path);
}

static enum ss_status paths_add(struct ss_paths *out, struct ss_arena *arena, const char *path,
				bool from_folder, struct ss_error *err)
{
	char *copy = ss_arena_copy(arena, path, strlen(path));

	if (out->count == FILES_MAX)
		return ss_fail(err, SS_ERR_LIMIT, "more than %u files", FILES_MAX);
	if (!copy || !ss_memory_reserve(arena->memory, (void **)&out->items, &out->capacity,
					(size_t)out->count + 1, sizeof(*out->items)))
		return ss_fail_memory(err, "the list of files");
	out->items[out->count++] = (struct ss_path){ .path = copy, .from_folder = from_folder };
	return SS_OK;
}

/* The next entry of a folder; NULL: there is none, or reading failed (*status). */
static struct dirent *folder_next_entry(DIR *dir, const char *folder, enum ss_status *status,
					struct ss_error *err)
{
	struct dirent *entry;

	errno = 0;
	entry = readdir(dir);
	if (!entry && errno)
		*status = ss_fail(err, SS_ERR_IO, "cannot read folder '%s': %s", folder,
				  strerror(errno));
	return entry;
}

/* A name for which stat() fails: opening the file reports why. */
static enum ss_status paths_add_unknown(struct ss_paths *out, struct ss_arena *arena,
					const char *path, struct ss_error *err)
{
	/* a broken link, or a file that was removed after its name was read */
	if (errno == ENOENT || errno == ELOOP || errno == ENOTDIR)
		return SS_OK;
	if (ss_find_is_trace(path))
		return paths_add(out, arena, path, true, err);
	return ss_fail(err, SS_ERR_IO, "cannot open '%s': %s", path, strerror(errno));
}

/* One name of a folder. */
static enum ss_status paths_add_entry(struct ss_paths *out, struct ss_arena *arena,
				      const char *path, int depth, struct folder_others *others,
				      struct ss_error *err);

/* Adds the traces of a folder and its subfolders, except hidden ones. */
static enum ss_status paths_add_folder(struct ss_paths *out, struct ss_arena *arena,
				       const char *folder, int depth, struct folder_others *others,
				       struct ss_error *err)
{
	enum ss_status status = SS_OK;
	struct dirent *entry;
	DIR *dir = opendir(folder);

	if (!dir)
		return ss_fail(err, SS_ERR_IO, "cannot open folder '%s': %s", folder,
			       strerror(errno));
	while (status == SS_OK && (entry = folder_next_entry(dir, folder, &status, err)) != NULL) {
		size_t length = strlen(folder) + strlen(entry->d_name) + 2;
		char *path;

		if (entry->d_name[0] == '.')
			continue;
		path = ss_arena_alloc(arena, length, 1);
		if (!path) {
			status = ss_fail_memory(err, "the list of files");
			break;
		}
		strncpy(path, folder, length);
		if (!ss_string_ends_with(folder, "/"))
			path[strlen(path)] = '/';
		memcpy(path + strlen(path), entry->d_name, strlen(entry->d_name));
		status = paths_add_entry(out, arena, path, depth, others, err);
	}
	closedir(dir);
	return status;
}

static enum ss_status paths_add_entry(struct ss_paths *out, struct ss_arena *arena,
				      const char *path, int depth, struct folder_others *others,
				      struct ss_error *err)
{
	const char *name = strrchr(path, '/') + 1;
	struct stat info;

	if (stat(path, &info) != 0)
		return paths_add_unknown(out, arena, path, err);
	if (S_ISDIR(info.st_mode))
		return depth < DEPTH_MAX
			       ? paths_add_folder(out, arena, path, depth + 1, others, err)
			       : SS_OK;
	if (S_ISREG(info.st_mode) && ss_find_is_trace(name))
		return paths_add(out, arena, path, true, err);
	others_add_name(others, name);
	return SS_OK;
}

/* A path that cannot be opened: says what it is instead, or what the system reports. */
static enum ss_status fail_open(const char *path, int reason, struct ss_error *err)
{
	const char *url = ss_foreign_url(path);
	char target[256] = "";

	if (url)
		return ss_fail(err, SS_ERR_IO, "cannot open '%.200s': %s", path, url);
	if (reason == ENOENT && readlink(path, target, sizeof(target) - 1) > 0 &&
	    strstr(target, "annex/objects/"))
		return ss_fail(err, SS_ERR_IO,
			       "cannot open '%.200s': its content is not in this copy of the "
			       "git-annex repository: run 'git annex get' in it",
			       path);
	return ss_fail(err, SS_ERR_IO, "cannot open '%s': %s", path, strerror(reason));
}

enum ss_status ss_find_files(const char *const *paths, size_t path_count, struct ss_arena *arena,
			     struct ss_paths *out, struct ss_error *err)
{
	for (size_t i = 0; i < path_count; i++) {
		struct folder_others others = { 0 };
		uint32_t had = out->count;
		struct stat info;

		if (strcmp(paths[i], "-") == 0) {
			SS_TRY(paths_add(out, arena, paths[i], false, err));
			continue;
		}
		if (stat(paths[i], &info) != 0)
			return fail_open(paths[i], errno, err);
		if (!S_ISDIR(info.st_mode)) {
			SS_TRY(paths_add(out, arena, paths[i], false, err));
			continue;
		}
		SS_TRY(paths_add_folder(out, arena, paths[i], 0, &others, err));
		if (out->count == had)
			return fail_no_traces(paths[i], &others, err);
	}
	if (out->count)
		qsort(out->items, out->count, sizeof(*out->items), path_compare);
	return SS_OK;
}

enum ss_status ss_find_inputs(const struct ss_input *inputs, size_t input_count,
			      struct ss_arena *arena, struct ss_paths *out, struct ss_error *err)
{
	for (size_t i = 0; i < input_count; i++) {
		if (!inputs[i].name)
			return ss_fail(err, SS_ERR_USAGE, "input %zu has no name", i);
		SS_TRY(paths_add(out, arena, inputs[i].name, false, err));
		out->items[out->count - 1].input = &inputs[i];
	}
	return SS_OK;
}

void ss_find_release(struct ss_paths *paths, struct ss_memory *memory)
{
	ss_memory_free(memory, paths->items, (size_t)paths->capacity * sizeof(*paths->items));
	*paths = (struct ss_paths){ 0 };
}

/* --- packs next to the files they were made from --------------------------------------------- */

/* A path without a folder is in the current one. */
static int path_folder_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (int)(slash - path) + 1 : 0;
}

/* The path at which the original file of a pack would be. */
static bool path_beside_pack(const char *pack, const struct ss_pack_origin *origin, char out[4096])
{
	return !strchr(origin->name, '/') &&
	       snprintf(out, 4096, "%.*s%s", path_folder_length(pack), pack, origin->name) < 4096;
}

const char *ss_find_original(const char *pack, struct ss_arena *arena)
{
	struct ss_pack_origin origin;
	struct stat info;
	char path[4096];

	if (ss_unpack_origin(pack, arena->memory, &origin, NULL) != SS_OK ||
	    !path_beside_pack(pack, &origin, path) || stat(path, &info) != 0 ||
	    !S_ISREG(info.st_mode) || (uint64_t)info.st_size != origin.disk_bytes)
		return NULL;
	return ss_arena_copy(arena, path, strlen(path));
}

/* The listed original file of a pack; NULL: not listed, or not in this folder. */
static struct ss_path *listed_origin(const struct ss_paths *paths, const char *pack,
				     const struct ss_pack_origin *origin)
{
	char path[4096];
	struct ss_path wanted = { .path = path };

	if (!path_beside_pack(pack, origin, path))
		return NULL;
	return bsearch(&wanted, paths->items, paths->count, sizeof(*paths->items), path_compare);
}

/* Whether a file of that path is listed. */
static bool path_is_listed(const struct ss_paths *paths, const char *path)
{
	struct ss_path wanted = { .path = path };

	return bsearch(&wanted, paths->items, paths->count, sizeof(*paths->items), path_compare);
}

/* Whether the original file of a pack, by its name ("rank0.json.gz"), is listed. */
static bool original_is_listed(const struct ss_paths *paths, const char *pack)
{
	int length = (int)ss_find_stem(pack, true);
	char path[4096];

	for (size_t i = 0; i < ss_input_format_count; i++) {
		const struct ss_input_format *format = ss_input_formats[i];

		for (size_t k = 0; k < SS_ENDINGS_MAX && format->endings[k]; k++)
			if (!format->is_derived &&
			    snprintf(path, sizeof(path), "%.*s%s", length, pack,
				     format->endings[k]) < (int)sizeof(path) &&
			    path_is_listed(paths, path))
				return true;
	}
	return false;
}

/* The original file is read instead: with both, everything would count twice. */
static enum ss_status choice_drop_pack(uint32_t index, bool *dropped, struct ss_pack_choice *out)
{
	dropped[index] = true;
	out->unread++;
	return SS_OK;
}

/*
 * Marks what is dropped: the original file of a pack, or a pack whose original file has changed
 * since.
 */
static enum ss_status choice_mark_pack(struct ss_paths *paths, uint32_t index, bool *dropped,
				       struct ss_memory *memory, struct ss_pack_choice *out,
				       struct ss_error *err)
{
	const char *pack = paths->items[index].path;
	struct ss_pack_origin origin;
	struct ss_path *file;
	struct stat info;
	enum ss_status status = ss_unpack_origin(pack, memory, &origin, err);

	/* the disk may read it the next time */
	if (status == SS_ERR_IO && original_is_listed(paths, pack))
		return choice_drop_pack(index, dropped, out);
	/* a pack that cannot be read is reported when it is loaded */
	if (status != SS_OK)
		return status == SS_ERR_LIMIT ? status : SS_OK;
	file = listed_origin(paths, pack, &origin);
	if (!file)
		return SS_OK;
	if (stat(file->path, &info) != 0)
		return choice_drop_pack(index, dropped, out);
	if ((uint64_t)info.st_size == origin.disk_bytes) {
		out->preferred += !dropped[file - paths->items];
		paths->items[index].stands_in = !dropped[file - paths->items];
		dropped[file - paths->items] = true;
	} else {
		out->stale++;
		dropped[index] = true;
	}
	return SS_OK;
}

enum ss_status ss_find_choose_packs(struct ss_paths *paths, struct ss_memory *memory,
				    struct ss_pack_choice *out, struct ss_error *err)
{
	uint32_t count = paths->count, kept = 0, packs = 0;
	enum ss_status status = SS_OK;
	bool *dropped;

	for (uint32_t i = 0; i < count; i++)
		packs += ss_find_is_pack(paths->items[i].path);
	if (!packs || packs == count)
		return SS_OK;
	dropped = ss_memory_resize(memory, NULL, 0, count);
	if (!dropped)
		return ss_fail_memory(err, "the list of files");
	memset(dropped, 0, count);
	for (uint32_t i = 0; status == SS_OK && i < count; i++)
		if (ss_find_is_pack(paths->items[i].path))
			status = choice_mark_pack(paths, i, dropped, memory, out, err);
	for (uint32_t i = 0; i < count; i++)
		if (!dropped[i])
			paths->items[kept++] = paths->items[i];
	ss_memory_free(memory, dropped, count);
	paths->count = kept;
	return status;
}
