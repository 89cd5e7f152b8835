/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select.h - a part of a trace: some steps, one device, one stream.
 *
 * The result is a trace like any other, so every view works on it. It has its
 * own rows and borrows names, texts and arguments from the whole trace, which must
 * outlive it. Steps keep their numbers; those that are not selected count as
 * dropped.
 */
#ifndef SS_TRACE_SELECT_H
#define SS_TRACE_SELECT_H

#include "trace/trace.h"

/* Any device or stream. */
#define SS_SELECT_ANY INT64_MIN

struct ss_selection {
	bool has_steps;
	uint32_t first_step, last_step; /* numbers, both included */
	int64_t device, stream;         /* or SS_SELECT_ANY */
	/*
	 * True: the view cuts time at the ends of steps by itself. Only the steps are
	 * chosen and all rows stay: the next kernel says why a device was idle, also when
	 * it runs in the next step. False: what was called in the ranges of the steps on
	 * the host, and what was launched there, whenever it ran.
	 */
	bool by_moment;
};

/* Why a step that is not selected does not count. */
extern const char ss_step_not_selected[];

/*
 * The key of a file under which a slice of a longer trace (api/write/slice.h) has the steps that
 * were found there: [anchor, then four times of each step in ns: on the host from, to; effective
 * from, to].
 */
#define SS_STEPS_KEY "stepscope_steps"

SS_MUST_USE
enum ss_status ss_trace_select(const struct ss_trace *trace, const struct ss_selection *selection,
			       struct ss_memory *memory, struct ss_trace *out,
			       struct ss_error *err);
void ss_trace_select_release(struct ss_trace *selected);

#endif
