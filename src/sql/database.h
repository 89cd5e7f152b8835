/* SPDX-License-Identifier: Apache-2.0 */
/*
 * database.h - the contents of struct ss_sql, for the files of this folder.
 */
#ifndef SS_SQL_DATABASE_H
#define SS_SQL_DATABASE_H

#include "api/session.h"
#include "base/system/thread.h"
#include "sql/raw.h"
#include "sql/sql.h"

/* A table that was computed for a query, cached for the next. */
struct ss_made {
	char *request;           /* key: the table and its parameters */
	struct ArrowArray array; /* no release: there are no rows */
	struct ss_made *next;
};

struct ss_sql {
	struct ss_session *session; /* NULL: no tables */
	struct ss_memory *memory;   /* the session's, or its own */
	struct ss_memory own_memory;
	struct ss_sql_options options;
	duck_handle database, connection;
	struct ss_arena arena;
	struct ss_domains domains;
	struct ss_gate *gate; /* guards `made` and the session, because scans begin on any thread */
	struct ss_made *made;
	struct ss_error own; /* why a scan failed, as DuckDB passes on only its text */
	const char *query;   /* the current statement, as it was written; NULL: none */
	int64_t problem_at;  /* what ss_sql_problem_at() returns */
};

/* Parameters of table functions. */
enum ss_parameter {
	SS_PARAMETER_RANK,
	SS_PARAMETER_FROM, /* of raw tables */
	SS_PARAMETER_TO,
	SS_PARAMETER_GROUP, /* of views: those that the view has as options */
	SS_PARAMETER_STEP,
	SS_PARAMETER_DEVICE,
	SS_PARAMETER_STREAM,
	SS_PARAMETER_NAME,
	SS_PARAMETER_COUNT,
};

struct ss_sql_arguments {
	char *texts[SS_PARAMETER_COUNT]; /* allocated by DuckDB; NULL: not given */
};

/* tables.c */
const char *ss_parameter_name(enum ss_parameter parameter);
const char *ss_parameter_option(enum ss_parameter parameter); /* the name in requests */
bool ss_parameter_applies(enum ss_parameter parameter, const struct ss_view *table);

/* made.c: finds the table in the cache, or computes it; borrowed until the database is closed. */
SS_MUST_USE
enum ss_status ss_sql_make(struct ss_sql *sql, const struct ss_view *table,
			   const struct ss_sql_arguments *arguments, const struct ss_made **out,
			   struct ss_error *err);
void ss_sql_release_made(struct ss_sql *sql);

/* scan.c: registers the table as a function; false: DuckDB refuses. */
SS_MUST_USE
bool ss_sql_register(struct ss_sql *sql, const struct ss_view *table);

/* answer.c: translates DuckDB's message to our words, followed by its own sentence. */
enum ss_status ss_sql_fail(struct ss_sql *sql, const char *message, struct ss_error *err);

/* --- cells.c: from DuckDB's vectors to cells of our tables --------------------------------- */

/* How a column of a result is read. */
struct ss_sql_source {
	int type; /* enum duck_type; of decimals and ENUMs the physical type */
	bool is_decimal, is_enum;
	uint8_t scale; /* of decimals: digits after the point */
	char **texts;  /* of ENUMs: allocated by DuckDB, each on first use */
	uint32_t text_count;
	duck_handle logical;
	const void *cells; /* of the current chunk */
	const uint64_t *known;
};

/* Whether our columns have such a type. */
bool ss_sql_source_is_read(const struct ss_sql_source *source);

/* Fills the view and the sources of the answer from its result. */
SS_MUST_USE
enum ss_status ss_sql_read_columns(struct ss_sql_answer *answer, struct ss_error *err);
void ss_sql_release_sources(struct ss_sql_answer *answer);

/* Appends the rows to the table. */
SS_MUST_USE
enum ss_status ss_sql_read_chunk(struct ss_sql_answer *answer, duck_handle chunk, uint32_t rows,
				 struct ss_error *err);

#endif
