/* SPDX-License-Identifier: Apache-2.0 */
/*
 * result_waits.h - the host sync of each step that a server needs.
 *
 * If nothing is trained, the program has to see what a step computed (the next tokens) before it
 * can go on: one host sync per step stays, whatever is fixed.
 */
#ifndef SS_DIAGNOSE_EVIDENCE_RESULT_WAITS_H
#define SS_DIAGNOSE_EVIDENCE_RESULT_WAITS_H

#include "analyze/time/waits.h"
#include "diagnose/rule.h"

/* Per step of the graph: the row of that wait; SS_NO_ROW: none. NULL: no memory. */
SS_MUST_USE
uint32_t *ss_result_waits_find(const struct ss_rule_context *context, const struct ss_waits *waits,
			       const struct ss_phases *phases, struct ss_arena *arena);

#endif
