/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables_list.c - lists for users of SQL: all tables, or the columns of one table or of all.
 */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "cli/sql/query.h"

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

enum ss_status cli_query_list(const struct query *query, const char *text, size_t length,
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
