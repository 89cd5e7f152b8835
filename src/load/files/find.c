/* SPDX-License-Identifier: Apache-2.0 */
/*
 * find.c - finds the trace files in folders and their subfolders, sorted by name.
 */
#include "load/files/find.h"
#include "base/sort.h"
#include "stepscope.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/intern.h"
#include "base/text.h"
#include "hang/load/flight.h"
#include "read/source.h"
#include "trace/formats.h"
#include "trace/pack/pack.h"

/* Jobs have some ten thousand ranks; a wrong folder, such as /, is noticed early. */
#define FILES_MAX 100000u

/* No job has folders as deep; each of them is open while those below it are searched. */
#define DEPTH_MAX 64

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

/* Live numbers; stepscope.torch.live calls its files so. */
#define LIVE_ENDING ".rows"

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

SS_COMPARATOR(path_compare, struct ss_path, SS_ORDERED(ss_find_compare_names, path))

/* --- searching folders ----------------------------------------------------------------------- */

/* What tells files and folders apart, however many names and links lead to them. */
struct found_identity {
	uint64_t device, inode, bytes, changed_s, changed_ns;
};

/* A search: what was met, and links, which are followed when all folders themselves are done. */
struct path_search {
	struct ss_paths *out;
	struct ss_arena *arena;
	struct ss_records met; /* struct found_identity */
	struct ss_paths links;
	struct folder_others others;
	bool met_again; /* of the current path: something was there before */
};

static enum ss_status paths_add(struct ss_paths *out, struct ss_arena *arena, const char *path,
				bool from_folder, struct ss_error *err)
{
	char *copy = ss_arena_copy(arena, path, strlen(path));

	uint32_t limit = out->limit ? out->limit : FILES_MAX;

	if (out->count == limit)
		return ss_fail(err, SS_ERR_LIMIT,
			       "more than %u files; if that is right, raise the limit "
			       "(--file-limit)",
			       limit);
	if (!copy || !SS_GROW(arena->memory, out->items, out->capacity, out->count))
		return ss_fail_memory(err, "the list of files");
	out->items[out->count++] = (struct ss_path){ .path = copy, .from_folder = from_folder };
	return SS_OK;
}

/* Whether this file or folder is met for the first time: each counts once. */
static enum ss_status search_is_new(struct path_search *search, const struct stat *info, bool *out,
				    struct ss_error *err)
{
	struct found_identity identity = { (uint64_t)info->st_dev, (uint64_t)info->st_ino,
					   (uint64_t)info->st_size, (uint64_t)info->st_mtim.tv_sec,
					   (uint64_t)info->st_mtim.tv_nsec };
	uint32_t count = search->met.count;

	*out = true;
	/* some file systems do not number their files */
	if (!info->st_ino)
		return SS_OK;
	if (ss_records_add(&search->met, &identity) == SS_NO_ID)
		return ss_fail_memory(err, "the list of files");
	*out = search->met.count > count;
	search->met_again |= !*out;
	return SS_OK;
}

/* A name for which stat() fails: opening the file reports why. */
static enum ss_status search_add_unknown(struct path_search *search, const char *path,
					 struct ss_error *err)
{
	/* a broken link, or a file that was removed after its name was read */
	if (errno == ENOENT || errno == ELOOP || errno == ENOTDIR)
		return SS_OK;
	if (ss_find_is_trace(path))
		return paths_add(search->out, search->arena, path, true, err);
	return ss_fail(err, SS_ERR_IO, "cannot open '%s': %s", path, strerror(errno));
}

/*
 * Dumps of the flight recorder have no ending, only a rank; stack files and live numbers have
 * known names.
 */
static bool find_is_beside(const char *path)
{
	char bytes[SS_PEEK_BYTES];
	size_t length;
	FILE *file;

	if (ss_flight_stacks_is_name(path) || ss_string_ends_with(path, LIVE_ENDING))
		return true;
	if (!ss_char_is_digit(path[strlen(path) - 1]))
		return false;
	file = fopen(path, "rb");
	if (!file)
		return false;
	length = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	return ss_flight_is_dump(bytes, length);
}

/* Keeps the path of a name in a folder, unless it is hidden or a file of another kind. */
static enum ss_status folder_take_name(struct path_search *search, const char *folder,
				       const char *name, struct ss_paths *out, struct ss_error *err)
{
	SS_TEXT(path);
	enum ss_status status = SS_OK;
	struct stat info;

	if (name[0] == '.')
		return SS_OK;
	ss_text_addf(&path, "%s%s%s", folder, ss_string_ends_with(folder, "/") ? "" : "/", name);
	if (ss_text_failed(&path))
		status = ss_fail_memory(err, "the list of files");
	else if (!ss_find_is_trace(name) && lstat(path.data, &info) == 0 && S_ISREG(info.st_mode) &&
		 !find_is_beside(path.data))
		others_add_name(&search->others, name);
	else
		status = paths_add(out, search->arena, path.data, true, err);
	return status;
}

/* The names in a folder as paths in their order. */
static enum ss_status folder_list(struct path_search *search, const char *folder,
				  struct ss_paths *out, struct ss_error *err)
{
	enum ss_status status = SS_OK;
	const struct dirent *entry = NULL;
	DIR *dir = opendir(folder);

