/* SPDX-License-Identifier: Apache-2.0 */
/*
 * judge.h - what the files that judge a job share: figures.c, noise.c, reasons.c, stages.c and
 * verdict.c.
 */
#ifndef SS_DIAGNOSE_STRAGGLERS_JUDGE_H
#define SS_DIAGNOSE_STRAGGLERS_JUDGE_H

#include "base/median.h"
#include "diagnose/stragglers/verdict.h"

/* What ranks are compared by, per step; parts of enum ss_own first. */
enum ss_straggler_figure {
	SS_FIGURE_EXPOSED = SS_OWN_PARTS, /* exposed communication */
	SS_FIGURE_PACE,                   /* of its host, without waiting for others */
	SS_FIGURE_TYPICAL,                /* of ranks without a device: typical_ns */
	SS_FIGURE_PHASE,                  /* time in each phase */
	SS_FIGURE_CALLS = SS_FIGURE_PHASE + SS_PHASE_COUNT, /* and calls, in thousandths */
	SS_FIGURES = SS_FIGURE_CALLS + SS_PHASE_COUNT,
};

/* How late ranks are in a step through their own work. */
struct ss_straggler_step_lateness {
	struct ss_middle middle;
	int64_t worst_ns, second_ns; /* of the two latest ranks; 0: nobody is late */
	int64_t irregular_ns;        /* of the latest that is not late in nearly all steps */
};

/* All ranks in the step with one number. */
struct ss_straggler_step {
	bool is_known, has_first;
	struct ss_middle compute, loose;
	/* of the ranks of one component: who begins first, and when the second does */
	uint32_t component, first;
	int64_t first_ns, second_ns;
};

/* A kernel on the median rank. */
struct ss_straggler_kernel {
	double mean_ns; /* 0: too few ranks have it */
	double calls;   /* per step */
};

struct ss_straggler_judge {
	const struct ss_joined *joined;
	struct ss_lateness lateness;
	struct ss_arena *arena;
	int64_t *values;
	int64_t *step_values; /* as many as a rank has steps */
	int64_t *gap_values;  /* as many as a rank has gaps */
	uint8_t *stands_out;  /* rank after rank, per step */
	uint8_t *is_regular;  /* per rank: it stands out in nearly all steps */
	uint32_t regulars;    /* how many ranks do */
	int64_t step_ns;      /* median over ranks */
	int64_t *figures;     /* enum ss_straggler_figure, each of all ranks */
	/* by role; the last of each are of all ranks */
	struct ss_middle *middles;               /* SS_FIGURES each, of the ranks that have steps */
	struct ss_straggler_step_lateness *late; /* per step of the lateness */
	struct ss_straggler_step *steps;         /* by number */
	uint32_t *role_ranks;                    /* how many ranks with steps */
	uint32_t step_capacity;
	uint32_t *works; /* per rank without a device: which work it has; NULL: not computed yet */
	uint32_t *as_many;   /* per work: how many ranks with steps have the same or similar work */
	uint32_t with_steps; /* ranks that have steps */
	struct ss_straggler_kernel *kernels; /* by role and name; NULL: not computed yet */
	uint32_t kernel_name_count;
	uint32_t **kernel_names; /* per rank: the name of each of its kernels */
	bool failed;             /* no memory */
};

/* Fills figures, middles and late, once the lateness is known. False: no memory. */
SS_MUST_USE bool ss_straggler_measure(struct ss_straggler_judge *judge);

/* How late the peers of a rank are in a step of the lateness. */
static inline struct ss_straggler_step_lateness *ss_straggler_peer_lateness(
	const struct ss_straggler_judge *judge, uint32_t r, uint32_t step)
{
	return &judge->late[(size_t)judge->joined->roles[r] * judge->lateness.step_count + step];
}

/* A figure of a rank, and the median of its peers that have steps; 0 of none. */
int64_t ss_straggler_own_figure(const struct ss_straggler_judge *judge, uint32_t r,
				uint32_t figure);
int64_t ss_straggler_usual_figure(const struct ss_straggler_judge *judge, uint32_t r,
				  uint32_t figure);

/* The lower median; 0: no values. Changes their order. */
int64_t ss_straggler_median(int64_t *values, uint32_t count);

/*
 * How much longer a rank's host takes for a step than the median of its peers', without the time
 * in which they were blocked in calls while their devices waited for other ranks.
 */
int64_t ss_straggler_pace_excess(struct ss_straggler_judge *judge, uint32_t r);

/* How much later than the first of the others it begins its steps; the median of the steps. */
int64_t ss_straggler_start_lag(struct ss_straggler_judge *judge, uint32_t r);

/*
 * Whether a rank is later than the median of the others by more than it varies from step to step;
 * by much more if the work is the same. True if there are too few steps to tell.
 */
bool ss_straggler_beats_noise(struct ss_straggler_judge *judge, uint32_t r, bool same_work);

/*
 * For ranks without a device: whether it calls the same operators as most others and, with
 * `outside`, does as much between them.
 */
bool ss_straggler_has_same_work(struct ss_straggler_judge *judge, uint32_t r, bool outside);

/*
 * For ranks without a device and with the same work: whether its operators take longer than those
 * of the others, but typical calls do not. Then the scheduler of a busy machine delays it.
 */
bool ss_straggler_is_held_up(struct ss_straggler_judge *judge, uint32_t r);

/*
 * Whether it computed longer in the step with this number than the median of the others, by this
 * share of a step.
 */
bool ss_straggler_computes_more(struct ss_straggler_judge *judge, uint32_t r, uint32_t number,
				int percent);

/* How much more it does outside of operators in that step than the median of the others. */
int64_t ss_straggler_loose_margin(struct ss_straggler_judge *judge, uint32_t r, uint32_t number);

/* The stage of a pipeline whose device is slow; `rank` is SS_NO_ROW: none. False: no memory. */
SS_MUST_USE
bool ss_straggler_find_stage(struct ss_straggler_judge *judge, struct ss_straggler *worst);

/*
 * Whether all kernels of a rank are slower than the others' by the same factor, in nearly all
 * steps, whether it is late or not. Fills `out`.
 */
bool ss_straggler_has_slow_device(struct ss_straggler_judge *judge, uint32_t r,
				  struct ss_straggler *out);

/* Whether its kernels are all slower by the same factor, or more; and the factor. */
enum ss_late_cause ss_straggler_compare_kernels(struct ss_straggler_judge *judge, uint32_t r,
						double *ratio);

/* Fills cause, excess and what goes with them. */
void ss_straggler_find_cause(struct ss_straggler_judge *judge, struct ss_straggler *out);

#endif
