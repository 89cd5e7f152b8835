/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compared.c - compares ranks once for all rules.
 */
#include "diagnose/stragglers/compared.h"

#include "diagnose/diagnose.h"

const struct ss_compared *ss_judge_compared(struct ss_judgement *judgement)
{
	struct ss_diagnosis *diagnosis = judgement->diagnosis;
	struct ss_arena *arena = &diagnosis->compared_arena;
	struct ss_compared *made;

	diagnosis->is_compared = true;
	if (diagnosis->compared)
		return diagnosis->compared;
	made = SS_ARENA_NEW(arena, struct ss_compared, 1);
	if (!made || !ss_verdict_find(&made->verdict, judgement->joined, arena) ||
	    !ss_rank_loads_find(&made->loads, judgement, arena))
		return NULL;
	diagnosis->compared = made;
	return made;
}
