/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module.c - stepscope._core: its types, its exceptions, and functions without a session.
 */
#include "python/module.h"

#include <stdlib.h>
#include <string.h>

#include "api/renderers.h"
#include "cli/command.h"
#include "serve/serve.h"
#include "store/store.h"

struct module *py_module_of_type(PyTypeObject *type)
{
	return PyType_GetModuleState(type);
}

static struct module *module_of(PyObject *self)
{
	return PyModule_GetState(self);
}

PyObject *py_module_fail(const struct module *module, enum ss_status status,
			 const struct ss_error *err)
{
	static const unsigned char kinds[] = {
		[SS_ERR_IO] = ERROR_FILE,     [SS_ERR_FORMAT] = ERROR_FORMAT,
		[SS_ERR_LIMIT] = ERROR_LIMIT, [SS_ERR_MISSING] = ERROR_MISSING,
		[SS_ERR_USAGE] = ERROR_USAGE, [SS_ERR_STOPPED] = ERROR_STOPPED,
	};
	size_t kind = (size_t)status < sizeof(kinds) ? kinds[status] : ERROR_BASE;
	PyObject *text = PyUnicode_DecodeUTF8(err->text, (Py_ssize_t)strlen(err->text), "replace");

	if (text)
		PyErr_SetObject(module->errors[kind], text);
	Py_XDECREF(text);
	return NULL;
}

/* --- requests --------------------------------------------------------------------------- */

bool py_request_read(PyObject *arguments, struct request *out)
{
	struct ss_request *request = &out->request;
	PyObject *options = NULL;
	Py_ssize_t count;
	int color = 0;

	*out = (struct request){ .request = { .size = sizeof(*request) } };
	if (!PyArg_ParseTuple(arguments, "zzzzIIpO!", &request->what, &request->format,
			      &request->rank, &request->step, &request->top, &request->width,
			      &color, &PyTuple_Type, &options))
		return false;
	request->color = color;
	count = PyTuple_Size(options);
	out->options = PyMem_Calloc((size_t)count + 1, sizeof(*out->options));
	if (!out->options) {
		PyErr_NoMemory();
		return false;
	}
	for (Py_ssize_t i = 0; i < count; i++) {
		out->options[i] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(options, i), NULL);
		if (!out->options[i]) {
			py_request_release(out);
			return false;
		}
	}
	request->options = out->options;
	return true;
}

void py_request_release(struct request *request)
{
	PyMem_Free((void *)(uintptr_t)request->options);
	request->options = NULL;
}

/* --- functions -------------------------------------------------------------------------- */

/* A list of (name, summary, is a report, covers all ranks): all views, or those of snapshots. */
static PyObject *list_offers(bool (*at)(size_t index, struct ss_offer *out))
{
	struct ss_offer offer = { .size = sizeof(offer) };
	PyObject *out = PyList_New(0);

	for (size_t i = 0; out && at(i, &offer); i++) {
		PyObject *entry = Py_BuildValue("(ssNN)", offer.name, offer.summary,
						PyBool_FromLong(offer.is_report),
						PyBool_FromLong(offer.of_job));
		int failed = !entry || PyList_Append(out, entry) < 0;

		Py_XDECREF(entry);
		if (failed)
			Py_CLEAR(out);
	}
	return out;
}

static PyObject *offers(PyObject *self, PyObject *unused)
{
	(void)self;
	(void)unused;
	return list_offers(ss_offer_at);
}

static PyObject *snapshot_offers(PyObject *self, PyObject *unused)
{
	(void)self;
	(void)unused;
	return list_offers(ss_snapshots_offer_at);
}

/* (name, value, summary) of each option of a view. */
static PyObject *py_view_options(PyObject *self, PyObject *arguments)
{
	struct ss_option_offer option = { .size = sizeof(option) };
	const char *what;
	PyObject *out;

	(void)self;
	if (!PyArg_ParseTuple(arguments, "s", &what))
		return NULL;
	out = PyList_New(0);
	for (size_t i = 0; out && ss_option_at(i, &option); i++) {
		PyObject *entry;
		int failed;

		if (!ss_option_applies(option.name, what))
			continue;
		entry = Py_BuildValue("(szs)", option.name, option.value, option.summary);
		failed = !entry || PyList_Append(out, entry) < 0;
		Py_XDECREF(entry);
		if (failed)
			Py_CLEAR(out);
	}
	return out;
}

