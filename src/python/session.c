/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.c - the session type: open, request, close.
 */
#include "base/system/thread.h"
#include "base/text.h"
#include "python/module.h"
#include "sql/sql.h"
#include "api/renderers.h"
#include "api/session.h"

/* --- arguments of open() ------------------------------------------------------------------- */

struct opening {
	struct ss_open_options options;
	const char **paths;
	PyObject *progress;   /* called with (words, share); borrowed; NULL: none */
	PyObject *problem[3]; /* the exception that the callback raised */
};

/* Texts of a sequence, which owns them; NULL: an exception is set. */
static const char **lend_texts(PyObject *sequence, size_t *count)
{
	Py_ssize_t length = PySequence_Size(sequence);
	const char **out = length < 0 ? NULL : PyMem_Calloc((size_t)length + 1, sizeof(*out));

	if (!out)
		return length < 0 ? NULL : (const char **)PyErr_NoMemory();
	for (Py_ssize_t i = 0; i < length; i++) {
		PyObject *text = PyTuple_GetItem(sequence, i);

		out[i] = text ? PyBytes_AsString(text) : NULL;
		if (!out[i]) {
			PyMem_Free((void *)(uintptr_t)out);
			return NULL;
		}
	}
	*count = (size_t)length;
	return out;
}

/* (paths, threads, memory_limit, run, reduce, progress); false: an exception is set. */
static bool opening_read(PyObject *arguments, PyObject *keywords, struct opening *out)
{
	char *names[] = { "paths", "threads", "memory_limit", "run", "reduce", "progress", NULL };
	unsigned long long limit = 0;
	PyObject *paths = NULL, *progress = Py_None;
	unsigned int threads = 0;
	const char *chosen = NULL;
	int reduce = 0;

	if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O!|IKzpO", names, &PyTuple_Type,
					 &paths, &threads, &limit, &chosen, &reduce, &progress))
		return false;
	out->options = (struct ss_open_options){ .size = sizeof(out->options),
						 .threads = threads,
						 .memory_limit_bytes = limit,
						 .reduce = reduce,
						 .diagnose = reduce,
						 .snapshots = true,
						 .run = chosen };
	out->progress = progress == Py_None ? NULL : progress;
	out->paths = lend_texts(paths, &out->options.path_count);
	out->options.paths = out->paths;
	return out->paths;
}

static void opening_release(struct opening *opening)
{
	PyMem_Free((void *)(uintptr_t)opening->paths);
}

/* Called on a thread of the library, so it takes the GIL for the call. */
static bool opening_on_progress(void *context, const struct ss_progress *progress)
{
	struct opening *opening = context;
	PyGILState_STATE state = PyGILState_Ensure();
	PyObject *answer = PyObject_CallFunction(opening->progress, "sd", progress->doing,
						 progress->share);
	bool goes_on = answer && answer != Py_False;

	if (!answer)
		PyErr_Fetch(&opening->problem[0], &opening->problem[1], &opening->problem[2]);
	Py_XDECREF(answer);
	PyGILState_Release(state);
	return goes_on;
}

static enum ss_status opening_load(struct py_work *work)
{
	struct opening *opening = work->context;
	struct ss_session *session = work->sessions[0]->session;
	enum ss_status status = ss_session_add(session, &opening->options, &work->err);

	return status == SS_OK ? ss_session_end(session, &work->err) : status;
}

/* Loads the traces into the session; false: an exception is set. */
static bool opening_run(const struct module *module, struct opening *opening,
			struct session *session)
{
	struct py_work work = { .sessions = { session }, .run = opening_load, .context = opening };
	enum ss_status status;
	bool is_open;

	if (opening->progress) {
		opening->options.progress = opening_on_progress;
		opening->options.progress_context = opening;
	}
	status = ss_session_begin(&opening->options, &session->session, &work.err);
	if (status != SS_OK) {
		py_module_fail(module, status, &work.err);
		return false;
	}
	is_open = py_work_run(module, &work);
	if (!opening->problem[0])
		return is_open;
	PyErr_Clear(); /* "stopped": the callback's exception says why */
	PyErr_Restore(opening->problem[0], opening->problem[1], opening->problem[2]);
	return false;
}

