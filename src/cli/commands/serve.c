/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serve.c - command: serves the viewer over HTTP, by default only to this machine.
 */
#include <errno.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/select.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/served/served.h"
#include "serve/serve.h"

/* State of the server's main thread. */
struct serve_visit {
	const char *name; /* of the command */
	const struct arguments *arguments;
	struct ss_server *server;
	struct ss_runs *runs;
	struct ss_session *sessions[2];
	struct progress_bar bar;
	uint32_t run, run_count;
	bool wants_browser, is_greeted;
	bool is_mute;    /* the link could not be printed */
	sigset_t before; /* signals that were blocked before the server's threads started */
	int code;
};

static volatile sig_atomic_t stopped;

/* DuckDB is loaded, and the port bound, before the sandbox is entered. */
static struct served served;
static struct fleet fleet;
static struct {
	struct ss_listener listener;
	enum ss_status status;
	struct ss_error err;
} bound;

static bool serve_is_stopped(void)
{
	return stopped;
}

static void serve_on_signal(int signal)
{
	(void)signal;
	stopped = 1;
}

/* Blocks Ctrl-C and SIGTERM; *before: the signals that were blocked until then. */
static void block_signals(sigset_t *before)
{
	sigset_t ends;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigprocmask(SIG_BLOCK, &ends, before);
}

/* Ctrl-C and SIGTERM end the server cleanly; a second one ends it at once. */
static void watch_signals(void)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = serve_on_signal;
	action.sa_flags = (int)SA_RESETHAND;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	action.sa_flags = 0;
	action.sa_handler = SIG_IGN;
	sigaction(SIGPIPE, &action, NULL);
	/* nobody waits for the child that opens the browser */
	sigaction(SIGCHLD, &action, NULL);
}

static void print_link(struct serve_visit *visit)
{
	unsigned port = ss_server_port(visit->server);
	char machine[256] = "";

	printf("%s\n", ss_server_link(visit->server));
	if (!visit->wants_browser && !cli_option_given(visit->arguments, "no-browser") &&
	    ss_server_is_loopback(visit->server)) {
		const struct passwd *person = getpwuid(getuid());

		if (gethostname(machine, sizeof(machine) - 1) != 0 || !*machine)
			memcpy(machine, "HOST", sizeof("HOST"));
		printf("To open it on another machine, run this there first:\n"
		       "  ssh -N -L %u:127.0.0.1:%u %s@%s\n",
		       port, port, person && person->pw_name ? person->pw_name : "USER", machine);
	}
	printf("Press Ctrl-C to stop.\n");
	if (fflush(stdout) != 0 || ferror(stdout)) {
		/* nobody could reach the server: only the link has the token */
		fprintf(stderr, "stepscope %s: cannot write the link: %s\n", visit->name,
			strerror(errno));
		clearerr(stdout);
		visit->is_mute = true;
		stopped = 1;
		return;
	}
	if (!ss_server_is_loopback(visit->server))
		fprintf(stderr,
			"stepscope: warning: everyone who can reach this machine and has the link "
			"can read these traces; the connection is not encrypted\n");
}

/* Prints the link once loading has begun: if the path does not exist, no page opens in vain. */
static void serve_show_link(struct serve_visit *visit)
{
	if (visit->is_greeted)
		return;
	visit->is_greeted = true;
	print_link(visit);
	if (visit->wants_browser && !visit->is_mute)
		browser_open(ss_server_link(visit->server));
}

static bool serve_on_progress(void *context, const struct ss_progress *progress)
{
	struct serve_visit *visit = context;

	ss_server_progress(visit->server, visit->run, visit->run_count, progress);
	serve_show_link(visit);
	return cli_progress_step(&visit->bar, progress) && !stopped;
}

static enum ss_status serve_load_run(struct serve_visit *visit, const char *const *paths,
				     size_t count, struct ss_error *err)
{
	struct ss_open_options open = show_loading(visit->arguments, paths, count);
	struct ss_session **session = &visit->sessions[visit->run];
	enum ss_status status;
	uint32_t failed;

	open.snapshots = true;
	open.reduce = open.diagnose = show_are_digests(paths, count);
	open.tables = open.reduce;
	open.progress = serve_on_progress;
	open.progress_context = visit;
	/* --run applies to the first path, not to the one to compare with */
	if (visit->run)
		open.run = NULL;
	status = ss_session_open(&open, session, err);
	cli_progress_clear(&visit->bar);
	if (status == SS_OK)
		status = ss_runs_add(visit->runs, *session, err);
	if (status != SS_OK)
		return status;
	visit->run++;
	failed = ss_session_failed_count(*session);
	if (failed)
		fprintf(stderr, "stepscope: %u file%s could not be read; the viewer shows why\n",
			failed, failed == 1 ? "" : "s");
	return SS_OK;
}

static enum ss_status serve_load_runs(struct serve_visit *visit, struct ss_error *err)
{
	const char *compare = cli_option_text(visit->arguments, "compare");
	bool has_store = cli_option_given(visit->arguments, "store");
	enum ss_status status = ss_runs_new(&visit->runs, err);

	if (status == SS_OK)
		visit->runs->own = has_store ? &fleet.own : &served.own;
	if (status == SS_OK && !has_store)
		status = serve_load_run(visit, visit->arguments->paths,
					visit->arguments->path_count, err);
	if (!has_store)
		fleet.digests = visit->runs;
	if (status == SS_OK && compare)
		status = serve_load_run(visit, &compare, 1, err);
	return status == SS_OK ? ss_server_open(visit->server, visit->runs, visit->sessions,
						visit->run, err)
			       : status;
}

