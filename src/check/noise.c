/* SPDX-License-Identifier: Apache-2.0 */
/*
 * noise.c - compares the steps of a run with those of earlier ones.
 */
#include "check/noise.h"

#include <math.h>

/* The standard deviation of normal numbers, from the median of their absolute deviations. */
#define DEVIATION_OF_MAD 1.4826

/* How much less certain than the mean the median of normal numbers is: sqrt(pi / 2). */
#define MEDIAN_LOSS 1.2533

/* Neighbours of fewer steps say nothing about how alike neighbours are. */
#define CORRELATED_STEPS_MIN 8

/* Of fewer steps two are alike by chance: their median absolute deviation is no noise. */
#define TYPICAL_STEPS_MIN 5

/* More runs of a baseline are not asked for. */
#define RUNS_ASKED_MAX 30

const char *ss_check_verdict_name(enum ss_check_verdict verdict)
{
	static const char *const names[] = {
		[SS_VERDICT_PASS] = "pass",
		[SS_VERDICT_REGRESSION] = "regression",
		[SS_VERDICT_IMPROVEMENT] = "improvement",
		[SS_VERDICT_INCONCLUSIVE] = "inconclusive",
		[SS_VERDICT_FAIL] = "fail",
	};

	return names[verdict];
}

/* Cornish and Fisher: Student's t from the quantile z of normal numbers. */
static double student_t_from(double z, double freedom)
{
	return z + (z * z * z + z) / (4 * freedom) +
	       z * (5 * z * z * z * z + 16 * z * z + 3) / (96 * freedom * freedom);
}

/* Student's t that one of 100 exceeds, with these degrees of freedom. */
static double student_t(double freedom)
{
	static const double small[] = { 31.821, 6.965, 4.541, 3.747, 3.365, 3.143, 2.998,
					2.896,  2.821, 2.764, 2.718, 2.681, 2.650, 2.624,
					2.602,  2.583, 2.567, 2.552, 2.539, 2.528 };

	if (freedom < 1)
		freedom = 1;
	if (freedom <= (double)SS_COUNT(small))
		return small[(size_t)freedom - 1];
	return student_t_from(2.3263, freedom);
}

/* What SS_NOISE_POWER percent of such numbers are above, below 0. */
static double student_t_of_power(double freedom)
{
	return student_t_from(1.2816, freedom < 1 ? 1 : freedom);
}

/* The median absolute deviation is too small for few numbers (Croux and Rousseeuw, 1992). */
static double mad_correction(uint32_t count)
{
	static const double small[] = { 1, 1, 1.196, 1.495, 1.363, 1.206, 1.2, 1.14, 1.129, 1.107 };

	return count < SS_COUNT(small) ? small[count] : count / (count - 0.8);
}

/* What is known of the baseline. */
struct noise_baseline {
	double mean, typical;     /* over runs: of their means, of their medians */
	double deviation, robust; /* of steps within their runs */
	double between;           /* of runs, beyond that of their steps, */
	uint32_t freedom;         /* degrees of freedom of that, beside what is usual */
	double correlation;
	double steps;         /* effective ones, of all runs */
	double inflation;     /* of the variance of a mean, by correlated neighbours */
	uint32_t runs, count; /* of steps */
	uint32_t count_least; /* of a run */
};

static double noise_run_mean(const struct ss_noise_run *run)
{
	double sum = 0;

	for (uint32_t i = 0; i < run->count; i++)
		sum += run->steps[i];
	return run->count ? sum / run->count : 0;
}

/* `values` has room for the steps of the run. */
static double noise_run_median(const struct ss_noise_run *run, double *values)
{
	for (uint32_t i = 0; i < run->count; i++)
		values[i] = run->steps[i];
	return ss_median_double(values, run->count);
}

/* Squares of deviations within the runs, and how alike neighbours are. */
static void baseline_measure_within(struct noise_baseline *out, const struct ss_noise_run *runs,
				    uint32_t count)
{
	double squares = 0, products = 0, certain;

	for (uint32_t i = 0; i < count; i++) {
		double mean = noise_run_mean(&runs[i]);

		for (uint32_t k = 0; k < runs[i].count; k++) {
			double own = runs[i].steps[k] - mean;

			squares += own * own;
			if (k)
				products += own * (runs[i].steps[k - 1] - mean);
		}
	}
	out->deviation = out->count > count ? sqrt(squares / (out->count - count)) : 0;
	certain = 2 / sqrt((double)out->count);
	if (out->count >= CORRELATED_STEPS_MIN && squares > 0 && products / squares > certain)
		out->correlation = fmin(products / squares, 0.9);
	out->inflation = (1 + out->correlation) / (1 - out->correlation);
}