static struct session *as_session(PyObject *object)
{
	return (struct session *)object;
}

/* --- opening and closing ---------------------------------------------------------------- */

static void py_session_dealloc(PyObject *object)
{
	struct session *self = as_session(object);
	PyTypeObject *type = Py_TYPE(object);
	PyThreadState *python = PyEval_SaveThread();

	ss_session_close(self->session);
	ss_gate_close(self->gate);
	PyEval_RestoreThread(python);
	PyObject_Free(object);
	Py_DECREF(type);
}

static PyObject *open_session(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
	struct module *module = py_module_of_type(type);
	struct opening opening = { 0 };
	struct session *self;

	if (!module || !opening_read(arguments, keywords, &opening))
		return NULL;
	self = PyObject_New(struct session, type);
	if (!self) {
		opening_release(&opening);
		return NULL;
	}
	self->session = NULL;
	self->is_busy = false;
	self->gate = ss_gate_open();
	if (!self->gate)
		PyErr_NoMemory();
	else if (opening_run(module, &opening, self)) {
		opening_release(&opening);
		return (PyObject *)self;
	}
	opening_release(&opening);
	Py_DECREF(self);
	return NULL;
}

static enum ss_status close_now(struct py_work *work)
{
	ss_session_close(work->sessions[0]->session);
	work->sessions[0]->session = NULL;
	return SS_OK;
}

static PyObject *close_session(PyObject *self, PyObject *unused)
{
	struct py_work work = { .sessions = { as_session(self) }, .run = close_now };

	(void)unused;
	if (!as_session(self)->session)
		Py_RETURN_NONE;
	if (!py_work_run(py_module_of_type(Py_TYPE(self)), &work))
		return NULL;
	Py_RETURN_NONE;
}

static PyObject *cancel(PyObject *self, PyObject *unused)
{
	(void)unused;
	if (as_session(self)->session)
		ss_session_cancel(as_session(self)->session);
	Py_RETURN_NONE;
}

/* --- requests --------------------------------------------------------------------------- */

/* One request, answered with a text or a stream. */
struct question {
	struct request request;
	struct ss_text text;
	struct ArrowArrayStream stream;
};

static PyObject *answer_text(const struct module *module, struct py_work *work, PyObject *arguments)
{
	struct question question = { 0 };
	PyObject *out = NULL;

	if (!py_request_read(arguments, &question.request))
		return NULL;
	work->context = &question;
	if (py_work_run(module, work))
		out = PyUnicode_DecodeUTF8(question.text.data ? question.text.data : "",
					   (Py_ssize_t)question.text.length, "replace");
	ss_text_release(&question.text);
	py_request_release(&question.request);
	return out;
}

static PyObject *answer_table(const struct module *module, struct py_work *work,
			      PyObject *arguments)
{
	struct question question = { 0 };
	PyObject *out = NULL;

	if (!py_request_read(arguments, &question.request))
		return NULL;
	work->context = &question;
	if (py_work_run(module, work))
		out = py_table_new(module, &question.stream);
	else if (question.stream.release)
		question.stream.release(&question.stream);
	py_request_release(&question.request);
	return out;
}

static enum ss_status py_session_call_text(struct py_work *work)
{
	struct question *question = work->context;

	return ss_session_run(work->sessions[0]->session, &question->request.request,
			      &question->text, &work->err);
}

static PyObject *py_session_run(PyObject *self, PyObject *arguments)
{
	struct py_work work = { .sessions = { as_session(self) }, .run = py_session_call_text };

	return answer_text(py_module_of_type(Py_TYPE(self)), &work, arguments);
}

static enum ss_status run_table(struct py_work *work)
{
	struct question *question = work->context;

	return ss_session_table(work->sessions[0]->session, &question->request.request,
				&question->stream, &work->err);
}

static PyObject *table(PyObject *self, PyObject *arguments)
{
	struct py_work work = { .sessions = { as_session(self) }, .run = run_table };

	return answer_table(py_module_of_type(Py_TYPE(self)), &work, arguments);
}

