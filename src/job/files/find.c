/* SPDX-License-Identifier: Apache-2.0 */
/*
 * find.c - finds the trace files in folders and their subfolders, sorted by name.
 */
#include "job/files/find.h"
#include "stepscope.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "trace/formats.h"

/* A job has at most some ten thousand ranks. */
#define FILES_MAX 100000u

/* Deeper folders are not looked into: links can go in circles. */
#define DEPTH_MAX 8

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), end_length = strlen(end);

	return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

bool ss_find_is_pack(const char *path)
{
	return ends_with(path, ".stepscope");
}

bool ss_find_is_snapshot(const char *path)
{
	return ends_with(path, ".pickle") || ends_with(path, ".pickle.gz");
}

static bool is_trace_name(const char *name)
{
	for (size_t i = 0; i < ss_input_format_count; i++)
		for (size_t k = 0; k < SS_ENDINGS_MAX && ss_input_formats[i]->endings[k]; k++)
			if (ends_with(name, ss_input_formats[i]->endings[k]))
				return true;
	return ss_find_is_snapshot(name);
}

static enum ss_status no_traces(const char *folder, struct ss_error *err)
{
	char list[160] = "";

	for (size_t i = 0; i < ss_input_format_count; i++)
		for (size_t k = 0; k < SS_ENDINGS_MAX && ss_input_formats[i]->endings[k]; k++)
			ss_text_list(list, sizeof(list), ss_input_formats[i]->endings[k]);
	return ss_fail(err, SS_ERR_MISSING,
		       "no trace files in '%s' (file names ending in %s or .pickle)", folder, list);
}

static bool is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

/* The length of the digits without the zeros before them. */
static size_t digits_length(const char **at)
{
	size_t length = 0;

	while (**at == '0' && is_digit((*at)[1]))
		(*at)++;
	while (is_digit((*at)[length]))
		length++;
	return length;
}

int ss_find_order(const char *a, const char *b)
{
	const char *whole_a = a, *whole_b = b;

	while (*a && *b) {
		size_t length_a, length_b;

		if (!is_digit(*a) || !is_digit(*b)) {
			if (*a != *b)
				return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
			a++;
			b++;
			continue;
		}
		length_a = digits_length(&a);
		length_b = digits_length(&b);
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

static int by_path(const void *a, const void *b)
{
	return ss_find_order(((const struct ss_path *)a)->path, ((const struct ss_path *)b)->path);
}

static enum ss_status add(struct ss_paths *out, struct ss_arena *arena, const char *path,
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

/* The next name of a folder; NULL: there is none, or *status says what is wrong. */
static struct dirent *next_of(DIR *dir, const char *folder, enum ss_status *status,
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

/* A name in a folder of which stat() does not say what it is: whoever opens it says why. */
static enum ss_status add_unknown(struct ss_paths *out, struct ss_arena *arena, const char *path,
				  struct ss_error *err)
{
	/* a link to nowhere, or one that went since its name was read */
	if (errno == ENOENT || errno == ELOOP || errno == ENOTDIR)
		return SS_OK;
	if (is_trace_name(path))
		return add(out, arena, path, true, err);
	return ss_fail(err, SS_ERR_IO, "cannot open '%s': %s", path, strerror(errno));
}

static enum ss_status add_folder(struct ss_paths *out, struct ss_arena *arena, const char *folder,
				 int depth, struct ss_error *err)
{
	enum ss_status status = SS_OK;
	struct dirent *entry;
	DIR *dir = opendir(folder);

	if (!dir)
		return ss_fail(err, SS_ERR_IO, "cannot open folder '%s': %s", folder,
			       strerror(errno));
	while (status == SS_OK && (entry = next_of(dir, folder, &status, err)) != NULL) {
		size_t length = strlen(folder) + strlen(entry->d_name) + 2;
		struct stat info;
		char *path;

		if (entry->d_name[0] == '.')
			continue;
		path = ss_arena_alloc(arena, length, 1);
		if (!path) {
			status = ss_fail_memory(err, "the list of files");
			break;
		}
		strncpy(path, folder, length);
		if (!ends_with(folder, "/"))
			path[strlen(path)] = '/';
		memcpy(path + strlen(path), entry->d_name, strlen(entry->d_name));
		if (stat(path, &info) != 0) {
			status = add_unknown(out, arena, path, err);
			continue;
		}
		if (S_ISDIR(info.st_mode) && depth < DEPTH_MAX)
			status = add_folder(out, arena, path, depth + 1, err);
		else if (S_ISREG(info.st_mode) && is_trace_name(entry->d_name))
			status = add(out, arena, path, true, err);
	}
	closedir(dir);
	return status;
}

enum ss_status ss_find_files(const char *const *paths, size_t path_count, struct ss_arena *arena,
			     struct ss_paths *out, struct ss_error *err)
{
	for (size_t i = 0; i < path_count; i++) {
		uint32_t had = out->count;
		struct stat info;

		if (strcmp(paths[i], "-") == 0) {
			SS_TRY(add(out, arena, paths[i], false, err));
			continue;
		}
		if (stat(paths[i], &info) != 0)
			return ss_fail(err, SS_ERR_IO, "cannot open '%s': %s", paths[i],
				       strerror(errno));
		if (!S_ISDIR(info.st_mode)) {
			SS_TRY(add(out, arena, paths[i], false, err));
			continue;
		}
		SS_TRY(add_folder(out, arena, paths[i], 0, err));
		if (out->count == had)
			return no_traces(paths[i], err);
	}
	if (out->count)
		qsort(out->items, out->count, sizeof(*out->items), by_path);
	return SS_OK;
}

enum ss_status ss_find_inputs(const struct ss_input *inputs, size_t input_count,
			      struct ss_arena *arena, struct ss_paths *out, struct ss_error *err)
{
	for (size_t i = 0; i < input_count; i++) {
		if (!inputs[i].name)
			return ss_fail(err, SS_ERR_USAGE, "input %zu has no name", i);
		SS_TRY(add(out, arena, inputs[i].name, false, err));
		out->items[out->count - 1].input = &inputs[i];
	}
	return SS_OK;
}

void ss_find_release(struct ss_paths *paths, struct ss_memory *memory)
{
	ss_memory_free(memory, paths->items, (size_t)paths->capacity * sizeof(*paths->items));
	*paths = (struct ss_paths){ 0 };
}
