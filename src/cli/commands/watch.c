/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.c - command: adds runs and live numbers to a store as they arrive in a folder, or digests
 * runs on a node.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/system/clock.h"
#include "cli/sql/query.h"
#include "cli/stop.h"
#include "cli/store/node.h"
#include "cli/store/runs.h"
#include "store/watch.h"

/* A run with missing ranks is added after this many times the settle time. */
#define PATIENCE 6

static struct ss_error engine_problem;

/* A ring of live numbers has three days at one step per second. */
#define LIVE_AGAIN_NS INT64_C(1800000000000)

/* Where runs go: digests on a node, or a store. With both, the store gets live numbers alone. */
static const char *watch_output(const struct arguments *arguments)
{
	const char *digests = cli_option_text(arguments, "digests");

	return digests ? digests : cli_option_text(arguments, "store");
}

static void watch_allow(const struct arguments *arguments, struct sandbox_needs *needs)
{
	if (!arguments->path_count || !watch_output(arguments))
		return;
	needs->moves = true;
	if (cli_option_given(arguments, "store"))
		cli_engine_prepare(&engine_problem);
	if (!cli_option_given(arguments, "digests"))
		return;
	cli_node_be_polite();
	if (cli_option_given(arguments, "delete-traces")) {
		needs->outputs = arguments->paths;
		needs->output_count = 1;
	}
}

struct watching {
	struct store_runs runs;
	struct watch_node node;
	struct watch_exits exits;
	struct ss_watcher watcher;
	int64_t live_ns; /* when live numbers are added again */
	bool is_node, has_store;
	bool is_stuck; /* the last scan left digests that could not be written */
};

/*
 * Adds the runs that arrived; a run that cannot be added is reported and does not stop the others.
 */
static enum ss_status watch_add_to_store(struct watching *watching,
					 const struct ss_arrived *arrived, struct ss_error *err)
{
	struct ss_watcher *watcher = &watching->watcher;
	struct store_runs *runs = &watching->runs;
	const char **paths = calloc(arrived->file_count, sizeof(*paths));
	const char *rule = cli_option_text(runs->arguments, "by-path");
	bool is_late = arrived->quiet_ns >= PATIENCE * watcher->settle_ns ||
		       cli_option_given(runs->arguments, "once");
	bool is_labelled = true;
	enum store_runs_result result = STORE_RUNS_FAILED;
	SS_SCRATCH(scratch, &watcher->memory);

	for (uint32_t i = 0; paths && i < arrived->file_count; i++)
		paths[i] = arrived->files[i].path;
	if (rule)
		is_labelled = cli_store_runs_by_path(runs, rule,
						     arrived->run + strlen(watcher->folder) +
							     (strlen(arrived->run) >
							      strlen(watcher->folder)),
						     &scratch);
	if (!paths || !is_labelled) {
		free((void *)(uintptr_t)paths);
		return ss_fail_memory(err, "the list of files");
	}
	runs->is_mute = ss_watcher_is_foreign(watcher, arrived->run);
	result = cli_store_runs_add_all(runs, arrived->run, paths, arrived->file_count,
					arrived->is_early ? STORE_RUNS_SURE
					: is_late         ? STORE_RUNS_ALL
							  : STORE_RUNS_WHOLE);
	free((void *)(uintptr_t)paths);
	if (result == STORE_RUNS_STOPPED)
		return SS_OK;
	if (result == STORE_RUNS_NOT_WHOLE && arrived->is_early) {
		ss_watcher_wait_for_rest(watcher, arrived);
		return SS_OK;
	}
	if (result == STORE_RUNS_NOT_WHOLE) {
		ss_watcher_postpone(watcher, arrived,
				    PATIENCE * watcher->settle_ns - arrived->quiet_ns);
		return SS_OK;
	}
	if (result == STORE_RUNS_FAILED)
		SS_TRY(ss_watcher_tell_foreign(watcher, arrived->run, err));
	return ss_watcher_handled(watcher, arrived, result == STORE_RUNS_ADDED, err);
}

