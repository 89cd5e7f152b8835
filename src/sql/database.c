/* SPDX-License-Identifier: Apache-2.0 */
/*
 * database.c - opens an in-memory database that has only our tables.
 */
#include "sql/database.h"

#include <inttypes.h>
#include <stdio.h>

#include "api/renderers.h"
#include "base/text.h"

/* DuckDB does not start with less memory. */
#define MEMORY_LEAST ((uint64_t)32 << 20)

/* Gives DuckDB what the session leaves of the memory limit. */
static enum ss_status limit_memory(const struct ss_sql *sql, duck_handle config,
				   struct ss_error *err)
{
	uint64_t limit = sql->options.memory_limit_bytes;
	uint64_t used = sql->memory->used_bytes;
	char text[32];

	if (!limit)
		return SS_OK;
	if (limit < used + MEMORY_LEAST)
		return ss_fail(err, SS_ERR_LIMIT,
			       "the traces leave %" PRIu64 " MB of the memory limit, and SQL needs "
			       "at least %" PRIu64 " MB; raise option 'memory-limit'",
			       (limit > used ? limit - used : 0) >> 20, MEMORY_LEAST >> 20);
	snprintf(text, sizeof(text), "%" PRIu64 "B", limit - used);
	ss_engine()->set_config(config, "memory_limit", text);
	return SS_OK;
}

static enum ss_status configure(const struct ss_sql *sql, duck_handle config, struct ss_error *err)
{
	const struct ss_engine *engine = ss_engine();
	uint32_t threads = sql->options.threads ? sql->options.threads : ss_thread_cores();
	char text[16];

	snprintf(text, sizeof(text), "%u", threads);
	engine->set_config(config, "threads", text);
	/* no downloads, no files on disk */
	engine->set_config(config, "autoinstall_known_extensions", "false");
	engine->set_config(config, "autoload_known_extensions", "false");
	engine->set_config(config, "temp_directory", "");
	return limit_memory(sql, config, err);
}

static enum ss_status connect_to(struct ss_sql *sql, struct ss_error *err)
{
	const struct ss_engine *engine = ss_engine();
	duck_handle config = NULL;
	char *problem = NULL;
	enum ss_status status;

	if (engine->create_config(&config) != 0)
		return ss_fail_memory(err, "DuckDB");
	status = configure(sql, config, err);
	if (status == SS_OK && engine->open_ext(NULL, &sql->database, config, &problem) != 0)
		status = ss_fail(err, SS_ERR_MISSING, "cannot start DuckDB: %.300s",
				 problem ? problem : "no reason given");
	engine->destroy_config(&config);
	if (problem)
		engine->free(problem);
	if (status == SS_OK && engine->connect(sql->database, &sql->connection) != 0)
		status = ss_fail_memory(err, "DuckDB");
	return status;
}

static enum ss_status run_plain(struct ss_sql *sql, const char *text, struct ss_error *err)
{
	const struct ss_engine *engine = ss_engine();
	struct duck_result result = { 0 };
	enum ss_status status = SS_OK;

	if (engine->query(sql->connection, text, &result) != 0)
		status = ss_sql_fail(sql, engine->result_error(&result), err);
	engine->destroy_result(&result);
	return status;
}

/* Locks the database: queries reach only the tables, and the output or folder of the options. */
static void add_locks(const struct ss_sql_options *options, struct ss_text *out)
{
	if (options->allow_files)
		return;
	if (options->output) {
		ss_text_add_string(out, "set allowed_paths = ['");
		ss_sql_add_quoted(out, options->output, '\'');
		ss_text_add_string(out, "'];");
	}
	if (options->folder) {
		/* and into pipes */
		ss_text_add_string(out, "set allowed_directories = ['" SS_SQL_DESCRIPTORS "', '");
		ss_sql_add_quoted(out, options->folder, '\'');
		ss_text_add_string(out, "'];");
	}
	ss_text_add_string(out, "set enable_external_access = false;"
				"set lock_configuration = true;");
}

/* Adds a view for each table function, so that plain names, SHOW TABLES and DESCRIBE work. */
static enum ss_status database_add_views(struct ss_sql *sql, struct ss_error *err)
{
	const struct ss_view *table;
	SS_TEXT(views);

	for (size_t i = 0; sql->session && (table = ss_sql_table_at(i)); i++) {
		char name[SS_SQL_NAME_BYTES];

		if (!ss_sql_register(sql, table))
			return ss_fail_memory(err, "DuckDB's tables");
		ss_sql_table_name(table, name);
		ss_text_addf(&views, "create view %s as from %s();", name, name);
	}
	/* ENUM types have few values: up to 2^16 groups are found by index instead of a hash */
	ss_text_add_string(&views, "set perfect_ht_threshold = 16;");
	add_locks(&sql->options, &views);
	return ss_text_failed(&views) ? ss_fail_memory(err, "DuckDB's tables")
				      : run_plain(sql, views.data, err);
}

void ss_sql_add_quoted(struct ss_text *out, const char *text, char quote)
{
	for (; *text; text++) {
		if (*text == quote)
			ss_text_add(out, text, 1);
		ss_text_add(out, text, 1);
	}
}

enum ss_status ss_sql_open(struct ss_session *session, const struct ss_sql_options *options,
			   struct ss_sql **out, struct ss_error *err)
{
	struct ss_sql *sql = ss_arrow_alloc(1, sizeof(*sql));
	enum ss_status status;

	*out = sql;
	if (!sql)
		return ss_fail_memory(err, "DuckDB");
	sql->session = session;
	sql->options = *options;
	ss_memory_init(&sql->own_memory, 0);
	sql->memory = session ? &session->memory : &sql->own_memory;
	ss_arena_init(&sql->arena, sql->memory);
	sql->gate = ss_gate_open();
	status = sql->gate ? SS_OK : ss_fail_memory(err, "DuckDB");
	/* dumps of the flight recorder and live numbers have tables of their own */
	if (status == SS_OK && session && !session->job.flight_count && !session->job.live_count)
		status = ss_session_has_trace(session, err);
	if (status == SS_OK && session)
		status = ss_session_need(session, err);
	if (status == SS_OK && session)
		status = ss_domains_make(&sql->domains, &session->job, &sql->arena, err);
	if (status == SS_OK)
		status = connect_to(sql, err);
	if (status == SS_OK)
		status = database_add_views(sql, err);
	if (status == SS_OK)
		return SS_OK;
	ss_sql_close(sql);
	*out = NULL;
	return status;
}

void ss_sql_close(struct ss_sql *sql)
{
	const struct ss_engine *engine = ss_engine();

	if (!sql)
		return;
	if (sql->connection)
		engine->disconnect(&sql->connection);
	if (sql->database)
		engine->close(&sql->database);
	ss_sql_release_made(sql);
	ss_domains_release(&sql->domains);
	if (sql->gate)
		ss_gate_close(sql->gate);
	ss_arena_release(&sql->arena);
	ss_arrow_free(sql);
}
