/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics.h - what leaves for monitoring: gauges as Prometheus reads them, events as JSON lines.
 */
#ifndef SS_API_WRITE_METRICS_H
#define SS_API_WRITE_METRICS_H

#include "api/session.h"

/*
 * Appends gauges of live numbers. A node has about 100 series at most: with more than
 * SS_METRICS_RANKS ranks only those of the job.
 */
#define SS_METRICS_RANKS 12
void ss_metrics_add_live(const struct ss_live *live, const char *job, struct ss_text *out);

/* Appends gauges of a verdict: the step, and what the fix of each warning saves. */
void ss_metrics_add_verdict(const struct ss_diagnosis *verdict, const char *job,
			    struct ss_text *out);

/* Appends a line per change behind the step `told`, and moves it to the last one. */
void ss_metrics_add_changes(const struct ss_live *live, const char *job, uint32_t *told,
			    struct ss_text *out);

/* Appends a line per warning. */
void ss_metrics_add_findings(const struct ss_diagnosis *verdict, const char *job, const char *run,
			     struct ss_text *out);

#endif
