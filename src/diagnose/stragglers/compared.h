/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compared.h - the ranks compared with each other: who is late, and how much each has to do.
 *
 * Both take a pass over all tasks of the job, and several rules need them.
 */
#ifndef SS_DIAGNOSE_STRAGGLERS_COMPARED_H
#define SS_DIAGNOSE_STRAGGLERS_COMPARED_H

#include "diagnose/stragglers/rank_load.h"
#include "diagnose/stragglers/verdict.h"

struct ss_compared {
	struct ss_verdict verdict;
	struct ss_rank_loads loads; /* a rule copies it and sets what its claims need */
};

/*
 * Compared at the first call, and kept as long as one rule after the other asks for it. There must
 * be several ranks. NULL: no memory.
 */
const struct ss_compared *ss_judge_compared(struct ss_judgement *judgement);

#endif
