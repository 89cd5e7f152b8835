/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exits.h - what `watch` gives to monitoring: a file of gauges, a JSON line per event.
 */
#ifndef SS_CLI_STORE_EXITS_H
#define SS_CLI_STORE_EXITS_H

#include "api/write/metrics.h"
#include "cli/output.h"
#include "store/watch.h"

struct watch_exits {
	const struct arguments *arguments;
	const char *folder;
	const char *metrics; /* file of gauges; NULL: none */
	bool has_events;     /* on standard output */
	int64_t next_ns;     /* when live numbers are looked at again */
	/* the jobs that were heard of last, the latest first */
	struct ss_metrics_verdict verdicts[SS_METRICS_JOBS];
	uint32_t verdict_count;
};

struct watch_exits cli_exits_begin(const struct arguments *arguments);

/* A run of a job was added: its warnings are events and gauges. */
void cli_exits_run(struct watch_exits *exits, struct ss_session *session, const char *job,
		   const char *run);

/* Looks at the live numbers in the folder, at most every 30 seconds unless it `must`. */
void cli_exits_live(struct watch_exits *exits, struct ss_watcher *watcher, bool must);

#endif
