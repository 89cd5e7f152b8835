/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opening.h - opens a session with the arguments of Python.
 */
#ifndef SS_PYTHON_OPENING_H
#define SS_PYTHON_OPENING_H

#include "python/module.h"

struct opening {
	struct ss_open_options options;
	const char **paths;
	PyObject *progress;   /* called with (words, share); borrowed; NULL: none */
	PyObject *problem[3]; /* the exception that the callback raised */
};

/* (paths, threads, memory_limit, run, reduce, progress); false: an exception is set. */
bool opening_read(PyObject *arguments, PyObject *keywords, struct opening *out);

/* Loads the traces into the session; false: an exception is set. */
bool opening_run(const struct module *module, struct opening *opening, struct session *session);
void opening_release(struct opening *opening);

#endif
