/* SPDX-License-Identifier: Apache-2.0 */
/*
 * noise.c - compares the steps of a run with those of earlier ones.
 */
#include "check/noise.h"

#include <math.h>

#include "base/sort.h"

/* The standard deviation of normal numbers, from the median of their absolute deviations. */
#define DEVIATION_OF_MAD 1.4826

/* How much less certain than the mean the median of normal numbers is: sqrt(pi / 2). */
#define MEDIAN_LOSS 1.2533

/* Neighbours of fewer steps say nothing about how alike neighbours are. */
#define CORRELATED_STEPS_MIN 8

/* Runs that SS_NOISE_RUN_SHARE counts for. */
#define USUAL_RUNS 8

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

/* Student's t of the level, with these degrees of freedom. */
static double student_t(double freedom)
{
	static const double small[] = { 63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499,
					3.355,  3.250, 3.169, 3.106, 3.055, 3.012, 2.977,
					2.947,  2.921, 2.898, 2.878, 2.861, 2.845 };
	const double z = 2.5758;

	if (freedom < 1)
		freedom = 1;
	if (freedom <= (double)SS_COUNT(small))
		return small[(size_t)freedom - 1];
	/* Cornish and Fisher */
	return z + (z * z * z + z) / (4 * freedom) +
	       z * (5 * z * z * z * z + 16 * z * z + 3) / (96 * freedom * freedom);
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
	double between;           /* of runs, beyond that of their steps */
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

/*
 * How far the means of runs lie apart, beyond what their steps explain. Few runs say little about
 * that: what equal runs usually have counts as a few more of them.
 */
static double baseline_measure_between(const struct noise_baseline *baseline,
				       const struct ss_noise_run *runs, uint32_t count)
{
	double usual = SS_NOISE_RUN_SHARE * baseline->mean, squares = 0, explained;

	for (uint32_t i = 0; i < count; i++) {
		double own = noise_run_mean(&runs[i]) - baseline->mean;

		squares += own * own;
	}
	explained = baseline->inflation * baseline->deviation * baseline->deviation * count /
		    baseline->count;
	squares = fmax(0, squares - (count - 1) * explained);
	return sqrt((USUAL_RUNS * usual * usual + squares) / (USUAL_RUNS + count - 1));
}

/* `values` has room for all steps. */
static void baseline_measure(struct noise_baseline *out, const struct ss_noise_run *runs,
			     uint32_t count, double *values)
{
	uint32_t used = 0;

	*out = (struct noise_baseline){ .runs = count, .count_least = UINT32_MAX };
	for (uint32_t i = 0; i < count; i++) {
		out->mean += noise_run_mean(&runs[i]) / count;
		out->count += runs[i].count;
		if (runs[i].count < out->count_least)
			out->count_least = runs[i].count;
	}
	for (uint32_t i = 0; i < count; i++)
		values[i] = noise_run_median(&runs[i], values + i);
	out->typical = ss_median_double(values, count);
	for (uint32_t i = 0; i < count; i++) {
		double median = noise_run_median(&runs[i], values + used);

		for (uint32_t k = 0; k < runs[i].count; k++)
			values[used++] = fabs(runs[i].steps[k] - median);
	}
	out->robust = DEVIATION_OF_MAD * ss_median_double(values, used) *
		      mad_correction(out->count_least);
	baseline_measure_within(out, runs, count);
	out->between = baseline_measure_between(out, runs, count);
}

/* The interval of an equal run's figure, whose steps deviate by `deviation`. */
static double baseline_half_width(const struct noise_baseline *baseline, double deviation,
				  uint32_t steps)
{
	double within = baseline->inflation * deviation * deviation *
			(1.0 / baseline->count + 1.0 / steps);
	double between = baseline->between * baseline->between * (1 + 1.0 / baseline->runs);
	double sum = within + between;
	double freedom_within = baseline->count - baseline->runs;
	double freedom;

	if (!(sum > 0))
		return 0;
	/* Satterthwaite */
	freedom = sum * sum /
		  (within * within / freedom_within +
		   between * between / (USUAL_RUNS + baseline->runs - 1));
	return student_t(freedom) * sqrt(sum);
}

/* Compares a figure with its noise and the threshold. */
static struct ss_noise_figure noise_figure_make(double before, double after, double half,
						double threshold)
{
	struct ss_noise_figure out = { .before_ns = before,
				       .after_ns = after,
				       .change = (after - before) / before,
				       .half = half / before };
	double low = out.change - out.half, high = out.change + out.half;

	if (low > 0 && out.change >= threshold)
		out.verdict = SS_VERDICT_REGRESSION;
	else if (high < 0 && out.change <= -threshold)
		out.verdict = SS_VERDICT_IMPROVEMENT;
	else if (low <= 0 && high >= 0 && (high >= threshold || low <= -threshold))
		out.verdict = SS_VERDICT_INCONCLUSIVE;
	return out;
}

/* The mean decides, unless it is uncertain and the typical step is not. */
static void noise_decide(struct ss_noise *out)
{
	enum ss_check_verdict typical = out->typical.verdict;
	bool has_changed = typical == SS_VERDICT_REGRESSION || typical == SS_VERDICT_IMPROVEMENT;

	out->verdict = out->mean.verdict;
	if (out->verdict != SS_VERDICT_INCONCLUSIVE)
		return;
	out->is_typical = has_changed ? out->typical.change * out->mean.change > 0
				      : typical == SS_VERDICT_PASS &&
						fabs(out->mean.change) < out->threshold;
	if (out->is_typical)
		out->verdict = typical;
}

bool ss_noise_judge(struct ss_noise *out, const struct ss_noise_run *before, uint32_t count,
		    const struct ss_noise_run *after, double threshold, struct ss_memory *memory)
{
	struct noise_baseline baseline;
	SS_SCRATCH(arena, memory);
	uint32_t steps = after->count, least = after->count;
	double *values;

	*out = (struct ss_noise){ .threshold = threshold,
				  .runs = count,
				  .steps_after = after->count,
				  .verdict = SS_VERDICT_INCONCLUSIVE };
	for (uint32_t i = 0; i < count; i++) {
		steps += before[i].count;
		out->steps_before += before[i].count;
		if (before[i].count < least)
			least = before[i].count;
	}
	if (!count || least < SS_NOISE_STEPS_MIN)
		return true;
	if (!SS_ALLOC(&arena, values, steps + count))
		return false;
	baseline_measure(&baseline, before, count, values);
	if (baseline.mean > 0 && baseline.typical > 0) {
		out->step_share = baseline.deviation / baseline.mean;
		out->run_share = baseline.between / baseline.mean;
		out->correlation = baseline.correlation;
		out->mean = noise_figure_make(baseline.mean, noise_run_mean(after),
					      baseline_half_width(&baseline, baseline.deviation,
								  after->count),
					      threshold);
		out->typical = noise_figure_make(baseline.typical, noise_run_median(after, values),
						 baseline_half_width(&baseline,
								     MEDIAN_LOSS * baseline.robust,
								     after->count),
						 threshold);
		noise_decide(out);
	}
	return true;
}
