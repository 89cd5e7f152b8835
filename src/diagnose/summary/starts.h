/* SPDX-License-Identifier: Apache-2.0 */
/*
 * starts.h - when tasks start, as what their edges do not explain.
 *
 * Nearly all tasks start as soon as everything that they wait for is done: in a digest the start of
 * a task is the difference from that moment, which is 0, and a task without edges has its start.
 */
#ifndef SS_DIAGNOSE_SUMMARY_STARTS_H
#define SS_DIAGNOSE_SUMMARY_STARTS_H

#include "replay/graph.h"

/* Starts become differences. False: no memory. */
SS_MUST_USE bool ss_starts_reduce(struct ss_graph *graph);

/* Differences become starts again. Edges may form circles: what closes one does not count. */
SS_MUST_USE
enum ss_status ss_starts_restore(struct ss_graph *graph, struct ss_error *err);

#endif