/* What could not be written is tried again: another process may make room on the disk. */
static enum ss_status watch_digest(struct watching *watching, const struct ss_arrived *arrived,
				   struct ss_error *err)
{
	bool is_done = false;

	SS_TRY(cli_node_take(&watching->node, &watching->watcher, arrived, &is_done, err));
	if (arrived->is_early) {
		ss_watcher_wait_for_rest(&watching->watcher, arrived);
		return SS_OK;
	}
	if (is_done)
		return ss_watcher_handled(&watching->watcher, arrived, true, err);
	watching->is_stuck = true;
	ss_watcher_postpone(&watching->watcher, arrived, PATIENCE * watching->watcher.settle_ns);
	return SS_OK;
}

/* Live numbers wait in their rings: what could not be added comes the next time. */
static void watch_add_live(struct watching *watching, bool must)
{
	int64_t now_ns = ss_clock_ns();

	if (!watching->has_store || (!must && now_ns < watching->live_ns) ||
	    !ss_watcher_lock_live(&watching->watcher, true))
		return;
	watching->live_ns = now_ns + LIVE_AGAIN_NS;
	(void)cli_store_runs_add_lives(&watching->runs, watching->watcher.folder);
	(void)ss_watcher_lock_live(&watching->watcher, false);
}

static enum ss_status watch_folder(struct watching *watching, struct ss_error *err)
{
	const struct watch_exits *exits = &watching->exits;
	bool is_once = cli_option_given(exits->arguments, "once"), waiting = false;
	struct ss_watcher *watcher = &watching->watcher;
	struct ss_arrived arrived;

	while (!stop_asked()) {
		watching->is_stuck = false;
		SS_TRY(ss_watcher_scan(watcher, err));
		while (!stop_asked() && ss_watcher_next(watcher, &arrived, &waiting))
			SS_TRY(watching->is_node ? watch_digest(watching, &arrived, err)
						 : watch_add_to_store(watching, &arrived, err));
		waiting = waiting && !watching->is_stuck;
		cli_exits_live(&watching->exits, is_once && !waiting);
		watch_add_live(watching, is_once && !waiting);
		if (is_once && !waiting)
			break;
		if (!stop_asked())
			ss_watcher_wait(watcher, waiting || exits->metrics || exits->has_events);
	}
	return SS_OK;
}

static int watch_refuse(const struct command *command, const struct arguments *arguments)
{
	const char *rule = cli_option_text(arguments, "by-path");
	struct stat info;

	if (arguments->path_count != 1 || !watch_output(arguments))
		return cli_fail(EXIT_USAGE, command->name,
				"expected one folder, and a store or a folder for digests: "
				"stepscope watch FOLDER --store STORE");
	if (stat(arguments->paths[0], &info) == 0 && !S_ISDIR(info.st_mode))
		return cli_fail(EXIT_USAGE, command->name,
				"'%s' is a file: pass the folder that traces are written to",
				arguments->paths[0]);
	if (rule && !cli_store_runs_is_rule(rule))
		return cli_fail(EXIT_USAGE, command->name,
				"--by-path '%s' is not a rule such as '{team}/{job}'", rule);
	return EXIT_FINE;
}

static int watch_begin(struct watching *watching, const struct command *command,
		       const struct arguments *arguments)
{
	const struct output_inputs inputs = { .paths = arguments->paths, .path_count = 1 };
	struct store_runs *runs = &watching->runs;
	struct ss_error err = { 0 };
	int code;

	if (watching->has_store) {
		code = cli_store_runs_open(command->name, arguments,
					   cli_option_text(arguments, "store"), &inputs, runs);
	} else {
		*runs = (struct store_runs){ .what = command->name,
					     .arguments = arguments,
					     .redaction = redaction_of(arguments) };
		runs->redaction.is_quiet = true;
		code = redaction_begin(command->name, &runs->redaction, &inputs,
				       cli_option_text(arguments, "digests"), &runs->redactor);
	}
	if (code != EXIT_FINE || !watching->is_node)
		return code;
	return cli_node_begin(command->name, arguments, runs->redactor, &watching->node, &err) ==
			       SS_OK
		       ? EXIT_FINE
		       : show_fail(command->name, &err);
}

