/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redact.c - command: copies traces and snapshots without private names, to share them.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/find_files.h"
#include "base/intern.h"
#include "base/text.h"
#include "cli/output.h"
#include "cli/redaction.h"
#include "cli/stop.h"

#define PATH_BYTES 4096

/* State shared by the files of one run. */
struct redacting {
	const char *what;
	const struct arguments *arguments;
	const char *output, *format;
	struct ss_redactor *redactor;
	struct ss_strings *names; /* of the files of this run: each name must be unique */
	struct output_inputs inputs;
	bool to_file; /* -o is the copy itself, not a folder */
	uint32_t written, other;
};

static int redact_fail_file(const struct redacting *redacting, const char *path, const char *why)
{
	return cli_fail(EXIT_FAILED, redacting->what, "'%s' %s", path, why);
}

/* Creates the parent folders of the path. */
static bool redact_make_folders(char *path)
{
	for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
		bool made;

		*at = '\0';
		made = mkdir(path, 0777) == 0 || errno == EEXIST;
		*at = '/';
		if (!made)
			return false;
	}
	return true;
}

/* The path of the copy in the folder. File names are redacted, too, and zstd becomes gzip. */
static int name_copy(struct redacting *redacting, const struct ss_path *path, char out[PATH_BYTES])
{
	const char *below = strcmp(path->path, "-") == 0
				    ? "stdin.json"
				    : output_path_below(redacting->arguments, path);
	struct ss_text name = { 0 };
	struct ss_error err = { 0 };
	size_t length;
	int printed;

	if (ss_redactor_name(redacting->redactor, below, &name, &err) != SS_OK) {
		ss_text_release(&name);
		return cli_fail(EXIT_FAILED, redacting->what, "'%s': %s", path->path, err.text);
	}
	length = name.length - (ss_string_ends_with(name.data, ".zst") ? 4 : 0);
	printed = snprintf(out, PATH_BYTES, "%s/%.*s%s", redacting->output, (int)length, name.data,
			   length < name.length ? ".gz" : "");
	ss_text_release(&name);
	if (printed <= 0 || printed >= PATH_BYTES)
		return redact_fail_file(redacting, path->path, "has a name that is too long");
	if (!redact_make_folders(out)) {
		(void)ss_fail(&err, SS_ERR_IO, "cannot be written: %s", strerror(errno));
		return redact_fail_file(redacting, out, err.text);
	}
	return EXIT_FINE;
}

static int check_copy(struct redacting *redacting, const struct ss_path *path, const char *copy)
{
	uint32_t had = redacting->names->count;
	struct stat to;

	if (ss_strings_add(redacting->names, copy, strlen(copy)) != had)
		return redact_fail_file(
			redacting, path->path,
			"would get the same name as another copy: redact one folder at a time");
	if (stat(copy, &to) != 0)
		return EXIT_FINE;
	if (output_is_same(path->path, copy))
		return redact_fail_file(redacting, copy,
					"is the trace itself: choose another folder with -o");
	if (!cli_option_given(redacting->arguments, "force") && S_ISREG(to.st_mode))
		return redact_fail_file(redacting, copy, "exists already; --force replaces it");
	return EXIT_FINE;
}

/* Copies one file; of a truncated file it copies what could be read, with a warning. */
static int redact_one(struct redacting *redacting, const struct ss_path *path)
{
	struct ss_error err = { 0 };
	char name[PATH_BYTES], size[BYTES_WORDS];
	const char *copy = redacting->to_file ? redacting->output : name;
	struct output output;
	struct ss_sink sink = { output_write, &output };
	enum ss_status status;
	uint64_t bytes = 0;
	bool is_whole = true;
	int code = EXIT_FINE;

	if (path->from_folder && ss_find_is_pack(path->path)) {
		redacting->other++;
		return EXIT_FINE;
	}
	if (!redacting->to_file)
		code = name_copy(redacting, path, name);
	if (code == EXIT_FINE)
		code = check_copy(redacting, path, copy);
	if (code == EXIT_FINE)
		code = output_open(redacting->what, copy, &redacting->inputs, &output);
	if (code != EXIT_FINE)
		return code;
	status = ss_redactor_copy(redacting->redactor, path->path, ss_string_ends_with(copy, ".gz"),
				  &sink, &bytes, &is_whole, &err);
	if (status != SS_OK)
		return output_fail(redacting->what, &output, &err);
	code = output_close(redacting->what, &output);
	if (code != EXIT_FINE)
		return code;
	cli_bytes_in_words(bytes, size);
	if (strcmp(redacting->format, "text") == 0)
		fprintf(output.tells, "%s: %s\n", copy, size);
	if (!is_whole)
		fprintf(stderr,
			"stepscope %s: '%s' is truncated or damaged; the copy has what could be "
			"read\n",
			redacting->what, path->path);
	redacting->written++;
	return EXIT_FINE;
}

