/*
 * packs.c - a pack beside the file that it was made of.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "job/find.h"
#include "trace/pack.h"

/* Where a path has no folder, its file is beside us. */
static int folder_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (int)(slash - path) + 1 : 0;
}

static int by_path(const void *a, const void *b)
{
	return ss_find_order(((const struct ss_path *)a)->path, ((const struct ss_path *)b)->path);
}

/* The listed file that a pack was made of; NULL: it is not listed, or not in this folder. */
static struct ss_path *origin_of(const struct ss_paths *paths, const char *pack,
				 const struct ss_pack_origin *origin)
{
	char path[4096];
	struct ss_path wanted = { .path = path };

	if (strchr(origin->name, '/') || snprintf(path, sizeof(path), "%.*s%s", folder_length(pack),
						  pack, origin->name) >= (int)sizeof(path))
		return NULL;
	return bsearch(&wanted, paths->items, paths->count, sizeof(*paths->items), by_path);
}

enum ss_status ss_find_choose(struct ss_paths *paths, struct ss_memory *memory,
			      struct ss_pack_choice *out, struct ss_error *err)
{
	bool *dropped;
	uint32_t kept = 0, packs = 0;

	for (uint32_t i = 0; i < paths->count; i++)
		packs += ss_find_is_pack(paths->items[i].path);
	if (!packs || packs == paths->count)
		return SS_OK;
	dropped = ss_memory_resize(memory, NULL, 0, paths->count);
	if (!dropped)
		return ss_fail_memory(err, "the list of files");
	memset(dropped, 0, paths->count);
	for (uint32_t i = 0; i < paths->count; i++) {
		const char *pack = paths->items[i].path;
		struct ss_pack_origin origin;
		struct ss_path *file;
		struct stat info;

		/* one that cannot be read says so when it is loaded */
		if (!ss_find_is_pack(pack) ||
		    ss_unpack_origin(pack, memory, &origin, NULL) != SS_OK)
			continue;
		file = origin_of(paths, pack, &origin);
		if (!file || stat(file->path, &info) != 0)
			continue;
		if ((uint64_t)info.st_size == origin.disk_bytes) {
			out->preferred += !dropped[file - paths->items];
			dropped[file - paths->items] = true;
		} else {
			out->stale++;
			dropped[i] = true;
		}
	}
	for (uint32_t i = 0; i < paths->count; i++)
		if (!dropped[i])
			paths->items[kept++] = paths->items[i];
	ss_memory_free(memory, dropped, paths->count);
	paths->count = kept;
	return SS_OK;
}
