/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flops.c - sums FLOPs by type, and those that backward computes a second time.
 */
#include "analyze/work/flops.h"

#include <string.h>

#include "base/search.h"

/* Forward operators that the autograd engine runs: a checkpoint is computed a second time. */
static bool flops_are_again(const struct ss_trace *trace, const struct ss_phases *phases,
			    const struct ss_works *works, const struct ss_worker *worker)
{
	uint32_t row = worker->row, owner = works->ops->owner[row];
	const char *name = ss_strings_text(&trace->names, trace->slices.name[row]);
	const char *around = owner == SS_NO_ROW
				     ? ""
				     : ss_strings_text(&trace->names, trace->slices.name[owner]);

	if (row >= phases->row_count || phases->phase[row] != SS_PHASE_BACKWARD ||
	    strstr(name, "backward"))
		return false;
	/* gradients of products are plain products, inside of no layer */
	return ss_works_item(works, worker)->kind != SS_WORK_MATMUL ||
	       strcmp(around, "aten::linear") == 0 || strcmp(around, "aten::matmul") == 0 ||
	       strcmp(name, "aten::addmm") == 0;
}

void ss_flops_add(struct ss_flops *flops, const struct ss_trace *trace,
		  const struct ss_phases *phases, const struct ss_works *works,
		  const struct ss_worker *worker)
{
	const struct ss_work *work = ss_works_item(works, worker);

	flops->all += work->flops;
	flops->of[work->dtype][worker->tensor] += work->flops;
	if (flops_are_again(trace, phases, works, worker))
		flops->again += work->flops;
}

enum ss_dtype ss_flops_main_dtype(const struct ss_flops *flops, enum ss_units *units)
{
	enum ss_dtype best = SS_DTYPE_UNKNOWN;

	*units = SS_UNITS_VECTOR;
	for (int dtype = 0; dtype <= SS_DTYPE_OTHER; dtype++)
		for (int i = 0; i < SS_UNITS_COUNT; i++)
			if (flops->of[dtype][i] > flops->of[best][*units]) {
				best = (enum ss_dtype)dtype;
				*units = (enum ss_units)i;
			}
	return best;
}

double ss_flops_peak(const struct ss_flops *flops, const struct ss_peaks *peaks)
{
	enum ss_units units;
	enum ss_dtype dtype = ss_flops_main_dtype(flops, &units);

	return peaks ? ss_peaks_flops(peaks, dtype, units) : 0;
}

/* Steps are sorted, without overlap. */
uint32_t ss_flops_step_of(const struct ss_trace *trace, uint32_t row)
{
	const struct ss_steps *steps = &trace->steps;
	int64_t at_ns = trace->slices.start_ns[row];
	uint32_t low = 0, high = steps->count;

	SS_SEARCH(low, high, at, steps->items[at].host_start_ns <= at_ns);
	return low && at_ns < steps->items[low - 1].host_end_ns ? low - 1 : steps->count;
}
