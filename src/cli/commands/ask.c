/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ask.c - command: answers a request of the viewer; for scripts and tests.
 */
#include <string.h>

#include "cli/output.h"

static int ask_run(const struct command *command, const struct arguments *arguments)
{
	struct ss_open_options open;
	struct progress_bar bar;
	struct ss_answer answer = { .size = sizeof(answer) };
	struct ss_session *session = NULL;
	struct ss_runs *runs = NULL;
	struct ss_error err = { 0 };
	enum ss_status status;
	struct shown shown;
	int code;

	if (arguments->path_count < 2)
		return cli_fail(EXIT_USAGE, "ask",
				"expected a request and a trace, for example: stepscope ask "
				"'view/steps?rank=0' PATH");
	code = show_begin(command->name, arguments,
			  &(struct output_inputs){ .paths = arguments->paths + 1,
						   .path_count = arguments->path_count - 1 },
			  &shown);
	if (code != EXIT_FINE)
		return code;
	open = show_loading(arguments, arguments->paths + 1, arguments->path_count - 1);
	open.snapshots = true;
	open.reduce = open.diagnose = show_are_digests(open.paths, open.path_count);
	open.tables = open.reduce;
	status = show_load(arguments, &open, &session, &err);
	if (status != SS_OK)
		return show_end(command->name, status, &shown, &answer.body, &err);
	show_failed(session, command->name);
	cli_progress_prepare(&bar, cli_option_text(arguments, "progress"));
	ss_session_watch(session, cli_progress_step, &bar);
	status = ss_runs_new(&runs, &err);
	if (status == SS_OK)
		status = ss_runs_add(runs, session, &err);
	if (status == SS_OK)
		status = ss_ask(runs, arguments->paths[0], &answer, &err);
	cli_progress_clear(&bar);
	ss_runs_free(runs);
	ss_session_close(session);
	return show_end(command->name, status, &shown, &answer.body, &err);
}

const struct command command_ask = {
	.name = "ask",
	.summary = "Answer one request of the viewer as JSON, for scripts",
	.usage = "[OPTIONS] REQUEST PATH...",
	.takers = SS_TAKER_ASK,
	.run = ask_run,
};
