/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tiny_kernels.h - runs of elementwise kernels that are shorter than their launches.
 */
#ifndef SS_DIAGNOSE_EVIDENCE_TINY_KERNELS_H
#define SS_DIAGNOSE_EVIDENCE_TINY_KERNELS_H

#include "analyze/kernel/names.h"
#include "diagnose/rule.h"

struct ss_tiny_kernels {
	uint8_t *is_merged; /* per host row: its kernel merges into the one before it */
	int64_t count, ns;  /* of these kernels */
};

/*
 * Claims all but the first kernel of each run: compilers fuse a run into one kernel. The arena
 * provides memory.
 */
SS_MUST_USE
enum ss_status ss_tiny_kernels_claim(struct ss_tiny_kernels *rows, struct ss_look *context,
				     struct ss_arena *scratch, struct ss_error *err);

#endif
