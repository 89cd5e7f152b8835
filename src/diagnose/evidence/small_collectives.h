/* SPDX-License-Identifier: Apache-2.0 */
/*
 * small_collectives.h - small collectives that come one after another, with almost nothing between
 * them: metrics that are averaged one by one, parameters that are reduced one by one.
 *
 * One collective could move them all. Those of tensor parallel layers are left out: the next layer
 * computes in between.
 */
#ifndef SS_DIAGNOSE_EVIDENCE_SMALL_COLLECTIVES_H
#define SS_DIAGNOSE_EVIDENCE_SMALL_COLLECTIVES_H

#include "diagnose/rule.h"

/* Claims all but the first of each run that no other rule claimed, and says so. */
SS_MUST_USE
enum ss_status ss_small_collectives_claim(struct ss_rule_context *context, struct ss_error *err);

#endif
