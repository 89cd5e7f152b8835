/*
 * judge.h - what verdict.c and reasons.c share while a job is judged.
 */
#ifndef SS_JOB_JUDGE_H
#define SS_JOB_JUDGE_H

#include "job/verdict.h"

struct ss_judge {
	const struct ss_many *many;
	struct ss_lateness lateness;
	struct ss_arena *arena;
	int64_t *values;
	uint8_t *stands_out; /* rank after rank, per step */
	int64_t step_ns;     /* median over ranks */
};

/* The lower of the two in the middle, 0 of none; changes their order. */
int64_t ss_judge_median(int64_t *values, uint32_t count);

/* Time per step that a rank spent on a part (enum ss_own), communication left out. */
int64_t ss_judge_part(const struct ss_digest *rank, int part);

/* Fills cause, excess and what goes with them. */
void ss_judge_cause(struct ss_judge *judge, struct ss_straggler *out);

#endif
