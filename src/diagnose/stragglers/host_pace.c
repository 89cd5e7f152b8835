/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_pace.c - tells a rank with a slower host from one that is only behind the others.
 */
#include "base/search.h"
#include "diagnose/stragglers/judge.h"

const struct ss_rank_step *ss_judge_step(const struct ss_digest *rank, uint32_t number)
{
	uint32_t low = 0, high = rank->step_count;

	SS_SEARCH(low, high, at, rank->steps[at].number < number);
	return low < rank->step_count && rank->steps[low].number == number ? &rank->steps[low]
									   : NULL;
}

int64_t ss_judge_slower(struct ss_judge *judge, uint32_t r)
{
	return ss_judge_own(judge, r, SS_FIGURE_PACE) - ss_judge_others(judge, r, SS_FIGURE_PACE);
}

/* Who begins the step of this number first, of the ranks that clocks can be compared with. */
static const struct ss_judge_steps *find_first_starter(struct ss_judge *judge, uint32_t number,
						       uint32_t component)
{
	const struct ss_joined *joined = judge->joined;
	struct ss_judge_steps *steps = &judge->steps[number];

	if (steps->has_first && steps->component == component)
		return steps;
	steps->has_first = true;
	steps->component = component;
	steps->first = SS_NO_ROW;
	steps->first_ns = steps->second_ns = INT64_MAX;
	for (uint32_t k = 0; k < joined->rank_count; k++) {
		const struct ss_rank_step *step = joined->clocks[k].component != component
							  ? NULL
							  : ss_judge_step(&joined->ranks[k],
									  number);
		int64_t start_ns = step ? ss_joined_align(joined, k, step->host_start_ns)
					: INT64_MAX;

		if (start_ns < steps->first_ns) {
			steps->second_ns = steps->first_ns;
			steps->first_ns = start_ns;
			steps->first = k;
		} else if (start_ns < steps->second_ns) {
			steps->second_ns = start_ns;
		}
	}
	return steps;
}

int64_t ss_judge_behind(struct ss_judge *judge, uint32_t r)
{
	const struct ss_joined *joined = judge->joined;
	const struct ss_digest *own = &joined->ranks[r];
	uint32_t steps = 0;

	for (uint32_t i = 0; i < own->step_count; i++) {
		const struct ss_judge_steps *all = find_first_starter(judge, own->steps[i].number,
								      joined->clocks[r].component);
		int64_t first_ns = all->first == r ? all->second_ns : all->first_ns;

		if (first_ns != INT64_MAX)
			judge->step_values[steps++] =
				ss_joined_align(joined, r, own->steps[i].host_start_ns) - first_ns;
	}
	return ss_judge_median(judge->step_values, steps);
}
