/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arrivals.h - the collectives that a rank took part in.
 */
#ifndef SS_RANKS_ARRIVALS_H
#define SS_RANKS_ARRIVALS_H

#include "ranks/digest.h"

/* Fills arrivals and groups of the digest; the rest of it is there. False: no memory. */
SS_MUST_USE
bool ss_arrivals_find(struct ss_digest *digest, const struct ss_trace *trace,
		      struct ss_arena *scratch);

#endif
