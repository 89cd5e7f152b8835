/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query.h - runs SQL on a session and prints the rows, for the command 'sql' and its prompt.
 */
#ifndef SS_CLI_SQL_QUERY_H
#define SS_CLI_SQL_QUERY_H

#include "api/renderers.h"
#include "cli/output.h"
#include "sql/sql.h"

struct query {
	const struct ss_renderer *renderer;
	struct ss_render_options options;
	struct ss_session *session; /* NULL: only lists of tables can be printed */
	struct ss_sql *sql;
	struct shown *shown; /* where the rows go */
	bool is_parquet;     /* the engine writes the file itself */
};

/* Reads format and output from the arguments; fails if there is no such format. */
SS_MUST_USE
enum ss_status cli_query_prepare(const struct arguments *arguments, struct query *out,
				 struct ss_error *err);

/* Runs all statements of the text; stops at the first error. */
SS_MUST_USE
enum ss_status cli_query_run(struct query *query, const struct ss_sql_text *text,
			     struct ss_error *err);

/* Whether the text is a list command such as ".tables" or ".schema", which needs no trace. */
bool cli_query_is_list(const char *text, size_t length);

/*
 * Loads DuckDB from STEPSCOPE_DUCKDB, or from where it is usually found. Call it before the
 * sandbox is entered; the caller reports the problem later, if there is one.
 */
void cli_engine_prepare(struct ss_error *problem);

/* prompt.c: reads queries from the terminal until Ctrl-D; returns the exit code. */
int prompt_run(struct query *query);

/* prompt.c: opens the history. Call it before the sandbox is entered. */
void prompt_prepare(void);

#endif
