/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sql.c - routes: runs a query of the page, and stops it.
 *
 * A query runs on the same worker as views, because it reads the same data; the other worker
 * answers for the timeline meanwhile. An error in a query is an answer, not a failed request.
 */
#include <inttypes.h>
#include <string.h>

#include "api/request/query.h"
#include "base/system/clock.h"
#include "base/text.h"
#include "cli/served/served.h"
#include "cli/sql/query.h"

/* Rows for the page; a CSV has all rows. */
#define ROWS_MAX 10000

/* Time limit, because other tabs wait meanwhile; the command `sql` has none. */
#define QUERY_SECONDS 60

/* Time limit for counting the rows, if there are more than the page gets. */
#define COUNT_SECONDS 2

/* CSV rows that are rendered at a time, and the largest CSV for a browser to save. */
#define CSV_ROWS 32768
#define CSV_BYTES_MAX ((size_t)256 << 20)

#define NS_PER_SECOND INT64_C(1000000000)

static struct served_sql *page_sql_of(const struct ss_viewer_request *asked)
{
	const struct served_context *context = asked->runs->own->context;

	return &context->served->sql;
}

static bool sql_route_is_stopped(void *context)
{
	struct served_sql *page_sql = context;
	bool is_stopped;

	ss_gate_lock(page_sql->gate);
	is_stopped = page_sql->running && page_sql->running == page_sql->stopped;
	ss_gate_unlock(page_sql->gate);
	return is_stopped || ss_clock_ns() > page_sql->end_ns || page_sql->is_over();
}

static void set_running(struct served_sql *page_sql, int64_t id)
{
	ss_gate_lock(page_sql->gate);
	page_sql->running = id;
	ss_gate_unlock(page_sql->gate);
}

void served_prepare(struct served *served)
{
	*served = (struct served){ 0 };
	cli_engine_prepare(&served->sql.problem);
}

bool served_begin(struct served *served, uint32_t threads, uint64_t memory_limit_bytes,
		  bool (*is_over)(void))
{
	static const struct ss_route *const routes[] = { &route_sql, &route_sql_stop,
							 &route_sql_schema };
	struct served_sql *page_sql = &served->sql;

	served->context = (struct served_context){ .served = served };
	served->own = (struct ss_own_routes){ routes, SS_COUNT(routes), &served->context };
	page_sql->options = (struct ss_sql_options){ .threads = threads,
						     .memory_limit_bytes = memory_limit_bytes,
						     .is_stopped = sql_route_is_stopped,
						     .context = page_sql };
	page_sql->is_over = is_over;
	page_sql->gate = ss_gate_open();
	return page_sql->gate != NULL;
}

void served_end(struct served *served)
{
	struct served_sql *page_sql = &served->sql;

	for (uint32_t i = 0; i < SS_RUNS_MAX; i++)
		ss_sql_close(page_sql->sqls[i]);
	if (page_sql->gate)
		ss_gate_close(page_sql->gate);
}

/* Finds or opens the database of the requested run. */
static enum ss_status sql_route_open_database(const struct ss_viewer_request *asked,
					      struct ss_sql **out, struct ss_error *err)
{
	struct served_sql *page_sql = page_sql_of(asked);
	uint32_t run = 0;

	while (asked->runs->sessions[run] != asked->session)
		run++;
	if (page_sql->problem.code != SS_OK)
		return ss_fail(err, page_sql->problem.code, "%s", page_sql->problem.text);
	if (!page_sql->sqls[run])
		SS_TRY(ss_sql_open(asked->session, &page_sql->options, &page_sql->sqls[run], err));
	*out = page_sql->sqls[run];
	return SS_OK;
}

/* One query of the page. */
struct running {
	const struct ss_viewer_request *asked;
	struct ss_sql *sql;
	const char *query; /* all statements */
	int64_t begin_ns;
	bool is_csv;
	int64_t at;        /* position of an error in the query; -1: not known */
	int64_t row_count; /* of the last statement with rows; -1: not counted */
	bool has_rows;
	struct ss_text table;
};

static struct ss_render_options sql_route_render_options(const struct running *running)
{
	struct ss_render_options options = { .top = running->is_csv ? 0 : ROWS_MAX };

	ss_query_trust(running->asked->session, &options.trust);
	return options;
}

