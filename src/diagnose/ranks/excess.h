/* SPDX-License-Identifier: Apache-2.0 */
/*
 * excess.h - ranks whose hosts are slower than the others', by their own work.
 *
 * Where ranks only send and receive, or something else holds all of them up, lateness does not
 * tell who is slow. What each host does for a launch does: without what it waits for, step by
 * step. Whether it costs anything is for the replay to say.
 */
#ifndef SS_DIAGNOSE_RANKS_EXCESS_H
#define SS_DIAGNOSE_RANKS_EXCESS_H

#include "diagnose/ranks/rank_load.h"

struct ss_excess {
	double ratio;      /* what it takes for a launch to what the median of the others takes */
	int64_t excess_ns; /* more than that, per step */
	uint32_t steps, of_steps; /* in which it is so */
};

/* False: it is not slower. */
bool ss_excess_of_host(const struct ss_rank_loads *shares, uint32_t rank, struct ss_excess *excess);

#endif
