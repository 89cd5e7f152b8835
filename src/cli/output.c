/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output.c - output files that appear only when complete and never replace an input.
 */
#include "cli/output.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/find_files.h"
#include "api/renderers.h"
#include "cli/stop.h"

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool output_is_same(const char *a, const char *b)
{
	struct stat one, other;

	return stat(a, &one) == 0 && stat(b, &other) == 0 && is_same_file(&one, &other);
}

static bool stat_output(const char *path, struct stat *out)
{
	return (strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, out) : stat(path, out)) == 0;
}

/* Whether 'merge' wrote the file: it loses nothing if it is written again. */
static bool output_is_merged(const char *path, struct ss_memory *memory)
{
	struct ss_source *source = NULL;
	const char *next;
	size_t length;
	bool is_merged = ss_source_open(path, memory, &source, NULL) == SS_OK &&
			 ss_source_peek(source, &next, &length, NULL) == SS_OK &&
			 length > strlen(SS_MERGED_HEAD) &&
			 memcmp(next, SS_MERGED_HEAD, strlen(SS_MERGED_HEAD)) == 0;

	ss_source_close(source);
	return is_merged;
}

/* Whether it is the JSON beside a pack, which is read in its place. */
static bool output_is_original(const char *pack, const struct stat *file, struct ss_arena *arena)
{
	const char *original = ss_find_is_pack(pack) ? ss_find_original(pack, arena) : NULL;
	struct stat info;

	return original && stat(original, &info) == 0 && is_same_file(&info, file);
}

/* Fails if one of these paths, or a file in one of these folders, is the given file. */
static enum ss_status refuse_same(const char *const *paths, size_t count, const char *path,
				  const struct stat *file, bool *left_out, struct ss_arena *arena,
				  struct ss_error *err)
{
	struct ss_paths found = { .limit = UINT32_MAX };
	enum ss_status status = SS_OK;

	for (size_t i = 0; i < count && status == SS_OK; i++)
		if (paths[i])
			status = ss_find_files(&paths[i], 1, arena, &found, err);
	for (uint32_t i = 0; i < found.count && status == SS_OK; i++) {
		const char *input = found.items[i].path;
		struct stat info;

		if (!stat_output(input, &info))
			status = ss_fail(err, SS_ERR_IO, "cannot open '%s': %s", input,
					 strerror(errno));
		else if (is_same_file(&info, file) && left_out && found.items[i].from_folder &&
			 output_is_merged(input, arena->memory))
			*left_out = true;
		else if (is_same_file(&info, file) || output_is_original(input, file, arena))
			status = ss_fail(err, SS_ERR_USAGE,
					 "the output '%s' is also an input (%s): choose another "
					 "name",
					 path, strcmp(input, "-") == 0 ? "standard input" : input);
	}
	ss_find_release(&found, arena->memory);
	return status;
}

static enum ss_status refuse_input(const char *path, const struct output_inputs *inputs,
				   struct ss_error *err)
{
	enum ss_status status;
	struct ss_memory memory;
	struct ss_arena arena;
	struct stat info;

	/* a missing file is no input; devices and pipes can be read and written at the same time */
	if (!inputs)
		return SS_OK;
	if (stat(path, &info) != 0)
		return errno == ENOENT || errno == ENOTDIR || errno == ELOOP ||
				       errno == ENAMETOOLONG || errno == EACCES
			       ? SS_OK
			       : ss_fail(err, SS_ERR_IO, "cannot write '%s': %s", path,
					 strerror(errno));
	if (!S_ISREG(info.st_mode))
		return SS_OK;
	ss_memory_init(&memory, 0);
	ss_arena_init(&arena, &memory);
	status = refuse_same(inputs->paths, inputs->path_count, path, &info, inputs->left_out,
			     &arena, err);
	if (status == SS_OK)
		status = refuse_same(inputs->more, SS_COUNT(inputs->more), path, &info, NULL,
				     &arena, err);
	ss_arena_release(&arena);
	return status;
}

int output_refuse_input(const char *what, const char *path, const struct output_inputs *inputs)
{
	struct ss_error err = { 0 };

	return refuse_input(path, inputs, &err) == SS_OK ? EXIT_FINE : show_fail(what, &err);
}

int output_open(const char *what, const char *path, const struct output_inputs *inputs,
		struct output *out)
{
	const char *name = strcmp(path, "-") == 0 ? "/dev/stdout" : path;
	struct stat written, shown;
	enum ss_status status;

	out->path = path;
	out->used = 0;
	out->err = (struct ss_error){ 0 };
	ss_checksum_init(&out->sum);
	status = refuse_input(name, inputs, &out->err);
	if (status == SS_OK)
		status = stop_open(name, &out->file, &out->err);
	if (status != SS_OK)
		return show_fail(what, &out->err);
	/* messages must not end up in the output itself: print none if that is not certain */
	out->tells = fstat(out->file.fd, &written) == 0 && fstat(STDOUT_FILENO, &shown) == 0 &&
				     !is_same_file(&written, &shown)
			     ? stdout
			     : stderr;
	return EXIT_FINE;
}

