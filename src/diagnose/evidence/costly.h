/* SPDX-License-Identifier: Apache-2.0 */
/*
 * costly.h - what exceeds the normal, and no rule claims: by its kind, or at one place.
 */
#ifndef SS_DIAGNOSE_EVIDENCE_COSTLY_H
#define SS_DIAGNOSE_EVIDENCE_COSTLY_H

#include "diagnose/rule.h"

/* Below this share of the step, places differ by chance: healthy programs reach 8 %. */
#define SS_COSTLY_SHARE 0.10

/*
 * Claims the heaviest kind of work that exceeds the normal wherever it is (`is_kind`), or else all
 * that exceeds it at the heaviest place; silent below SS_COSTLY_SHARE.
 */
SS_MUST_USE
enum ss_status ss_costly_look(struct ss_rule_context *context, bool is_kind, struct ss_error *err);

/* Ranks with the same kind are one finding. */
SS_MUST_USE
enum ss_status ss_costly_judge(struct ss_judgement *judgement, struct ss_error *err);

#endif
