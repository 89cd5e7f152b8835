/* SPDX-License-Identifier: Apache-2.0 */
/*
 * database.c - SQLite files by libsqlite3.
 */
#include "read/database.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/text.h"

/* Longer rows hold no event; what a file's texts may claim is bounded by its length anyway. */
#define ROW_BYTES_MAX (16 << 20)

/* A row takes at least this many bytes of a page: its place, its length and its key. */
#define ROW_BYTES_MIN 4

/* How much the first request is, where the length is not known. */
#define BLOCK_BYTES ((size_t)1 << 20)

struct ss_database {
	struct ss_memory *memory;
	char *bytes;
	size_t length, capacity;
	sqlite3 *sqlite;
	struct ss_arena names;
	const char **tables; /* sorted by name */
	uint32_t table_count, table_capacity;
};

struct ss_database_row {
	sqlite3_stmt *statement;
	uint64_t *text_left; /* bytes that the texts of the table may still have */
};

const bool ss_database_is_here = true;

static enum ss_status database_fail(int code, struct ss_error *err)
{
	if (code == SQLITE_NOMEM)
		return ss_fail_memory(err, "the database");
	return ss_fail(err, SS_ERR_FORMAT,
		       "its SQLite database is damaged or incomplete (%s): export it again",
		       sqlite3_errstr(code));
}

static enum ss_status database_fail_repeated(struct ss_error *err)
{
	return ss_fail(err, SS_ERR_FORMAT,
		       "its SQLite database is damaged (a table is larger than the file): export "
		       "it again");
}

/* --- opening ----------------------------------------------------------------------------- */

/* Reads all of it; what is not a file has no known length and grows by doubling. */
static enum ss_status database_fill(struct ss_database *database, struct ss_source *source,
				    struct ss_error *err)
{
	size_t got = 1;

	while (got) {
		size_t more = database->capacity ? database->capacity : BLOCK_BYTES;
		char *moved;

		/* one byte more, so that a file ends before its room does */
		if (!database->capacity && source->total_bytes >= more)
			more = (size_t)source->total_bytes + 1;
		moved = ss_memory_resize(database->memory, database->bytes, database->capacity,
					 database->capacity + more);
		if (!moved)
			return ss_fail_memory(err, "the database");
		database->bytes = moved;
		database->capacity += more;
		SS_TRY(ss_source_fill(source, database->bytes + database->length,
				      database->capacity - database->length, &got, err));
		database->length += got;
		got = database->length == database->capacity;
	}
	if (source->flaw == SS_SOURCE_CUT || source->flaw == SS_SOURCE_CORRUPT)
		return ss_fail(err, SS_ERR_FORMAT,
			       "the compressed SQLite database is cut or damaged: copy it again");
	return SS_OK;
}

/* Only columns of tables are read, and only by the statements of this file. */
static int database_authorize(void *context, int action, const char *first, const char *second,
			      const char *schema, const char *within)
{
	(void)context;
	(void)first;
	(void)second;
	(void)schema;
	return !within && (action == SQLITE_SELECT || action == SQLITE_READ) ? SQLITE_OK
									     : SQLITE_DENY;
}

