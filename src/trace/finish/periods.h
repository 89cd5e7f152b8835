/* SPDX-License-Identifier: Apache-2.0 */
/*
 * periods.h - finds the steps of a program that does not mark them, from what it repeats.
 *
 * A loop launches the same collectives and kernels in the same order in every
 * iteration. The shortest period that explains nearly all of a sequence of names is
 * taken for a step; if nothing repeats clearly, no step is reported.
 */
#ifndef SS_TRACE_FINISH_PERIODS_H
#define SS_TRACE_FINISH_PERIODS_H

#include "trace/trace.h"

struct ss_periods {
	enum ss_step_anchor anchor; /* SS_STEPS_COLLECTIVES or SS_STEPS_KERNELS */
	int64_t *starts_ns; /* host time of the first launch of each period, and of the end */
	uint32_t count;     /* 0: no period; else one more than there are steps */
};

/* The result lives in the trace's arena. */
SS_MUST_USE
enum ss_status ss_periods_find(struct ss_trace *trace, struct ss_periods *out,
			       struct ss_error *err);

#endif
