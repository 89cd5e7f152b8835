/*
 * output.c - files that appear when they are whole.
 */
#include "cli/output.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail_to_write(const char *what, const char *path)
{
	fprintf(stderr, "stepscope %s: cannot write '%s': %s\n", what, path, strerror(errno));
	return EXIT_FAILED;
}

int output_open(const char *what, const char *path, struct output *out)
{
	struct stat info;
	bool exists = stat(path, &info) == 0;

	*out = (struct output){ .path = path, .is_renamed = !exists || S_ISREG(info.st_mode) };
	if (exists && S_ISDIR(info.st_mode)) {
		errno = EISDIR;
		return fail_to_write(what, path);
	}
	if (snprintf(out->part, sizeof(out->part), "%s%s", path, out->is_renamed ? ".part" : "") >=
	    (int)sizeof(out->part)) {
		fprintf(stderr, "stepscope %s: the name of the output is too long\n", what);
		return EXIT_USAGE;
	}
	out->file = fopen(out->part, "wb");
	return out->file ? EXIT_FINE : fail_to_write(what, path);
}

bool output_write(void *context, const char *bytes, size_t length)
{
	struct output *output = context;

	return fwrite(bytes, 1, length, output->file) == length;
}

int output_close(const char *what, struct output *output)
{
	bool whole = fflush(output->file) == 0 &&
		     (!output->is_renamed || fsync(fileno(output->file)) == 0);
	int code = EXIT_FINE;

	if (fclose(output->file) != 0)
		whole = false;
	output->file = NULL;
	if (!whole || (output->is_renamed && rename(output->part, output->path) != 0)) {
		code = fail_to_write(what, output->path);
		output_drop(output);
	}
	return code;
}

void output_drop(struct output *output)
{
	if (output->file)
		fclose(output->file);
	output->file = NULL;
	if (output->is_renamed)
		remove(output->part);
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
