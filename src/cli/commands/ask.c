/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ask.c - command: answers a request of the viewer, for scripts and tests.
 */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"

static int run(const struct command *command, const struct arguments *arguments)
{
	struct ss_open_options open;
	struct progress_bar bar;
	struct ss_answer answer = { .size = sizeof(answer) };
	struct ss_session *session = NULL;
	struct ss_runs *runs = NULL;
	struct ss_error err = { 0 };
	enum ss_status status;

	if (arguments->path_count < 2) {
		fprintf(stderr, "stepscope ask: expected a request and a trace, for example: "
				"stepscope ask 'view/steps?rank=0' PATH\n");
		return EXIT_USAGE;
	}
	open = show_loading(arguments, arguments->paths + 1, arguments->path_count - 1);
	open.snapshots = true;
	if (show_load(arguments, &open, &session, &err) != SS_OK)
		return show_fail(command->name, &err);
	show_failed(session, command->name);
	progress_prepare(&bar, option_text(arguments, "progress"));
	ss_session_watch(session, progress_step, &bar);
	status = ss_runs_new(&runs, &err);
	if (status == SS_OK)
		status = ss_runs_add(runs, session, &err);
	if (status == SS_OK)
		status = ss_ask(runs, arguments->paths[0], &answer, &err);
	progress_clear(&bar);
	ss_runs_free(runs);
	ss_session_close(session);
	return show_out(command->name, status, &answer.body, &err);
}

const struct command command_ask = {
	.name = "ask",
	.summary = "Answer a request of the viewer: ask 'view/steps?rank=0' PATH",
	.usage = "[OPTIONS] REQUEST PATH...",
	.takers = SS_TAKER_ASK,
	.run = run,
};
