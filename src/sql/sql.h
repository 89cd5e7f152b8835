/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sql.h - SQL on a session: every view and the raw columns as tables of DuckDB.
 *
 *     ss_engine_load(path, folder, &err)        once; needs the right to load code
 *     ss_sql_open(session, &options, &sql, &err)
 *     while (ss_sql_split(&text, &statement, &is_ended)) {
 *             ss_sql_begin(sql, &statement, &answer, &err)
 *             while (!answer.is_done)
 *                     ss_sql_fetch(&answer, 10000, &err)    the next rows: answer.table
 *             ss_sql_end(&answer)
 *     }
 *     ss_sql_close(sql)
 *
 * Slices and the other raw columns are read where they are, by several threads; views are computed
 * when a query first reads them, and kept. The session must stay open and must not be used by
 * others during a call. Queries cannot reach files, the network or programs unless the options
 * allow it.
 */
#ifndef SS_SQL_SQL_H
#define SS_SQL_SQL_H

#include "sql/engine.h"
#include "view/view.h"
#include "stepscope.h"

struct ss_sql;

struct ss_sql_options {
	uint32_t threads;            /* 0: one per core */
	uint64_t memory_limit_bytes; /* of the session and its queries together; 0: no limit */
	bool allow_files;            /* queries may read files */
	const char *output;          /* a file that ss_sql_copy() may write; NULL: none */
	const char *folder;          /* queries may read and write files in it; NULL: none */
	/* asked often while a query runs; true: stop. May be NULL */
	bool (*is_stopped)(void *context);
	void *context;
};

/* A part of a text that somebody else keeps. */
struct ss_sql_text {
	const char *text;
	size_t length;
};

/*
 * The session must outlive it; the engine is loaded. Without a session (NULL) there are no tables:
 * for queries on files.
 */
SS_MUST_USE
enum ss_status ss_sql_open(struct ss_session *session, const struct ss_sql_options *options,
			   struct ss_sql **out, struct ss_error *err);
void ss_sql_close(struct ss_sql *sql);

/*
 * split.c: takes the next statement, without its semicolon, off the text; false: there is none.
 * *is_ended says whether it had a semicolon, so that a prompt knows whether to wait for more.
 */
bool ss_sql_split(struct ss_sql_text *rest, struct ss_sql_text *statement, bool *is_ended);

/* The rows of a statement, in our columns. */
struct ss_sql_answer {
	struct ss_view view; /* the columns: units come from their names, such as total_ns */
	struct ss_table table;
	bool has_rows; /* the statement returns rows, maybe none */
	bool is_done;  /* the table has the last of them */
	struct ss_arena arena;
	struct ss_sql *sql;
	duck_handle statement, pending;
	struct duck_result result;
	bool has_result;
	struct ss_sql_source *sources; /* per column */
};

/* Runs the statement up to its first rows. End it in any case. */
SS_MUST_USE
enum ss_status ss_sql_begin(struct ss_sql *sql, const struct ss_sql_text *statement,
			    struct ss_sql_answer *out, struct ss_error *err);

/* Replaces the rows of the table by the next ones: about `most`, or all that are left with 0. */
SS_MUST_USE
enum ss_status ss_sql_fetch(struct ss_sql_answer *answer, uint32_t most, struct ss_error *err);
void ss_sql_end(struct ss_sql_answer *answer);

/* Where in the last statement its problem is, in bytes from its start; -1: not known. */
int64_t ss_sql_problem_at(const struct ss_sql *sql);

/* Writes the rows of a query as Parquet: to the options' output, or into their folder. */
SS_MUST_USE
enum ss_status ss_sql_copy(struct ss_sql *sql, const struct ss_sql_text *query, const char *path,
			   struct ss_error *err);

/* Runs a statement whose rows do not matter. */
SS_MUST_USE
enum ss_status ss_sql_run(struct ss_sql *sql, const char *statement, struct ss_error *err);

/* database.c: appends a text, with its quotes doubled. */
void ss_sql_add_quoted(struct ss_text *out, const char *text, char quote);

/* tables.c: the tables by index, for lists, completion and docs; NULL past the end. */
const struct ss_view *ss_sql_table_at(size_t index);

/* Its name in SQL: "memory_curve" for the view memory-curve. */
#define SS_SQL_NAME_BYTES 64
void ss_sql_table_name(const struct ss_view *table, char out[SS_SQL_NAME_BYTES]);

/* The name of the table that was probably meant; false: none is near enough. */
bool ss_sql_guess(const char *typed, char out[SS_SQL_NAME_BYTES]);

/* The type of a column in SQL. */
const char *ss_sql_column_type(const struct ss_view *table, uint32_t column);

/* The names of the parameters by index: from slices(rank := 0); NULL past the end. */
const char *ss_sql_parameter_at(const struct ss_view *table, size_t index);

#endif
