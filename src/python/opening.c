/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opening.c - opens a session with the arguments of Python.
 */
#include "python/opening.h"

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

bool opening_read(PyObject *arguments, PyObject *keywords, struct opening *out)
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

void opening_release(struct opening *opening)
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

bool opening_run(const struct module *module, struct opening *opening, struct session *session)
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
