/* SPDX-License-Identifier: Apache-2.0 */
/*
 * noise.c - checks whether ranks differ from each other by more than they vary themselves.
 *
 * A rank that has more work has it in every step. On a busy machine, ranks with the same
 * work are late too, some of them in several consecutive steps: by whatever the scheduler
 * takes from them, so by very different amounts.
 */
#include <math.h>

#include "job/late/judge.h"

/* With fewer steps, the spread could be chance. */
#define STEPS_MIN 3

/*
 * Mean to standard error. By chance one of fifteen ranks comes to this in three steps, one of
 * forty in six (Student's t, one side); it must be late in most steps and do more as well.
 */
#define ERRORS 2.5

/* Mean to deviation where the work is the same: half of the lateness is there in each step. */
#define STEADY 2.0

/* Calls per step that differ by more than this share are other work: a few are made by chance. */
#define CALLS_PERCENT 2

/*
 * What is done outside of operators is other work when it takes this multiple of the time of
 * the others, while operators are as fast as theirs: a busy machine slows down both.
 */
#define LOOSE_TIMES 1.5
#define OPERATORS_TIMES 1.15

/*
 * A slow core is slow in every call. When typical calls explain less than this part of what all of
 * them take longer, some were held up, by milliseconds each: a scheduler that had other work.
 */
#define PACE_PART 0.5

/* How much later than the median of the others, in a step. */
static int64_t margin_of(struct ss_judge *judge, uint32_t r, uint32_t step)
{
	const struct ss_lateness *lateness = &judge->lateness;
	uint32_t count = 0;

	for (uint32_t k = 0; k < lateness->rank_count; k++)
		if (k != r)
			judge->values[count++] = ss_late_own(ss_lateness_of(lateness, k, step));
	return ss_late_own(ss_lateness_of(lateness, r, step)) -
	       ss_judge_median(judge->values, count);
}

/* How much more it does outside of operators than the median of the others, in a step. */
static int64_t loose_margin_of(struct ss_judge *judge, uint32_t r, uint32_t step)
{
	const struct ss_joined *joined = judge->joined;
	uint32_t number = judge->lateness.numbers[step], count = 0;
	const struct ss_rank_step *own = ss_judge_step(&joined->ranks[r], number);

	for (uint32_t k = 0; k < joined->rank_count; k++) {
		const struct ss_rank_step *other = ss_judge_step(&joined->ranks[k], number);

		if (k != r && other)
			judge->values[count++] = other->loose_ns;
	}
	return own && count ? own->loose_ns - ss_judge_median(judge->values, count) : 0;
}

/* Of a difference between ranks, over the steps. */
struct spread {
	double mean, deviation;
	uint32_t steps;
};

static struct spread spread_of(struct ss_judge *judge, uint32_t r,
			       int64_t (*margin_in)(struct ss_judge *, uint32_t, uint32_t))
{
	struct spread spread = { .steps = judge->lateness.step_count };
	double sum = 0, squares = 0;

	for (uint32_t s = 0; s < spread.steps; s++) {
		double margin = (double)margin_in(judge, r, s);

		sum += margin;
		squares += margin * margin;
	}
	spread.mean = sum / spread.steps;
	spread.deviation = squares - sum * spread.mean;
	spread.deviation = spread.deviation > 0 ? sqrt(spread.deviation / (spread.steps - 1)) : 0;
	return spread;
}

static bool beats(const struct spread *spread, bool is_steady)
{
	if (spread->mean <= 0 ||
	    spread->mean * sqrt((double)spread->steps) < ERRORS * spread->deviation)
		return false;
	return !is_steady || spread->mean >= STEADY * spread->deviation;
}

bool ss_judge_beats_noise(struct ss_judge *judge, uint32_t r, bool same_work)
{
	struct spread late, loose;

	if (judge->lateness.step_count < STEPS_MIN)
		return true;
	late = spread_of(judge, r, margin_of);
	if (beats(&late, same_work))
		return true;
	/* the others are held up, more or less: its own work is the same in each step */
	loose = spread_of(judge, r, loose_margin_of);
	return !same_work && late.mean > 0 && beats(&loose, true) && loose.mean >= late.mean;
}

/* --- the same work ----------------------------------------------------------------------- */

static bool has_same_calls(const struct ss_digest *a, const struct ss_digest *b)
{
	for (int phase = 0; phase < SS_PHASE_COUNT; phase++) {
		double x = (double)a->phases[phase].calls * b->step_count;
		double y = (double)b->phases[phase].calls * a->step_count;

		if (fabs(x - y) * 100 > (x > y ? x : y) * CALLS_PERCENT)
			return false;
	}
	return true;
}

static bool has_same_work(const struct ss_digest *a, const struct ss_digest *b)
{
	if (a->has_sizes && b->has_sizes && a->step_count == b->step_count && a->work == b->work)
		return true;
	return !(a->has_sizes && b->has_sizes) && has_same_calls(a, b);
}

static double median_part(struct ss_judge *judge, uint32_t r, int part)
{
	const struct ss_joined *joined = judge->joined;
	uint32_t count = 0;

	for (uint32_t k = 0; k < joined->rank_count; k++)
		if (k != r && joined->ranks[k].step_count)
			judge->values[count++] = ss_judge_part(&joined->ranks[k], part);
	return (double)ss_judge_median(judge->values, count);
}

/* It does something between operators that the others do not. */
static bool is_busy_outside(struct ss_judge *judge, uint32_t r)
{
	const struct ss_digest *own = &judge->joined->ranks[r];
	int loose = SS_OWN_IDLE + SS_IDLE_LAUNCH;

	return (double)ss_judge_part(own, loose) >= LOOSE_TIMES * median_part(judge, r, loose) &&
	       (double)ss_judge_part(own, SS_OWN_COMPUTE) <=
		       OPERATORS_TIMES * median_part(judge, r, SS_OWN_COMPUTE);
}

bool ss_judge_same_work(struct ss_judge *judge, uint32_t r, bool outside)
{
	const struct ss_joined *joined = judge->joined;
	uint32_t same = 0, others = 0;

	for (uint32_t k = 0; k < joined->rank_count; k++) {
		if (k == r || !joined->ranks[k].step_count)
			continue;
		others++;
		same += has_same_work(&joined->ranks[r], &joined->ranks[k]);
	}
	return same * 2 >= others && !(outside && is_busy_outside(judge, r));
}

bool ss_judge_is_held_up(struct ss_judge *judge, uint32_t r)
{
	const struct ss_joined *joined = judge->joined;
	const struct ss_digest *own = &joined->ranks[r];
	double all = median_part(judge, r, SS_OWN_COMPUTE), typical;
	uint32_t count = 0;

	for (uint32_t k = 0; k < joined->rank_count; k++)
		if (k != r && joined->ranks[k].step_count)
			judge->values[count++] = (int64_t)(joined->ranks[k].typical_ns /
							   joined->ranks[k].step_count);
	typical = (double)ss_judge_median(judge->values, count);
	if (all <= 0 || typical <= 0)
		return false;
	all = (double)ss_judge_part(own, SS_OWN_COMPUTE) / all;
	typical = own->typical_ns / own->step_count / typical;
	return typical - 1 < PACE_PART * (all - 1);
}
