/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reports.h - a report: several views under one headline.
 */
#ifndef SS_API_REPORTS_REPORTS_H
#define SS_API_REPORTS_REPORTS_H

#include "load/job.h"
#include "render/render.h"

#define SS_REPORT_VIEWS_MAX 8

struct ss_report {
	const char *name;
	const char *summary;
	/* Names, in order, some with their group: "budget/part"; NULL ends them. */
	const char *views[SS_REPORT_VIEWS_MAX];
	/* The same for people if there are several ranks: figures across ranks; empty: as above. */
	const char *job_views[SS_REPORT_VIEWS_MAX];
	const char *single; /* the view of those that is shown for one file only */
	/* `is_timed`: it may say how long something took, which differs from run to run */
	void (*headline)(const struct ss_job *job, bool is_timed, struct ss_text *out);
};

extern const struct ss_report *const ss_reports[];
extern const size_t ss_report_count;

const struct ss_report *ss_report_find(const char *name);

#endif
