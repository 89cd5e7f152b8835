/*
 * ask.c - command: asks what the viewer asks, for scripts and tests.
 */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"

static int run(const struct command *command, const void *values, const struct arguments *arguments)
{
	const struct show_options *own = values;
	struct ss_open_options open = { .threads = (uint32_t)own->threads,
					.memory_limit_bytes = own->memory_limit_bytes,
					.snapshots = true };
	struct ss_answer answer = { 0 };
	struct ss_runs runs = { .count = 1 };
	struct ss_error err = { 0 };
	enum ss_status status;

	if (arguments->path_count < 2) {
		fprintf(stderr, "stepscope ask: a request and a path are needed\n");
		return EXIT_USAGE;
	}
	open.paths = arguments->paths + 1;
	open.path_count = arguments->path_count - 1;
	status = ss_session_open(&open, &runs.sessions[0], &err);
	if (status != SS_OK)
		return show_fail(command->name, &err);
	status = ss_ask(&runs, arguments->paths[0], &answer, &err);
	if (status == SS_OK && answer.body.length)
		fwrite(answer.body.data, 1, answer.body.length, stdout);
	ss_text_release(&answer.body);
	ss_session_close(runs.sessions[0]);
	return status == SS_OK ? EXIT_FINE : show_fail(command->name, &err);
}

static const struct option options[] = {
	{ "--threads", "N", "threads to read with (default: one per core)", OPTION_COUNT,
	  offsetof(struct show_options, threads), 0 },
	{ "--memory-limit", "SIZE", "give up beyond this, as in 512M or 8G (default: none)",
	  OPTION_BYTES, offsetof(struct show_options, memory_limit_bytes), 0 },
};

const struct command command_ask = {
	.name = "ask",
	.summary = "What the viewer asks for, as it gets it: ask 'view/steps?rank=0' PATH",
	.usage = "[OPTIONS] REQUEST PATH...",
	.options = options,
	.option_count = sizeof(options) / sizeof(options[0]),
	.values_bytes = sizeof(struct show_options),
	.prepare = show_prepare,
	.run = run,
};
