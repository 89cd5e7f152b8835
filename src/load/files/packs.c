/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packs.c - packs next to the files they were made from.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "load/files/find.h"
#include "trace/formats.h"
#include "trace/pack/pack.h"

/* Where a path has no folder, its file is beside us. */
static int path_folder_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (int)(slash - path) + 1 : 0;
}

static int listed_path_compare(const void *a, const void *b)
{
	return ss_find_order(((const struct ss_path *)a)->path, ((const struct ss_path *)b)->path);
}

/* Where the file that a pack was made of would lie. */
static bool path_beside_pack(const char *pack, const struct ss_pack_origin *origin, char out[4096])
{
	return !strchr(origin->name, '/') &&
	       snprintf(out, 4096, "%.*s%s", path_folder_length(pack), pack, origin->name) < 4096;
}

const char *ss_find_packed(const char *pack, struct ss_arena *arena)
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

/* The listed file that a pack was made of; NULL: it is not listed, or not in this folder. */
static struct ss_path *listed_origin(const struct ss_paths *paths, const char *pack,
				     const struct ss_pack_origin *origin)
{
	char path[4096];
	struct ss_path wanted = { .path = path };

	if (!path_beside_pack(pack, origin, path))
		return NULL;
	return bsearch(&wanted, paths->items, paths->count, sizeof(*paths->items),
		       listed_path_compare);
}

/* Whether a file of that path is listed. */
static bool path_is_listed(const struct ss_paths *paths, const char *path)
{
	struct ss_path wanted = { .path = path };

	return bsearch(&wanted, paths->items, paths->count, sizeof(*paths->items),
		       listed_path_compare);
}

/* Whether a file that the pack was made of by its name ("rank0.json.gz") is listed. */
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

/* Its file is read instead: both would count everything twice. */
static enum ss_status choice_drop_pack(uint32_t index, bool *dropped, struct ss_pack_choice *out)
{
	dropped[index] = true;
	out->unread++;
	return SS_OK;
}

/* Marks what goes: the file of a pack, or the pack of a file that is another one by now. */
static enum ss_status choice_mark_pack(struct ss_paths *paths, uint32_t index, bool *dropped,
				       struct ss_memory *memory, struct ss_pack_choice *out,
				       struct ss_error *err)
{
	const char *pack = paths->items[index].path;
	struct ss_pack_origin origin;
	struct ss_path *file;
	struct stat info;
	enum ss_status status = ss_unpack_origin(pack, memory, &origin, err);

	/* the disk may be able to read it a moment later */
	if (status == SS_ERR_IO && original_is_listed(paths, pack))
		return choice_drop_pack(index, dropped, out);
	/* one that cannot be read says so when it is loaded */
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

enum ss_status ss_find_choose(struct ss_paths *paths, struct ss_memory *memory,
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
