/* SPDX-License-Identifier: Apache-2.0 */
/*
 * excess.h - ranks whose hosts do their own work more slowly than the others.
 *
 * If ranks only send and receive, or something else holds up all of them, lateness does not show
 * who is slow. The host time per launch does: step by step, without what the host waits for. The
 * replay decides whether it costs anything.
 */
#ifndef SS_DIAGNOSE_STRAGGLERS_EXCESS_H
#define SS_DIAGNOSE_STRAGGLERS_EXCESS_H

#include "diagnose/stragglers/rank_load.h"

struct ss_excess {
	double ratio;             /* its time per launch over the median of the others */
	int64_t excess_ns;        /* more than that, per step */
	uint32_t steps, of_steps; /* steps in which it is slower */
};

/* False: it is not slower. */
bool ss_excess_of_host(const struct ss_rank_loads *loads, uint32_t rank, struct ss_excess *excess);

#endif
