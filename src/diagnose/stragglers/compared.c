/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compared.c - compares ranks once for all rules, and says which hosts are slow and how long the
 * others wait.
 */
#include "diagnose/stragglers/compared.h"

#include "diagnose/diagnose.h"

const struct ss_straggler_comparison *ss_straggler_compare(struct ss_judgement *judgement)
{
	struct ss_diagnosis *diagnosis = judgement->diagnosis;
	struct ss_arena *arena = &diagnosis->compared_arena;
	struct ss_straggler_comparison *made;

	diagnosis->is_compared = true;
	if (diagnosis->compared)
		return diagnosis->compared;
	if (!SS_ALLOC(arena, made, 1) ||
	    !ss_straggler_find(&made->verdict, judgement->joined, arena) ||
	    !ss_rank_loads_find(&made->loads, judgement, arena))
		return NULL;
	diagnosis->compared = made;
	return made;
}

/* --- slow hosts -------------------------------------------------------------------------- */

/*
 * Hosts of one job differ by less: stages launch different operators, and the first rank of each
 * machine logs more. Well above that; the replay says what it costs.
 */
#define SLOWER 1.4

/* Share of the steps, and the minimum number: fewer happen on any rank. */
#define REGULAR_PERCENT 80
#define STEPS_MIN 3

bool ss_straggler_find_host_excess(const struct ss_rank_loads *loads, uint32_t rank,
				   struct ss_straggler_host_excess *excess)
{
	double own_all = 0, usual_all = 0;

	*excess = (struct ss_straggler_host_excess){ .of_steps = loads->graphs[rank].step_count };
	for (uint32_t step = 0; step < excess->of_steps; step++) {
		double own = 0, usual = 0;

		for (uint32_t phase = 0; phase < SS_PHASE_COUNT; phase++) {
			own += ss_rank_loads_at(loads, rank, step, phase, SS_LOAD_HOST)->ns;
			usual += ss_rank_loads_usual(loads, rank, step, phase, SS_LOAD_HOST).ns;
		}
		excess->steps += own > usual * SLOWER;
		own_all += own;
		usual_all += usual;
	}
	if (excess->of_steps < STEPS_MIN || usual_all <= 0 || own_all < usual_all * SLOWER ||
	    excess->steps * 100 < excess->of_steps * REGULAR_PERCENT)
		return false;
	excess->ratio = own_all / usual_all;
	excess->excess_ns = (int64_t)((own_all - usual_all) / excess->of_steps);
	return true;
}

/* --- evidence ---------------------------------------------------------------------------- */

void ss_straggler_report_waits(struct ss_judgement *judgement, struct ss_finding *finding,
			       const char *who, int64_t lost_ns)
{
	uint32_t others = judgement->joined->rank_count - 1;

	if (others == 1)
		ss_judgement_add_evidence(judgement, finding, lost_ns,
					  "%sthe other rank waits {time} per step for it", who);
	else if (others)
		ss_judgement_add_evidence(
			judgement, finding, lost_ns / others,
			"%seach of the other %u ranks waits {time} per step for it", who, others);
}
