/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sql.h - SQL on a session.
 */
#ifndef SS_PYTHON_SQL_H
#define SS_PYTHON_SQL_H

#include "python/module.h"

/*
 * (statements, path of DuckDB or None, may read files, threads, memory limit): a table, or None if
 * there are no rows.
 */
PyObject *py_session_sql(PyObject *self, PyObject *arguments);

#endif
