/* SPDX-License-Identifier: Apache-2.0 */
/*
 * noise.c - checks whether ranks differ from each other by more than they vary themselves.
 *
 * A rank that has more work has it in every step. On a busy machine, ranks with the same
 * work are late too, some of them in several consecutive steps: by whatever the scheduler
 * takes from them, so by very different amounts.
 */
#include <math.h>
#include <stdlib.h>

#include "diagnose/stragglers/judge.h"

/* With fewer steps, the spread could be chance. */
#define STEPS_MIN 3

/*
 * Mean divided by standard error. By chance one of fifteen ranks reaches this in three steps, one
 * of forty in six (Student's t, one-sided); it must also be late in most steps and do more.
 */
#define ERRORS 2.5

/* Mean divided by deviation if the work is the same: half of the lateness is in each step. */
#define STEADY 2.0

/* Calls per step that differ by more than this share mean different work: a few are chance. */
#define CALLS_PERCENT 2

/*
 * What a rank does outside of operators is different work if it takes this multiple of the others'
 * time while operators are as fast as theirs: a busy machine slows down both. Few short operators
 * are slower by chance: then it counts if what is outside has grown ten times as much as they have.
 */
#define LOOSE_TIMES 1.5
#define OPERATORS_TIMES 1.15
#define GROWN_TIMES 10

/*
 * A slow core is slow in every call. If typical calls explain less than this part of the excess,
 * the scheduler interrupted some calls for milliseconds each.
 */
#define PACE_PART 0.5

/* How much later than the median of the others, in a step. */
static int64_t lateness_margin(struct ss_straggler_judge *judge, uint32_t r, uint32_t step)
{
	int64_t late_ns = ss_late_step_own(ss_late_step_of(&judge->lateness, r, step));

	return late_ns -
	       ss_middle_without(&ss_straggler_peer_lateness(judge, r, step)->middle, late_ns);
}

/* How much more it does outside of operators than the median of the others, in a step. */
static int64_t loose_margin_in(struct ss_straggler_judge *judge, uint32_t r, uint32_t step)
{
	return ss_straggler_loose_margin(judge, r, judge->lateness.numbers[step]);
}

/*
 * With fewer steps, the usual distance from the median may be small by chance. A margin that is
 * further above the median than this multiple of it counts as much as one that is not: one step
 * in which the fault is much worse must not hide it.
 */
#define OUTLIER_STEPS_MIN 5
#define OUTLIER_TIMES 5

/* The margin beyond which it is an outlier. */
static int64_t outlier_margin(int64_t *margins, int64_t *scratch, uint32_t count)
{
	int64_t median_ns, away_ns;

	if (count < OUTLIER_STEPS_MIN)
		return INT64_MAX;
	for (uint32_t i = 0; i < count; i++)
		scratch[i] = margins[i];
	median_ns = ss_straggler_median(scratch, count);
	for (uint32_t i = 0; i < count; i++)
		scratch[i] = llabs(margins[i] - median_ns);
	away_ns = ss_straggler_median(scratch, count);
	return away_ns < INT64_MAX / 2 / OUTLIER_TIMES ? median_ns + OUTLIER_TIMES * away_ns
						       : INT64_MAX;
}

/* Of a difference between ranks, over the steps. */
struct margin_spread {
	double mean, deviation;
	uint32_t steps;
};

static struct margin_spread margin_spread_of(struct ss_straggler_judge *judge, uint32_t r,
					     int64_t (*margin_in)(struct ss_straggler_judge *,
								  uint32_t, uint32_t))
{
	struct margin_spread spread = { .steps = judge->lateness.step_count };
	int64_t *margins = judge->step_values, most_ns;
	double sum = 0, squares = 0;

	for (uint32_t s = 0; s < spread.steps; s++)
		margins[s] = margin_in(judge, r, s);
	most_ns = outlier_margin(margins, margins + spread.steps, spread.steps);
	for (uint32_t s = 0; s < spread.steps; s++) {
		double margin = (double)(margins[s] < most_ns ? margins[s] : most_ns);

		sum += margin;
		squares += margin * margin;
	}
	spread.mean = sum / spread.steps;
	spread.deviation = squares - sum * spread.mean;
	spread.deviation = spread.deviation > 0 ? sqrt(spread.deviation / (spread.steps - 1)) : 0;
	return spread;
}

static bool spread_beats_noise(const struct margin_spread *spread, bool is_steady)
{
	if (spread->mean <= 0 ||
	    spread->mean * sqrt((double)spread->steps) < ERRORS * spread->deviation)
		return false;
	return !is_steady || spread->mean >= STEADY * spread->deviation;
}

