/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.c - command: adds runs to a store as they arrive in a folder.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/sql/query.h"
#include "cli/stop.h"
#include "cli/store/runs.h"
#include "store/watch.h"

/* A run with missing ranks is added after this many times the settle time. */
#define PATIENCE 6

static struct ss_error engine_problem;

static void watch_allow(const struct arguments *arguments, struct sandbox_needs *needs)
{
	if (!arguments->path_count || !cli_option_given(arguments, "store"))
		return;
	needs->moves = true;
	cli_engine_prepare(&engine_problem);
}

/*
 * Adds the runs that arrived; a run that cannot be added is reported and does not stop the others.
 */
static enum ss_status watch_add_arrived(struct store_runs *runs, struct ss_watcher *watcher,
					const struct ss_arrived *arrived, struct ss_error *err)
{
	const char **paths = calloc(arrived->file_count, sizeof(*paths));
	bool is_late = arrived->quiet_ns >= PATIENCE * watcher->settle_ns;
	enum store_runs_result result;

	if (!paths)
		return ss_fail_memory(err, "the list of files");
	for (uint32_t i = 0; i < arrived->file_count; i++)
		paths[i] = arrived->files[i].path;
	result = cli_store_runs_add_all(runs, arrived->run, paths, arrived->file_count,
					is_late || cli_option_given(runs->arguments, "once"));
	free((void *)(uintptr_t)paths);
	if (result == STORE_RUNS_STOPPED)
		return SS_OK;
	if (result == STORE_RUNS_NOT_WHOLE) {
		ss_watcher_postpone(watcher, arrived,
				    PATIENCE * watcher->settle_ns - arrived->quiet_ns);
		return SS_OK;
	}
	return ss_watcher_handled(watcher, arrived, result == STORE_RUNS_ADDED, err);
}

static enum ss_status watch_folder(struct store_runs *runs, struct ss_watcher *watcher,
				   struct ss_error *err)
{
	bool is_once = cli_option_given(runs->arguments, "once");
	struct ss_arrived arrived;
	bool waiting = false;

	while (!stop_asked()) {
		SS_TRY(ss_watcher_scan(watcher, err));
		while (!stop_asked() && ss_watcher_next(watcher, &arrived, &waiting))
			SS_TRY(watch_add_arrived(runs, watcher, &arrived, err));
		cli_exits_live(runs->exits, is_once && !waiting);
		if (is_once && !waiting)
			break;
		if (!stop_asked())
			ss_watcher_wait(watcher,
					waiting || runs->exits->metrics || runs->exits->has_events);
	}
	return SS_OK;
}

static int watch_run(const struct command *command, const struct arguments *arguments)
{
	int64_t settle_ns = (int64_t)cli_option_count(arguments, "settle") * 1000000000;
	struct ss_watcher watcher;
	const struct output_inputs inputs = { .paths = arguments->paths, .path_count = 1 };
	struct watch_exits exits;
	struct store_runs runs;
	struct ss_error err = { 0 };
	enum ss_status status;
	int code;

	if (arguments->path_count != 1 || !cli_option_given(arguments, "store")) {
		fprintf(stderr,
			"stepscope %s: expected one folder and a store: stepscope watch "
			"FOLDER --store STORE\n",
			command->name);
		return EXIT_USAGE;
	}
	if (engine_problem.code != SS_OK)
		return show_fail(command->name, &engine_problem);
	/* a signal ends it between two steps, which is the normal way to stop it */
	stop_filling(true);
	code = cli_store_runs_open(command->name, arguments, cli_option_text(arguments, "store"),
				   &inputs, &runs);
	exits = cli_exits_begin(arguments);
	runs.exits = &exits;
	if (code == EXIT_FINE) {
		status = ss_watcher_open(arguments->paths[0], &runs.store, settle_ns, &watcher,
					 &err);
		if (status == SS_OK)
			status = watch_folder(&runs, &watcher, &err);
		code = status == SS_OK ? EXIT_FINE : show_fail(command->name, &err);
		ss_watcher_close(&watcher);
	}
	cli_exits_end(&exits);
	code = cli_store_runs_close(&runs, code);
	stop_filling(false);
	return code;
}

const struct command command_watch = {
	.name = "watch",
	.summary = "Add runs to a store as their traces arrive in a folder",
	.usage = "[OPTIONS] FOLDER --store STORE",
	.takers = SS_TAKER_WATCH,
	.begin = watch_allow,
	.run = watch_run,
};
