/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reasons.c - why a rank is late: what it spends more time on than the median of the
 * others.
 */
#include <string.h>

#include "base/median.h"
#include "base/search.h"
#include "job/late/judge.h"

/* Kernels of a slower device are all longer by the same factor, within so much. */
#define ALIKE_PERCENT 6
#define ALIKE_SHARE_PERCENT 75
#define SLOWER_PERCENT 3

/* What explains most of it is the cause. */
#define CAUSE_PERCENT 50

int64_t ss_judge_median(int64_t *values, uint32_t count)
{
	return count ? ss_value_at(values, count, (count - 1) / 2) : 0;
}

/* The rank's kernel of this name, or NULL. */
static const struct ss_rank_kernel *kernel_of(const struct ss_digest *rank, const char *name)
{
	uint32_t id = ss_strings_find(&rank->texts, name, strlen(name));
	uint32_t low = 0, high = rank->kernel_count;

	SS_SEARCH(low, high, at, rank->kernels[at].name < id);
	return id != SS_NO_ID && low < rank->kernel_count && rank->kernels[low].name == id
		       ? &rank->kernels[low]
		       : NULL;
}

/* Mean duration of a kernel on the median rank; 0: on too few to compare. */
static double usual_mean(struct ss_judge *judge, const char *name, double *calls)
{
	const struct ss_joined *joined = judge->joined;
	int64_t *call_values = judge->values + joined->rank_count + 1;
	uint32_t count = 0;

	for (uint32_t r = 0; r < joined->rank_count; r++) {
		const struct ss_rank_kernel *kernel = kernel_of(&joined->ranks[r], name);

		if (!kernel || !joined->ranks[r].step_count)
			continue;
		judge->values[count] = kernel->total_ns / kernel->calls;
		call_values[count++] = kernel->calls * 1000 / joined->ranks[r].step_count;
	}
	if (count * 2 < joined->rank_count || count < 2)
		return 0;
	*calls = (double)ss_judge_median(call_values, count) / 1000;
	return (double)ss_judge_median(judge->values, count);
}

struct comparison {
	double usual_ns; /* its calls at the usual duration */
	double own_ns;
	double more_ns;    /* what it called more often, or others do not call */
	double ratios[64]; /* of its longest kernels */
	double weights[64];
	uint32_t count;
};

static void compare_kernel(struct ss_judge *judge, const struct ss_digest *rank,
			   const struct ss_rank_kernel *kernel, struct comparison *out)
{
	double calls = 0, own = (double)kernel->total_ns;
	double mean = usual_mean(judge, ss_strings_text(&rank->texts, kernel->name), &calls);
	double own_calls = (double)kernel->calls / rank->step_count;

	if (mean <= 0) {
		out->more_ns += own;
		return;
	}
	out->own_ns += own;
	out->usual_ns += mean * (double)kernel->calls;
	if (own_calls > calls)
		out->more_ns += mean * (own_calls - calls) * rank->step_count;
	if (out->count < SS_COUNT(out->ratios)) {
		out->ratios[out->count] = own / (mean * (double)kernel->calls);
		out->weights[out->count++] = own;
	}
}

/* Which share of the kernels' time is longer by about the same factor as all together. */
static double alike_share(const struct comparison *comparison)
{
	double ratio = comparison->own_ns / comparison->usual_ns, near = 0, all = 0;

	for (uint32_t i = 0; i < comparison->count; i++) {
		double away = comparison->ratios[i] / ratio - 1;

		all += comparison->weights[i];
		if (away < ALIKE_PERCENT / 100.0 && away > -ALIKE_PERCENT / 100.0)
			near += comparison->weights[i];
	}
	return all > 0 ? near / all : 0;
}

/* Slower or more: a throttled device takes the same factor longer for everything. */
enum ss_late_cause ss_judge_kernels(struct ss_judge *judge, uint32_t r, double *ratio)
{
	const struct ss_digest *rank = &judge->joined->ranks[r];
	struct comparison comparison = { 0 };

	for (uint32_t i = 0; i < rank->kernel_count && rank->step_count; i++)
		if (!rank->kernels[i].comm)
			compare_kernel(judge, rank, &rank->kernels[i], &comparison);
	*ratio = comparison.usual_ns > 0 ? comparison.own_ns / comparison.usual_ns : 0;
	if (comparison.usual_ns <= 0 ||
	    comparison.more_ns > comparison.own_ns - comparison.usual_ns)
		return SS_LATE_WORK;
	if (*ratio < 1 + SLOWER_PERCENT / 100.0)
		return SS_LATE_WORK;
	return alike_share(&comparison) * 100 >= ALIKE_SHARE_PERCENT ? SS_LATE_KERNELS
								     : SS_LATE_WORK;
}

