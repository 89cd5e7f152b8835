/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_sql.c - SQL texts: split into statements, and asked of a job that is simulated once.
 *
 * Statements cover the text in order. With DuckDB (STEPSCOPE_DUCKDB) each is run up to some rows,
 * which are well-formed tables, or ends in a sentence; it is stopped when it takes long. No text
 * reaches a file: a canary cannot be read, and nothing is written beside it. What a text changes
 * in the database is undone.
 */
#define _GNU_SOURCE /* memmem() */

#include <dirent.h>
#include <string.h>
#include <unistd.h>

#include "api/renderers.h"
#include "base/text.h"
#include "mutate.h"
#include "sample_job.h"
#include "sql/sql.h"

#define STATEMENTS_MAX 4
#define ROWS_MAX 200
#define CALLS_MAX 200      /* of is_stopped() for one text */
#define TEXTS_PER_OPEN 512 /* then the database is made anew: it may have been changed */
#define CANARY "kanarienvogel"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct ss_session *session;
static struct ss_sql *database;
static char canary[] = SAMPLE_JOB_FOLDER;
static unsigned stop_calls, text_count;

static bool sql_is_stopped(void *context)
{
	(void)context;
	return ++stop_calls > CALLS_MAX;
}

static void sql_open_database(void)
{
	struct ss_sql_options options = { .threads = 1,
					  .memory_limit_bytes = UINT64_C(256) << 20,
					  .is_stopped = sql_is_stopped };

	ss_sql_close(database);
	database = NULL;
	CHECK(ss_sql_open(session, &options, &database, NULL) == SS_OK);
}

/* A folder with one file, whose path inputs can name: they are of the length that is in seeds. */
static void sql_prepare(void)
{
	char path[sizeof(canary) + 8];
	FILE *file;

	session = sample_job();
	CHECK(mkdtemp(canary));
	snprintf(path, sizeof(path), "%s/canary", canary);
	file = fopen(path, "wb");
	CHECK(file && fputs(CANARY, file) >= 0 && fclose(file) == 0 && chdir(canary) == 0);
	if (ss_engine_load(getenv("STEPSCOPE_DUCKDB"), getenv, NULL) == SS_OK)
		sql_open_database();
}

/* The canary is the only file, beside "." and "..". */
static unsigned sql_file_count(void)
{
	DIR *folder = opendir(".");
	unsigned count = 0;

	CHECK(folder);
	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

/* Runs the statement, and shows its first rows. */
static void sql_ask(const struct ss_sql_text *statement)
{
	struct ss_render_options options = { 0 };
	struct ss_sql_answer answer;
	struct ss_error err = { 0 };
	struct ss_text text = { 0 };
	enum ss_status status = ss_sql_begin(database, statement, &answer, &err);
	bool is_first = true;

	for (uint32_t rows = 0; status == SS_OK && !answer.is_done && rows < ROWS_MAX;) {
		status = ss_sql_fetch(&answer, ROWS_MAX, &err);
		if (status != SS_OK)
			break;
		rows += answer.table.row_count;
		if (!is_first)
			continue;
		is_first = false;
		ss_renderer_find("json")->view(&answer.table, &options, &text);
		CHECK(!ss_text_failed(&text));
		check_json(text.data, text.length);
		/* a text of the statement itself is no secret: the canary's is */
		CHECK(!strstr(text.data, CANARY) ||
		      memmem(statement->text, statement->length, "kanari", 6));
		if (!answer.table.failed)
			check_arrow(&answer.table);
		break;
	}
	CHECK((status == SS_OK) == (err.text[0] == '\0'));
	ss_text_release(&text);
	ss_sql_end(&answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = malloc(size + 1);
	struct ss_sql_text rest = { copy, size }, statement;
	const char *end = copy;
	bool is_ended = true;

	CHECK(copy);
	if (!session)
		sql_prepare();
	if (size)
		memcpy(copy, data, size);
	copy[size] = '\0';
	stop_calls = 0;
	for (unsigned i = 0; ss_sql_split(&rest, &statement, &is_ended); i++) {
		CHECK(statement.text >= end && statement.length);
		end = statement.text + statement.length;
		CHECK(end <= copy + size && (!is_ended || *end == ';'));
		CHECK(rest.text + rest.length <= copy + size && (is_ended || !rest.length));
		if (database && i < STATEMENTS_MAX)
			sql_ask(&statement);
	}
	if (database) {
		(void)ss_sql_run(database, "rollback", NULL);
		if (++text_count % TEXTS_PER_OPEN == 0)
			sql_open_database();
		CHECK(sql_file_count() == 3);
	}
	free(copy);
	return 0;
}
