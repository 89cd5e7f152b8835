/* SPDX-License-Identifier: Apache-2.0 */
/*
 * noise.h - whether a run is slower than earlier ones, or within their noise.
 *
 * The noise is that of the baseline: if nothing has changed, the new run is one more like those.
 * So the interval is the one in which the mean of its steps would lie: Student's t with the
 * standard deviation of the baseline's steps, fewer effective steps where neighbours are alike,
 * and the deviation of runs from each other: that of several, or what is usual.
 *
 * Two figures are judged. The mean step is what the job pays. The typical step (the median, with
 * the median absolute deviation as noise) decides where single long steps of the baseline make
 * the mean uncertain.
 */
#ifndef SS_CHECK_NOISE_H
#define SS_CHECK_NOISE_H

#include "base/median.h"
#include "base/memory.h"

enum ss_check_verdict {
	SS_VERDICT_PASS,
	SS_VERDICT_REGRESSION,
	SS_VERDICT_IMPROVEMENT,
	SS_VERDICT_INCONCLUSIVE,
	SS_VERDICT_FAIL, /* not slower, but a condition of --fail-if holds */
};

const char *ss_check_verdict_name(enum ss_check_verdict verdict);

/* Fewer steps have no spread that could be measured. */
#define SS_NOISE_STEPS_MIN 3

/* Percent of equal runs that lie in the interval. */
#define SS_NOISE_LEVEL 99

/*
 * How much the mean steps of equal runs differ beyond the noise of their steps, if the baseline
 * does not show it: clocks, temperature and the place in the network vary between runs.
 */
#define SS_NOISE_RUN_SHARE 0.002

/* The steps of a run in their order, in ns. */
struct ss_noise_run {
	const double *steps;
	uint32_t count;
};

/* Shares are of the baseline's figure: 0.02 is 2 %. */
struct ss_noise_figure {
	double before_ns, after_ns;
	double change;
	double half; /* of the interval's width: change - half to change + half */
	enum ss_check_verdict verdict;
};

struct ss_noise {
	struct ss_noise_figure mean, typical;
	double threshold;
	double step_share;  /* standard deviation of the baseline's steps */
	double run_share;   /* of its runs from each other, beyond that of their steps */
	double correlation; /* of neighbouring steps; 0: none that is certain */
	uint32_t runs;      /* of the baseline */
	uint32_t steps_before, steps_after;
	bool is_typical; /* the typical step decided */
	enum ss_check_verdict verdict;
};

/*
 * Judges a run against `count` earlier ones. Inconclusive if there are too few steps, or if the
 * interval reaches from no change to beyond the threshold. False: no memory.
 */
SS_MUST_USE
bool ss_noise_judge(struct ss_noise *out, const struct ss_noise_run *before, uint32_t count,
		    const struct ss_noise_run *after, double threshold, struct ss_memory *memory);

#endif
