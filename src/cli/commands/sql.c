/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sql.c - command: SQL on the traces, as one query, a file of queries, or a prompt.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/request/query.h"
#include "base/text.h"
#include "cli/sql/query.h"
#include "cli/stop.h"

/* Queries are text that people write, or their programs. */
#define QUERIES_BYTES_MAX ((size_t)16 << 20)

/* The command line split into its parts. */
struct sql_words {
	size_t path_count;
	const char *query; /* NULL: from a file, from standard input, or at a prompt */
	const char *file;  /* "-": standard input; NULL: none */
};

/* Why the engine could not be loaded, before the sandbox was entered; reported later. */
static struct ss_error engine_problem;

static bool sql_path_exists(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0;
}

/* A list such as .schema and its table may be two words. */
static bool take_list(const struct arguments *arguments, struct sql_words *words)
{
	static char list[256];
	const char *first = arguments->path_count ? arguments->paths[0] : "";

	if (arguments->path_count != 2 || !cli_query_is_list(first, strlen(first)) ||
	    sql_path_exists(first))
		return false;
	snprintf(list, sizeof(list), "%s %s", first, arguments->paths[1]);
	*words = (struct sql_words){ .query = list };
	return true;
}

/* The last word is the query, unless it is a file. */
static struct sql_words take_words(const struct arguments *arguments)
{
	struct sql_words words = { .path_count = arguments->path_count,
				   .file = cli_option_text(arguments, "file") };
	const char *last = words.path_count ? arguments->paths[words.path_count - 1] : NULL;

	if (words.file || !last || take_list(arguments, &words))
		return words;
	if (words.path_count > 1 && strcmp(last, "-") == 0) {
		words.file = last;
		words.path_count--;
	} else if ((words.path_count > 1 || cli_query_is_list(last, strlen(last)) ||
		    strchr(last, ' ')) &&
		   !sql_path_exists(last)) {
		words.query = last;
		words.path_count--;
	}
	if (!words.query && !words.file && !isatty(STDIN_FILENO) &&
	    !(words.path_count == 1 && strcmp(arguments->paths[0], "-") == 0))
		words.file = "-";
	return words;
}

static void sql_allow(const struct arguments *arguments, struct sandbox_needs *needs)
{
	struct sql_words words = take_words(arguments);

	if (!words.path_count)
		return;
	cli_engine_prepare(&engine_problem);
	needs->prompts = engine_problem.code == SS_OK && !words.query && !words.file;
	if (needs->prompts)
		prompt_prepare();
}

static bool sql_is_stopped(void *context)
{
	(void)context;
	return stop_asked();
}

static enum ss_status read_queries(const char *path, struct ss_text *out, struct ss_error *err)
{
	FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
	enum ss_status status = SS_OK;
	char buffer[65536];
	size_t length;

	if (!file)
		return ss_fail(err, SS_ERR_IO, "cannot open '%.200s'", path);
	while (status == SS_OK && (length = fread(buffer, 1, sizeof(buffer), file))) {
		ss_text_add(out, buffer, length);
		if (out->length > QUERIES_BYTES_MAX)
			status = ss_fail(err, SS_ERR_LIMIT,
					 "'%.200s' has more than 16 MB of "
					 "queries: is it a file of SQL?",
					 path);
	}
	if (status == SS_OK && ferror(file))
		status = ss_fail(err, SS_ERR_IO, "cannot read '%.200s'", path);
	if (file != stdin)
		fclose(file);
	return status;
}

/* Runs the queries of the command line or of a file; without any, starts the prompt. */
static enum ss_status sql_run_queries(struct query *query, const struct sql_words *words,
				      struct ss_error *err)
{
	SS_TEXT(text);
	enum ss_status status = SS_OK;

	if (words->query)
		ss_text_add_string(&text, words->query);
	else
		status = read_queries(words->file, &text, err);
	if (status == SS_OK && ss_text_failed(&text))
		status = ss_fail_memory(err, "the queries");
	if (status == SS_OK)
		status = cli_query_run(query,
				       &(struct ss_sql_text){ text.data ? text.data : "",
							      text.length },
				       err);
	return status;
}

