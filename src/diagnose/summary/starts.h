/* SPDX-License-Identifier: Apache-2.0 */
/*
 * starts.h - starts of tasks as differences from what their edges explain.
 *
 * Nearly all tasks start as soon as everything that they wait for is done. So a digest stores the
 * difference from that moment, which is mostly 0; a task without edges keeps its start.
 */
#ifndef SS_DIAGNOSE_SUMMARY_STARTS_H
#define SS_DIAGNOSE_SUMMARY_STARTS_H

#include "replay/graph.h"

/* Starts become differences. False: no memory. */
SS_MUST_USE bool ss_starts_reduce(struct ss_graph *graph);

/* Differences become starts again. Edges may form cycles: an edge that closes one is ignored. */
SS_MUST_USE
enum ss_status ss_starts_restore(struct ss_graph *graph, struct ss_error *err);

#endif
