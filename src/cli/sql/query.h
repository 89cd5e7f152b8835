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
	bool is_parquet;     /* written by the engine itself */
};

/* How the arguments want the rows; fails where there is no such format. */
SS_MUST_USE
enum ss_status cli_query_prepare(const struct arguments *arguments, struct query *out,
				 struct ss_error *err);

/* Runs all statements of the text; the first that fails is the last. */
SS_MUST_USE
enum ss_status cli_query_run(struct query *query, const struct ss_sql_text *text,
			     struct ss_error *err);

/* Whether the text is ".tables", ".schema" or another list, which needs no trace. */
bool cli_query_is_list(const char *text, size_t length);

/* tables_list.c: renders the list that the text asks for. */
SS_MUST_USE
enum ss_status cli_query_list(const struct query *query, const char *text, size_t length,
			      struct ss_text *out, struct ss_error *err);

/*
 * engine.c: loads DuckDB from STEPSCOPE_DUCKDB, beside the program, or the system. Call it before
 * the sandbox is entered; the problem, if there is one, is for the run to report.
 */
void cli_engine_prepare(struct ss_error *problem);

/* prompt.c: reads queries from the terminal until Ctrl-D; returns the exit code. */
int prompt_run(struct query *query);

/* prompt.c: call it before the sandbox is entered: opens the history. */
void prompt_prepare(void);

#endif
