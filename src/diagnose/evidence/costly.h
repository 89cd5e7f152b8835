/* SPDX-License-Identifier: Apache-2.0 */
/*
 * costly.h - what exceeds the normal, and no rule claims: by its kind, or at one place.
 */
#ifndef SS_DIAGNOSE_EVIDENCE_COSTLY_H
#define SS_DIAGNOSE_EVIDENCE_COSTLY_H

#include "attribute/attribute.h"
#include "diagnose/rule.h"

/* Below this share of the step, places differ by chance: healthy programs reach 8 %. */
#define SS_COSTLY_SHARE 0.10

/* Measured gains were 6 points of the step off in the middle: so much more, or less. */
#define COSTLY_RANGE_SHARE 0.075

/* Time without any record may be the machine's: healthy programs on a busy one reach 18 %. */
#define COSTLY_GAP_SHARE 0.20

/* What `judge` reads; places are compared by a number of their name. */
enum ss_costly_figure {
	COSTLY_KIND,
	COSTLY_EXCESS_NS,
	COSTLY_PLACE,
	/* of unrecorded time: of the steps in order of it, those at the quarters */
	COSTLY_LOW_NS,
	COSTLY_USUAL_NS,
	COSTLY_HIGH_NS,
};

/* What to do about a kind; NULL: it is never reported. */
const char *ss_costly_fix(enum ss_excess_kind kind);

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