static void database_restrict(sqlite3 *sqlite)
{
	static const struct {
		int limit, value;
	} limits[] = {
		{ SQLITE_LIMIT_LENGTH, ROW_BYTES_MAX }, { SQLITE_LIMIT_SQL_LENGTH, 1 << 20 },
		{ SQLITE_LIMIT_COLUMN, 1000 },          { SQLITE_LIMIT_EXPR_DEPTH, 100 },
		{ SQLITE_LIMIT_COMPOUND_SELECT, 50 },   { SQLITE_LIMIT_VDBE_OP, 25000 },
		{ SQLITE_LIMIT_FUNCTION_ARG, 100 },     { SQLITE_LIMIT_ATTACHED, 0 },
		{ SQLITE_LIMIT_VARIABLE_NUMBER, 0 },    { SQLITE_LIMIT_TRIGGER_DEPTH, 1 },
		{ SQLITE_LIMIT_WORKER_THREADS, 0 },
	};
	static const int off[] = {
		SQLITE_DBCONFIG_ENABLE_TRIGGER,        SQLITE_DBCONFIG_ENABLE_VIEW,
		SQLITE_DBCONFIG_TRUSTED_SCHEMA,        SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION,
		SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, SQLITE_DBCONFIG_DQS_DML
	};

	for (size_t i = 0; i < SS_COUNT(limits); i++)
		sqlite3_limit(sqlite, limits[i].limit, limits[i].value);
	for (size_t i = 0; i < SS_COUNT(off); i++)
		sqlite3_db_config(sqlite, off[i], 0, NULL);
	sqlite3_db_config(sqlite, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_set_authorizer(sqlite, database_authorize, NULL);
}

static enum ss_status database_add_table(struct ss_database *database, const char *name,
					 struct ss_error *err)
{
	const char *copy;

	if (!name)
		return SS_OK;
	if (database->table_count >= database->length / ROW_BYTES_MIN)
		return database_fail_repeated(err);
	copy = ss_arena_copy(&database->names, name, strlen(name));
	if (!copy ||
	    !ss_memory_reserve(database->memory, (void **)&database->tables,
			       &database->table_capacity, (size_t)database->table_count + 1,
			       sizeof(*database->tables)))
		return ss_fail_memory(err, "the database");
	database->tables[database->table_count++] = copy;
	return SS_OK;
}

/* Notes the tables that have pages of their own: neither views nor virtual tables. */
static enum ss_status database_list_tables(struct ss_database *database, struct ss_error *err)
{
	sqlite3_stmt *statement = NULL;
	enum ss_status status = SS_OK;
	int code = sqlite3_prepare_v2(database->sqlite,
				      "SELECT name FROM sqlite_master "
				      "WHERE type = 'table' AND rootpage > 0",
				      -1, &statement, NULL);

	while (status == SS_OK && code == SQLITE_OK &&
	       (code = sqlite3_step(statement)) == SQLITE_ROW) {
		code = SQLITE_OK;
		status = database_add_table(database,
					    (const char *)sqlite3_column_text(statement, 0), err);
	}
	sqlite3_finalize(statement);
	if (status == SS_OK && code != SQLITE_DONE)
		status = database_fail(code, err);
	if (status == SS_OK && database->table_count)
		qsort(database->tables, database->table_count, sizeof(*database->tables),
		      ss_sort_compare_strings);
	return status;
}

static enum ss_status database_connect(struct ss_database *database, struct ss_error *err)
{
	int code = sqlite3_open_v2(":memory:", &database->sqlite,
				   SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX,
				   NULL);

	/* a database whose log was not written back is read as it is: 1 means "no log" */
	if (database->length >= 100)
		database->bytes[18] = database->bytes[19] = 1;
	if (code == SQLITE_OK)
		code = sqlite3_deserialize(database->sqlite, "main",
					   (unsigned char *)database->bytes,
					   (sqlite3_int64)database->length,
					   (sqlite3_int64)database->length,
					   SQLITE_DESERIALIZE_READONLY);
	if (code != SQLITE_OK)
		return database_fail(code, err);
	database_restrict(database->sqlite);
	return database_list_tables(database, err);
}

enum ss_status ss_database_open(struct ss_source *source, struct ss_database **out,
				struct ss_error *err)
{
	struct ss_memory *memory = source->memory;
	struct ss_database *database = ss_memory_zeroed(memory, sizeof(*database));
	enum ss_status status;

	*out = NULL;
	if (!database)
		return ss_fail_memory(err, "the database");
	database->memory = memory;
	ss_arena_init(&database->names, memory);
	status = database_fill(database, source, err);
	if (status == SS_OK)
		status = database_connect(database, err);
	if (status == SS_OK)
		*out = database;
	else
		ss_database_close(database);
	return status;
}

void ss_database_close(struct ss_database *database)
{
	if (!database)
		return;
	sqlite3_close(database->sqlite);
	ss_memory_free(database->memory, database->bytes, database->capacity);
	ss_memory_free(database->memory, database->tables,
		       (size_t)database->table_capacity * sizeof(*database->tables));
	ss_arena_release(&database->names);
	ss_memory_free(database->memory, database, sizeof(*database));
}

size_t ss_database_bytes(const struct ss_database *database)
{
	return database->length;
}

const char *ss_database_table(const struct ss_database *database, const char *prefix,
			      uint32_t index)
{
	for (uint32_t i = 0; i < database->table_count; i++)
		if (strncmp(database->tables[i], prefix, strlen(prefix)) == 0 && !index--)
			return database->tables[i];
	return NULL;
}

bool ss_database_has(const struct ss_database *database, const char *table)
{
	for (uint32_t i = 0; i < database->table_count; i++)
		if (strcmp(database->tables[i], table) == 0)
			return true;
	return false;
}

/* --- rows -------------------------------------------------------------------------------- */

static int database_prepare(struct ss_database *database, const char *list, const char *table,
			    sqlite3_stmt **out)
{
	char *sql = sqlite3_mprintf("SELECT %s FROM main.\"%w\" NOT INDEXED", list, table);
	int code = sql ? sqlite3_prepare_v2(database->sqlite, sql, -1, out, NULL) : SQLITE_NOMEM;

	sqlite3_free(sql);
	return code;
}

/* The columns as a list; NULL stands for those that the table lacks. */
static int database_list_columns(struct ss_database *database, const char *table,
				 const char *const *columns, struct ss_text *out)
{
	sqlite3_stmt *statement = NULL;
	int code = database_prepare(database, "*", table, &statement);
	int count = sqlite3_column_count(statement);

	for (size_t i = 0; columns[i]; i++) {
		bool has = false;

		for (int k = 0; k < count && !has; k++) {
			const char *name = sqlite3_column_name(statement, k);

			has = name && strcmp(name, columns[i]) == 0;
		}
		ss_text_addf(out, has ? "%s\"%s\"" : "%sNULL", i ? ", " : "", columns[i]);
	}
	sqlite3_finalize(statement);
	return code == SQLITE_OK && ss_text_failed(out) ? SQLITE_NOMEM : code;
}

static enum ss_status database_visit_rows(struct ss_database *database, sqlite3_stmt *statement,
					  ss_database_visit *visit, void *context,
					  struct ss_error *err)
{
	uint64_t text_left = database->length, rows_left = database->length / ROW_BYTES_MIN;
	struct ss_database_row row = { statement, &text_left };
	int code;

	while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
		if (!rows_left--)
			return database_fail_repeated(err);
		SS_TRY(visit(context, &row, err));
		if (text_left > database->length) /* it has wrapped around */
			return database_fail_repeated(err);
	}
	return code == SQLITE_DONE ? SS_OK : database_fail(code, err);
}

