/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slice.c - command: writes some steps or a range of time as a small trace.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/json_text.h"
#include "api/session.h"
#include "api/write/slice.h"
#include "base/text.h"
#include "cli/output.h"
#include "cli/redaction.h"
#include "cli/stop.h"

struct slicing_command {
	const char *what, *path; /* of the output */
	bool to_folder;
	const struct ss_session *session;
	struct output_inputs inputs;
	struct output output;
	char name[SS_PATH_BYTES];
	bool is_open;
	int code;
};

/* "120ms", "1.5s", "300us"; a number alone is in milliseconds. */
static bool slice_read_time(const char *text, int64_t *out)
{
	static const struct {
		const char *unit;
		int64_t us;
	} units[] = { { "", 1000 }, { "ms", 1000 }, { "s", 1000000 }, { "us", 1 } };
	size_t length = text ? strspn(text, "0123456789.") : 0;
	int64_t ns;

	for (size_t i = 0; i < SS_COUNT(units) && length; i++)
		if (strcmp(text + length, units[i].unit) == 0)
			return ss_number_ns(text, length, &ns) &&
			       !__builtin_mul_overflow(ns, units[i].us, out);
	return !text;
}

/* Ends the file of the rank before; false: it could not be written. */
static bool slice_close_file(struct slicing_command *slicing)
{
	if (slicing->is_open)
		slicing->code = output_close(slicing->what, &slicing->output);
	slicing->is_open = false;
	return slicing->code == EXIT_FINE;
}

/* Opens the output, which is none of the traces that were read, also instead of packs. */
static int slice_open_file(struct slicing_command *slicing)
{
	const struct ss_job *job = &slicing->session->job;
	struct stat info;
	int code;

	for (uint32_t i = 0; i < job->file_count; i++)
		if (job->files[i].source && output_is_same(slicing->name, job->files[i].source))
			return cli_fail(EXIT_USAGE, slicing->what,
					"the output '%s' is also an input: choose another name",
					slicing->name);
	if (slicing->to_folder && lstat(slicing->name, &info) == 0)
		return cli_fail(EXIT_USAGE, slicing->what,
				"'%s' exists already: choose another folder", slicing->name);
	code = output_open(slicing->what, slicing->name, &slicing->inputs, &slicing->output);
	slicing->output.file.is_first = slicing->to_folder;
	return code;
}

static bool slice_begin_file(void *context, uint32_t index)
{
	struct slicing_command *slicing = context;
	struct ss_file file = { .size = sizeof(file) };
	struct ss_error err = { 0 };
	int printed;

	if (slicing->name[0] && !slicing->to_folder) {
		fprintf(stderr,
			"stepscope %s: several ranks: choose one with --rank, or a folder "
			"with -o\n",
			slicing->what);
		slicing->code = EXIT_USAGE;
		return false;
	}
	if (!slice_close_file(slicing) || ss_session_file(slicing->session, index, &file, &err))
		return false;
	if (!slicing->to_folder)
		printed = snprintf(slicing->name, SS_PATH_BYTES, "%s", slicing->path);
	else if (file.rank >= 0)
		printed = snprintf(slicing->name, SS_PATH_BYTES, "%s/rank%lld.json.gz",
				   slicing->path, (long long)file.rank);
	else
		printed = snprintf(slicing->name, SS_PATH_BYTES, "%s/file%u.json.gz", slicing->path,
				   index);
	if (printed < 0 || printed >= SS_PATH_BYTES) {
		slicing->code = EXIT_USAGE;
		return false;
	}
	slicing->code = slice_open_file(slicing);
	slicing->is_open = slicing->code == EXIT_FINE;
	return slicing->is_open;
}

static bool slice_put(void *context, const char *bytes, size_t length)
{
	return output_write(&((struct slicing_command *)context)->output, bytes, length);
}

static void slice_print_result(const struct slicing_command *slicing,
			       const struct ss_sliced *sliced)
{
	char size[BYTES_WORDS], events[COUNT_WORDS];

	cli_bytes_in_words(sliced->bytes, size);
	count_in_words(sliced->events, events);
	fprintf(slicing->output.tells, "%s: %llu rank%s, %s events, %s\n", slicing->path,
		(unsigned long long)sliced->files, sliced->files == 1 ? "" : "s", events, size);
	if (sliced->broken)
		fprintf(slicing->output.tells, "Left out: %llu event%s that could not be read.\n",
			(unsigned long long)sliced->broken, sliced->broken == 1 ? "" : "s");
	output_tell_cut(slicing->output.tells, ss_session_cut_count(slicing->session));
}

