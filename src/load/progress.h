/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.h - reports the progress of long work on the ranks of a job.
 */
#ifndef SS_LOAD_PROGRESS_H
#define SS_LOAD_PROGRESS_H

#include <stdatomic.h>

#include "base/error.h"

struct ss_progress; /* stepscope.h */

/*
 * The parts of a verdict, in order: comparing ranks, examining each, joining all for the replay,
 * applying rules; the rest is replays with fixes. Each ends at this share of the usual time.
 */
#define SS_PROGRESS_COMPARED 0.1
#define SS_PROGRESS_EXAMINED 0.6
#define SS_PROGRESS_JOINED 0.75
#define SS_PROGRESS_JUDGED 0.85

/* Zeroed: progress is not reported. */
struct ss_progress_report {
	bool (*progress)(void *context, const struct ss_progress *progress);
	void *context;
	const char *doing; /* the current part, in words */
	double from, to;   /* of the whole */
	/* Set by any thread or signal handler, cleared when the next call begins. */
	atomic_bool is_cancelled;
};

/* A part begins. The watch may be NULL, here and below. */
void ss_progress_begin_part(struct ss_progress_report *watch, const char *doing, double from,
			    double to);

/* Reports how many of the part's pieces are done; false: stop. One thread at a time. */
bool ss_progress_report_done(struct ss_progress_report *watch, uint32_t done, uint32_t count);

/* Whether the current work was cancelled; any thread may ask. */
bool ss_progress_is_cancelled(const struct ss_progress_report *watch);

#endif