enum ss_status ss_database_each(struct ss_database *database, const char *table,
				const char *const *columns, ss_database_visit *visit, void *context,
				struct ss_error *err)
{
	sqlite3_stmt *statement = NULL;
	struct ss_text list = { 0 };
	enum ss_status status;
	int code;

	if (!table || !ss_database_has(database, table))
		return SS_OK;
	code = database_list_columns(database, table, columns, &list);
	if (code == SQLITE_OK)
		code = database_prepare(database, list.data, table, &statement);
	ss_text_release(&list);
	status = code == SQLITE_OK ? database_visit_rows(database, statement, visit, context, err)
				   : database_fail(code, err);
	sqlite3_finalize(statement);
	return status;
}

bool ss_database_is_null(const struct ss_database_row *row, int column)
{
	return sqlite3_column_type(row->statement, column) == SQLITE_NULL;
}

int64_t ss_database_number(const struct ss_database_row *row, int column, int64_t fallback)
{
	return sqlite3_column_type(row->statement, column) == SQLITE_INTEGER
		       ? sqlite3_column_int64(row->statement, column)
		       : fallback;
}

const char *ss_database_text(const struct ss_database_row *row, int column, size_t *length)
{
	int type = sqlite3_column_type(row->statement, column);
	const void *bytes = NULL;

	if (type == SQLITE_TEXT)
		bytes = sqlite3_column_text(row->statement, column);
	else if (type == SQLITE_BLOB)
		bytes = sqlite3_column_blob(row->statement, column);
	*length = bytes ? (size_t)sqlite3_column_bytes(row->statement, column) : 0;
	*row->text_left -= *length;
	return bytes;
}