bool ss_straggler_beats_noise(struct ss_straggler_judge *judge, uint32_t r, bool same_work)
{
	struct margin_spread late, loose;

	if (judge->lateness.step_count < STEPS_MIN)
		return true;
	late = margin_spread_of(judge, r, lateness_margin);
	if (spread_beats_noise(&late, same_work))
		return true;
	/* the others are delayed by varying amounts: its own extra work is the same in each step */
	loose = margin_spread_of(judge, r, loose_margin_in);
	return !same_work && late.mean > 0 && spread_beats_noise(&loose, true) &&
	       loose.mean >= late.mean;
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

static bool ranks_have_same_work(const struct ss_digest *a, const struct ss_digest *b)
{
	if (a->has_sizes && b->has_sizes && a->step_count == b->step_count && a->work == b->work)
		return true;
	return !(a->has_sizes && b->has_sizes) && has_same_calls(a, b);
}

/* It does something between operators that the others do not. */
static bool is_busy_outside_ops(struct ss_straggler_judge *judge, uint32_t r)
{
	uint32_t loose = SS_OWN_IDLE_BY(SS_IDLE_LAUNCH);
	double outside = (double)ss_straggler_own_figure(judge, r, loose);
	double operators = (double)ss_straggler_own_figure(judge, r, SS_OWN_COMPUTE);
	double usual_outside = (double)ss_straggler_usual_figure(judge, r, loose);
	double usual = (double)ss_straggler_usual_figure(judge, r, SS_OWN_COMPUTE);

	if (outside < LOOSE_TIMES * usual_outside)
		return false;
	return operators <= OPERATORS_TIMES * usual ||
	       (outside - usual_outside) * usual >=
		       GROWN_TIMES * (operators - usual) * usual_outside;
}

/* What two ranks are compared by. */
struct rank_work_key {
	uint64_t work, has_sizes, step_count;
	int64_t calls[SS_PHASE_COUNT];
};

/* Ranks with exactly the same work are one class: only classes are compared with each other. */
static bool find_work_classes(struct ss_straggler_judge *judge)
{
	const struct ss_joined *joined = judge->joined;
	SS_OWNED(ss_records_release) struct ss_records works = { 0 };
	size_t ranks = (size_t)joined->rank_count + 1;
	uint32_t *firsts, *counts;

	if (!SS_ALLOC(judge->arena, firsts, ranks) || !SS_ALLOC(judge->arena, counts, ranks) ||
	    !SS_ALLOC(judge->arena, judge->as_many, ranks) ||
	    !SS_ALLOC(judge->arena, judge->works, ranks) ||
	    !ss_records_init(&works, joined->memory, sizeof(struct rank_work_key)))
		return false;
	for (uint32_t r = 0; r < joined->rank_count; r++) {
		const struct ss_digest *rank = &joined->ranks[r];
		struct rank_work_key work = {
			rank->work, rank->has_sizes, rank->step_count, { 0 }
		};
		uint32_t known = works.count;

		for (int i = 0; i < SS_PHASE_COUNT; i++)
			work.calls[i] = rank->phases[i].calls;
		judge->works[r] = ss_records_add(&works, &work);
		if (judge->works[r] == SS_NO_ID)
			return false;
		if (judge->works[r] == known)
			firsts[known] = r;
		if (rank->step_count) {
			counts[judge->works[r]]++;
			judge->with_steps++;
		}
	}
	for (uint32_t i = 0; i < works.count; i++)
		for (uint32_t k = 0; k < works.count; k++)
			if (ranks_have_same_work(&joined->ranks[firsts[i]],
						 &joined->ranks[firsts[k]]))
				judge->as_many[i] += counts[k];
	return true;
}

bool ss_straggler_has_same_work(struct ss_straggler_judge *judge, uint32_t r, bool outside)
{
	bool counts = judge->joined->ranks[r].step_count > 0;

	if (!judge->works && !find_work_classes(judge)) {
		judge->failed = true;
		return false;
	}
	return (judge->as_many[judge->works[r]] - counts) * 2 >= judge->with_steps - counts &&
	       !(outside && is_busy_outside_ops(judge, r));
}

bool ss_straggler_is_held_up(struct ss_straggler_judge *judge, uint32_t r)
{
	const struct ss_digest *own = &judge->joined->ranks[r];
	double all = (double)ss_straggler_usual_figure(judge, r, SS_OWN_COMPUTE);
	double typical = (double)ss_straggler_usual_figure(judge, r, SS_FIGURE_TYPICAL);

	if (all <= 0 || typical <= 0)
		return false;
	all = (double)ss_straggler_own_figure(judge, r, SS_OWN_COMPUTE) / all;
	typical = own->typical_ns / own->step_count / typical;
	return typical - 1 < PACE_PART * (all - 1);
}
