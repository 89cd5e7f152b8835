/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prevalence.h - whether other ranks have what a rule claimed on one rank.
 *
 * On a slow host launches, copies and waits look as if they were at fault: the rules of one rank
 * claim them there, and nowhere else. A fault of the program is on all ranks: its rule keeps what
 * it claimed, also on the slow rank.
 */
#ifndef SS_DIAGNOSE_STRAGGLERS_PREVALENCE_H
#define SS_DIAGNOSE_STRAGGLERS_PREVALENCE_H

#include "diagnose/diagnose.h"

/* The two amounts in the middle of all ranks: the median without any one follows from them. */
struct ss_prevalence_middle {
	double low, high;
};

struct ss_prevalence {
	double *amounts; /* by rule, then rank: ns that claims remove, or waits that they end */
	struct ss_prevalence_middle *middles; /* by rule */
	uint32_t rank_count;
};

/* False: no memory. */
SS_MUST_USE
bool ss_prevalence_find(struct ss_prevalence *common, const struct ss_judgement *judgement,
			struct ss_arena *arena);

/*
 * Whether the median of the other ranks has enough of what the rule claimed on this one; `factor`
 * is the share that would remain if the rank were as fast as they are.
 */
bool ss_prevalence_has(const struct ss_prevalence *common, uint32_t rule, uint32_t rank,
		       double factor);

#endif
