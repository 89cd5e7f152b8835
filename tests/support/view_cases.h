/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_cases.h - tests of views: a trace, and rows that must come out.
 */
#ifndef SS_TESTS_SUPPORT_VIEW_CASES_H
#define SS_TESTS_SUPPORT_VIEW_CASES_H

#include "support/support.h"

struct view_case {
	const char *what;
	const char *trace;   /* JSON, or what support_script() makes it of */
	const char *columns; /* "rank,events"; "rank+notes" has the notes as last rows */
	const char *rows;    /* cells separated by commas, nulls as '-', rows by newlines */
};

/*
 * Runs every case; the file is called "job/rank7.json". The view may have a group:
 * "operators/shapes".
 */
void view_cases_run(const char *view, const struct view_case *cases, size_t count);

/* The table as a case wants it: rows, and notes where its columns ask for them. */
void view_rows_add(const struct support_view *open, const char *columns, struct ss_text *rows);

/* Runs the view on a case's trace again and again, each time refused another piece of memory. */
void view_memory_run(const char *view, const char *trace);

#endif