static enum ss_status render_csv(struct running *running, struct ss_sql_answer *answer,
				 struct ss_error *err)
{
	const struct ss_renderer *csv = ss_renderer_find("csv");
	struct ss_render_options options = sql_route_render_options(running);
	bool is_first = true;

	running->table.length = 0;
	while (is_first || !answer->is_done) {
		SS_TRY(ss_sql_fetch(answer, CSV_ROWS, err));
		(is_first ? csv->view : csv->more)(&answer->table, &options, &running->table);
		is_first = false;
		if (running->table.length > CSV_BYTES_MAX)
			return ss_fail(err, SS_ERR_LIMIT,
				       "the CSV has more than 256 MB; use 'stepscope sql PATH "
				       "QUERY -o rows.csv' or a file that ends in .parquet");
	}
	return SS_OK;
}

static enum ss_status render_rows(struct running *running, struct ss_sql_answer *answer,
				  struct ss_error *err)
{
	struct ss_render_options options = sql_route_render_options(running);

	SS_TRY(ss_sql_fetch(answer, ROWS_MAX + 1, err));
	running->row_count = answer->table.row_count;
	if (answer->table.row_count > ROWS_MAX)
		running->row_count = -1;
	running->table.length = 0;
	ss_renderer_find("json")->view(&answer->table, &options, &running->table);
	return SS_OK;
}

/* Counts the rows within the time limit; a failure here is not worth reporting. */
static void sql_route_count_rows(struct running *running, const struct ss_sql_text *statement)
{
	struct served_sql *page_sql = page_sql_of(running->asked);
	int64_t end_ns = ss_clock_ns() + COUNT_SECONDS * NS_PER_SECOND;
	struct ss_sql_answer answer;
	SS_TEXT(text);
	struct ss_error unused = { 0 };

	page_sql->end_ns = end_ns < page_sql->end_ns ? end_ns : page_sql->end_ns;
	ss_text_addf(&text, "select count(*) from (%.*s\n)", (int)statement->length,
		     statement->text);
	if (!ss_text_failed(&text)) {
		if (ss_sql_begin(running->sql, &(struct ss_sql_text){ text.data, text.length },
				 &answer, &unused) == SS_OK &&
		    ss_sql_fetch(&answer, 0, &unused) == SS_OK && answer.table.row_count == 1)
			running->row_count = ss_table_int(&answer.table, 0, 0);
		ss_sql_end(&answer);
	}
}

static enum ss_status sql_route_run_statement(struct running *running,
					      const struct ss_sql_text *statement,
					      struct ss_error *err)
{
	struct ss_sql_answer answer;
	enum ss_status status = ss_sql_begin(running->sql, statement, &answer, err);

	if (status == SS_OK && answer.has_rows) {
		running->has_rows = true;
		status = running->is_csv ? render_csv(running, &answer, err)
					 : render_rows(running, &answer, err);
	}
	ss_sql_end(&answer);
	if (status == SS_OK && ss_text_failed(&running->table))
		status = ss_fail_memory(err, "the rows");
	if (status != SS_OK && ss_sql_problem_at(running->sql) >= 0)
		running->at = statement->text - running->query + ss_sql_problem_at(running->sql);
	return status;
}

static enum ss_status sql_route_run_statements(struct running *running, struct ss_error *err)
{
	struct ss_sql_text rest = { running->query, strlen(running->query) }, statement, last;
	bool is_ended, is_any = false;

	SS_TRY(sql_route_open_database(running->asked, &running->sql, err));
	while (ss_sql_split(&rest, &statement, &is_ended)) {
		SS_TRY(sql_route_run_statement(running, &statement, err));
		is_any = true;
		last = statement;
	}
	if (!is_any)
		return ss_fail(err, SS_ERR_USAGE, "there is no query yet");
	if (!running->is_csv && running->has_rows && running->row_count < 0)
		sql_route_count_rows(running, &last);
	return SS_OK;
}

