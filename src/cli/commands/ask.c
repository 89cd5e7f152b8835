/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ask.c - command: asks what the viewer asks, for scripts and tests.
 */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"

static int run(const struct command *command, const void *values, const struct arguments *arguments)
{
	const struct show_options *own = values;
	struct ss_open_options open = { .size = sizeof(open),
					.threads = (uint32_t)own->threads,
					.memory_limit_bytes = own->memory_limit_bytes,
					.run = own->run,
					.progress = progress_step,
					.snapshots = true };
	struct progress_bar bar;
	struct ss_answer answer = { .size = sizeof(answer) };
	struct ss_session *session = NULL;
	struct ss_runs *runs = NULL;
	struct ss_error err = { 0 };
	enum ss_status status;

	if (arguments->path_count < 2) {
		fprintf(stderr, "stepscope ask: name a request and a trace, as in: "
				"stepscope ask 'view/steps?rank=0' PATH\n");
		return EXIT_USAGE;
	}
	open.paths = arguments->paths + 1;
	open.path_count = arguments->path_count - 1;
	open.progress_context = &bar;
	progress_begin(&bar, own->progress);
	status = ss_session_open(&open, &session, &err);
	progress_end(&bar);
	if (status != SS_OK)
		return show_fail(command->name, &err);
	show_failed(session, command->name);
	progress_prepare(&bar, own->progress);
	ss_session_watch(session, progress_step, &bar);
	status = ss_runs_new(&runs, &err);
	if (status == SS_OK)
		status = ss_runs_add(runs, session, &err);
	if (status == SS_OK)
		status = ss_ask(runs, arguments->paths[0], &answer, &err);
	progress_clear(&bar);
	if (status == SS_OK && answer.body.length)
		fwrite(answer.body.data, 1, answer.body.length, stdout);
	ss_text_release(&answer.body);
	ss_runs_free(runs);
	ss_session_close(session);
	return status == SS_OK ? EXIT_FINE : show_fail(command->name, &err);
}

const struct command command_ask = {
	.name = "ask",
	.summary = "What the viewer asks for, as it gets it: ask 'view/steps?rank=0' PATH",
	.usage = "[OPTIONS] REQUEST PATH...",
	.loads = true,
	.values_bytes = sizeof(struct show_options),
	.prepare = show_prepare,
	.run = run,
};