	if (!dir)
		return ss_fail(err, SS_ERR_IO, "cannot open folder '%s': %s", folder,
			       strerror(errno));
	do {
		errno = 0;
		entry = readdir(dir);
		if (!entry && errno)
			status = ss_fail(err, SS_ERR_IO, "cannot read folder '%s': %s", folder,
					 strerror(errno));
		if (entry)
			status = folder_take_name(search, folder, entry->d_name, out, err);
	} while (status == SS_OK && entry);
	closedir(dir);
	if (status == SS_OK)
		SS_SORT(out->items, out->count, path_compare);
	return status;
}

static enum ss_status search_entry(struct path_search *search, const char *path, bool follows,
				   int depth, struct ss_error *err);

/* Adds the traces of a folder and its subfolders. */
static enum ss_status search_folder(struct path_search *search, const char *folder, int depth,
				    struct ss_error *err)
{
	struct ss_paths names = { .limit = search->out->limit };
	enum ss_status status;

	if (depth > DEPTH_MAX)
		return ss_fail(err, SS_ERR_LIMIT,
			       "'%.200s...' is more than %d folders deep: pass a folder in it",
			       folder, DEPTH_MAX);
	status = folder_list(search, folder, &names, err);
	for (uint32_t i = 0; i < names.count && status == SS_OK; i++)
		status = search_entry(search, names.items[i].path, false, depth, err);
	ss_find_release(&names, search->arena->memory);
	return status;
}

/* One name of a folder. Links wait, so that what they lead to has its own name if it has one. */
static enum ss_status search_entry(struct path_search *search, const char *path, bool follows,
				   int depth, struct ss_error *err)
{
	const char *name = strrchr(path, '/') + 1;
	struct stat info;
	bool is_new;

	if (!follows && lstat(path, &info) == 0 && S_ISLNK(info.st_mode)) {
		SS_TRY(paths_add(&search->links, search->arena, path, true, err));
		search->links.items[search->links.count - 1].depth = (uint32_t)depth;
		return SS_OK;
	}
	if (stat(path, &info) != 0)
		return search_add_unknown(search, path, err);
	if (!S_ISDIR(info.st_mode) &&
	    (!S_ISREG(info.st_mode) || !(ss_find_is_trace(name) || find_is_beside(path)))) {
		others_add_name(&search->others, name);
		return SS_OK;
	}
	SS_TRY(search_is_new(search, &info, &is_new, err));
	if (!is_new)
		return SS_OK;
	return S_ISDIR(info.st_mode) ? search_folder(search, path, depth + 1, err)
				     : paths_add(search->out, search->arena, path, true, err);
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

/* One path that was passed: a file, or a folder and what links in it lead to. */
static enum ss_status search_path(struct path_search *search, const char *path,
				  struct ss_error *err)
{
	uint32_t had = search->out->count;
	struct stat info;
	bool is_new;

	if (strcmp(path, "-") == 0)
		return paths_add(search->out, search->arena, path, false, err);
	if (stat(path, &info) != 0)
		return fail_open(path, errno, err);
	SS_TRY(search_is_new(search, &info, &is_new, err));
	if (!S_ISDIR(info.st_mode))
		return is_new || !S_ISREG(info.st_mode)
			       ? paths_add(search->out, search->arena, path, false, err)
			       : SS_OK;
	if (!is_new)
		return SS_OK;
	search->others = (struct folder_others){ 0 };
	search->met_again = false;
	search->links.count = 0;
	SS_TRY(search_folder(search, path, 0, err));
	/* links in folders behind links come after them */
	for (uint32_t i = 0; i < search->links.count; i++)
		SS_TRY(search_entry(search, search->links.items[i].path, true,
				    (int)search->links.items[i].depth, err));
	return search->out->count == had && !search->met_again
		       ? fail_no_traces(path, &search->others, err)
		       : SS_OK;
}

enum ss_status ss_find_files(const char *const *paths, size_t path_count, struct ss_arena *arena,
			     struct ss_paths *out, struct ss_error *err)
{
	struct path_search search = { .out = out,
				      .arena = arena,
				      .links = { .limit = out->limit } };
	enum ss_status status = SS_OK;

	if (!ss_records_init(&search.met, arena->memory, sizeof(struct found_identity)))
		status = ss_fail_memory(err, "the list of files");
	for (size_t i = 0; i < path_count && status == SS_OK; i++)
		status = search_path(&search, paths[i], err);
	if (status == SS_OK)
		SS_SORT(out->items, out->count, path_compare);
	ss_find_release(&search.links, arena->memory);
	ss_records_release(&search.met);
	return status;
}

void ss_find_leave_out(struct ss_paths *paths, const char *path)
{
	struct stat out, info;
	uint32_t kept = 0;

	if (!path || stat(path, &out) != 0)
		return;
	for (uint32_t i = 0; i < paths->count; i++)
		if (!paths->items[i].from_folder || stat(paths->items[i].path, &info) != 0 ||
		    info.st_dev != out.st_dev || info.st_ino != out.st_ino)
			paths->items[kept++] = paths->items[i];
	paths->count = kept;
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
	SS_FREE(memory, paths->items, paths->capacity);
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
	dropped = ss_memory_zeroed(memory, count);
	if (!dropped)
		return ss_fail_memory(err, "the list of files");
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

void ss_find_keep_live(struct ss_paths *paths, bool alone)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < paths->count; i++)
		if (!paths->items[i].from_folder ||
		    ss_string_ends_with(paths->items[i].path, LIVE_ENDING))
			paths->items[kept++] = paths->items[i];
	paths->count = kept || alone ? kept : paths->count;
}