/* Splits off the first argument, another session or None; NULL: an exception is set. */
static PyObject *take_other(const struct module *module, PyObject *arguments, struct session **out)
{
	PyObject *first = PyTuple_Size(arguments) ? PyTuple_GetItem(arguments, 0) : NULL;

	*out = NULL;
	if (!first || (first != Py_None && !PyObject_TypeCheck(first, module->session))) {
		PyErr_SetString(PyExc_TypeError, "expected a session or None");
		return NULL;
	}
	if (first != Py_None)
		*out = as_session(first);
	return PyTuple_GetSlice(arguments, 1, PyTuple_Size(arguments));
}

typedef PyObject *answer_function(const struct module *module, struct py_work *work,
				  PyObject *arguments);

static PyObject *with_other(PyObject *self, PyObject *arguments,
			    enum ss_status (*work_function)(struct py_work *work),
			    answer_function *answer)
{
	const struct module *module = py_module_of_type(Py_TYPE(self));
	struct py_work work = { .sessions = { as_session(self) }, .run = work_function };
	PyObject *rest = take_other(module, arguments, &work.sessions[1]);
	PyObject *out = rest ? answer(module, &work, rest) : NULL;

	Py_XDECREF(rest);
	return out;
}

static struct ss_session *other(const struct py_work *work)
{
	return work->sessions[1] ? work->sessions[1]->session : NULL;
}

static enum ss_status memory_text(struct py_work *work)
{
	struct question *question = work->context;

	return ss_session_memory(work->sessions[0]->session, other(work),
				 &question->request.request, &question->text, &work->err);
}

static PyObject *memory(PyObject *self, PyObject *arguments)
{
	return with_other(self, arguments, memory_text, answer_text);
}

static enum ss_status memory_stream(struct py_work *work)
{
	struct question *question = work->context;

	return ss_session_memory_table(work->sessions[0]->session, other(work),
				       &question->request.request, &question->stream, &work->err);
}

static PyObject *memory_table(PyObject *self, PyObject *arguments)
{
	return with_other(self, arguments, memory_stream, answer_table);
}

/* --- two sessions ----------------------------------------------------------------------- */

static enum ss_status with_runs(struct py_work *work,
				enum ss_status (*call)(const struct ss_runs *runs,
						       struct py_work *work))
{
	struct ss_runs *runs = NULL;
	enum ss_status status = ss_runs_new(&runs, &work->err);

	for (int i = 0; i < 2 && status == SS_OK; i++)
		if (work->sessions[i])
			status = ss_runs_add(runs, work->sessions[i]->session, &work->err);
	if (status == SS_OK)
		status = call(runs, work);
	ss_runs_free(runs);
	return status;
}

static enum ss_status py_session_call_compare(const struct ss_runs *runs, struct py_work *work)
{
	struct question *question = work->context;

	return ss_compare(runs, &question->request.request, &question->text, &work->err);
}

static enum ss_status compare_text(struct py_work *work)
{
	return with_runs(work, py_session_call_compare);
}

static PyObject *py_session_compare(PyObject *self, PyObject *arguments)
{
	return with_other(self, arguments, compare_text, answer_text);
}

static enum ss_status call_compare_table(const struct ss_runs *runs, struct py_work *work)
{
	struct question *question = work->context;

	return ss_compare_table(runs, &question->request.request, &question->stream, &work->err);
}

static enum ss_status compare_stream(struct py_work *work)
{
	return with_runs(work, call_compare_table);
}

static PyObject *compare_table(PyObject *self, PyObject *arguments)
{
	return with_other(self, arguments, compare_stream, answer_table);
}

/* --- a report --------------------------------------------------------------------------- */

struct page_request {
	const char *plain; /* the viewer */
	Py_ssize_t length;
	struct ss_text out;
	size_t limit;
};

static bool take_bytes(void *context, const char *bytes, size_t length)
{
	struct page_request *page = context;

	ss_text_add(&page->out, bytes, length);
	return !ss_text_failed(&page->out);
}