/* Waits for Ctrl-C while the server's threads work. */
static void wait_for_end(struct serve_visit *visit)
{
	sigset_t before;

	block_signals(&before);
	while (!stopped) {
		struct timespec second = { .tv_sec = 1 };

		pselect(0, NULL, NULL, NULL, &second, &before);
		ss_server_sweep(visit->server);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
}

/* Runs beside the server's threads: loads the runs, shows the link, and waits for the end. */
static void serve_body(void *context)
{
	struct serve_visit *visit = context;
	struct ss_error err = { 0 };
	enum ss_status status;

	sigprocmask(SIG_SETMASK, &visit->before, NULL);
	status = serve_load_runs(visit, &err);
	if (status == SS_OK) {
		serve_show_link(visit);
		wait_for_end(visit);
	} else if (status == SS_ERR_STOPPED) {
		visit->code = EXIT_INTERRUPTED;
	} else {
		visit->code = show_fail(visit->name, &err);
	}
	if (visit->is_mute)
		visit->code = EXIT_FAILED;
}

/* The routes of this server besides those of the library. */
static enum ss_status begin_routes(const struct arguments *arguments, const char *store,
				   const struct ss_open_options *open, struct ss_error *err)
{
	if (!served_begin(&served, open->threads, open->memory_limit_bytes, serve_is_stopped))
		return ss_fail_memory(err, "the server");
	if (store)
		return cli_fleet_begin(&fleet, store, &served, open, serve_is_stopped, err);
	if (show_are_digests(arguments->paths, arguments->path_count))
		return cli_fleet_of_digests(&fleet, &served, open, serve_is_stopped, err);
	served_add_live(&served, open);
	return SS_OK;
}

/* Starts the server before anything is loaded, so that the page can show progress. */
static int serve_start(struct serve_visit *visit)
{
	char machine[256] = "";
	const char *store = cli_option_text(visit->arguments, "store");
	struct ss_server_options options = { .listener = bound.listener,
					     .own = store ? &fleet.own : &served.own };
	struct ss_open_options open = show_loading(visit->arguments, visit->arguments->paths,
						   visit->arguments->path_count);
	struct ss_error err = bound.err;
	enum ss_status status = bound.status;

	if (gethostname(machine, sizeof(machine) - 1) == 0)
		options.machine = machine;
	watch_signals();
	/* the server's threads must not receive signals: the thread that waits has to wake up */
	block_signals(&visit->before);
	if (status == SS_OK)
		status = begin_routes(visit->arguments, store, &open, &err);
	if (status == SS_OK)
		status = ss_server_start(&options, &visit->server, &err);
	fleet.server = visit->server;
	if (status == SS_OK) {
		status = ss_server_run(visit->server, serve_body, visit, &err);
		ss_server_close(visit->server);
	}
	if (status != SS_OK)
		visit->code = show_fail(visit->name, &err);
	cli_fleet_end(&fleet);
	served_end(&served);
	ss_runs_free(visit->runs);
	for (uint32_t i = 0; i < 2; i++)
		ss_session_close(visit->sessions[i]);
	return visit->code;
}

static bool wants_browser(const struct arguments *arguments)
{
	return !cli_option_given(arguments, "no-browser") && browser_is_near();
}

static void serve_allow(const struct arguments *arguments, struct sandbox_needs *needs)
{
	if (wants_browser(arguments))
		browser_prepare();
	served_prepare(&served);
	needs->serves = true;
	if (cli_option_count(arguments, "port") <= UINT16_MAX)
		bound.status = ss_listen(cli_option_text(arguments, "host"),
					 (uint16_t)cli_option_count(arguments, "port"),
					 &bound.listener, &bound.err);
}

static int serve_run(const struct command *command, const struct arguments *arguments)
{
	const char *compare = cli_option_text(arguments, "compare");
	struct serve_visit visit = {
		.name = command->name,
		.arguments = arguments,
		.run_count = compare ? 2 : 1,
		.wants_browser = wants_browser(arguments),
		.code = EXIT_FINE,
	};

	if (cli_option_given(arguments, "store") && (arguments->path_count || compare))
		return cli_fail(EXIT_USAGE, command->name,
				"--store shows the runs of the store; leave out %s",
				compare ? "--compare" : arguments->paths[0]);
	if (!cli_option_given(arguments, "store") && !show_check(command->name, arguments))
		return EXIT_USAGE;
	if (cli_option_count(arguments, "port") > UINT16_MAX)
		return cli_fail(EXIT_USAGE, command->name, "--port takes a number from 0 to 65535");
	/* reported now, because it is read last, when the page is already open */
	if (compare && strcmp(compare, "-") != 0 && access(compare, F_OK) != 0)
		return cli_fail(EXIT_FAILED, command->name, "cannot open '%s': %s", compare,
				strerror(errno));
	cli_progress_prepare(&visit.bar, cli_option_text(arguments, "progress"));
	return serve_start(&visit);
}

const struct command command_serve = {
	.name = "serve",
	.summary = "Open the viewer in your browser: timeline, tables, diagnosis",
	.usage = "[OPTIONS] PATH... | --store STORE",
	.takers = SS_TAKER_SERVE,
	.begin = serve_allow,
	.run = serve_run,
};
