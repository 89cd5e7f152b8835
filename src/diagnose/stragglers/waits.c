/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waits.c - tells how long the other ranks wait for one.
 */
#include "diagnose/stragglers/waits.h"

void ss_tell_waits(struct ss_judgement *judgement, struct ss_finding *finding, const char *who,
		   int64_t lost_ns)
{
	uint32_t others = judgement->joined->rank_count - 1;

	if (others == 1)
		ss_judge_evidence(judgement, finding, lost_ns,
				  "%sthe other rank waits {time} per step for it", who);
	else if (others)
		ss_judge_evidence(judgement, finding, lost_ns / others,
				  "%seach of the other %u ranks waits {time} per step for it", who,
				  others);
}
