/* SPDX-License-Identifier: Apache-2.0 */
/*
 * excess.c - what a host does in a step, compared with the same work at the speed of the others.
 */
#include "diagnose/stragglers/excess.h"

/*
 * Hosts of one job differ by less: stages launch other operators, and the first one of each
 * machine has more to write down. Set well above that; what it costs is for the replay to say.
 */
#define SLOWER 1.4

/* Share of the steps, and the minimum number: fewer happen on any rank. */
#define REGULAR_PERCENT 80
#define STEPS_MIN 3

bool ss_excess_of_host(const struct ss_rank_loads *loads, uint32_t rank, struct ss_excess *excess)
{
	double own_all = 0, usual_all = 0;

	*excess = (struct ss_excess){ .of_steps = loads->graphs[rank].step_count };
	for (uint32_t step = 0; step < excess->of_steps; step++) {
		double own = 0, usual = 0;

		for (uint32_t phase = 0; phase < SS_PHASE_COUNT; phase++) {
			own += ss_load_of(loads, rank, step, phase, SS_LOAD_HOST)->ns;
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
