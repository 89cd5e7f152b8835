/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cause.h - what can be wrong with a job.
 *
 * To add one: a file of src/sim/causes, and X in src/sim/meson.build; preset.c says
 * which jobs have it. A cause changes the plan. Some faults need circumstances
 * (a slow dataset, a compiled network) that are not faults by themselves: with
 * `fixed`, a cause sets only these and leaves out the fault. The job with the
 * fault is compared with that one.
 */
#ifndef SS_SIM_CAUSE_H
#define SS_SIM_CAUSE_H

#include "sim/plan.h"

/* The job as it would be with every cause fixed: severities are shares of it. */
struct ss_sim_base {
	int64_t step_ns; /* mean */
	int64_t host_ns; /* CPU time of a step, without waiting */
	int64_t comm_ns; /* of a step, the transfers of the busiest channel */
};

struct ss_sim_fault {
	uint32_t permille; /* severity: where it can be chosen, about this part of the step */
	uint32_t rank;     /* the guilty one, for causes that have one */
	bool fixed;
	const struct ss_sim_base *base;
};

#define SS_SIM_CAUSE_LAYOUTS 6u

struct ss_sim_cause {
	const char *name;    /* kebab-case */
	const char *summary; /* one line, without full stop */
	const char *fix;     /* what to change, one line */
	const char *op;      /* where it shows: the op, call or kernel */
	const char *line;    /* the user's line, "train.py:55"; NULL: none */
	bool has_rank;       /* one rank is guilty */
	const char *part;    /* of the job that it changes, if other causes change it too: a job can
			     have only one of them; NULL: no other cause does */
	const char *layouts[SS_SIM_CAUSE_LAYOUTS]; /* that can have it; NULL ends them */
	void (*plant)(struct ss_sim_plan *plan, const struct ss_sim_fault *fault);
};

extern const struct ss_sim_cause *const ss_sim_causes[];
extern const size_t ss_sim_cause_count;
const struct ss_sim_cause *ss_sim_cause_find(const char *name);
/* True when both can be in one job. */
bool ss_sim_causes_agree(const struct ss_sim_cause *a, const struct ss_sim_cause *b);
bool ss_sim_cause_fits(const struct ss_sim_cause *cause, const struct ss_sim_layout *layout);

/* `permille` of the step. */
static inline int64_t ss_sim_part_of_step(const struct ss_sim_fault *fault)
{
	return fault->base->step_ns / 1000 * fault->permille;
}

/* CPU time that costs nothing, because the device has that much work queued. */
static inline int64_t ss_sim_slack_ns(const struct ss_sim_fault *fault)
{
	int64_t slack_ns = fault->base->step_ns - fault->base->host_ns;

	return slack_ns > 0 ? slack_ns : 0;
}

/* The guilty rank takes `permille` thousandths of the others' time. */
static inline struct ss_sim_odd_rank ss_sim_odd_rank_of(const struct ss_sim_fault *fault,
							uint32_t permille)
{
	return (struct ss_sim_odd_rank){ .rank = (int32_t)fault->rank, .permille = permille };
}

#endif