static int slice_write_session(struct slicing_command *slicing, const struct arguments *arguments,
			       struct ss_session *session)
{
	struct ss_sink sink = { slice_put, slicing };
	struct ss_slice_options options = {
		.rank = cli_option_text(arguments, "rank"),
		.step = cli_option_text(arguments, "step"),
		.around = cli_option_text(arguments, "around"),
		.members = cli_option_given(arguments, "members"),
		.compressed = slicing->to_folder || ss_string_ends_with(slicing->path, ".gz"),
		.sink = &sink,
		.begin_file = slice_begin_file,
		.begin_file_context = slicing,
	};
	struct ss_sliced sliced;
	struct ss_error err = { 0 };
	enum ss_status status;

	options.to_ns = INT64_MAX;
	if (!slice_read_time(cli_option_text(arguments, "from"), &options.from_ns) ||
	    !slice_read_time(cli_option_text(arguments, "to"), &options.to_ns))
		return cli_fail(EXIT_USAGE, slicing->what,
				"--from and --to take a time: 120ms, 1.5s");
	if (!cli_option_given(arguments, "from") && !cli_option_given(arguments, "to"))
		options.to_ns = 0;
	slicing->session = session;
	status = ss_session_slice(session, &options, &sliced, &err);
	if (status == SS_OK && slice_close_file(slicing)) {
		slice_print_result(slicing, &sliced);
		return EXIT_FINE;
	}
	if (slicing->code != EXIT_FINE) {
		/* it was reported */
		if (slicing->is_open)
			output_drop(&slicing->output);
		return slicing->code;
	}
	err.code = status;
	return slicing->is_open ? output_fail(slicing->what, &slicing->output, &err)
				: show_fail(slicing->what, &err);
}

static int slice_sessions(const struct command *command, const struct arguments *arguments,
			  struct ss_redactor *redactor)
{
	struct ss_open_options open = show_loading(arguments, arguments->paths,
						   arguments->path_count);
	struct slicing_command *slicing;
	struct ss_session *session = NULL;
	struct ss_error err = { 0 };
	bool made = false;
	int code;

	if (!SS_ALLOC((struct ss_arena *)&arguments->arena, slicing, 1))
		return EXIT_FAILED;
	slicing->what = command->name;
	slicing->path = cli_option_text(arguments, "output");
	slicing->inputs = (struct output_inputs){ .paths = arguments->paths,
						  .path_count = arguments->path_count };
	slicing->to_folder = strcmp(slicing->path, "-") != 0 &&
			     !ss_string_ends_with(slicing->path, ".json") &&
			     !ss_string_ends_with(slicing->path, ".json.gz");
	if (slicing->to_folder)
		made = mkdir(slicing->path, 0777) == 0;
	if (slicing->to_folder && !made && errno != EEXIST)
		return cli_fail(EXIT_FAILED, slicing->what, "cannot create the folder '%s': %s",
				slicing->path, strerror(errno));
	stop_made(made ? slicing->path : NULL);
	open.redactor = redactor;
	if (show_load(arguments, &open, &session, &err) == SS_OK) {
		show_failed(session, command->name);
		code = slice_write_session(slicing, arguments, session);
	} else {
		code = show_fail(command->name, &err);
	}
	ss_session_close(session);
	stop_made(NULL);
	/* fails if there are slices in it */
	if (made && code != EXIT_FINE)
		rmdir(slicing->path);
	return code;
}

static int slice_run(const struct command *command, const struct arguments *arguments)
{
	const char *output = cli_option_text(arguments, "output");
	struct redaction redaction = redaction_of(arguments);
	struct ss_redactor *redactor;
	int code;

	if (!show_check(command->name, arguments))
		return EXIT_USAGE;
	code = redaction_begin(command->name, &redaction,
			       &(struct output_inputs){ .paths = arguments->paths,
							.path_count = arguments->path_count },
			       output, &redactor);
	if (code != EXIT_FINE)
		return code;
	code = slice_sessions(command, arguments, redactor);
	return redaction_end(command->name, &redaction, redactor, output, code == EXIT_FINE, code);
}

const struct command command_slice = {
	.name = "slice",
	.summary = "Write some steps or a range of time as a small trace",
	.usage = "[OPTIONS] PATH... -o FILE",
	.takers = SS_TAKER_SLICE,
	.run = slice_run,
};