/* Adds the error to the answer, in words for people. */
static void add_error(const struct running *running, enum ss_status status,
		      const struct ss_error *problem, struct ss_text *out)
{
	struct served_sql *page_sql = page_sql_of(running->asked);
	bool is_late = status == SS_ERR_STOPPED && ss_clock_ns() > page_sql->end_ns;

	ss_text_add_string(out, "{\"text\":");
	if (is_late)
		ss_text_addf(out,
			     "\"stopped after %d s: other tabs wait for the query; "
			     "'stepscope sql' has no such limit\"",
			     QUERY_SECONDS);
	else
		ss_render_quoted(out, problem->text);
	ss_text_addf(out, ",\"stopped\":%s,\"at\":",
		     status == SS_ERR_STOPPED && !is_late ? "true" : "false");
	if (running->at >= 0)
		ss_text_addf(out, "%" PRId64 "}", running->at);
	else
		ss_text_add_string(out, "null}");
}

static void add_answer(const struct running *running, enum ss_status status,
		       const struct ss_error *problem, struct ss_text *out)
{
	ss_text_addf(out, "{\"schema\":\"stepscope.sql-answer/1\",\"seconds\":%.6f,\"error\":",
		     (double)(ss_clock_ns() - running->begin_ns) / (double)NS_PER_SECOND);
	if (status != SS_OK) {
		add_error(running, status, problem, out);
		ss_text_add_string(out, "}\n");
		return;
	}
	ss_text_add_string(out, "null,\"row_count\":");
	if (running->row_count >= 0)
		ss_text_addf(out, "%" PRId64, running->row_count);
	else
		ss_text_add_string(out, "null");
	ss_text_add_string(out, ",\"table\":");
	ss_text_add_string(out, running->has_rows ? running->table.data : "null");
	ss_text_add_string(out, "}\n");
}

static enum ss_status run_sql(const struct ss_viewer_request *asked, struct ss_answer *out,
			      struct ss_error *err)
{
	struct served_sql *page_sql = page_sql_of(asked);
	const char *format = ss_viewer_text(asked, "format");
	struct running running = { .asked = asked,
				   .query = ss_viewer_text(asked, "query"),
				   .is_csv = format && strcmp(format, "csv") == 0,
				   .begin_ns = ss_clock_ns(),
				   .at = -1 };
	struct ss_error problem = { 0 };
	enum ss_status status;
	int64_t id;

	if (format && !running.is_csv && strcmp(format, "json") != 0)
		return ss_fail(err, SS_ERR_USAGE, "'format' is json or csv");
	SS_TRY(ss_viewer_int(asked, "id", 0, INT64_MAX, 0, &id, err));
	if (!running.query)
		running.query = "";
	page_sql->end_ns = running.begin_ns + QUERY_SECONDS * NS_PER_SECOND;
	set_running(page_sql, id);
	status = sql_route_run_statements(&running, &problem);
	set_running(page_sql, 0);
	if (running.is_csv && status == SS_OK) {
		out->media_type = "text/csv";
		out->body = running.table;
		return SS_OK;
	}
	if (running.is_csv)
		status = ss_fail(err, status, "%s", problem.text);
	else
		add_answer(&running, status, &problem, &out->body);
	ss_text_release(&running.table);
	return running.is_csv ? status : SS_OK;
}

static enum ss_status run_stop(const struct ss_viewer_request *asked, struct ss_answer *out,
			       struct ss_error *err)
{
	struct served_sql *page_sql = page_sql_of(asked);
	bool is_running;
	int64_t id;

	SS_TRY(ss_viewer_int_required(asked, "id", 1, INT64_MAX, &id, err));
	ss_gate_lock(page_sql->gate);
	page_sql->stopped = id; /* also stops a query that is still queued */
	is_running = page_sql->running == id;
	ss_gate_unlock(page_sql->gate);
	/* the query may be computing a view */
	if (is_running)
		ss_session_cancel(asked->session);
	ss_text_add_string(&out->body, "{}\n");
	return SS_OK;
}

const struct ss_route route_sql = {
	.name = "sql",
	.summary = "The rows of a query",
	.parameters = "query id format",
	.run = run_sql,
};

const struct ss_route route_sql_stop = {
	.name = "sql-stop",
	.summary = "Stops the query of that id",
	.parameters = "id",
	.apart = true,
	.run = run_stop,
};

/* Route: the SQL tables with their columns, and example queries. */

/* tools/questions.py takes them from docs/sql.md. */
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
	const struct ss_error *problem = &page_sql_of(asked)->problem;
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
