/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff.c - command: what changed between two runs.
 */
#include <stdio.h>
#include <string.h>

#include "api/request/find.h"
#include "cli/output.h"

#define RUN_BYTES 256

/*
 * "--run 1,3" selects run 1 of the first path and run 3 of the second; one number applies to both.
 */
static const char *run_of_side(const char *runs, uint32_t side, char name[RUN_BYTES])
{
	const char *comma = runs ? strchr(runs, ',') : NULL;

	if (!comma)
		return runs;
	if (side)
		return comma + 1;
	snprintf(name, RUN_BYTES, "%.*s", (int)(comma - runs), runs);
	return name;
}

/* Keeps the traces, because any view may be requested. */
static enum ss_status open_side(const struct arguments *arguments, uint32_t side,
				struct ss_session **out, struct ss_error *err)
{
	const char *const *path = &arguments->paths[arguments->path_count == 1 ? 0 : side];
	struct ss_open_options open = show_loading(arguments, path, 1);
	char name[RUN_BYTES];

	open.run = run_of_side(open.run, side, name);
	/* digests have it; of traces it is made when it is needed */
	open.diagnose = show_are_digests(path, 1);
	SS_TRY(show_load(arguments, &open, out, err));
	show_failed(*out, "diff");
	return SS_OK;
}

static int diff_sides_run(const struct command *command, const struct arguments *arguments)
{
	const char *run = cli_option_text(arguments, "run");
	struct ss_request request = show_request(cli_option_text(arguments, "view"), arguments);
	struct ss_session *sessions[2] = { NULL };
	struct ss_runs *runs = NULL;
	struct ss_text out = { 0 };
	struct ss_error err = { 0 };
	enum ss_status status = SS_OK;
	const struct ss_view *view;
	struct shown shown;
	int code;

	if (arguments->path_count != 2 && !(arguments->path_count == 1 && run && strchr(run, ',')))
		return cli_fail(EXIT_USAGE, "diff",
				"expected two runs: two trace files or folders, or one folder and "
				"two of its runs (--run 1,2)");
	/* report a wrong name before loading */
	if (request.what && ss_request_find_named(request.what, &view, &err) != SS_OK)
		return show_fail(command->name, &err);
	code = show_begin(command->name, arguments,
			  &(struct output_inputs){ .paths = arguments->paths,
						   .path_count = arguments->path_count },
			  &shown);
	if (code != EXIT_FINE)
		return code;
	status = ss_runs_new(&runs, &err);
	for (uint32_t i = 0; i < 2 && status == SS_OK; i++) {
		status = open_side(arguments, i, &sessions[i], &err);
		if (status == SS_OK)
			status = ss_runs_add(runs, sessions[i], &err);
	}
	if (status == SS_OK)
		status = ss_compare(runs, &request, &out, &err);
	ss_runs_free(runs);
	ss_session_close(sessions[1]);
	ss_session_close(sessions[0]);
	return show_end(command->name, status, &shown, &out, &err);
}

const struct command command_diff = {
	.name = "diff",
	.summary = "What changed between two runs: step time, breakdown, kernels",
	.usage = "[--view NAME] [OPTIONS] A B",
	.takers = SS_TAKER_DIFF | SS_TAKERS_ROWS,
	.is_verdict = true,
	.run = diff_sides_run,
};
