/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reasons.c - why a rank is late: what it spends more time on than the median of the
 * others.
 */
#include "base/median.h"
#include "diagnose/stragglers/judge.h"

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

struct kernel_comparison {
	double usual_ns; /* its calls at the usual duration */
	double own_ns;
	double more_ns;    /* what it called more often, or others do not call */
	double ratios[64]; /* of its longest kernels */
	double weights[64];
	uint32_t count;
};

static void compare_kernel(const struct ss_judge_kernel *usual, const struct ss_digest *rank,
			   const struct ss_rank_kernel *kernel, struct kernel_comparison *out)
{
	double mean = usual->mean_ns, own = (double)kernel->total_ns;
	double own_calls = (double)kernel->calls / rank->step_count;

	if (mean <= 0) {
		out->more_ns += own;
		return;
	}
	out->own_ns += own;
	out->usual_ns += mean * (double)kernel->calls;
	if (own_calls > usual->calls)
		out->more_ns += mean * (own_calls - usual->calls) * rank->step_count;
	if (out->count < SS_COUNT(out->ratios)) {
		out->ratios[out->count] = own / (mean * (double)kernel->calls);
		out->weights[out->count++] = own;
	}
}

/* Which share of the kernels' time is longer by about the same factor as all together. */
static double similar_kernel_share(const struct kernel_comparison *comparison)
{
	double ratio = comparison->own_ns / comparison->usual_ns, similar = 0, all = 0;

	for (uint32_t i = 0; i < comparison->count; i++) {
		double away = comparison->ratios[i] / ratio - 1;

		all += comparison->weights[i];
		if (away < ALIKE_PERCENT / 100.0 && away > -ALIKE_PERCENT / 100.0)
			similar += comparison->weights[i];
	}
	return all > 0 ? similar / all : 0;
}

/* Slower or more: a throttled device takes the same factor longer for everything. */
enum ss_late_cause ss_judge_kernels(struct ss_judge *judge, uint32_t r, double *ratio)
{
	const struct ss_digest *rank = &judge->joined->ranks[r];
	struct kernel_comparison comparison = { 0 };

	if (!judge->kernels && !ss_judge_find_kernels(judge)) {
		judge->failed = true;
		*ratio = 0;
		return SS_LATE_WORK;
	}
	for (uint32_t i = 0; i < rank->kernel_count && rank->step_count; i++)
		if (!rank->kernels[i].comm)
			compare_kernel(&judge->kernels[judge->kernel_names[r][i]], rank,
				       &rank->kernels[i], &comparison);
	*ratio = comparison.usual_ns > 0 ? comparison.own_ns / comparison.usual_ns : 0;
	if (comparison.usual_ns <= 0 ||
	    comparison.more_ns > comparison.own_ns - comparison.usual_ns)
		return SS_LATE_WORK;
	if (*ratio < 1 + SLOWER_PERCENT / 100.0)
		return SS_LATE_WORK;
	return similar_kernel_share(&comparison) * 100 >= ALIKE_SHARE_PERCENT ? SS_LATE_KERNELS
									      : SS_LATE_WORK;
}

/* What it spends more time on than the median of the others. */
static void find_part_excess(struct ss_judge *judge, uint32_t r, int64_t excess_ns[SS_OWN_PARTS])
{
	for (uint32_t part = 0; part < SS_OWN_PARTS; part++) {
		excess_ns[part] = ss_judge_own(judge, r, part) - ss_judge_others(judge, r, part);
		if (excess_ns[part] < 0)
			excess_ns[part] = 0;
	}
}

/* The phase with the most time beyond the median rank's. */
static void find_excess_phase(struct ss_judge *judge, struct ss_straggler *out)
{
	const struct ss_digest *own = &judge->joined->ranks[out->rank];
	double best = 0;

	out->phase = SS_PHASE_OTHER;
	for (uint32_t phase = 0; phase < SS_PHASE_OTHER; phase++) {
		double usual = (double)ss_judge_others(judge, out->rank, SS_FIGURE_PHASE + phase);
		double more;

		more = (double)own->phases[phase].total_ns / own->step_count - usual;
		if (usual <= 0 || more <= best)
			continue;
		best = more;
		out->phase = (enum ss_phase)phase;
		out->work_ratio = (usual + more) / usual;
		out->call_ratio =
			(double)own->phases[phase].calls * 1000 / own->step_count /
			(double)(ss_judge_others(judge, out->rank, SS_FIGURE_CALLS + phase) + 1);
	}
}

/* Its device was idle in slices of one length, which are more than half of it. */
static bool is_device_shared(struct ss_judge *judge, struct ss_straggler *out)
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

	find_part_excess(judge, out->rank, excess_ns);
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
	if (out->cause == SS_LATE_HOST && is_device_shared(judge, out))
		out->cause = SS_LATE_SHARED;
	if (out->cause != SS_LATE_WORK)
		return;
	out->cause = ss_judge_kernels(judge, out->rank, &out->kernel_ratio);
	if (out->same_work)
		out->cause = SS_LATE_KERNELS;
	find_excess_phase(judge, out);
}
