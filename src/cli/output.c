/*
 * output.c - files that appear when they are whole, and are none of those that are read.
 */
#include "cli/output.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/stop.h"
#include "job/find.h"

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool output_is_same(const char *a, const char *b)
{
	struct stat one, other;

	return stat(a, &one) == 0 && stat(b, &other) == 0 && is_same(&one, &other);
}

static bool look_at(const char *path, struct stat *out)
{
	return (strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, out) : stat(path, out)) == 0;
}

/* The path among these, and in these folders, that is the file; NULL: none is. */
static const char *find_same(const char *const *paths, size_t count, const struct stat *file,
			     struct ss_arena *arena)
{
	struct ss_paths found = { 0 };
	enum ss_status status = SS_OK;
	const char *same = NULL;
	struct stat info;

	/* a path that cannot be opened is told when it is loaded */
	for (size_t i = 0; i < count && status != SS_ERR_LIMIT; i++)
		if (paths[i])
			status = ss_find_files(&paths[i], 1, arena, &found, NULL);
	for (uint32_t i = 0; i < found.count && !same; i++)
		if (look_at(found.items[i].path, &info) && is_same(&info, file))
			same = ss_arena_copy(arena, found.items[i].path,
					     strlen(found.items[i].path));
	ss_find_release(&found, arena->memory);
	return same;
}

int output_refuse_input(const char *what, const char *path, const struct output_inputs *inputs)
{
	struct ss_memory memory;
	struct ss_arena arena;
	struct stat info;
	const char *same;

	/* devices and pipes can be read and written at once */
	if (!inputs || stat(path, &info) != 0 || !S_ISREG(info.st_mode))
		return EXIT_FINE;
	ss_memory_init(&memory, 0);
	ss_arena_init(&arena, &memory);
	same = find_same(inputs->paths, inputs->path_count, &info, &arena);
	if (!same)
		same = find_same(inputs->more, SS_COUNT(inputs->more), &info, &arena);
	if (same)
		fprintf(stderr,
			"stepscope %s: the output '%s' is one of the files that are read (%s): "
			"choose another name\n",
			what, path, strcmp(same, "-") == 0 ? "standard input" : same);
	ss_arena_release(&arena);
	return same ? EXIT_USAGE : EXIT_FINE;
}

int output_open(const char *what, const char *path, const struct output_inputs *inputs,
		struct output *out)
{
	const char *name = strcmp(path, "-") == 0 ? "/dev/stdout" : path;
	struct stat written, shown;
	enum ss_status status;
	int code = output_refuse_input(what, name, inputs);

	if (code != EXIT_FINE)
		return code;
	out->path = path;
	out->used = 0;
	out->err = (struct ss_error){ 0 };
	ss_checksum_init(&out->sum);
	status = stop_open(name, &out->file, &out->err);
	if (status != SS_OK)
		return show_fail(what, &out->err);
	out->tells = fstat(out->file.fd, &written) == 0 && fstat(STDOUT_FILENO, &shown) == 0 &&
				     is_same(&written, &shown)
			     ? stderr
			     : stdout;
	return EXIT_FINE;
}

static bool flush(struct output *output)
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
			       is_same(&written, &shown)
		       ? stderr
		       : stdout;
}

bool output_write(void *context, const char *bytes, size_t length)
{
	struct output *output = context;

	while (length) {
		size_t room = OUTPUT_BUFFER - output->used, part = length < room ? length : room;

		if (!room && !flush(output))
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
	if (flush(output) && ss_new_file_sync(&output->file, &output->err) == SS_OK)
		return EXIT_FINE;
	return output_fail(what, output, &output->err);
}

int output_compare(const char *what, struct output *output)
{
	struct ss_error err = { 0 };
	struct ss_checksum sum;
	size_t got;
	FILE *file;

	if (!output->file.temporary[0])
		return EXIT_FINE;
	file = fopen(output->file.temporary, "rb");
	ss_checksum_init(&sum);
	while (file && (got = fread(output->buffer, 1, OUTPUT_BUFFER, file)) > 0)
		ss_checksum_add(&sum, output->buffer, got);
	if (file && !ferror(file) && ss_checksum_end(&sum) == ss_checksum_end(&output->sum)) {
		fclose(file);
		return EXIT_FINE;
	}
	if (file)
		fclose(file);
	(void)ss_fail(&err, SS_ERR_IO,
		      "'%s' cannot be read back as it was written: is the disk damaged?",
		      output->path);
	return output_fail(what, output, &err);
}

int output_close(const char *what, struct output *output)
{
	enum ss_status status;

	if (!flush(output))
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

void bytes_in_words(uint64_t bytes, char out[BYTES_WORDS])
{
	static const char *const units[] = { "bytes", "kB", "MB", "GB", "TB" };
	double value = (double)bytes;
	size_t unit = 0;

	for (; value >= 999.95 && unit + 1 < sizeof(units) / sizeof(units[0]); unit++)
		value /= 1000;
	snprintf(out, BYTES_WORDS, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
}
