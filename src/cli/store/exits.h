/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exits.h - what `watch` gives to monitoring: a file of gauges, a JSON line per event.
 */
#ifndef SS_CLI_STORE_EXITS_H
#define SS_CLI_STORE_EXITS_H

#include "cli/output.h"

struct watch_exits {
	const struct arguments *arguments;
	const char *folder;
	const char *metrics;    /* file of gauges; NULL: none */
	bool has_events;        /* on standard output */
	struct ss_text verdict; /* gauges of the last recording */
	int64_t next_ns;        /* when live numbers are looked at again */
	uint32_t told;          /* the step of the last change among the events */
};

struct watch_exits cli_exits_begin(const struct arguments *arguments);
void cli_exits_end(struct watch_exits *exits);

/* A run was added: its warnings are events and gauges. */
void cli_exits_run(struct watch_exits *exits, struct ss_session *session, const char *run);

/* Looks at the live numbers in the folder, at most every 30 seconds unless it `must`. */
void cli_exits_live(struct watch_exits *exits, bool must);

#endif