/* Squares of how far the means of runs lie apart, beyond what their steps explain. */
static double baseline_squares_between(const struct noise_baseline *baseline,
				       const struct ss_noise_run *runs, uint32_t count)
{
	double squares = 0, explained;

	for (uint32_t i = 0; i < count; i++) {
		double own = noise_run_mean(&runs[i]) - baseline->mean;

		squares += own * own;
	}
	explained = baseline->inflation * baseline->deviation * baseline->deviation * count /
		    baseline->count;
	return fmax(0, squares - (count - 1) * explained);
}

/*
 * The deviation of runs. Few runs say little about it: what is usual counts as a few more of them
 * (the scaled inverse chi-squared prior of a variance), and other levels of the job as they are.
 */
static void baseline_measure_between(struct noise_baseline *out, const struct ss_noise_run *runs,
				     const struct ss_noise_history *history)
{
	double usual = SS_NOISE_RUN_WEIGHT * SS_NOISE_RUN_SHARE * SS_NOISE_RUN_SHARE;
	double squares = baseline_squares_between(out, runs, out->runs);

	out->freedom = out->runs - 1 + (history ? history->freedom : 0);
	squares += (usual + (history ? history->squares : 0)) * out->mean * out->mean;
	out->between = sqrt(squares / (SS_NOISE_RUN_WEIGHT + out->freedom));
}

/* Counts and means, and the deviation of steps. */
static void baseline_measure_steps(struct noise_baseline *out, const struct ss_noise_run *runs,
				   uint32_t count)
{
	*out = (struct noise_baseline){ .runs = count, .count_least = UINT32_MAX };
	for (uint32_t i = 0; i < count; i++) {
		out->mean += noise_run_mean(&runs[i]) / count;
		out->count += runs[i].count;
		if (runs[i].count < out->count_least)
			out->count_least = runs[i].count;
	}
	baseline_measure_within(out, runs, count);
}

/* `values` has room for all steps. */
static void baseline_measure_typical(struct noise_baseline *out, const struct ss_noise_run *runs,
				     double *values)
{
	uint32_t used = 0;

	for (uint32_t i = 0; i < out->runs; i++)
		values[i] = noise_run_median(&runs[i], values + i);
	out->typical = ss_median_double(values, out->runs);
	for (uint32_t i = 0; i < out->runs; i++) {
		double median = noise_run_median(&runs[i], values + used);

		for (uint32_t k = 0; k < runs[i].count; k++)
			values[used++] = fabs(runs[i].steps[k] - median);
	}
	out->robust = DEVIATION_OF_MAD * ss_median_double(values, used) *
		      mad_correction(out->count_least);
}

void ss_noise_history_add(struct ss_noise_history *history, const struct ss_noise_run *runs,
			  uint32_t count)
{
	struct noise_baseline level;

	baseline_measure_steps(&level, runs, count);
	if (!(level.mean > 0))
		return;
	history->squares += baseline_squares_between(&level, runs, count) /
			    (level.mean * level.mean);
	history->freedom += count - 1;
}

/* The noise of an equal run's figure: its deviation, and the certainty of that. */
struct noise_width {
	double deviation, freedom;
};

/* The median absolute deviation is as certain as the deviation of this share of the numbers. */
#define MAD_EFFICIENCY 0.37

/* The spread of steps, and the degrees of freedom of each step in it. */
struct noise_spread {
	double deviation, efficiency;
};

/* The noise of the figure of a run of `steps` steps against `runs` runs like the baseline's. */
static struct noise_width baseline_width(const struct noise_baseline *baseline,
					 struct noise_spread spread, uint32_t steps, uint32_t runs,
					 double between)
{
	double count = (double)baseline->count * runs / baseline->runs;
	double within = baseline->inflation * spread.deviation * spread.deviation *
			(1 / count + 1.0 / steps);
	double across = between * between * (1 + 1.0 / runs);
	double sum = within + across;
	double freedom_within = spread.efficiency * (count - runs);
	double freedom_across = SS_NOISE_RUN_WEIGHT + baseline->freedom + runs - baseline->runs;

	if (!(sum > 0))
		return (struct noise_width){ 0, 1 };
	/* Satterthwaite */
	return (struct noise_width){ sqrt(sum), sum * sum /
							(within * within / freedom_within +
							 across * across / freedom_across) };
}

static double width_half(const struct noise_width *width)
{
	return student_t(width->freedom) * width->deviation;
}

/* The smallest change that is found in most cases. */
static double width_visible(const struct noise_width *width, double threshold)
{
	return fmax(width_half(width), threshold) +
	       student_t_of_power(width->freedom) * width->deviation;
}

static enum ss_check_verdict noise_figure_judge(const struct ss_noise_figure *figure, double half,
						double threshold)
{
	double change = figure->change, steps = figure->steps_half;
	bool is_hidden = fabs(change) <= steps && fabs(change) + steps >= threshold;

	if (fabs(change) >= threshold && fabs(change) > half)
		return change > 0 ? SS_VERDICT_REGRESSION : SS_VERDICT_IMPROVEMENT;
	return is_hidden || fabs(change) >= threshold ? SS_VERDICT_INCONCLUSIVE : SS_VERDICT_PASS;
}