static PyObject *py_explain(PyObject *self, PyObject *arguments)
{
	struct request request;
	struct ss_text text = { 0 };
	struct ss_error err = { 0 };
	enum ss_status status;
	PyObject *out = NULL;

	if (!py_request_read(arguments, &request))
		return NULL;
	status = ss_explain(&request.request, &text, &err);
	if (status == SS_OK)
		out = PyUnicode_DecodeUTF8(text.data ? text.data : "", (Py_ssize_t)text.length,
					   "replace");
	else
		py_module_fail(module_of(self), status, &err);
	ss_text_release(&text);
	py_request_release(&request);
	return out;
}

/* Writes a simulated job, for users without a trace: (folder, preset, seed). */
static PyObject *py_simulate(PyObject *self, PyObject *arguments)
{
	struct ss_simulation simulation = { .size = sizeof(simulation) };
	struct ss_simulated simulated = { .size = sizeof(simulated) };
	unsigned long long seed = 0;
	struct ss_error err = { 0 };
	enum ss_status status;

	if (!PyArg_ParseTuple(arguments, "ysK", &simulation.folder, &simulation.preset, &seed))
		return NULL;
	simulation.seed = seed;
	Py_BEGIN_ALLOW_THREADS status = ss_simulate(&simulation, &simulated, &err);
	Py_END_ALLOW_THREADS if (status != SS_OK) return py_module_fail(module_of(self), status,
									&err);
	return PyLong_FromUnsignedLong(simulated.ranks);
}

/* Changes of the level of running jobs: (store, job or None, path of DuckDB or None). */
static PyObject *py_store_changes(PyObject *self, PyObject *arguments)
{
	const struct ss_render_options options = { 0 };
	struct ArrowArrayStream stream = { 0 };
	struct ss_stored_run run = { 0 };
	struct ss_run_store store;
	const char *folder, *library;
	struct ss_memory memory;
	struct ss_arena arena;
	struct ss_table table;
	struct ss_error err = { 0 };
	enum ss_status status;

	if (!PyArg_ParseTuple(arguments, "yzz", &folder, &run.job, &library))
		return NULL;
	ss_memory_init(&memory, 0);
	ss_arena_init(&arena, &memory);
	ss_table_init(&table, &ss_store_changes_view, &arena);
	Py_BEGIN_ALLOW_THREADS status = ss_engine_load(library, getenv, &err);
	if (status == SS_OK)
		status = ss_run_store_open(folder, false, &store, &err);
	if (status == SS_OK) {
		status = ss_run_store_changes(&store, &run, &table, &err);
	}
	if (status == SS_OK)
		status = ss_arrow_stream(&table, &options, &stream, &err);
	Py_END_ALLOW_THREADS ss_table_release(&table);
	ss_arena_release(&arena);
	return status == SS_OK ? py_table_new(module_of(self), &stream)
			       : py_module_fail(module_of(self), status, &err);
}

/* The viewer's page as gzip; None if the build has none. */
static PyObject *py_viewer(PyObject *self, PyObject *unused)
{
	(void)self;
	(void)unused;
	if (!ss_page.length)
		Py_RETURN_NONE;
	return PyBytes_FromStringAndSize((const char *)ss_page.bytes, (Py_ssize_t)ss_page.length);
}

/*
 * Runs the command and returns its exit code. The process must end afterwards, because it stays in
 * the sandbox.
 */
static PyObject *py_command(PyObject *self, PyObject *arguments)
{
	PyObject *words;
	char **argv;
	Py_ssize_t count;
	int code;

	(void)self;
	if (!PyArg_ParseTuple(arguments, "O!", &PyTuple_Type, &words))
		return NULL;
	count = PyTuple_Size(words);
	argv = PyMem_Calloc((size_t)count + 1, sizeof(*argv));
	if (!argv)
		return PyErr_NoMemory();
	for (Py_ssize_t i = 0; i < count; i++) {
		argv[i] = PyBytes_AsString(PyTuple_GetItem(words, i));
		if (!argv[i]) {
			PyMem_Free(argv);
			return NULL;
		}
	}
	Py_BEGIN_ALLOW_THREADS code = command_line((int)count, argv);
	Py_END_ALLOW_THREADS PyMem_Free(argv);
	return PyLong_FromLong(code);
}

