/*
 * diff.c - command: what changed between two runs.
 */
#include <stdio.h>

#include "cli/command.h"

struct values {
	struct show_options show;
	const char *view;
};

static const struct option options[] = {
	{ "--view", "NAME", "compare this view (default: where the step goes, and kernels)",
	  OPTION_TEXT, offsetof(struct values, view), 0 },
};

static int run(const struct command *command, const void *values, const struct arguments *arguments)
{
	const struct values *own = values;
	struct ss_request request = show_request(own->view, &own->show);
	struct ss_runs runs = { .count = 0 };
	struct ss_text out = { 0 };
	struct ss_error err = { 0 };
	enum ss_status status = SS_OK;

	if (arguments->path_count != 2) {
		fprintf(stderr, "stepscope diff: name two runs, each a trace file or a folder\n");
		return EXIT_USAGE;
	}
	if (!show_check(command->name, &own->show, arguments))
		return EXIT_USAGE;
	while (runs.count < 2 && status == SS_OK) {
		/* any view may be asked for: the traces are kept */
		status = show_open("files", &own->show, &arguments->paths[runs.count], 1,
				   &runs.sessions[runs.count], &err);
		runs.count += status == SS_OK;
	}
	if (status == SS_OK)
		status = ss_compare(&runs, &request, &out, &err);
	if (status == SS_OK && out.length)
		fwrite(out.data, 1, out.length, stdout);
	ss_text_release(&out);
	while (runs.count)
		ss_session_close(runs.sessions[--runs.count]);
	return status == SS_OK ? EXIT_FINE : show_fail(command->name, &err);
}

const struct command command_diff = {
	.name = "diff",
	.summary = "What changed between two runs: step time, where it goes, kernels",
	.usage = "[--view NAME] [OPTIONS] A B",
	.options = options,
	.option_count = sizeof(options) / sizeof(options[0]),
	.is_verdict = true,
	.shows = true,
	.values_bytes = sizeof(struct values),
	.prepare = show_prepare,
	.run = run,
};