/* Compares a figure with its noise and the threshold. */
static struct ss_noise_figure noise_figure_make(const struct noise_baseline *baseline,
						double before, double after,
						struct noise_spread spread,
						const struct ss_noise *noise)
{
	uint32_t steps = noise->steps_after, runs = baseline->runs;
	struct noise_width all, own;
	struct ss_noise_figure out = { .before_ns = before, .after_ns = after };

	all = baseline_width(baseline, spread, steps, runs, baseline->between);
	own = baseline_width(baseline, spread, steps, runs, 0);
	out.change = (after - before) / before;
	out.half = width_half(&all) / before;
	out.steps_half = width_half(&own) / before;
	out.visible = width_visible(&all, noise->threshold * before) / before;
	out.verdict = noise_figure_judge(&out, out.half, noise->threshold);
	out.by_steps = noise_figure_judge(&out, out.steps_half, noise->threshold);
	return out;
}

/* What more runs would show, if they differ as those of the baseline say. */
static void noise_measure_more(struct ss_noise *out, const struct noise_baseline *baseline)
{
	struct noise_spread spread = { baseline->deviation, 1 };
	double mean = baseline->mean;

	for (uint32_t runs = baseline->runs + 1; runs <= RUNS_ASKED_MAX; runs++) {
		struct noise_width width = baseline_width(baseline, spread, out->steps_after, runs,
							  baseline->between);

		if (!out->runs_needed && width_half(&width) < fabs(out->mean.change) * mean)
			out->runs_needed = runs;
		if (runs == SS_NOISE_RUNS_GOOD)
			out->visible_more = width_visible(&width, out->threshold * mean) / mean;
	}
}

/* The mean decides, unless it is uncertain and the typical step is not. */
static enum ss_check_verdict noise_decide(const struct ss_noise *noise, enum ss_check_verdict mean,
					  enum ss_check_verdict typical, bool *is_typical)
{
	bool has_changed = typical == SS_VERDICT_REGRESSION || typical == SS_VERDICT_IMPROVEMENT;

	*is_typical = false;
	if (mean != SS_VERDICT_INCONCLUSIVE || noise->steps_least < TYPICAL_STEPS_MIN)
		return mean;
	*is_typical = has_changed ? noise->typical.change * noise->mean.change > 0
				  : typical == SS_VERDICT_PASS &&
					    fabs(noise->mean.change) < noise->threshold;
	return *is_typical ? typical : mean;
}

static void noise_count_steps(struct ss_noise *out, const struct ss_noise_run *before,
			      uint32_t count)
{
	out->steps_least = out->steps_after;
	for (uint32_t i = 0; i < count; i++) {
		out->steps_before += before[i].count;
		if (before[i].count < out->steps_least)
			out->steps_least = before[i].count;
	}
}

bool ss_noise_judge(struct ss_noise *out, const struct ss_noise_run *before, uint32_t count,
		    const struct ss_noise_run *after, double threshold,
		    const struct ss_noise_history *history, struct ss_memory *memory)
{
	struct noise_baseline baseline;
	SS_SCRATCH(arena, memory);
	double *values;

	*out = (struct ss_noise){ .threshold = threshold,
				  .runs = count,
				  .steps_after = after->count,
				  .verdict = SS_VERDICT_INCONCLUSIVE };
	noise_count_steps(out, before, count);
	if (!count || out->steps_least < SS_NOISE_STEPS_MIN)
		return true;
	if (!SS_ALLOC(&arena, values, out->steps_before + after->count + count))
		return false;
	baseline_measure_steps(&baseline, before, count);
	baseline_measure_typical(&baseline, before, values);
	baseline_measure_between(&baseline, before, history);
	if (!(baseline.mean > 0 && baseline.typical > 0))
		return true;
	out->step_share = baseline.deviation / baseline.mean;
	out->run_share = baseline.between / baseline.mean;
	out->freedom = baseline.freedom;
	out->correlation = baseline.correlation;
	out->mean = noise_figure_make(&baseline, baseline.mean, noise_run_mean(after),
				      (struct noise_spread){ baseline.deviation, 1 }, out);
	out->typical = noise_figure_make(
		&baseline, baseline.typical, noise_run_median(after, values),
		(struct noise_spread){ MEDIAN_LOSS * baseline.robust, MAD_EFFICIENCY }, out);
	noise_measure_more(out, &baseline);
	out->by_steps = noise_decide(out, out->mean.by_steps, out->typical.by_steps,
				     &out->is_typical);
	out->verdict = noise_decide(out, out->mean.verdict, out->typical.verdict, &out->is_typical);
	return true;
}