static bool sql_ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), own = strlen(end);

	return length > own && strcmp(text + length - own, end) == 0;
}

static enum ss_status open_traces(const struct arguments *arguments, const struct sql_words *words,
				  struct query *query, struct ss_error *err)
{
	struct ss_open_options open = show_loading(arguments, arguments->paths, words->path_count);
	struct ss_sql_options options = { .threads = open.threads,
					  .memory_limit_bytes = open.memory_limit_bytes,
					  .allow_files = cli_option_given(arguments, "allow-files"),
					  .is_stopped = sql_is_stopped };

	if (engine_problem.code != SS_OK) {
		*err = engine_problem;
		return err->code;
	}
	if (words->path_count && strchr(arguments->paths[0], ' ') &&
	    !sql_path_exists(arguments->paths[0]))
		return ss_fail(err, SS_ERR_USAGE,
			       "the query comes after the paths: stepscope sql PATH... QUERY");
	if (query->is_parquet)
		options.output = query->shown->output.file.temporary;
	open.snapshots = true;
	SS_TRY(show_load(arguments, &open, &query->session, err));
	show_failed(query->session, "sql");
	ss_query_trust(query->session, &query->options.trust);
	if (strcmp(query->renderer->name, "text") != 0)
		ss_identity_of_job(&query->session->job, SS_EVERY_RANK, &query->options.run);
	return ss_sql_open(query->session, &options, &query->sql, err);
}

static int sql_run_session(const char *what, const struct arguments *arguments,
			   const struct sql_words *words, struct query *query)
{
	struct ss_error err = { 0 };
	struct ss_text none = { 0 };
	enum ss_status status = SS_OK;
	struct progress_bar bar;
	int code = EXIT_FINE;

	if (words->path_count)
		status = open_traces(arguments, words, query, &err);
	if (status == SS_OK && query->session) {
		cli_progress_begin(&bar, cli_option_text(arguments, "progress"));
		ss_session_watch(query->session, cli_progress_step, &bar);
	}
	if (status == SS_OK && (words->query || words->file))
		status = sql_run_queries(query, words, &err);
	else if (status == SS_OK)
		code = prompt_run(query);
	if (status == SS_OK && query->session)
		cli_progress_end(&bar);
	ss_sql_close(query->sql);
	ss_session_close(query->session);
	return code == EXIT_FINE ? show_end(what, status, query->shown, &none, &err) : code;
}

static int sql_run(const struct command *command, const struct arguments *arguments)
{
	struct sql_words words = take_words(arguments);
	const char *output = cli_option_text(arguments, "output");
	struct query query = { 0 };
	struct ss_error err = { 0 };
	struct shown shown;
	int code;

	if (!words.path_count &&
	    !(words.query && cli_query_is_list(words.query, strlen(words.query))))
		return cli_fail(EXIT_USAGE, "sql",
				"expected a trace and a query, for example: stepscope sql PATH "
				"\"from findings\"");
	if (cli_query_prepare(arguments, &query, &err) != SS_OK)
		return show_fail(command->name, &err);
	query.is_parquet = output && sql_ends_with(output, ".parquet");
	if (query.is_parquet && !words.query && !words.file)
		return cli_fail(EXIT_USAGE, "sql",
				"Parquet needs one query, for example: stepscope sql PATH \"from "
				"slices\" -o slices.parquet");
	code = show_begin(command->name, arguments,
			  &(struct output_inputs){ .paths = arguments->paths,
						   .path_count = words.path_count,
						   .more = { words.file } },
			  &shown);
	if (code != EXIT_FINE)
		return code;
	query.shown = &shown;
	return sql_run_session(command->name, arguments, &words, &query);
}

const struct command command_sql = {
	.name = "sql",
	.summary = "Query traces with SQL: every view and all events as tables",
	.usage = "[OPTIONS] PATH... [QUERY]",
	.takers = SS_TAKER_SQL,
	.begin = sql_allow,
	.run = sql_run,
};
