/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loose.h - ranks without a device: what their threads do outside operators, and which
 * work they get.
 */
#ifndef SS_RANKS_LOOSE_H
#define SS_RANKS_LOOSE_H

#include "ranks/digest.h"

/* Fills loose_ns and input_ns of the steps, and what tells work apart. False: no memory. */
SS_MUST_USE
bool ss_loose_find(struct ss_digest *digest, const struct ss_trace *trace,
		   struct ss_arena *scratch);

#endif
