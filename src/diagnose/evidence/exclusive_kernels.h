/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exclusive_kernels.h - which kernels had the device to themselves.
 */
#ifndef SS_DIAGNOSE_EVIDENCE_EXCLUSIVE_KERNELS_H
#define SS_DIAGNOSE_EVIDENCE_EXCLUSIVE_KERNELS_H

#include "replay/graph.h"

/*
 * Per task: true for kernels during which no other kernel of their device ran; kernels of
 * collectives do not count. NULL: no memory.
 */
SS_MUST_USE
uint8_t *ss_exclusive_kernels_find(const struct ss_graph *graph, const struct ss_trace *trace,
				   struct ss_arena *arena);

#endif
