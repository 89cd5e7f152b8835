/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop.h - what a change did, from the run before it and the run after it: which findings went,
 * what that was predicted to save, what it saved, and where the difference is.
 */
#ifndef SS_API_CHECK_LOOP_H
#define SS_API_CHECK_LOOP_H

#include "api/check/checking.h"

struct ss_loop {
	struct ss_checking checking; /* the first run is the baseline */
	struct ss_table *findings;   /* lent: those that changed, the largest change first */
	char fixes[512];             /* that the second run has: "input-stall, straggler=3" */
	double least_ns;             /* of the mean step: smaller changes are noise */
	/* what they save when they are replayed in the first run; predicted_ns -1: none */
	int64_t predicted_ns, low_ns, high_ns;
	int64_t saved_ns;     /* of the mean step */
	struct ss_text lines; /* sentences, one per line: what to know first */
};

/* Fills the table. Release both in any case. */
SS_MUST_USE
enum ss_status ss_loop_close(struct ss_loop *loop, const struct ss_runs *runs,
			     struct ss_table *findings, struct ss_error *err);
void ss_loop_release(struct ss_loop *loop);

/* An object, without what ends it: its table follows. */
void ss_loop_add_json(const struct ss_loop *loop, struct ss_text *out);

#endif