static enum ss_status call_report(const struct ss_runs *runs, struct py_work *work)
{
	struct page_request *page = work->context;
	struct ss_report_options options = { .size = sizeof(options),
					     .page = page->plain,
					     .page_bytes = (size_t)page->length,
					     .max_bytes = page->limit };
	struct ss_sink sink = { take_bytes, page };
	uint64_t bytes = 0;

	return ss_session_report(runs, &options, &sink, &bytes, &work->err);
}

static enum ss_status report_bytes(struct py_work *work)
{
	return with_runs(work, call_report);
}

/* (session or None, the viewer's page, maximum size): the page with the traces in it. */
static PyObject *py_session_report(PyObject *self, PyObject *arguments)
{
	const struct module *module = py_module_of_type(Py_TYPE(self));
	struct py_work work = { .sessions = { as_session(self) }, .run = report_bytes };
	struct page_request page = { 0 };
	PyObject *rest = take_other(module, arguments, &work.sessions[1]), *out = NULL;

	work.context = &page;
	if (rest && PyArg_ParseTuple(rest, "y#n", &page.plain, &page.length, &page.limit) &&
	    py_work_run(module, &work))
		out = PyBytes_FromStringAndSize(page.out.data, (Py_ssize_t)page.out.length);
	ss_text_release(&page.out);
	Py_XDECREF(rest);
	return out;
}

/* --- the type --------------------------------------------------------------------------- */

static PyObject *py_session_counts(PyObject *self, PyObject *unused)
{
	const struct ss_session *session = as_session(self)->session;

	(void)unused;
	if (!session) {
		PyErr_SetString(PyExc_ValueError, "this job is closed");
		return NULL;
	}
	return Py_BuildValue("(III)", ss_session_file_count(session),
			     ss_session_failed_count(session), ss_session_cut_count(session));
}

/* SQL on a session with DuckDB: returns the rows of the last statement as a table. */

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
	if (!queries->session->job.flight_count)
		SS_TRY(ss_session_has_trace(queries->session, &work->err));
	SS_TRY(ss_engine_load(queries->library, getenv, &work->err));
	SS_TRY(ss_sql_open(queries->session, &options, &sql, &work->err));
	status = py_sql_run_statements(sql, queries, &work->err);
	ss_sql_close(sql);
	return status;
}

/*
 * (statements, path of DuckDB or None, may read files, threads, memory limit): a table, or None if
 * there are no rows.
 */
static PyObject *session_sql(PyObject *self, PyObject *arguments)
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

static PyMethodDef methods[] = {
	{ "run", py_session_run, METH_VARARGS, "A view, report or verdict as text." },
	{ "table", table, METH_VARARGS, "A view, or the findings, as a table." },
	{ "memory", memory, METH_VARARGS, "A view of memory as text." },
	{ "memory_table", memory_table, METH_VARARGS, "A view of memory as a table." },
	{ "compare", py_session_compare, METH_VARARGS, "Two runs side by side, as text." },
	{ "compare_table", compare_table, METH_VARARGS, "A view of two runs as a table." },
	{ "report", py_session_report, METH_VARARGS, "The viewer with the traces in it." },
	{ "sql", session_sql, METH_VARARGS, "The rows of SQL statements as a table." },
	{ "counts", py_session_counts, METH_NOARGS,
	  "Files: all, those that failed, those that are cut." },
	{ "cancel", cancel, METH_NOARGS, "Stops what another thread waits for." },
	{ "close", close_session, METH_NOARGS, "Frees the traces." },
	{ NULL, NULL, 0, NULL },
};

static PyType_Slot slots[] = {
	{ Py_tp_new, open_session },
	{ Py_tp_dealloc, py_session_dealloc },
	{ Py_tp_methods, methods },
	{ Py_tp_doc, (void *)(uintptr_t) "The traces of a job." },
	{ 0, NULL },
};

PyType_Spec session_spec = {
	.name = "stepscope._core.Session",
	.basicsize = sizeof(struct session),
	.flags = Py_TPFLAGS_DEFAULT,
	.slots = slots,
};