static bool output_flush(struct output *output)
{
	size_t used = output->used;

	output->used = 0;
	if (output->err.text[0])
		return false;
	ss_checksum_add(&output->sum, output->buffer, used);
	return ss_new_file_write(&output->file, output->buffer, used, &output->err) == SS_OK;
}

FILE *output_tells(const char *path)
{
	struct stat written, shown;

	if (!path)
		return stdout;
	if (strcmp(path, "-") == 0)
		return stderr;
	return stat(path, &written) == 0 && fstat(STDOUT_FILENO, &shown) == 0 &&
			       is_same_file(&written, &shown)
		       ? stderr
		       : stdout;
}

bool output_write(void *context, const char *bytes, size_t length)
{
	struct output *output = context;

	while (length) {
		size_t room = OUTPUT_BUFFER - output->used, part = length < room ? length : room;

		if (!room && !output_flush(output))
			return false;
		memcpy(output->buffer + output->used, bytes, part);
		output->used += part;
		bytes += part;
		length -= part;
	}
	return !output->err.text[0];
}

int output_finish(const char *what, struct output *output)
{
	if (output_flush(output) && ss_new_file_sync(&output->file, &output->err) == SS_OK)
		return EXIT_FINE;
	return output_fail(what, output, &output->err);
}

/* Computes the checksum of the file as it is on disk. */
static enum ss_status read_again(struct output *output, uint64_t *out, struct ss_error *err)
{
	FILE *file = fopen(output->file.temporary, "rb");
	struct ss_checksum sum;
	size_t got = 1;
	int reason = errno;

	ss_checksum_init(&sum);
	while (file && got) {
		got = fread(output->buffer, 1, OUTPUT_BUFFER, file);
		reason = errno;
		ss_checksum_add(&sum, output->buffer, got);
	}
	*out = ss_checksum_end(&sum);
	if (file && !ferror(file))
		reason = 0;
	if (file)
		fclose(file);
	return reason ? ss_fail(err, SS_ERR_IO, "cannot read '%s' after writing it: %s",
				output->path, strerror(reason))
		      : SS_OK;
}

int output_compare(const char *what, struct output *output)
{
	struct ss_error err = { 0 };
	enum ss_status status;
	uint64_t sum = 0;

	if (!output->file.temporary[0])
		return EXIT_FINE;
	status = read_again(output, &sum, &err);
	if (status == SS_OK && sum != ss_checksum_end(&output->sum))
		status = ss_fail(&err, SS_ERR_IO,
				 "'%s' does not contain what was written: is the disk "
				 "damaged?",
				 output->path);
	return status == SS_OK ? EXIT_FINE : output_fail(what, output, &err);
}

int output_close(const char *what, struct output *output)
{
	enum ss_status status;

	if (!output_flush(output))
		return output_fail(what, output, &output->err);
	status = ss_new_file_close(&output->file, &output->err);
	stop_closed();
	return status == SS_OK ? EXIT_FINE : show_fail(what, &output->err);
}

int output_fail(const char *what, struct output *output, const struct ss_error *err)
{
	output_drop(output);
	return show_fail(what, output->err.text[0] ? &output->err : err);
}

void output_drop(struct output *output)
{
	ss_new_file_drop(&output->file);
	stop_closed();
}

void cli_bytes_in_words(uint64_t bytes, char out[BYTES_WORDS])
{
	static const char *const units[] = { "bytes", "kB", "MB", "GB", "TB" };
	double value = (double)bytes;
	size_t unit = 0;

	for (; value >= 999.95 && unit + 1 < sizeof(units) / sizeof(units[0]); unit++)
		value /= 1000;
	snprintf(out, BYTES_WORDS, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
}

void count_in_words(uint64_t count, char out[COUNT_WORDS])
{
	SS_TEXT(text);

	ss_render_count((int64_t)count, &text);
	snprintf(out, COUNT_WORDS, "%s", text.data ? text.data : "");
}

void output_tell_cut(FILE *to, uint32_t cut)
{
	if (cut == 1)
		fputs("Warning: a file is truncated or damaged: events are missing.\n", to);
	else if (cut)
		fprintf(to, "Warning: %u files are truncated or damaged: events are missing.\n",
			cut);
}

const char *output_path_below(const struct arguments *arguments, const struct ss_path *path)
{
	const char *slash = strrchr(path->path, '/');

	for (size_t i = 0; path->from_folder && i < arguments->path_count; i++) {
		size_t length = strlen(arguments->paths[i]);

		while (length && arguments->paths[i][length - 1] == '/')
			length--;
		if (strncmp(path->path, arguments->paths[i], length) == 0 &&
		    path->path[length] == '/')
			return path->path + length + strspn(path->path + length, "/");
	}
	return slash ? slash + 1 : path->path;
}

enum ss_status output_write_whole(const char *path, const struct ss_text *text,
				  struct ss_error *err)
{
	struct ss_new_file file;
	enum ss_status status;

	SS_TRY(stop_open(path, &file, err));
	status = ss_new_file_write(&file, text->data ? text->data : "", text->length, err);
	if (status == SS_OK)
		status = ss_new_file_close(&file, err);
	else
		ss_new_file_drop(&file);
	stop_closed();
	return status;
}
