/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moment.c - finds the step of a moment: steps are sorted by their starts on the CPU.
 */
#include "analyze/time/moment.h"

#include "base/search.h"

uint32_t ss_step_at(const struct ss_trace *trace, int64_t host_ns)
{
	const struct ss_step *items = trace->steps.items;
	uint32_t low = 0, high = trace->steps.count;

	SS_SEARCH(low, high, at, items[at].host_start_ns <= host_ns);
	if (!low || items[low - 1].dropped || items[low - 1].host_end_ns <= host_ns)
		return SS_NO_ROW;
	return low - 1;
}

uint32_t ss_step_of_launch(const struct ss_trace *trace, uint32_t row)
{
	uint32_t launch = trace->slices.link[row];

	return launch == SS_NO_ROW ? SS_NO_ROW : ss_step_at(trace, trace->slices.start_ns[launch]);
}
