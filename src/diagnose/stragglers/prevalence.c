/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prevalence.c - sums of the claims of each rule on each rank.
 */
#include "diagnose/stragglers/prevalence.h"

#include <stdlib.h>

#include "diagnose/rank_findings.h"

/*
 * Of what a rank would have at the speed of the others. What all ranks have is alike within some
 * ten percent; what only a slow rank has is absent on the others, or a remainder.
 */
#define ENOUGH 0.5

static double claimed_amount(const struct ss_judgement *judgement, uint32_t rule, uint32_t rank)
{
	const struct ss_rank_findings *exam = judgement->exams[rank];
	const struct ss_found_part *part = &exam->parts[rule];
	const struct ss_packed *graph = &judgement->graphs[rank];
	double sum = 0;

	for (uint32_t i = part->claim_from; i < part->claim_to; i++) {
		const struct ss_claim *claim = &exam->claims[i];

		sum += (double)(ss_packed_own(graph, claim->task) - claim->own_ns);
		/* the return of a wait takes no time: how many there are tells */
		sum += claim->releases;
	}
	return graph->step_count ? sum / graph->step_count : 0;
}

static int amount_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

bool ss_prevalence_find(struct ss_prevalence *common, const struct ss_judgement *judgement,
			struct ss_arena *arena)
{
	uint32_t ranks = judgement->rank_count;
	double *sorted = SS_ARENA_NEW(arena, double, (size_t)ranks + 1);

	*common = (struct ss_prevalence){ .rank_count = ranks };
	common->amounts = SS_ARENA_NEW(arena, double, ss_rule_count *ranks + 1);
	common->middles = SS_ARENA_NEW(arena, struct ss_prevalence_middle, ss_rule_count + 1);
	if (!common->amounts || !common->middles || !sorted)
		return false;
	for (uint32_t rule = 0; rule < ss_rule_count; rule++) {
		for (uint32_t rank = 0; rank < ranks; rank++)
			common->amounts[(size_t)rule * ranks + rank] = sorted[rank] =
				claimed_amount(judgement, rule, rank);
		if (ranks < 2)
			continue;
		qsort(sorted, ranks, sizeof(*sorted), amount_compare);
		common->middles[rule] = (struct ss_prevalence_middle){ sorted[ranks / 2 - 1],
								       sorted[ranks / 2] };
	}
	return true;
}

bool ss_prevalence_has(const struct ss_prevalence *common, uint32_t rule, uint32_t rank,
		       double factor)
{
	double own = common->amounts[(size_t)rule * common->rank_count + rank];
	const struct ss_prevalence_middle *middle = &common->middles[rule];

	if (common->rank_count < 2 || own <= 0)
		return false;
	return (own <= middle->low ? middle->high : middle->low) >= ENOUGH * factor * own;
}
