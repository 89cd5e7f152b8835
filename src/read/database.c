/* SPDX-License-Identifier: Apache-2.0 */
/*
 * database.c - SQLite files by libsqlite3.
 */
#include "read/database.h"

#include <sqlite3.h>
#include <string.h>

#include "base/sort.h"
#include "base/text.h"

/* Longer rows hold no event; what a file's texts may claim is bounded by its length anyway. */
#define ROW_BYTES_MAX (16 << 20)

/* A row takes at least this many bytes of a page: its place, its length and its key. */
#define ROW_BYTES_MIN 4

struct ss_database {
	struct ss_memory *memory;
	struct ss_whole_file file;
	sqlite3 *sqlite;
	struct ss_arena names;
	const char **tables; /* sorted by name */
	uint32_t table_count, table_capacity;
};

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
	if (database->table_count >= database->file.length / ROW_BYTES_MIN)
		return database_fail_repeated(err);
	copy = ss_arena_copy(&database->names, name, strlen(name));
	if (!copy || !SS_GROW(database->memory, database->tables, database->table_capacity,
			      database->table_count))
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
	if (status == SS_OK)
		SS_SORT(database->tables, database->table_count, ss_sort_compare_strings);
	return status;
}

static enum ss_status database_connect(struct ss_database *database, struct ss_error *err)
{
	int code = sqlite3_open_v2(":memory:", &database->sqlite,
				   SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX,
				   NULL);

	/* a database whose log was not written back is read as it is: 1 means "no log" */
	if (database->file.length >= 100)
		database->file.text[18] = database->file.text[19] = 1;
	if (code == SQLITE_OK)
		code = sqlite3_deserialize(database->sqlite, "main",
					   (unsigned char *)database->file.text,
					   (sqlite3_int64)database->file.length,
					   (sqlite3_int64)database->file.length,
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
	database->memory = database->file.memory = memory;
	ss_arena_init(&database->names, memory);
	status = ss_source_read_whole(source, &database->file, err);
	if (status == SS_OK && (source->flaw == SS_SOURCE_CUT || source->flaw == SS_SOURCE_CORRUPT))
		status = ss_fail(err, SS_ERR_FORMAT,
				 "the compressed SQLite database is cut or damaged: copy it again");
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
	ss_whole_file_release(&database->file);
	SS_FREE(database->memory, database->tables, database->table_capacity);
	ss_arena_release(&database->names);
	ss_memory_free(database->memory, database, sizeof(*database));
}

size_t ss_database_bytes(const struct ss_database *database)
{
	return database->file.length;
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

/* The columns as a list, and how many; NULL stands for those that the table lacks. */
static int database_list_columns(struct ss_database *database, const char *table,
				 const char *columns, struct ss_text *out, int *out_count)
{
	sqlite3_stmt *statement = NULL;
	int code = database_prepare(database, "*", table, &statement);
	int count = sqlite3_column_count(statement);

	for (*out_count = 0; *columns; ++*out_count) {
		int length = (int)strcspn(columns, " ");
		bool has = false;

		for (int k = 0; k < count && !has; k++) {
			const char *name = sqlite3_column_name(statement, k);

			has = name && strncmp(name, columns, (size_t)length) == 0 && !name[length];
		}
		ss_text_addf(out, has ? "%s\"%.*s\"" : "%sNULL", *out_count ? ", " : "", length,
			     columns);
		columns += length + (columns[length] == ' ');
	}
	sqlite3_finalize(statement);
	return code == SQLITE_OK && ss_text_failed(out) ? SQLITE_NOMEM : code;
}

static struct ss_database_cell database_cell(sqlite3_stmt *statement, int column)
{
	struct ss_database_cell cell = { 0 };
	int type = sqlite3_column_type(statement, column);

	if (type == SQLITE_INTEGER) {
		cell.number = sqlite3_column_int64(statement, column);
		cell.is_number = true;
	} else if (type == SQLITE_TEXT || type == SQLITE_BLOB) {
		cell.text = type == SQLITE_TEXT
				    ? (const char *)sqlite3_column_text(statement, column)
				    : sqlite3_column_blob(statement, column);
		cell.length = cell.text ? (size_t)sqlite3_column_bytes(statement, column) : 0;
	}
	return cell;
}

static enum ss_status database_visit_rows(struct ss_database *database, sqlite3_stmt *statement,
					  int columns, ss_database_visit *visit, void *context,
					  struct ss_error *err)
{
	uint64_t text_bytes = 0, rows = 0, most = database->file.length;
	struct ss_database_row row = { 0 }; /* what was not asked for is null */
	int code;

	while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
		for (int i = 0; i < columns; i++) {
			row.cells[i] = database_cell(statement, i);
			text_bytes += row.cells[i].length;
		}
		if (++rows > most / ROW_BYTES_MIN || text_bytes > most)
			return database_fail_repeated(err);
		SS_TRY(visit(context, &row, err));
	}
	return code == SQLITE_DONE ? SS_OK : database_fail(code, err);
}

enum ss_status ss_database_each(struct ss_database *database, const char *table,
				const char *columns, ss_database_visit *visit, void *context,
				struct ss_error *err)
{
	sqlite3_stmt *statement = NULL;
	SS_TEXT(list);
	enum ss_status status;
	int code, count;

	if (!table || !ss_database_has(database, table))
		return SS_OK;
	code = database_list_columns(database, table, columns, &list, &count);
	assert(count <= SS_ROW_COLUMNS_MAX);
	if (code == SQLITE_OK)
		code = database_prepare(database, list.data, table, &statement);
	status = code == SQLITE_OK
			 ? database_visit_rows(database, statement, count, visit, context, err)
			 : database_fail(code, err);
	sqlite3_finalize(statement);
	return status;
}
