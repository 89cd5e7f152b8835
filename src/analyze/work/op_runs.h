/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_runs.h - runs of the same operator on the same shapes, and how fast such a run can
 * be.
 *
 * Equal calls take equal time on a core of their own. The time beyond their fast runs is
 * time in which they had no core, or waited for a thread that had none. Only for jobs
 * without a device: elsewhere, an operator's time is that of a launch.
 *
 * Calls are equal if name and shapes are equal; if shapes are not recorded, if they are
 * the n-th call of that name in their step.
 */
#ifndef SS_ANALYZE_WORK_OP_RUNS_H
#define SS_ANALYZE_WORK_OP_RUNS_H

#include "analyze/host/op_category.h"
#include "analyze/work/work.h"

/* Equal calls. */
struct ss_op_group {
	uint32_t name;
	uint32_t row;      /* the first */
	uint32_t count;    /* runs in the measured steps */
	int64_t fast_ns;   /* own time of a run that has a core */
	int64_t sum_ns;    /* own time of all */
	int64_t excess_ns; /* beyond the fast time */
	uint32_t slow;     /* runs that take several times as long: too much for noise */
};

/* Zeroed: may be released. */
struct ss_op_runs {
	struct ss_arena arena;
	struct ss_records keys;
	const struct ss_ops *ops;
	uint32_t *group_of;         /* per host row; SS_NO_ROW: no operator of a step */
	struct ss_op_group *groups; /* in the order of their first run */
	uint8_t *category;          /* enum ss_op_category, per name */
	uint32_t count;
};

/* ops and works must outlive it. */
SS_MUST_USE
enum ss_status ss_op_runs_init(struct ss_op_runs *runs, const struct ss_ops *ops,
			       const struct ss_works *works, struct ss_memory *memory,
			       struct ss_error *err);
void ss_op_runs_release(struct ss_op_runs *runs);

#endif
