/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query.c - runs statements one after the other, renders and writes their rows, and finds DuckDB.
 */
#include "cli/sql/query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/request/query.h"
#include "base/text.h"
#include "base/memory.h"

/* Lists for users of SQL: all tables, or the columns of one table or of all. */

static const struct ss_column table_columns[] = {
	{ "table", SS_COLUMN_TEXT, "name in SQL", 0 },
	{ "parameters", SS_COLUMN_TEXT, "parameters, as in slices(rank := 0)", SS_COLUMN_DETAIL },
	{ "about", SS_COLUMN_TEXT, "what its rows are", SS_COLUMN_WRAP },
};

static const struct ss_view table_list = {
	.name = "sql-tables",
	.summary = "Tables",
	.empty = "There are no tables.",
	.columns = table_columns,
	.column_count = SS_COUNT(table_columns),
	.rankless = true,
};

static const struct ss_column column_columns[] = {
	{ "table", SS_COLUMN_TEXT, "name of the table in SQL", SS_COLUMN_CONTEXT },
	{ "column", SS_COLUMN_TEXT, "name of the column", 0 },
	{ "type", SS_COLUMN_TEXT, "type in SQL", 0 },
	{ "unit", SS_COLUMN_TEXT, "unit of its numbers", SS_COLUMN_DETAIL },
	{ "about", SS_COLUMN_TEXT, "what it is", SS_COLUMN_WRAP },
};

static const struct ss_view column_list = {
	.name = "sql-schema",
	.summary = "Columns",
	.empty = "The table has no columns.",
	.columns = column_columns,
	.column_count = SS_COUNT(column_columns),
	.rankless = true,
};

static const char help[] =
	"A query ends with a semicolon and may take several lines.\n"
	"  .tables          the tables\n"
	"  .schema [TABLE]  the columns of a table, or of all\n"
	"  .help            this list\n"
	"Ctrl-C stops a query or clears the line; Ctrl-D leaves.\n"
	"Examples:\n"
	"  select name, count(*) as calls, sum(dur_ns) as total_ns from slices\n"
	"    where kind = 'kernel' group by name order by total_ns desc limit 10;\n"
	"  select * from kernels(step := 1) limit 5;\n"
	"  from findings;\n"
	"docs/sql.md has the schema and 25 questions with their queries.\n";

static void tables_list_add_table(const struct ss_view *table, struct ss_table *out)
{
	char name[SS_SQL_NAME_BYTES], parameters[128] = "";
	const char *parameter;

	ss_sql_table_name(table, name);
	for (size_t i = 0; (parameter = ss_sql_parameter_at(table, i)); i++)
		ss_text_list(parameters, sizeof(parameters), parameter);
	ss_row_begin(out);
	ss_row_text(out, name);
	ss_row_text(out, parameters);
	ss_row_text(out, table->summary);
	ss_row_end(out);
}

static void tables_list_add_columns(const struct ss_view *table, struct ss_table *out)
{
	char name[SS_SQL_NAME_BYTES];

	ss_sql_table_name(table, name);
	for (uint32_t i = 0; i < table->column_count; i++) {
		ss_row_begin(out);
		ss_row_text(out, name);
		ss_row_text(out, table->columns[i].name);
		ss_row_text(out, ss_sql_column_type(table, i));
		ss_row_text(out, ss_render_unit(table->columns[i].type));
		ss_row_text(out, table->columns[i].about);
		ss_row_end(out);
	}
}

/* Lists the columns of the table with that name; "": of all tables. */
static enum ss_status list_columns(const char *wanted, struct ss_table *out, struct ss_error *err)
{
	const struct ss_view *table;
	char name[SS_SQL_NAME_BYTES];
	bool is_found = false;

