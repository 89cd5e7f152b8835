/* SPDX-License-Identifier: Apache-2.0 */
/*
 * possible_overlap.h - which transfers of a rank compute could hide, and how much of them.
 */
#ifndef SS_DIAGNOSE_EVIDENCE_POSSIBLE_OVERLAP_H
#define SS_DIAGNOSE_EVIDENCE_POSSIBLE_OVERLAP_H

#include "diagnose/rule.h"

enum ss_hidden_how {
	SS_HIDDEN_PREFETCH, /* a gather that could start while the previous layer computes */
	SS_HIDDEN_BUCKETS,  /* gradients that could be sent in buckets during backward */
	SS_HIDDEN_LONE,     /* partners are not recorded: it may all be waiting */
};

struct ss_hidden {
	uint32_t task; /* the transfer */
	enum ss_hidden_how how;
	int64_t own_ns, low_ns, high_ns; /* what remains of it, as in a claim */
};

struct ss_possible_overlap {
	struct ss_hidden *items;
	uint32_t count;
};

/* Of the transfers of a rank in its steps; lives in the arena. False: no memory. */
SS_MUST_USE
bool ss_possible_overlap_find(struct ss_possible_overlap *hiding,
			      const struct ss_judgement *judgement, uint32_t rank,
			      struct ss_arena *arena);

#endif
