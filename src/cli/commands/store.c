/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.c - command: keeps the findings of many runs in a folder of Parquet files.
 */
#include <stdio.h>
#include <string.h>

#include "base/closest_name.h"
#include "cli/output.h"
#include "cli/sql/query.h"
#include "cli/stop.h"
#include "cli/store/runs.h"

/* A subcommand of `store`. */
struct action {
	const char *name;
	const char *options;            /* options that only it accepts, each between spaces */
	size_t words_least, words_most; /* including its name */
	const char *words;              /* what follows its name */
	int (*run)(const char *what, const struct arguments *arguments);
};

static struct ss_error engine_problem;

static int store_add(const char *what, const struct arguments *arguments)
{
	const struct output_inputs inputs = { .paths = arguments->paths + 2,
					      .path_count = arguments->path_count - 2 };
	struct store_runs runs;
	int code = cli_store_runs_open(what, arguments, arguments->paths[1], &inputs, &runs);

	/* a run that cannot be added does not stop the others */
	for (size_t i = 2; runs.store.layout && !stop_asked() && i < arguments->path_count; i++) {
		int own = cli_store_runs_add(&runs, arguments->paths[i]);

		code = own != EXIT_FINE ? own : code;
	}
	return cli_store_runs_close(&runs, code);
}

static bool store_is_stopped(void *context)
{
	(void)context;
	return stop_asked();
}

static void tell_change(const char *path, const char *done, const struct ss_store_change *change)
{
	char before[BYTES_WORDS], after[BYTES_WORDS];

	cli_bytes_in_words(change->bytes_before, before);
	cli_bytes_in_words(change->bytes_after, after);
	if (!change->files)
		printf("%s: nothing to do\n", path);
	else
		printf("%s: %s %u file%s of %u day%s (%s, now %s)\n", path, done, change->files,
		       change->files == 1 ? "" : "s", change->days, change->days == 1 ? "" : "s",
		       before, after);
}

/* Seconds after which files that do not count any more are deleted. */
static int64_t store_grace(const struct arguments *arguments)
{
	return (int64_t)cli_option_number(arguments, "grace", SS_RUN_STORE_GRACE_S);
}

static int compact(const char *what, const struct arguments *arguments)
{
	const struct ss_stored_run run = {
		.threads = cli_option_count(arguments, "threads"),
		.memory_limit_bytes = cli_option_number(arguments, "memory-limit", 0),
		.is_stopped = store_is_stopped,
	};
	struct ss_store_change change;
	struct ss_run_store store;
	struct ss_error err = { 0 };
	enum ss_status status = ss_run_store_open(arguments->paths[1], false, &store, &err);

	stop_filling(true);
	if (status == SS_OK)
		status = ss_run_store_compact(&store, &run, store_grace(arguments), &change, &err);
	stop_filling(false);
	if (status != SS_OK)
		return show_fail(what, &err);
	tell_change(arguments->paths[1], "compacted", &change);
	return EXIT_FINE;
}

static int store_drop(const char *what, const struct arguments *arguments)
{
	const char *before = cli_option_text(arguments, "before");
	const char *table = arguments->path_count > 2 ? arguments->paths[2] : NULL;
	struct ss_store_change change;
	struct ss_run_store store;
	struct ss_error err = { 0 };
	enum ss_status status;

	if (!before)
		return cli_fail(EXIT_USAGE, what,
				"drop needs --before DATE, such as --before 2026-08-01");
	if (table && strcmp(table, "job_steps") != 0 && strcmp(table, "rank_minutes") != 0)
		return cli_fail(EXIT_USAGE, what,
				"drop removes runs, or days of job_steps or rank_minutes, not of "
				"'%s'",
				table);
	status = ss_run_store_open(arguments->paths[1], false, &store, &err);
	if (status == SS_OK)
		status = ss_run_store_drop(&store, table, before, store_grace(arguments), &change,
					   &err);
	if (status != SS_OK)
		return show_fail(what, &err);
	tell_change(arguments->paths[1], "removed", &change);
	return EXIT_FINE;
}

static enum ss_status list_days(struct ss_run_store *store, const struct ss_stored_run *run,
				struct ss_table *out, struct ss_error *err)
{
	(void)run;
	return ss_run_store_list(store, out, err);
}

static enum ss_status list_columns(struct ss_run_store *store, const struct ss_stored_run *run,
				   struct ss_table *out, struct ss_error *err)
{
	(void)store;
	(void)run;
	(void)err;
	ss_run_store_columns(out);
	return SS_OK;
}

/* Prints a table about the store, or about all stores. */
static int show_table(const char *what, const struct arguments *arguments,
		      const struct ss_view *view,
		      enum ss_status (*fill)(struct ss_run_store *store,
					     const struct ss_stored_run *run, struct ss_table *out,
					     struct ss_error *err))
{
	const struct ss_stored_run run = {
		.job = cli_option_text(arguments, "job"),
		.threads = cli_option_count(arguments, "threads"),
		.memory_limit_bytes = cli_option_number(arguments, "memory-limit", 0),
		.is_stopped = store_is_stopped
	};
	struct ss_request request = show_request(what, arguments);
	const struct ss_render_options options = { .width = request.width, .color = request.color };
	struct ss_run_store store;
	struct ss_memory memory;
	struct ss_arena arena;
	struct ss_table table;
	SS_TEXT(text);
	struct ss_error err = { 0 };
	enum ss_status status = SS_OK;

