/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff.c - command: what changed between two runs.
 */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"

struct values {
	struct show_options show;
	const char *view;
};

static const struct option options[] = {
	{ "--view", "NAME", "compare this view (default: where the step goes, and kernels)",
	  OPTION_TEXT, offsetof(struct values, view), 0 },
};

#define RUN_BYTES 256

static bool is_pair(const struct show_options *show)
{
	return show->run && strchr(show->run, ',');
}

/* "--run 1,3" is run 1 of the first and run 3 of the second; one alone is of both. */
static const char *run_of_side(const struct show_options *show, uint32_t side, char name[RUN_BYTES])
{
	const char *comma = is_pair(show) ? strchr(show->run, ',') : NULL;

	if (!comma)
		return show->run;
	if (side)
		return comma + 1;
	snprintf(name, RUN_BYTES, "%.*s", (int)(comma - show->run), show->run);
	return name;
}

static int run(const struct command *command, const void *values, const struct arguments *arguments)
{
	const struct values *own = values;
	struct ss_request request = show_request(own->view, &own->show);
	struct ss_session *sessions[2] = { NULL };
	struct ss_runs *runs = NULL;
	struct ss_text out = { 0 };
	struct ss_error err = { 0 };
	enum ss_status status;

	if (arguments->path_count != 2 && !(arguments->path_count == 1 && is_pair(&own->show))) {
		fprintf(stderr, "stepscope diff: name two runs, each a trace file or a folder, or "
				"one folder and two of its runs as in --run 1,2\n");
		return EXIT_USAGE;
	}
	if (!show_check(command->name, &own->show, arguments))
		return EXIT_USAGE;
	status = ss_runs_new(&runs, &err);
	for (uint32_t i = 0; i < 2 && status == SS_OK; i++) {
		const char *const *path = &arguments->paths[arguments->path_count == 1 ? 0 : i];
		struct show_options side = own->show;
		char name[RUN_BYTES];

		side.run = run_of_side(&own->show, i, name);
		/* any view may be asked for: the traces are kept */
		status = show_open("files", &side, path, 1, &sessions[i], &err);
		if (status == SS_OK)
			status = ss_runs_add(runs, sessions[i], &err);
	}
	if (status == SS_OK)
		status = ss_compare(runs, &request, &out, &err);
	if (status == SS_OK && out.length)
		fwrite(out.data, 1, out.length, stdout);
	ss_text_release(&out);
	ss_runs_free(runs);
	ss_session_close(sessions[1]);
	ss_session_close(sessions[0]);
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