/*
 * Who removes traces is alone with the folder: another process would take what is left of a run.
 * File systems without locks refuse nobody.
 */
static int watch_hold_folder(const struct command *command, const struct arguments *arguments)
{
	bool removes = cli_option_given(arguments, "delete-traces");
	int folder;

	/* the lock ends with the process */
	folder = open(arguments->paths[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0 || flock(folder, (removes ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0 ||
	    errno != EWOULDBLOCK)
		return EXIT_FINE;
	return cli_fail(EXIT_FAILED, command->name,
			removes ? "another process watches '%s', and would miss the traces that "
				  "--delete-traces removes"
				: "another process removes traces from '%s' (--delete-traces): "
				  "watch its folder of digests",
			arguments->paths[0]);
}

/* What is not obvious from silence: that it works, and what --redact does not cover. */
static void watch_tell(const struct watching *watching)
{
	const struct arguments *arguments = watching->exits.arguments;
	const struct watch_exits *exits = &watching->exits;

	if (!cli_option_given(arguments, "once"))
		fprintf(stderr, "stepscope watch: watching '%s' until Ctrl-C\n", exits->folder);
	if (!cli_option_given(arguments, "redact"))
		return;
	if (watching->has_store)
		fprintf(stderr, "stepscope watch: --redact: live numbers are not added to the "
				"store, as they name jobs and hosts\n");
	if (exits->metrics || exits->has_events)
		fprintf(stderr,
			"stepscope watch: --redact: %s of live numbers have the real names of "
			"jobs and hosts\n",
			!exits->has_events ? "gauges"
			: !exits->metrics  ? "events"
					   : "gauges and events");
}

static int watch_run(const struct command *command, const struct arguments *arguments)
{
	int64_t settle_ns = (int64_t)cli_option_count(arguments, "settle") * 1000000000;
	struct watching watching = { .is_node = cli_option_given(arguments, "digests"),
				     .has_store = cli_option_given(arguments, "store"),
				     .watcher = { .notify = -1, .list = -1 } };
	struct ss_error err = { 0 };
	enum ss_status status;
	int code = watch_refuse(command, arguments);

	if (code != EXIT_FINE)
		return code;
	if (watching.has_store && engine_problem.code != SS_OK)
		return show_fail(command->name, &engine_problem);
	code = watch_hold_folder(command, arguments);
	if (code != EXIT_FINE)
		return code;
	/* a signal ends it between two steps, which is the normal way to stop it */
	stop_filling(true);
	code = watch_begin(&watching, command, arguments);
	watching.exits = cli_exits_begin(arguments);
	if (code == EXIT_FINE)
		watch_tell(&watching);
	watching.runs.exits = &watching.exits;
	watching.exits.watcher = &watching.watcher;
	if (code == EXIT_FINE) {
		status = ss_watcher_open(arguments->paths[0], watch_output(arguments),
					 watching.node.host, settle_ns, &watching.watcher, &err);
		if (status == SS_OK)
			status = watch_folder(&watching, &err);
		code = status != SS_OK ? show_fail(command->name, &err)
		       : watching.is_stuck && cli_option_given(arguments, "once") ? EXIT_FAILED
										  : EXIT_FINE;
		ss_watcher_close(&watching.watcher);
	}
	code = cli_store_runs_close(&watching.runs, code);
	stop_filling(false);
	return code;
}

const struct command command_watch = {
	.name = "watch",
	.summary = "Add runs to a store, or digest them, as their traces arrive",
	.usage = "[OPTIONS] FOLDER --store STORE | --digests FOLDER",
	.takers = SS_TAKER_WATCH,
	.begin = watch_allow,
	.run = watch_run,
};