	for (size_t i = 0; (table = ss_sql_table_at(i)); i++) {
		ss_sql_table_name(table, name);
		if (*wanted && strcmp(wanted, name) != 0)
			continue;
		is_found = true;
		tables_list_add_columns(table, out);
	}
	if (is_found)
		return SS_OK;
	if (ss_sql_guess(wanted, name))
		return ss_fail(err, SS_ERR_USAGE, "no table called '%.60s'; did you mean '%s'?",
			       wanted, name);
	return ss_fail(err, SS_ERR_USAGE, "no table called '%.60s'; '.tables' lists all of them",
		       wanted);
}

static enum ss_status tables_list_fill(const char *word, const char *argument, struct ss_table *out,
				       struct ss_error *err)
{
	const struct ss_view *table;

	if (strcmp(word, ".schema") == 0) {
		out->view = &column_list;
		return list_columns(argument, out, err);
	}
	if (strcmp(word, ".tables") != 0)
		return ss_fail(err, SS_ERR_USAGE,
			       "no list called '%.60s'; there are .tables, .schema and .help",
			       word);
	for (size_t i = 0; (table = ss_sql_table_at(i)); i++)
		tables_list_add_table(table, out);
	return SS_OK;
}

/* Renders the list that the text requests. */
static enum ss_status query_list(const struct query *query, const char *text, size_t length,
				 struct ss_text *out, struct ss_error *err)
{
	char word[64] = "", argument[64] = "", copy[160];
	struct ss_memory memory;
	struct ss_arena arena;
	struct ss_table table;
	enum ss_status status;
	size_t at;

	length = length < sizeof(copy) ? length : sizeof(copy) - 1;
	memcpy(copy, text, length);
	copy[length] = '\0';
	/* the words, without the semicolon that people add by habit */
	text = copy + strspn(copy, " \t\r\n");
	at = strcspn(text, " \t\r\n;");
	snprintf(word, sizeof(word), "%.*s", (int)at, text);
	text += at + strspn(text + at, " \t");
	snprintf(argument, sizeof(argument), "%.*s", (int)strcspn(text, " \t\r\n;"), text);
	if (strcmp(word, ".help") == 0) {
		ss_text_add_string(out, help);
		return SS_OK;
	}
	ss_memory_init(&memory, 0);
	ss_arena_init(&arena, &memory);
	ss_table_init(&table, &table_list, &arena);
	status = tables_list_fill(word, argument, &table, err);
	if (status == SS_OK && table.failed)
		status = ss_fail_memory(err, "the list");
	if (status == SS_OK)
		query->renderer->view(&table, &query->options, out);
	ss_table_release(&table);
	ss_arena_release(&arena);
	return status;
}

/* Rows that are rendered at a time in formats that can be continued. */
#define ROWS_AT_ONCE 32768

enum ss_status cli_query_prepare(const struct arguments *arguments, struct query *out,
				 struct ss_error *err)
{
	struct ss_request request = show_request("sql", arguments);
	struct ss_wanted wanted;

	SS_TRY(ss_wanted_read(&request, &wanted, err));
	return ss_wanted_format(&wanted, &out->renderer, &out->options, err);
}

bool cli_query_is_list(const char *text, size_t length)
{
	while (length && (*text == ' ' || *text == '\n' || *text == '\t')) {
		text++;
		length--;
	}
	return length > 1 && *text == '.' && text[1] >= 'a' && text[1] <= 'z';
}

/* A failed write to standard output is reported when the program ends. */
static enum ss_status write_text(struct query *query, struct ss_text *text, struct ss_error *err)
{
	bool is_written = true;

	if (ss_text_failed(text))
		return ss_fail_memory(err, "the output");
	if (text->length && query->shown->to_file)
		is_written = output_write(&query->shown->output, text->data, text->length);
	else if (text->length)
		fwrite(text->data, 1, text->length, stdout);
	text->length = 0;
	return is_written ? SS_OK : ss_fail(err, SS_ERR_IO, "%s", query->shown->output.err.text);
}

/* The text format has a limit of columns, other formats have none. */
static enum ss_status check_columns(const struct query *query, const struct ss_sql_answer *answer,
				    struct ss_error *err)
{
	uint32_t count = answer->view.column_count;

