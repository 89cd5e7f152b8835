/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge.c - command: merges the traces of all ranks into one trace with one clock, for Perfetto.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/output.h"
#include "cli/redaction.h"

static void merge_print_result(const struct output *output, const struct ss_session *session,
			       const struct ss_merged *merged)
{
	char size[BYTES_WORDS], events[COUNT_WORDS], broken[COUNT_WORDS];

	cli_bytes_in_words(merged->bytes, size);
	count_in_words(merged->events, events);
	count_in_words(merged->broken, broken);
	fprintf(output->tells, "%s: %u rank%s, %s events, %s; open it at ui.perfetto.dev\n",
		output->path, merged->ranks, merged->ranks == 1 ? "" : "s", events, size);
	if (merged->unaligned)
		fprintf(output->tells,
			"Clocks not aligned: %u (no collective links them to the first).\n",
			merged->unaligned);
	if (merged->broken)
		fprintf(output->tells, "Left out: %s event%s that could not be read.\n", broken,
			merged->broken == 1 ? "" : "s");
	output_tell_cut(output->tells, ss_session_cut_count(session));
}

static int write_output(const char *what, struct ss_session *session, struct output *output)
{
	struct ss_merged merged = { .size = sizeof(merged) };
	struct ss_sink sink = { output_write, output };
	struct ss_error err = { 0 };
	enum ss_status status = ss_session_merge(session, ss_string_ends_with(output->path, ".gz"),
						 &sink, &merged, &err);
	int code;

	if (status != SS_OK) {
		err.code = status;
		return output_fail(what, output, &err);
	}
	code = output_close(what, output);
	if (code == EXIT_FINE)
		merge_print_result(output, session, &merged);
	return code;
}

static int merge_sessions(const struct command *command, const struct arguments *arguments,
			  struct ss_redactor *redactor)
{
	struct ss_open_options open = show_loading(arguments, arguments->paths,
						   arguments->path_count);
	struct output_inputs inputs = { .paths = arguments->paths,
					.path_count = arguments->path_count };
	struct ss_session *session = NULL;
	struct ss_error err = { 0 };
	struct output output;
	int code = output_open(command->name, cli_option_text(arguments, "output"), &inputs,
			       &output);

	if (code != EXIT_FINE)
		return code;
	open.reduce = true;
	open.redactor = redactor;
	if (show_load(arguments, &open, &session, &err) != SS_OK)
		return output_fail(command->name, &output, &err);
	show_failed(session, command->name);
	code = write_output(command->name, session, &output);
	ss_session_close(session);
	return code;
}

static int merge_run(const struct command *command, const struct arguments *arguments)
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
	code = merge_sessions(command, arguments, redactor);
	return redaction_end(command->name, &redaction, redactor, output, code == EXIT_FINE, code);
}

const struct command command_merge = {
	.name = "merge",
	.summary = "Merge all ranks into one trace with one clock, for Perfetto",
	.usage = "[OPTIONS] PATH...",
	.takers = SS_TAKER_MERGE,
	.run = merge_run,
};
