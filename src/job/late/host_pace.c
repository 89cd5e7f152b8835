/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_pace.c - tells a rank with a slower host from one that is only behind the others.
 */
#include "base/search.h"
#include "job/late/judge.h"

const struct ss_rank_step *ss_judge_step(const struct ss_digest *rank, uint32_t number)
{
	uint32_t low = 0, high = rank->step_count;

	SS_SEARCH(low, high, at, rank->steps[at].number < number);
	return low < rank->step_count && rank->steps[low].number == number ? &rank->steps[low]
									   : NULL;
}

/* What its host takes for a step when it waits for nobody. */
static int64_t pace_of(const struct ss_digest *rank)
{
	int64_t sum_ns = 0;

	for (uint32_t i = 0; i < rank->step_count; i++) {
		const struct ss_rank_step *step = &rank->steps[i];
		int64_t own_ns = step->host_end_ns - step->host_start_ns - step->held_ns;

		sum_ns = ss_ns_sum(sum_ns, own_ns > 0 ? own_ns : 0);
	}
	return rank->step_count ? sum_ns / rank->step_count : 0;
}

int64_t ss_judge_slower(struct ss_judge *judge, uint32_t r)
{
	const struct ss_joined *joined = judge->joined;
	uint32_t count = 0;

	for (uint32_t k = 0; k < joined->rank_count; k++)
		if (k != r && joined->ranks[k].step_count)
			judge->values[count++] = pace_of(&joined->ranks[k]);
	return pace_of(&joined->ranks[r]) - ss_judge_median(judge->values, count);
}

int64_t ss_judge_behind(struct ss_judge *judge, uint32_t r)
{
	const struct ss_joined *joined = judge->joined;
	const struct ss_digest *own = &joined->ranks[r];
	uint32_t steps = 0;

	for (uint32_t i = 0; i < own->step_count; i++) {
		int64_t first_ns = INT64_MAX;

		for (uint32_t k = 0; k < joined->rank_count; k++) {
			const struct ss_rank_step *step =
				k == r || joined->clocks[k].component != joined->clocks[r].component
					? NULL
					: ss_judge_step(&joined->ranks[k], own->steps[i].number);
			int64_t start_ns = step ? ss_joined_align(joined, k, step->host_start_ns)
						: INT64_MAX;

			first_ns = start_ns < first_ns ? start_ns : first_ns;
		}
		if (first_ns != INT64_MAX)
			judge->step_values[steps++] =
				ss_joined_align(joined, r, own->steps[i].host_start_ns) - first_ns;
	}
	return ss_judge_median(judge->step_values, steps);
}