static PyMethodDef functions[] = {
	{ "offers", offers, METH_NOARGS, "The views and reports." },
	{ "snapshot_offers", snapshot_offers, METH_NOARGS, "The views of memory." },
	{ "options_of", py_view_options, METH_VARARGS, "The options of a view." },
	{ "explain", py_explain, METH_VARARGS, "The page of a rule, or the list of all." },
	{ "simulate", py_simulate, METH_VARARGS, "Writes the traces of a simulated job." },
	{ "store_changes", py_store_changes, METH_VARARGS, "Changes of running jobs." },
	{ "viewer", py_viewer, METH_NOARGS, "The page of the viewer, compressed." },
	{ "command", py_command, METH_VARARGS, "Runs the command line." },
	{ NULL, NULL, 0, NULL },
};

/* --- the module ------------------------------------------------------------------------- */

/* Each is a stepscope error and, if there is one, also the matching built-in exception. */
static int add_errors(PyObject *module, struct module *state)
{
	const struct {
		const char *name, *attribute;
		PyObject *also;
	} kinds[ERROR_COUNT] = {
		[ERROR_BASE] = { "stepscope.Error", "Error", NULL },
		[ERROR_FILE] = { "stepscope.FileError", "FileError", PyExc_OSError },
		[ERROR_FORMAT] = { "stepscope.FormatError", "FormatError", PyExc_ValueError },
		[ERROR_LIMIT] = { "stepscope.LimitError", "LimitError", PyExc_MemoryError },
		[ERROR_MISSING] = { "stepscope.MissingError", "MissingError", PyExc_LookupError },
		[ERROR_USAGE] = { "stepscope.UsageError", "UsageError", PyExc_ValueError },
		[ERROR_STOPPED] = { "stepscope.StoppedError", "StoppedError", NULL },
	};

	for (int i = 0; i < ERROR_COUNT; i++) {
		PyObject *base = i == ERROR_BASE ? NULL : state->errors[ERROR_BASE];
		PyObject *bases = kinds[i].also ? PyTuple_Pack(2, base, kinds[i].also)
						: Py_XNewRef(base);

		state->errors[i] = PyErr_NewException(kinds[i].name, bases, NULL);
		Py_XDECREF(bases);
		if (!state->errors[i] ||
		    PyModule_AddObject(module, kinds[i].attribute, Py_NewRef(state->errors[i])) < 0)
			return -1;
	}
	return 0;
}

static int py_module_add_type(PyObject *module, PyType_Spec *spec, PyTypeObject **out)
{
	*out = (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, NULL);
	return *out ? PyModule_AddType(module, *out) : -1;
}

static int py_module_execute(PyObject *module)
{
	struct module *state = module_of(module);

	if (add_errors(module, state) < 0 ||
	    py_module_add_type(module, &session_spec, &state->session) < 0 ||
	    py_module_add_type(module, &table_spec, &state->table) < 0 ||
	    py_module_add_type(module, &buffer_spec, &state->buffer) < 0)
		return -1;
	return PyModule_AddStringConstant(module, "version", ss_version());
}

static int traverse(PyObject *module, visitproc visit, void *arg)
{
	struct module *state = module_of(module);

	Py_VISIT(state->session);
	Py_VISIT(state->table);
	Py_VISIT(state->buffer);
	for (int i = 0; i < ERROR_COUNT; i++)
		Py_VISIT(state->errors[i]);
	return 0;
}

static int py_module_clear(PyObject *module)
{
	struct module *state = module_of(module);

	Py_CLEAR(state->session);
	Py_CLEAR(state->table);
	Py_CLEAR(state->buffer);
	for (int i = 0; i < ERROR_COUNT; i++)
		Py_CLEAR(state->errors[i]);
	return 0;
}

static PyModuleDef_Slot slots[] = {
	{ Py_mod_exec, py_module_execute },
	{ 0, NULL },
};

static PyModuleDef definition = {
	PyModuleDef_HEAD_INIT,
	.m_name = "_core",
	.m_doc = "The C part of stepscope.",
	.m_size = sizeof(struct module),
	.m_methods = functions,
	.m_slots = slots,
	.m_traverse = traverse,
	.m_clear = py_module_clear,
};

PyMODINIT_FUNC PyInit__core(void)
{
	return PyModuleDef_Init(&definition);
}
