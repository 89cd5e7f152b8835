/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waits.h - evidence: how long the other ranks wait for one.
 */
#ifndef SS_DIAGNOSE_STRAGGLERS_WAITS_H
#define SS_DIAGNOSE_STRAGGLERS_WAITS_H

#include "diagnose/rule.h"

/*
 * What one of the others loses per step, of a loss that is summed over all of them. `who` stands
 * before the sentence: "rank 3: ", or nothing.
 */
void ss_tell_waits(struct ss_judgement *judgement, struct ss_finding *finding, const char *who,
		   int64_t lost_ns);

#endif
