/* SPDX-License-Identifier: Apache-2.0 */
/*
 * judge.h - what verdict.c and reasons.c share while they judge a job.
 */
#ifndef SS_JOB_LATE_JUDGE_H
#define SS_JOB_LATE_JUDGE_H

#include "job/late/verdict.h"

struct ss_judge {
	const struct ss_joined *joined;
	struct ss_lateness lateness;
	struct ss_arena *arena;
	int64_t *values;
	int64_t *step_values; /* as many as a rank has steps */
	int64_t *gap_values;  /* as many as a rank has gaps */
	uint8_t *stands_out;  /* rank after rank, per step */
	uint8_t *is_regular;  /* per rank: it does in nearly all steps */
	uint32_t regulars;    /* how many do */
	int64_t step_ns;      /* median over ranks */
};

/* The lower of the two in the middle, 0 of none; changes their order. */
int64_t ss_judge_median(int64_t *values, uint32_t count);

/* Time per step that a rank spent on a part (enum ss_own), communication left out. */
int64_t ss_judge_part(const struct ss_digest *rank, int part);

/* The rank's step of this number, or NULL. */
const struct ss_rank_step *ss_judge_step(const struct ss_digest *rank, uint32_t number);

/*
 * How much longer a rank's host takes for a step than the median of the others', without what
 * they were stuck in calls for while their devices waited for other ranks.
 */
int64_t ss_judge_slower(struct ss_judge *judge, uint32_t r);

/* How much later than the first of the others it begins its steps; the median of the steps. */
int64_t ss_judge_behind(struct ss_judge *judge, uint32_t r);

/*
 * Whether a rank is later than the median of the others by more than it differs from step to
 * step; by much more where the work is the same. True of too few steps to tell.
 */
bool ss_judge_beats_noise(struct ss_judge *judge, uint32_t r, bool same_work);

/*
 * Ranks without device: it calls the same operators as most others, and with `outside` does as
 * much between them.
 */
bool ss_judge_same_work(struct ss_judge *judge, uint32_t r, bool outside);

/*
 * Ranks without device and with the same work: its operators take longer than those of the others,
 * but typical calls do not. What is longer is what the scheduler of a busy machine takes away.
 */
bool ss_judge_is_held_up(struct ss_judge *judge, uint32_t r);

/* What a rank waits for communication a step, and nothing computes meanwhile. */
int64_t ss_judge_exposed(const struct ss_digest *rank);

/* It computed longer in the step of this number than the median of the others, by so much of it. */
bool ss_judge_computes_more(struct ss_judge *judge, uint32_t r, uint32_t number, int percent);

/* The stage of a pipeline whose device is slow; `rank` is SS_NO_ROW: none. False: no memory. */
SS_MUST_USE
bool ss_judge_stages(struct ss_judge *judge, struct ss_straggler *worst);

/*
 * A rank whose kernels are all slower than the others' by the same factor, in nearly all steps,
 * whether it comes late or not. False: it is not so, or it is a stage of a pipeline.
 */
bool ss_judge_slow_device(struct ss_judge *judge, uint32_t r, struct ss_straggler *out);

/* Whether its kernels are all slower by the same factor, or more; and the factor. */
enum ss_late_cause ss_judge_kernels(struct ss_judge *judge, uint32_t r, double *ratio);

/* Fills cause, excess and what goes with them. */
void ss_judge_cause(struct ss_judge *judge, struct ss_straggler *out);

#endif