static bool is_folder(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* Writes into a folder, which is created if needed and removed again if nothing was written. */
static int redact_into(struct redacting *redacting, const struct ss_paths *paths)
{
	const char *folder = redacting->output;
	bool made = !redacting->to_file && mkdir(folder, 0777) == 0;
	int code = EXIT_FINE;

	if (!redacting->to_file && !made && errno != EEXIST)
		return cli_fail(EXIT_FAILED, redacting->what, "cannot create the folder '%s': %s",
				folder, strerror(errno));
	stop_made(made ? folder : NULL);
	/* a file that cannot be redacted does not stop the others */
	for (uint32_t i = 0; code != EXIT_USAGE && i < paths->count; i++) {
		int own = redact_one(redacting, &paths->items[i]);

		code = own != EXIT_FINE ? own : code;
	}
	stop_made(NULL);
	if (made && !redacting->written)
		rmdir(folder);
	return code;
}

/* Copies among the traces would be mistaken for further ranks. */
static int refuse_folder(const struct redacting *redacting)
{
	const struct arguments *arguments = redacting->arguments;
	const char *output = redacting->output;

	for (size_t i = 0; i < arguments->path_count; i++) {
		if (!is_folder(output) || !output_is_same(arguments->paths[i], output))
			continue;
		return cli_fail(EXIT_USAGE, redacting->what,
				"'%s' is the folder of the traces: choose another folder with -o",
				output);
	}
	return EXIT_FINE;
}

static int redact_all(struct redacting *redacting, struct ss_arena *arena)
{
	const struct arguments *arguments = redacting->arguments;
	const char *output = redacting->output;
	struct ss_paths paths = { 0 };
	struct ss_error err = { 0 };
	SS_TEXT(told);
	int code = refuse_folder(redacting);

	if (code == EXIT_FINE &&
	    ss_find_files(arguments->paths, arguments->path_count, arena, &paths, &err) != SS_OK)
		code = show_fail(redacting->what, &err);
	redacting->to_file = paths.count == 1 && !paths.items[0].from_folder &&
			     !is_folder(output) && !ss_string_ends_with(output, "/");
	if (code == EXIT_FINE)
		code = redact_into(redacting, &paths);
	if (redacting->other && strcmp(redacting->format, "text") == 0)
		printf("Skipped: %u pack%s; run 'stepscope pack' on the copies.\n",
		       redacting->other, redacting->other == 1 ? "" : "s");
	if (code == EXIT_FINE && !redacting->written)
		code = cli_fail(EXIT_FAILED, redacting->what, "nothing to redact");
	if (redacting->written && strcmp(redacting->format, "json") == 0 &&
	    ss_redactor_tell(redacting->redactor, "json", &told, &err) == SS_OK)
		fwrite(told.data, 1, told.length, stdout);
	ss_find_release(&paths, arena->memory);
	return code;
}

static int redact_check_files(const char *what, const struct arguments *arguments)
{
	const char *output = cli_option_text(arguments, "output");

	if (!arguments->path_count)
		return cli_fail(EXIT_USAGE, what, "expected a trace, a snapshot or a folder");
	if (!output || !*output)
		return cli_fail(EXIT_USAGE, what, "expected -o FOLDER for the copies");
	return EXIT_FINE;
}

static int redact_run(const struct command *command, const struct arguments *arguments)
{
	struct redacting redacting = { .what = command->name,
				       .arguments = arguments,
				       .output = cli_option_text(arguments, "output"),
				       .format = cli_option_text(arguments, "format"),
				       .inputs = { .paths = arguments->paths,
						   .path_count = arguments->path_count } };
	struct redaction redaction = redaction_of(arguments);
	struct ss_strings names = { 0 };
	struct ss_memory memory;
	struct ss_arena arena;
	int code = redact_check_files(command->name, arguments);

	redaction.is_quiet = strcmp(redacting.format, "json") == 0;
	if (code == EXIT_FINE)
		code = redaction_begin(command->name, &redaction, &redacting.inputs,
				       redacting.output, &redacting.redactor);
	if (code != EXIT_FINE)
		return code;
	ss_memory_init(&memory, 0);
	ss_arena_init(&arena, &memory);
	redacting.names = &names;
	code = ss_strings_init(&names, &memory) ? redact_all(&redacting, &arena)
						: redact_fail_file(&redacting, "the list of files",
								   "does not fit into memory");
	ss_strings_release(&names);
	ss_arena_release(&arena);
	return redaction_end(command->name, &redaction, redacting.redactor, redacting.output,
			     redacting.written, code);
}

const struct command command_redact = {
	.name = "redact",
	.summary = "Copies to share: private names, hosts and paths replaced",
	.usage = "[OPTIONS] PATH... -o FOLDER",
	.takers = SS_TAKER_REDACT,
	.run = redact_run,
};