/* Time per step that a rank spent on a part, communication left out. */
int64_t ss_judge_part(const struct ss_digest *rank, int part)
{
	int64_t sum_ns = 0;

	/* without device: what operators did; who waits in one has no time of its own there */
	for (int i = 0; rank->device < 0 && part == SS_OWN_COMPUTE && i < SS_PHASE_COUNT; i++)
		sum_ns = ss_ns_sum(sum_ns, rank->phases[i].total_ns);
	for (uint32_t i = 0; i < rank->step_count; i++) {
		const struct ss_rank_step *step = &rank->steps[i];

		if (part == SS_OWN_COMPUTE && rank->device >= 0)
			ss_ns_add(&sum_ns, step->compute_ns);
		else if (part == SS_OWN_COPY)
			ss_ns_add(&sum_ns, step->exposed_copy_ns);
		else if (part == SS_OWN_IDLE + SS_IDLE_LAUNCH && rank->device < 0)
			ss_ns_add(&sum_ns, step->loose_ns);
		else if (part == SS_OWN_IDLE + SS_IDLE_INPUT && rank->device < 0)
			ss_ns_add(&sum_ns, step->input_ns);
		else if (part >= SS_OWN_IDLE)
			ss_ns_add(&sum_ns, step->idle_ns[part - SS_OWN_IDLE]);
	}
	return rank->step_count ? sum_ns / rank->step_count : 0;
}

/* What it spends more time on than the median of the others. */
static void find_excess(struct ss_judge *judge, uint32_t r, int64_t excess_ns[SS_OWN_PARTS])
{
	const struct ss_joined *joined = judge->joined;

	for (int part = 0; part < SS_OWN_PARTS; part++) {
		uint32_t count = 0;

		for (uint32_t k = 0; k < joined->rank_count; k++)
			if (k != r && joined->ranks[k].step_count)
				judge->values[count++] = ss_judge_part(&joined->ranks[k], part);
		excess_ns[part] = ss_judge_part(&joined->ranks[r], part) -
				  ss_judge_median(judge->values, count);
		if (excess_ns[part] < 0)
			excess_ns[part] = 0;
	}
}

/* The phase with the most time beyond the median rank's. */
static void find_phase(struct ss_judge *judge, struct ss_straggler *out)
{
	const struct ss_joined *joined = judge->joined;
	const struct ss_digest *own = &joined->ranks[out->rank];
	double best = 0;

	out->phase = SS_PHASE_OTHER;
	for (int phase = 0; phase < SS_PHASE_OTHER; phase++) {
		int64_t *calls = judge->values + joined->rank_count + 1;
		uint32_t count = 0;
		double usual, more;

		for (uint32_t k = 0; k < joined->rank_count; k++)
			if (k != out->rank && joined->ranks[k].step_count) {
				const struct ss_digest *rank = &joined->ranks[k];

				calls[count] = rank->phases[phase].calls * 1000 / rank->step_count;
				judge->values[count++] = rank->phases[phase].total_ns /
							 rank->step_count;
			}
		usual = (double)ss_judge_median(judge->values, count);
		more = (double)own->phases[phase].total_ns / own->step_count - usual;
		if (usual <= 0 || more <= best)
			continue;
		best = more;
		out->phase = (enum ss_phase)phase;
		out->work_ratio = (usual + more) / usual;
		out->call_ratio = (double)own->phases[phase].calls * 1000 / own->step_count /
				  (double)(ss_judge_median(calls, count) + 1);
	}
}

/* Its device was idle in slices of one length, which are more than half of it. */
static bool is_shared(struct ss_judge *judge, struct ss_straggler *out)
{
	const struct ss_digest *rank = &judge->joined->ranks[out->rank];

	if (rank->device < 0 || !rank->step_count)
		return false;
	out->slices = ss_time_slices_find(rank, judge->gap_values);
	return out->slices.count && out->slices.sum_ns / rank->step_count >= out->excess_ns / 2;
}

void ss_judge_cause(struct ss_judge *judge, struct ss_straggler *out)
{
	int64_t excess_ns[SS_OWN_PARTS], host_ns = 0, all_ns = 0, best_ns = 0;

	find_excess(judge, out->rank, excess_ns);
	out->cause = SS_LATE_UNKNOWN;
	out->idle_cause = SS_IDLE_UNKNOWN;
	for (int i = 0; i < SS_IDLE_CAUSES; i++) {
		host_ns = ss_ns_sum(host_ns, excess_ns[SS_OWN_IDLE + i]);
		if (excess_ns[SS_OWN_IDLE + i] > best_ns) {
			best_ns = excess_ns[SS_OWN_IDLE + i];
			out->idle_cause = (enum ss_idle_cause)i;
		}
	}
	for (int part = 0; part < SS_OWN_PARTS; part++)
		all_ns = ss_ns_sum(all_ns, excess_ns[part]);
	best_ns = host_ns;
	if (host_ns)
		out->cause = SS_LATE_HOST;
	if (excess_ns[SS_OWN_COMPUTE] > best_ns) {
		best_ns = excess_ns[SS_OWN_COMPUTE];
		out->cause = SS_LATE_WORK;
	}
	if (excess_ns[SS_OWN_COPY] > best_ns) {
		best_ns = excess_ns[SS_OWN_COPY];
		out->cause = SS_LATE_COPIES;
	}
	out->excess_ns = best_ns;
	out->cause_percent = all_ns ? (int32_t)(100 * (double)best_ns / (double)all_ns) : 0;
	if (out->cause_percent < CAUSE_PERCENT)
		out->cause = SS_LATE_UNKNOWN;
	if (out->cause == SS_LATE_HOST && is_shared(judge, out))
		out->cause = SS_LATE_SHARED;
	if (out->cause != SS_LATE_WORK)
		return;
	out->cause = ss_judge_kernels(judge, out->rank, &out->kernel_ratio);
	if (out->same_work)
		out->cause = SS_LATE_KERNELS;
	find_phase(judge, out);
}
