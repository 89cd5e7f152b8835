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

struct ss_straggler_comparison {
	struct ss_straggler_verdict verdict;
	struct ss_rank_loads loads; /* a rule copies it and sets what its claims need */
};

/*
 * Computed at the first call, and kept as long as consecutive rules ask for it. There must be
 * several ranks. NULL: no memory.
 */
const struct ss_straggler_comparison *ss_straggler_compare(struct ss_judgement *judgement);

/*
 * A rank whose host does its own work more slowly than the others.
 *
 * If ranks only send and receive, or something else holds up all of them, lateness does not show
 * who is slow. The host time per launch does: step by step, without what the host waits for. The
 * replay decides whether it costs anything.
 */
struct ss_straggler_host_excess {
	double ratio;             /* its time per launch over the median of the others */
	int64_t excess_ns;        /* more than that, per step */
	uint32_t steps, of_steps; /* steps in which it is slower */
};

/* False: it is not slower. */
bool ss_straggler_find_host_excess(const struct ss_rank_loads *loads, uint32_t rank,
				   struct ss_straggler_host_excess *excess);

/*
 * Adds as evidence what each of the others loses per step; `lost_ns` is summed over all of them.
 * `who` stands before the sentence: "rank 3: ", or nothing.
 */
void ss_straggler_report_waits(struct ss_judgement *judgement, struct ss_finding *finding,
			       const char *who, int64_t lost_ns);

#endif
