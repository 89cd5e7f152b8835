/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics.h - what leaves for monitoring: gauges as Prometheus reads them, events as JSON lines.
 */
#ifndef SS_API_WRITE_METRICS_H
#define SS_API_WRITE_METRICS_H

#include "api/session.h"

/*
 * A node has at most 100 series: with more ranks only those of jobs, and of several jobs fewer
 * findings.
 */
#define SS_METRICS_JOBS 4
#define SS_METRICS_RANKS 12
#define SS_METRICS_RANKS_OF_JOBS 8
#define SS_METRICS_FINDINGS 12
#define SS_METRICS_FINDINGS_OF_JOBS 5

struct ss_metrics_live {
	const struct ss_live *live; /* with steps */
	const char *job;
};

/* Appends gauges of live numbers, of each job a series. */
void ss_metrics_add_lives(const struct ss_metrics_live *jobs, uint32_t count, struct ss_text *out);

/* What the last recording of a job says: its step, and what the fix of each warning saves. */
struct ss_metrics_verdict {
	char job[256];
	double step_s; /* 0: not known */
	const char *rules[SS_METRICS_FINDINGS];
	double shares[SS_METRICS_FINDINGS];
	uint32_t count;
};

/* Fills all but the job. */
void ss_metrics_take_verdict(const struct ss_diagnosis *verdict, struct ss_metrics_verdict *out);

/* Appends gauges of verdicts, of each job a series. */
void ss_metrics_add_verdicts(const struct ss_metrics_verdict *verdicts, uint32_t count,
			     struct ss_text *out);

/* Appends a line of JSON: steps take another time. */
void ss_metrics_add_change(const struct ss_live *live, const struct ss_live_change *change,
			   const char *job, struct ss_text *out);

/* Appends a line of JSON per warning. */
void ss_metrics_add_findings(const struct ss_session *session, const struct ss_diagnosis *verdict,
			     const char *job, const char *run, struct ss_text *out);

#endif
