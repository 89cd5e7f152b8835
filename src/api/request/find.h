/* SPDX-License-Identifier: Apache-2.0 */
/*
 * find.h - the subject of a request: a view, or several under one headline.
 */
#ifndef SS_API_REQUEST_FIND_H
#define SS_API_REQUEST_FIND_H

#include "api/reports/reports.h"
#include "api/request/request.h"

/* A view, and the group of its rows. */
struct ss_part {
	const struct ss_view *view;
	uint32_t group;
	uint32_t rows; /* default maximum; 0: all */
};

struct ss_found {
	const char *name;               /* as in messages and documents */
	bool is_report;                 /* its tables are parts of one picture */
	const struct ss_report *report; /* of traces, which has a headline; NULL: none */
	struct ss_part parts[SS_REPORT_VIEWS_MAX];
	uint32_t count;
};

/* The takers of options (options.h) under this name; 0: no view, report or verdict is called so. */
uint32_t ss_request_takers(const char *what);

/* The same for a view of memory, named without its "snapshot-"; NULL: for the report. */
uint32_t ss_request_memory_takers(const char *view);

/* True for verdicts, which are not made of views: "diagnose" and "what-if". */
bool ss_request_is_verdict(const char *what);

/* A view, or a report in the form that it has for one rank or for several. */
SS_MUST_USE
enum ss_status ss_request_find(const struct ss_wanted *wanted, bool several_ranks,
			       struct ss_found *out, struct ss_error *err);

/* Finds a view by name; the error suggests the most similar name. */
SS_MUST_USE
enum ss_status ss_request_find_named(const char *what, const struct ss_view **out,
				     struct ss_error *err);

/* One view, never a report; `group` NULL: the first. */
SS_MUST_USE
enum ss_status ss_request_find_view(const struct ss_wanted *wanted, const char *what,
				    const char *group, struct ss_found *out, struct ss_error *err);

/* The view of memory that wanted->what names, or with NULL the report. */
SS_MUST_USE
enum ss_status ss_request_find_memory(const struct ss_wanted *wanted, struct ss_found *out,
				      struct ss_error *err);

/* Always fails: `format` has one table, and this is a report. The error names its views. */
SS_MUST_USE
enum ss_status ss_found_refuse(const struct ss_found *found, const char *format,
			       struct ss_error *err);

/* Whether the request wants the form of the report that compares ranks. */
bool ss_found_compares(const struct ss_found *found, const struct ss_wanted *wanted);

#endif
