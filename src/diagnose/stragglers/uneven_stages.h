/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uneven_stages.h - a stage of a pipeline that computes much longer than the others: all of them
 * wait for it, micro-batch by micro-batch.
 *
 * Layers can move to other stages. What only this stage does, such as the head and the loss,
 * cannot: a kernel that other stages do not run, or that takes longer than theirs.
 */
#ifndef SS_DIAGNOSE_STRAGGLERS_UNEVEN_STAGES_H
#define SS_DIAGNOSE_STRAGGLERS_UNEVEN_STAGES_H

#include "diagnose/rule.h"

/* A stage, by what its median rank computes in the passes of a step. */
struct ss_stage_work {
	double own_ns;
	double fixed_ns;       /* of that: cannot move to another stage */
	double even_ns;        /* what is left when all layers are where they should be */
	uint32_t first, ranks; /* the first of its ranks, and how many there are */
};

struct ss_uneven_stages {
	struct ss_stage_work *items;
	uint32_t count;     /* 0: there is no pipeline, or not all stages are recorded */
	uint32_t busiest;   /* stage */
	double least, most; /* of the other stages, ns */
};

/* False: no memory. */
SS_MUST_USE
bool ss_uneven_stages_find(struct ss_uneven_stages *out, const struct ss_judgement *judgement,
			   struct ss_arena *arena);

#endif
