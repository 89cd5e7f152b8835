/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sql.c - SQL on a session with DuckDB: returns the rows of the last statement as a table.
 */
#include "sql/sql.h"

#include "api/renderers.h"
#include "api/session.h"
#include "python/module.h"

struct queries {
	const char *library; /* path of DuckDB; NULL: the system's libraries */
	const char *text;
	Py_ssize_t length;
	int allow_files;
	unsigned threads;
	unsigned long long memory_limit;
	struct ss_session *session;
	struct ArrowArrayStream stream; /* of the last statement that has rows */
};

static bool py_sql_is_stopped(void *context)
{
	const struct queries *queries = context;

	return atomic_load_explicit(&queries->session->watch.is_cancelled, memory_order_relaxed);
}

static enum ss_status py_sql_run_statement(struct ss_sql *sql, const struct ss_sql_text *statement,
					   struct queries *queries, struct ss_error *err)
{
	struct ss_render_options options = { 0 };
	struct ss_sql_answer answer;
	enum ss_status status = ss_sql_begin(sql, statement, &answer, err);

	if (status == SS_OK && answer.has_rows) {
		status = ss_sql_fetch(&answer, 0, err);
		if (queries->stream.release)
			queries->stream.release(&queries->stream);
		queries->stream = (struct ArrowArrayStream){ 0 };
		if (status == SS_OK)
			status = ss_arrow_stream(&answer.table, &options, &queries->stream, err);
	}
	ss_sql_end(&answer);
	return status;
}

static enum ss_status py_sql_run_statements(struct ss_sql *sql, struct queries *queries,
					    struct ss_error *err)
{
	struct ss_sql_text rest = { queries->text, (size_t)queries->length }, statement;
	bool is_ended;

	while (ss_sql_split(&rest, &statement, &is_ended))
		SS_TRY(py_sql_run_statement(sql, &statement, queries, err));
	return SS_OK;
}

static enum ss_status py_sql_run_queries(struct py_work *work)
{
	struct queries *queries = work->context;
	struct ss_sql_options options = { .threads = queries->threads,
					  .memory_limit_bytes = queries->memory_limit,
					  .allow_files = queries->allow_files != 0,
					  .is_stopped = py_sql_is_stopped,
					  .context = queries };
	struct ss_sql *sql = NULL;
	enum ss_status status;

	queries->session = work->sessions[0]->session;
	ss_session_start(queries->session);
	SS_TRY(ss_session_has_trace(queries->session, &work->err));
	SS_TRY(ss_engine_load(queries->library, NULL, &work->err));
	SS_TRY(ss_sql_open(queries->session, &options, &sql, &work->err));
	status = py_sql_run_statements(sql, queries, &work->err);
	ss_sql_close(sql);
	return status;
}

PyObject *py_session_sql(PyObject *self, PyObject *arguments)
{
	const struct module *module = py_module_of_type(Py_TYPE(self));
	struct py_work work = { .sessions = { (struct session *)self }, .run = py_sql_run_queries };
	struct queries queries = { 0 };

	work.context = &queries;
	if (!PyArg_ParseTuple(arguments, "s#zpIK", &queries.text, &queries.length, &queries.library,
			      &queries.allow_files, &queries.threads, &queries.memory_limit))
		return NULL;
	if (py_work_run(module, &work)) {
		if (queries.stream.release)
			return py_table_new(module, &queries.stream);
		Py_RETURN_NONE;
	}
	if (queries.stream.release)
		queries.stream.release(&queries.stream);
	return NULL;
}