	if (count <= SS_RENDER_COLUMNS_MAX || strcmp(query->renderer->name, "text") != 0)
		return SS_OK;
	return ss_fail(err, SS_ERR_USAGE,
		       "the result has %u columns and text shows at most %u; select fewer, or use "
		       "another format (option 'format')",
		       count, SS_RENDER_COLUMNS_MAX);
}

/* Prints the plan of EXPLAIN as DuckDB draws it: a row of a table would cut it to a line. */
static bool print_plan(const struct query *query, const struct ss_table *table, struct ss_text *out)
{
	const struct ss_view *view = table->view;

	if (strcmp(query->renderer->name, "text") != 0 || view->column_count != 2 ||
	    strcmp(view->columns[1].name, "explain_value") != 0)
		return false;
	for (uint32_t row = 0; row < table->row_count; row++) {
		struct ss_cell cell = ss_table_cell(table, row, 1);

		ss_text_add(out, cell.value.text, cell.length);
	}
	return true;
}

static enum ss_status print_rows(struct query *query, struct ss_sql_answer *answer,
				 struct ss_text *out, struct ss_error *err)
{
	uint32_t most = query->renderer->more ? ROWS_AT_ONCE : 0;
	bool is_first = true;

	SS_TRY(check_columns(query, answer, err));
	while ((is_first || !answer->is_done) && !ferror(stdout)) {
		SS_TRY(ss_sql_fetch(answer, most, err));
		if (!print_plan(query, &answer->table, out))
			(is_first ? query->renderer->view
				  : query->renderer->more)(&answer->table, &query->options, out);
		SS_TRY(write_text(query, out, err));
		is_first = false;
	}
	return SS_OK;
}

static enum ss_status query_run_statement(struct query *query, const struct ss_sql_text *statement,
					  struct ss_error *err)
{
	struct ss_sql_answer answer;
	SS_TEXT(out);
	enum ss_status status;

	if (query->is_parquet)
		return ss_sql_copy(query->sql, statement, query->shown->output.file.temporary, err);
	status = ss_sql_begin(query->sql, statement, &answer, err);
	if (status == SS_OK && answer.has_rows)
		status = print_rows(query, &answer, &out, err);
	ss_sql_end(&answer);
	return status;
}

static enum ss_status run_list(struct query *query, const struct ss_sql_text *text,
			       struct ss_error *err)
{
	SS_TEXT(out);
	enum ss_status status = query_list(query, text->text, text->length, &out, err);

	if (status == SS_OK)
		status = write_text(query, &out, err);
	return status;
}

/* A list such as .tables is a line of its own; everything else ends with a semicolon. */
static bool query_next_statement(struct ss_sql_text *rest, struct ss_sql_text *out, bool *is_list)
{
	const char *end;
	bool is_ended;

	*is_list = cli_query_is_list(rest->text, rest->length);
	if (!*is_list)
		return ss_sql_split(rest, out, &is_ended);
	end = memchr(rest->text, '\n', rest->length);
	out->text = rest->text;
	out->length = end ? (size_t)(end - rest->text) : rest->length;
	*rest = (struct ss_sql_text){ rest->text + out->length, rest->length - out->length };
	return true;
}

enum ss_status cli_query_run(struct query *query, const struct ss_sql_text *text,
			     struct ss_error *err)
{
	struct ss_sql_text rest = *text, part;
	bool is_list;

	while (!ferror(stdout) && query_next_statement(&rest, &part, &is_list)) {
		if (!is_list && !query->sql)
			return ss_fail(err, SS_ERR_USAGE,
				       "expected a trace file or a folder of "
				       "traces before the query");
		SS_TRY(is_list ? run_list(query, &part, err)
			       : query_run_statement(query, &part, err));
	}
	return SS_OK;
}

/* --- where DuckDB is ----------------------------------------------------------------------- */

void cli_engine_prepare(struct ss_error *problem)
{
	if (ss_engine_load(getenv("STEPSCOPE_DUCKDB"), getenv, problem) == SS_OK)
		problem->code = SS_OK;
}
