/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module.h - the C part of the Python module: sessions, tables, and how a call waits.
 *
 * It uses only the limited API of Python 3.9, so one build runs with 3.9 and every later version.
 * The user's interface is written in Python (stepscope/); the C part is what Python cannot do.
 */
#ifndef SS_PYTHON_MODULE_H
#define SS_PYTHON_MODULE_H

#include <stdbool.h>

#include "stepscope_arrow.h"

/*
 * One batch of Arrow for many readers.
 *
 * A stream can be read only once, but a Python table any number of times: each reader gets its own
 * stream over the same buffers, which live until the last reader releases them.
 */

struct shared;

/* Takes ownership of the stream, even on failure; NULL: no memory. */
struct shared *shared_take(struct ArrowArrayStream *stream);
void shared_drop(struct shared *shared);

const struct ArrowSchema *shared_schema(const struct shared *shared);
/* NULL: no rows. */
const struct ArrowArray *shared_array(const struct shared *shared);

/* Makes another stream; false: no memory. Any thread may read and release it. */
bool shared_stream(struct shared *shared, struct ArrowArrayStream *out);

#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x03090000
#endif
#define PY_SSIZE_T_CLEAN
#include <Python.h>

/*
 * Buffers are in the limited API since 3.11, PyUnicode_AsUTF8AndSize() since 3.10, as they were
 * before: the layout and the numbers below are those of 3.9, whose types take these slots.
 */
#if Py_LIMITED_API < 0x030A0000
const char *PyUnicode_AsUTF8AndSize(PyObject *text, Py_ssize_t *length);
#endif
#if Py_LIMITED_API < 0x030B0000
struct py_view {
	void *buf;
	PyObject *obj;
	Py_ssize_t len, itemsize;
	int readonly, ndim;
	char *format;
	Py_ssize_t *shape, *strides, *suboffsets;
	void *internal;
};
#define Py_buffer struct py_view
#define PyBUF_WRITABLE 0x0001
#define PyBUF_FORMAT 0x0004
#define PyBUF_ND 0x0008
#define PyBUF_STRIDES (0x0010 | PyBUF_ND)
#define Py_bf_getbuffer 1
#endif

#include "stepscope_arrow.h"

/* One exception type per kind of failure. */
enum {
	ERROR_BASE,
	ERROR_FILE,
	ERROR_FORMAT,
	ERROR_LIMIT,
	ERROR_MISSING,
	ERROR_USAGE,
	ERROR_STOPPED,
	ERROR_COUNT,
};

struct module {
	PyTypeObject *session, *table, *buffer;
	PyObject *errors[ERROR_COUNT];
};

/* A request from the Python part; the arguments own the texts. */
struct request {
	struct ss_request request;
	const char **options;
};

/* (what, format, rank, step, top, width, color, options); false: an exception is set. */
bool py_request_read(PyObject *arguments, struct request *out);
void py_request_release(struct request *request);

/* Sets the exception for a status; returns NULL. */
PyObject *py_module_fail(const struct module *module, enum ss_status status,
			 const struct ss_error *err);

struct module *py_module_of_type(PyTypeObject *type);

/* --- sessions --------------------------------------------------------------------------- */

struct ss_gate;

struct session {
	PyObject_HEAD struct ss_session *session; /* NULL: closed */
	struct ss_gate *gate;
	bool is_busy; /* a thread is using it; guarded by the gate */
};

/* Work for a thread, on one or two sessions. */
struct py_work {
	struct session *sessions[2];
	enum ss_status (*run)(struct py_work *work);
	void *context;
	struct ss_error err;
	enum ss_status status;
};

/*
 * work.c: runs the work on another thread, without the GIL, once the sessions are free, and waits.
 * Meanwhile it handles signals: if a handler raises (KeyboardInterrupt), the work is stopped.
 * False: an exception is set.
 */
bool py_work_run(const struct module *module, struct py_work *work);

extern PyType_Spec session_spec;

/* --- tables ----------------------------------------------------------------------------- */

/* Takes ownership of the stream, even on failure. */
PyObject *py_table_new(const struct module *module, struct ArrowArrayStream *stream);

extern PyType_Spec table_spec;

extern PyType_Spec buffer_spec;

#endif
