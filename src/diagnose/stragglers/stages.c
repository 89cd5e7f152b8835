/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stages.c - finds a slow device in a pipeline.
 *
 * Stages only send and receive: a late stage looks like one that waits for its turn, so
 * lateness says nothing. But a stage whose kernels are all slower by the same factor
 * computes while the others wait, in every step, and each stage records that. A stage that
 * has more work is not reported: how layers are split is a choice.
 */
#include "diagnose/stragglers/judge.h"

/* Of the steps: as regular as a rank that is late in nearly all of them. */
#define REGULAR_PERCENT 80

/* Stages of one pipeline differ by less: the first has the embedding, the last has the head. */
#define BUSY 1.2

/* Its kernels and all that it computes are longer by the same factor, within this tolerance. */
#define ALIKE 1.06

/* Shares of a step: how much longer it computes, and how much longer the others wait. */
#define EXCESS_STEP_PERCENT 2

/*
 * Devices of one kind differ by a few percent; a throttled one is slower by more. Steps as for
 * ranks that are late.
 */
#define SLOW_DEVICE 1.08
#define SLOW_STEPS_MIN 3
#define SLOW_STEP_PERCENT 1

/* Marks the ranks that send or receive in their steps; false: there are none. */
static bool mark_pipeline_stages(const struct ss_joined *joined, uint8_t *is_stage)
{
	bool found = false;

	for (uint32_t i = 0; i < joined->collective_count; i++) {
		const struct ss_collective *collective = &joined->collectives[i];

		if (collective->kind < SS_COLLECTIVE_SEND_RECV || collective->count != 2 ||
		    collective->step == SS_NO_ROW)
			continue;
		for (uint32_t k = 0; k < 2; k++)
			is_stage[joined->members[collective->first + k].rank] = true;
		found = true;
	}
	return found;
}

/* How much longer than the rank the median of the others waits for communication. */
static int64_t others_wait_more_by(const struct ss_straggler_judge *judge, uint32_t r)
{
	return ss_straggler_usual_figure(judge, r, SS_FIGURE_EXPOSED) -
	       ss_straggler_own_figure(judge, r, SS_FIGURE_EXPOSED);
}

/*
 * Its compute time divided by the median of the others. Kernels of one name can be larger on one
 * stage, so their ratio alone says nothing.
 */
static double compute_ratio(const struct ss_straggler_judge *judge, uint32_t r)
{
	int64_t usual_ns = ss_straggler_usual_figure(judge, r, SS_OWN_COMPUTE);

	return usual_ns > 0 ? (double)ss_straggler_own_figure(judge, r, SS_OWN_COMPUTE) /
				      (double)usual_ns
			    : 0;
}

/*
 * Whether a stage computes longer in nearly all steps, by the same factor in all kernels, while the
 * others wait.
 */
static bool judge_stage(struct ss_straggler_judge *judge, uint32_t r, struct ss_straggler *out)
{
	const struct ss_digest *rank = &judge->joined->ranks[r];
	int64_t least_ns = judge->step_ns / 100 * EXCESS_STEP_PERCENT, more_ns;
	double times;

	*out = (struct ss_straggler){ .rank = r,
				      .pattern = SS_PATTERN_PERSISTENT,
				      .of_steps = rank->step_count,
				      .step_ns = judge->lateness.step_ns[r] };
	if (rank->device < 0 || !rank->step_count)
		return false;
	for (uint32_t i = 0; i < rank->step_count; i++)
		out->steps += ss_straggler_computes_more(judge, r, rank->steps[i].number,
							 EXCESS_STEP_PERCENT);
	more_ns = others_wait_more_by(judge, r);
	if (out->steps * 100 < out->of_steps * REGULAR_PERCENT || more_ns < least_ns)
		return false;
	times = compute_ratio(judge, r);
	ss_straggler_find_cause(judge, out);
	if (out->kernel_ratio > times * ALIKE)
		out->kernel_ratio = times;
	out->late_ns = more_ns;
	out->gain_ns = more_ns < out->excess_ns ? more_ns : out->excess_ns;
	return times >= BUSY && out->cause == SS_LATE_KERNELS && out->excess_ns >= least_ns;
}

bool ss_straggler_has_slow_device(struct ss_straggler_judge *judge, uint32_t r,
				  struct ss_straggler *out)
{
	const struct ss_digest *rank = &judge->joined->ranks[r];

	*out = (struct ss_straggler){ .rank = r,
				      .pattern = SS_PATTERN_PERSISTENT,
				      .of_steps = rank->step_count,
				      .step_ns = judge->lateness.step_ns[r] };
	if (rank->device < 0 || rank->step_count < SLOW_STEPS_MIN)
		return false;
	for (uint32_t i = 0; i < rank->step_count; i++)
		out->steps += ss_straggler_computes_more(judge, r, rank->steps[i].number,
							 SLOW_STEP_PERCENT);
	if (out->steps * 100 < out->of_steps * REGULAR_PERCENT)
		return false;
	ss_straggler_find_cause(judge, out);
	/* what it did longest may be something else: its device is slow all the same */
	out->cause = ss_straggler_compare_kernels(judge, r, &out->kernel_ratio);
	return out->cause == SS_LATE_KERNELS && out->kernel_ratio >= SLOW_DEVICE;
}

bool ss_straggler_find_stage(struct ss_straggler_judge *judge, struct ss_straggler *worst)
{
	const struct ss_joined *joined = judge->joined;
	uint8_t *is_stage = SS_ARENA_NEW(judge->arena, uint8_t, (size_t)joined->rank_count + 1);
	struct ss_straggler own;

	*worst = (struct ss_straggler){ .rank = SS_NO_ROW };
	if (!is_stage)
		return false;
	if (!mark_pipeline_stages(joined, is_stage))
		return true;
	for (uint32_t r = 0; r < joined->rank_count; r++)
		if (is_stage[r] && judge_stage(judge, r, &own) && own.gain_ns > worst->gain_ns)
			*worst = own;
	return true;
}
