/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sql_schema.c - route: the tables of SQL with their columns, and example queries.
 */
#include "api/renderers.h"
#include "base/text.h"
#include "cli/served/served.h"

/* docs/sql.md has them; tools/questions.py takes them out. */
static const struct {
	const char *title, *query;
} questions[] = {
#define SS_QUESTION(title, query) { title, query },
#include "questions.inc"
#undef SS_QUESTION
};

static void sql_schema_add_columns(const struct ss_view *table, struct ss_text *out)
{
	for (uint32_t i = 0; i < table->column_count; i++) {
		ss_text_addf(out,
			     "%s\n   {\"name\":\"%s\",\"type\":\"%s\",\"about\":", i ? "," : "",
			     table->columns[i].name, ss_sql_column_type(table, i));
		ss_render_quoted(out, table->columns[i].about);
		ss_text_add_string(out, "}");
	}
}

static void sql_schema_add_table(const struct ss_view *table, struct ss_text *out)
{
	char name[SS_SQL_NAME_BYTES];
	const char *parameter;

	ss_sql_table_name(table, name);
	ss_text_addf(out, "\n {\"name\":\"%s\",\"about\":", name);
	ss_render_quoted(out, table->summary);
	ss_text_add_string(out, ",\"parameters\":[");
	for (size_t i = 0; (parameter = ss_sql_parameter_at(table, i)); i++)
		ss_text_addf(out, "%s\"%s\"", i ? "," : "", parameter);
	ss_text_add_string(out, "],\"columns\":[");
	sql_schema_add_columns(table, out);
	ss_text_add_string(out, "]}");
}

static enum ss_status sql_schema_run(const struct ss_viewer_request *asked, struct ss_answer *out,
				     struct ss_error *err)
{
	const struct served *served = asked->runs->own->context;
	const struct ss_error *problem = &served->sql.problem;
	const struct ss_view *table;

	(void)err;
	ss_text_add_string(&out->body, "{\"schema\":\"stepscope.sql-schema/1\",\"problem\":");
	if (problem->code != SS_OK)
		ss_render_quoted(&out->body, problem->text);
	else
		ss_text_add_string(&out->body, "null");
	ss_text_add_string(&out->body, ",\"tables\":[");
	for (size_t i = 0; (table = ss_sql_table_at(i)); i++) {
		ss_text_add_string(&out->body, i ? "," : "");
		sql_schema_add_table(table, &out->body);
	}
	ss_text_add_string(&out->body, "],\"questions\":[");
	for (size_t i = 0; i < SS_COUNT(questions); i++) {
		ss_text_addf(&out->body, "%s\n {\"title\":", i ? "," : "");
		ss_render_quoted(&out->body, questions[i].title);
		ss_text_add_string(&out->body, ",\"query\":");
		ss_render_quoted(&out->body, questions[i].query);
		ss_text_add_string(&out->body, "}");
	}
	ss_text_add_string(&out->body, "]}\n");
	return SS_OK;
}

const struct ss_route route_sql_schema = {
	.name = "sql-schema",
	.summary = "Tables of SQL with their columns, and example queries",
	.parameters = "",
	.apart = true,
	.run = sql_schema_run,
};