	ss_memory_init(&memory, 0);
	ss_arena_init(&arena, &memory);
	ss_table_init(&table, view, &arena);
	if (arguments->path_count > 1)
		status = ss_run_store_open(arguments->paths[1], false, &store, &err);
	stop_filling(true);
	if (status == SS_OK)
		status = fill(&store, &run, &table, &err);
	stop_filling(false);
	if (status == SS_OK)
		ss_renderer_find(request.format)->view(&table, &options, &text);
	if (status == SS_OK && (table.failed || ss_text_failed(&text)))
		status = ss_fail_memory(&err, "the list");
	if (status == SS_OK && text.length)
		fwrite(text.data, 1, text.length, stdout);
	ss_table_release(&table);
	ss_arena_release(&arena);
	return status == SS_OK ? EXIT_FINE : show_fail(what, &err);
}

static int store_list(const char *what, const struct arguments *arguments)
{
	return show_table(what, arguments, &ss_store_days_view, list_days);
}

static int store_changes(const char *what, const struct arguments *arguments)
{
	return show_table(what, arguments, &ss_store_changes_view, ss_run_store_changes);
}

static int columns(const char *what, const struct arguments *arguments)
{
	return show_table(what, arguments, &ss_store_columns_view, list_columns);
}

static const struct action actions[] = {
	{ "add", " job commit label source run redact keep key list ", 3, SIZE_MAX,
	  " STORE PATH...", store_add },
	{ "list", " format ", 2, 2, " STORE", store_list },
	{ "compact", " grace ", 2, 2, " STORE", compact },
	{ "drop", " before grace ", 2, 3, " STORE [TABLE] --before DATE", store_drop },
	{ "changes", " job format ", 2, 2, " STORE", store_changes },
	{ "columns", " format ", 1, 1, "", columns },
};

static const struct action *find_action(const struct arguments *arguments)
{
	for (size_t i = 0; arguments->path_count && i < SS_COUNT(actions); i++)
		if (strcmp(arguments->paths[0], actions[i].name) == 0)
			return &actions[i];
	return NULL;
}

/* Refuses options of other subcommands, as the parser refuses those of other commands. */
static bool takes_options(const struct command *command, const struct action *action,
			  const struct arguments *arguments)
{
	static const char *const own[] = { "job",    "commit", "label", "source", "run",  "before",
					   "format", "redact", "keep",  "key",    "list", "grace" };

	for (size_t i = 0; i < SS_COUNT(own); i++) {
		char word[32];

		snprintf(word, sizeof(word), " %s ", own[i]);
		if (!cli_option_given(arguments, own[i]) || strstr(action->options, word))
			continue;
		fprintf(stderr, "stepscope %s: --%s does not apply to '%s %s'\n", command->name,
			own[i], command->name, action->name);
		return false;
	}
	return true;
}

/* Loads the engine before the sandbox is entered, which allows writing only to the store. */
static void store_allow(const struct arguments *arguments, struct sandbox_needs *needs)
{
	if (!find_action(arguments) || arguments->path_count < 2)
		return;
	needs->outputs = arguments->paths + 1;
	needs->output_count = 1;
	needs->moves = true;
	cli_engine_prepare(&engine_problem);
}

static int store_refuse_words(const struct command *command, const struct arguments *arguments)
{
	struct ss_closest_name guess = ss_closest_name_begin(
		arguments->path_count ? arguments->paths[0] : "");

	for (size_t i = 0; i < SS_COUNT(actions); i++)
		ss_closest_name_add(&guess, actions[i].name);
	fprintf(stderr, "stepscope %s: ", command->name);
	if (arguments->path_count)
		fprintf(stderr, "no action called '%s'; ", arguments->paths[0]);
	if (arguments->path_count && guess.best) {
		fprintf(stderr, "did you mean '%s'?\n", guess.best);
		return EXIT_USAGE;
	}
	fprintf(stderr, "expected an action and a store, for example: stepscope store add "
			"STORE PATH\n");
	return EXIT_USAGE;
}

static int store_run(const struct command *command, const struct arguments *arguments)
{
	const struct action *action = find_action(arguments);

	if (!action)
		return store_refuse_words(command, arguments);
	if (!takes_options(command, action, arguments))
		return EXIT_USAGE;
	if (arguments->path_count < action->words_least ||
	    arguments->path_count > action->words_most)
		return cli_fail(EXIT_USAGE, command->name, "expected 'stepscope store %s%s'",
				action->name, action->words);
	if (engine_problem.code != SS_OK)
		return show_fail(command->name, &engine_problem);
	return action->run(command->name, arguments);
}

const struct command command_store = {
	.name = "store",
	.summary = "Keep what was found in many runs: a folder of Parquet files",
	.usage = "add|list|changes|compact|drop|columns [STORE] [OPTIONS] [PATH...]",
	.takers = SS_TAKER_STORE,
	.begin = store_allow,
	.run = store_run,
};
