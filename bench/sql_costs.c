/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sql_costs.c - loads traces once and runs the same queries on the slices where they are, on a
 * table of DuckDB's own, and, if it is asked for, on a table of SQLite.
 *
 * Prints one line of JSON for the load, one for opening the database, and one for each query:
 * the best of several rounds, in which the two tables take turns. CPU time, not wall time, because
 * machines are shared.
 */
#include <string.h>

#define COSTS_NAME "sql_costs"
#include "costs.h"
#include "sql/database.h"
#ifdef HAVE_SQLITE
#include <sqlite3.h>
#endif

#define ROUNDS 5

static const struct {
	const char *name, *query; /* with the table's name for the percent sign */
} queries[] = {
	{ "by name", "select name, count(*) as n, sum(dur_ns) as total_ns from %s group by name" },
	{ "by kind", "select kind, count(*) as n, sum(dur_ns) as total_ns from %s group by kind" },
	{ "by rank and name",
	  "select rank, name, count(*) as n, sum(dur_ns) as total_ns from %s group by rank, name" },
	{ "longest", "select name, max(dur_ns) as longest_ns from %s group by name" },
	{ "sum", "select count(*) as n, sum(dur_ns) as total_ns from %s" },
};

static uint64_t row_count;

/* The CPU seconds of a query; its rows are counted in row_count. */
static double ask(struct ss_sql *sql, const char *text)
{
	struct ss_sql_answer answer;
	struct ss_error err = { 0 };
	double start_s = cpu_seconds();

	if (ss_sql_begin(sql, &(struct ss_sql_text){ text, strlen(text) }, &answer, &err) !=
		    SS_OK ||
	    (answer.has_rows && ss_sql_fetch(&answer, 0, &err) != SS_OK))
		fail(err.text);
	row_count = answer.table.row_count;
	ss_sql_end(&answer);
	return cpu_seconds() - start_s;
}

static double ask_of(struct ss_sql *sql, const char *query, const char *table)
{
	char text[256];

	snprintf(text, sizeof(text), query, table);
	return ask(sql, text);
}

static void measure(struct ss_sql *sql, const char *name, const char *query)
{
	double ours_s = 1e9, native_s = 1e9;

	for (int i = 0; i < ROUNDS; i++) {
		double one_s = ask_of(sql, query, "slices"), other_s = ask_of(sql, query, "native");

		ours_s = one_s < ours_s ? one_s : ours_s;
		native_s = other_s < native_s ? other_s : native_s;
	}
	printf("{\"query\":\"%s\",\"cpu_s\":%.6f,\"native_cpu_s\":%.6f,\"rows\":%llu}\n", name,
	       ours_s, native_s, (unsigned long long)row_count);
	fflush(stdout);
}

#ifdef HAVE_SQLITE
static void add_rows(const struct ss_trace *trace, sqlite3_stmt *insert)
{
	const struct ss_slices *slices = &trace->slices;

	for (uint32_t i = 0; i < slices->count; i++) {
		const char *name = ss_strings_text(&trace->names, slices->name[i]);

		sqlite3_bind_text(insert, 1, name, -1, SQLITE_STATIC);
		sqlite3_bind_int64(insert, 2, slices->dur_ns[i]);
		if (sqlite3_step(insert) != SQLITE_DONE || sqlite3_reset(insert) != SQLITE_OK)
			fail("SQLite takes no rows");
	}
}

static void measure_sqlite(const struct ss_job *job)
{
	char query[256];
	sqlite3_stmt *statement;
	sqlite3 *database;
	uint64_t rows = 0;
	double start_s;

	snprintf(query, sizeof(query), queries[0].query, "slices");
	if (sqlite3_open(":memory:", &database) != SQLITE_OK ||
	    sqlite3_exec(database, "create table slices (name text, dur_ns integer); begin", NULL,
			 NULL, NULL) != SQLITE_OK ||
	    sqlite3_prepare_v2(database, "insert into slices values (?, ?)", -1, &statement,
			       NULL) != SQLITE_OK)
		fail("SQLite does not start");
	for (uint32_t i = 0; i < job->file_count; i++)
		if (job->files[i].subject.trace)
			add_rows(job->files[i].subject.trace, statement);
	sqlite3_finalize(statement);
	sqlite3_exec(database, "commit", NULL, NULL, NULL);
	start_s = cpu_seconds();
	if (sqlite3_prepare_v2(database, query, -1, &statement, NULL) != SQLITE_OK)
		fail("SQLite does not take the query");
	while (sqlite3_step(statement) == SQLITE_ROW)
		rows++;
	printf("{\"query\":\"sqlite\",\"cpu_s\":%.6f,\"rows\":%llu}\n", cpu_seconds() - start_s,
	       (unsigned long long)rows);
	sqlite3_finalize(statement);
	sqlite3_close(database);
}
#else
static void measure_sqlite(const struct ss_job *job)
{
	(void)job;
}
#endif

int main(int argc, char **argv)
{
	const char *const paths[] = { argc > 2 ? argv[2] : NULL };
	struct ss_open_options open = { .size = sizeof(open), .paths = paths, .path_count = 1 };
	struct ss_sql_options options = { 0 };
	struct ss_session *session;
	struct ss_error err = { 0 };
	struct ss_sql *sql;
	double start_s, loaded_s;

	if (argc < 3)
		fail("usage: sql_costs LIBDUCKDB TRACES [sqlite]");
	start_s = cpu_seconds();
	if (ss_session_open(&open, &session, &err) != SS_OK)
		fail(err.text);
	loaded_s = cpu_seconds();
	if (ss_engine_load(argv[1], NULL, &err) != SS_OK ||
	    ss_sql_open(session, &options, &sql, &err) != SS_OK)
		fail(err.text);
	printf("{\"load_cpu_s\":%.6f,\"open_cpu_s\":%.6f}\n", loaded_s - start_s,
	       cpu_seconds() - loaded_s);
	fflush(stdout);
	(void)ask(sql, "create table native as from slices");
	(void)ask(sql, "select count(*) as n from slices");
	for (size_t i = 0; i < SS_COUNT(queries); i++)
		measure(sql, queries[i].name, queries[i].query);
	if (argc > 3)
		measure_sqlite(&session->job);
	ss_sql_close(sql);
	ss_session_close(session);
	return 0;
}
