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
	struct ss_watcher *watcher;
	bool is_due;     /* the run that is added: a process that is gone did not tell its events */
	int64_t next_ns; /* when live numbers are looked at again */
	/* the jobs that were heard of last, the latest first */
	struct ss_metrics_verdict verdicts[SS_METRICS_JOBS];
	uint32_t verdict_count;
};

struct watch_exits cli_exits_begin(const struct arguments *arguments);

/* Before a run is added, and after: if it is new, its warnings are events and gauges. */
void cli_exits_begin_run(struct watch_exits *exits, const struct ss_session *session);
void cli_exits_run(struct watch_exits *exits, struct ss_session *session, const char *job,
		   const struct ss_stored_added *added);

/* Looks at the live numbers in the folder, at most every 30 seconds unless it `must`. */
void cli_exits_live(struct watch_exits *exits, bool must);

#endif
