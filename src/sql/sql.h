/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sql.h - SQL on a session: every view and the raw columns as tables of DuckDB.
 *
 *     ss_engine_load(path, getenv, &err)        once; needs the right to load code
 *     ss_sql_open(session, &options, &sql, &err)
 *     while (ss_sql_split(&text, &statement, &is_ended)) {
 *             ss_sql_begin(sql, &statement, &answer, &err)
 *             while (!answer.is_done)
 *                     ss_sql_fetch(&answer, 10000, &err)    the next rows: answer.table
 *             ss_sql_end(&answer)
 *     }
 *     ss_sql_close(sql)
 *
 * Several threads read slices and the other raw columns in place; views are computed when a query
 * first reads them, and cached. The session must stay open, and nobody else may use it during a
 * call. Queries cannot reach files, the network or programs unless the options allow it.
 */
#ifndef SS_SQL_SQL_H
#define SS_SQL_SQL_H

#include "api/views_list.h"
#include "sql/engine.h"
#include "stepscope.h"

struct ss_sql;

struct ss_sql_options {
	uint32_t threads;            /* 0: one per core */
	uint64_t memory_limit_bytes; /* of the session and its queries together; 0: no limit */
	bool allow_files;            /* queries may read files */
	const char *output;          /* a file that ss_sql_copy() may write; NULL: none */
	const char *folder;          /* queries may read and write files in it; NULL: none */
	/* called often while a query runs; true: stop. May be NULL */
	bool (*is_stopped)(void *context);
	void *context;
};

/* A part of a text that the caller owns. */
struct ss_sql_text {
	const char *text;
	size_t length;
};

/*
 * The session must outlive the database; load the engine first. Without a session (NULL) there are
 * no tables: for queries on files.
 */
SS_MUST_USE
enum ss_status ss_sql_open(struct ss_session *session, const struct ss_sql_options *options,
			   struct ss_sql **out, struct ss_error *err);
void ss_sql_close(struct ss_sql *sql);

/*
 * Removes the next statement, without its semicolon, from the text; false: none left.
 * *is_ended says whether it had a semicolon, so that a prompt knows whether to wait for more.
 */
bool ss_sql_split(struct ss_sql_text *rest, struct ss_sql_text *statement, bool *is_ended);

/* The rows of a statement, in columns of ours. */
struct ss_sql_answer {
	struct ss_view view; /* the columns; units follow from their names, such as total_ns */
	struct ss_table table;
	bool has_rows; /* the statement returns rows, possibly none */
	bool is_done;  /* the table has the last rows */
	struct ss_arena arena;
	struct ss_sql *sql;
	duck_handle statement, pending;
	struct duck_result result;
	bool has_result;
	struct ss_sql_source *sources; /* per column */
};

/* Runs the statement up to its first rows. Always call ss_sql_end(). */
SS_MUST_USE
enum ss_status ss_sql_begin(struct ss_sql *sql, const struct ss_sql_text *statement,
			    struct ss_sql_answer *out, struct ss_error *err);

/* Replaces the rows of the table by the next ones: about `most`, or all the rest with 0. */
SS_MUST_USE
enum ss_status ss_sql_fetch(struct ss_sql_answer *answer, uint32_t most, struct ss_error *err);
void ss_sql_end(struct ss_sql_answer *answer);

/* The position of the error in the last statement, in bytes; -1: not known. */
int64_t ss_sql_problem_at(const struct ss_sql *sql);

/* Where ss_sql_copy() can write to an open descriptor, such as that of a pipe. */
#ifdef __linux__
#define SS_SQL_DESCRIPTORS "/proc/self/fd/"
#else
#define SS_SQL_DESCRIPTORS "/dev/fd/"
#endif

/* Writes the rows of a query as Parquet to the output or into the folder of the options. */
SS_MUST_USE
enum ss_status ss_sql_copy(struct ss_sql *sql, const struct ss_sql_text *query, const char *path,
			   struct ss_error *err);

/* Runs a statement and ignores its rows. */
SS_MUST_USE
enum ss_status ss_sql_run(struct ss_sql *sql, const char *statement, struct ss_error *err);

/* database.c: appends a quoted text, with quotes inside doubled. */
void ss_sql_add_quoted(struct ss_text *out, const char *text, char quote);

/* tables.c: the tables by index, for lists, completion and docs; NULL past the end. */
const struct ss_view *ss_sql_table_at(size_t index);

/* The table's name in SQL: "memory_curve" for the view memory-curve. */
#define SS_SQL_NAME_BYTES 64
void ss_sql_table_name(const struct ss_view *table, char out[SS_SQL_NAME_BYTES]);

/* The most similar table name; false: none is similar enough. */
bool ss_sql_guess(const char *typed, char out[SS_SQL_NAME_BYTES]);

/* The SQL type of a column. */
const char *ss_sql_column_type(const struct ss_view *table, uint32_t column);

/* The names of a table's parameters, as in slices(rank := 0), by index; NULL past the end. */
const char *ss_sql_parameter_at(const struct ss_view *table, size_t index);

/*
 * made.c: the account of the mean step as a table: one row per part; all parts add up to it. The
 * names of the parts by index; NULL past the end.
 */
extern const struct ss_view ss_account_view;
const char *ss_sql_account_part_at(size_t index);

#endif
