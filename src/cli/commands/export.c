/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export.c - command: writes all ranks in the format of Perfetto, or as text for flame graphs.
 */
#include <stdio.h>
#include <string.h>

#include "api/write/perfetto.h"
#include "base/text.h"
#include "cli/output.h"
#include "cli/redaction.h"

static void export_print_result(const struct output *output, const struct ss_session *session,
				const struct ss_exported *done, bool is_folded)
{
	char size[BYTES_WORDS], count[COUNT_WORDS], flows[COUNT_WORDS];

	cli_bytes_in_words(done->bytes, size);
	count_in_words(is_folded ? done->packets : done->slices, count);
	count_in_words(done->flows, flows);
	fprintf(output->tells, "%s: %llu rank%s, %s ", output->path,
		(unsigned long long)done->files, done->files == 1 ? "" : "s", count);
	if (is_folded)
		fprintf(output->tells, "stacks, %s; drop it onto speedscope.app\n", size);
	else
		fprintf(output->tells, "slices, %s arrows, %s; open it at ui.perfetto.dev\n", flows,
			size);
	output_tell_cut(output->tells, ss_session_cut_count(session));
}

static int export_session(const char *what, struct ss_session *session, struct output *output,
			  bool is_folded)
{
	struct ss_sink sink = { output_write, output };
	bool compressed = ss_string_ends_with(output->path, ".gz");
	struct ss_exported done = { 0 };
	struct ss_error err = { 0 };
	int code;

	err.code = is_folded ? ss_session_folded(session, compressed, &sink, &done, &err)
			     : ss_session_perfetto(session, compressed, &sink, &done, &err);
	if (err.code != SS_OK)
		return output_fail(what, output, &err);
	code = output_close(what, output);
	if (code == EXIT_FINE)
		export_print_result(output, session, &done, is_folded);
	return code;
}

static int export_files(const struct command *command, const struct arguments *arguments,
			const char *path, struct ss_redactor *redactor)
{
	struct ss_open_options open = show_loading(arguments, arguments->paths,
						   arguments->path_count);
	struct output_inputs inputs = { .paths = arguments->paths,
					.path_count = arguments->path_count };
	struct ss_session *session = NULL;
	struct ss_error err = { 0 };
	struct output output;
	int code = output_open(command->name, path, &inputs, &output);

	if (code != EXIT_FINE)
		return code;
	open.redactor = redactor;
	if (show_load(arguments, &open, &session, &err) != SS_OK)
		return output_fail(command->name, &output, &err);
	show_failed(session, command->name);
	code = export_session(command->name, session, &output,
			      cli_option_given(arguments, "folded"));
	ss_session_close(session);
	return code;
}

static int export_run(const struct command *command, const struct arguments *arguments)
{
	const char *perfetto = cli_option_text(arguments, "perfetto");
	const char *folded = cli_option_text(arguments, "folded");
	const char *path = folded ? folded : perfetto;
	struct redaction redaction = redaction_of(arguments);
	struct ss_redactor *redactor;
	int code;

	if (!show_check(command->name, arguments))
		return EXIT_USAGE;
	if (!perfetto == !folded) {
		fprintf(stderr, "stepscope %s: expected --perfetto FILE or --folded FILE\n",
			command->name);
		return EXIT_USAGE;
	}
	code = redaction_begin(command->name, &redaction,
			       &(struct output_inputs){ .paths = arguments->paths,
							.path_count = arguments->path_count },
			       path, &redactor);
	if (code != EXIT_FINE)
		return code;
	code = export_files(command, arguments, path, redactor);
	return redaction_end(command->name, &redaction, redactor, path, code == EXIT_FINE, code);
}

const struct command command_export = {
	.name = "export",
	.summary = "Write all ranks for Perfetto, or stacks for flame graphs",
	.usage = "[OPTIONS] PATH... --perfetto FILE",
	.takers = SS_TAKER_EXPORT,
	.run = export_run,
};
