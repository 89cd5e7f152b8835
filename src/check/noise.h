/* SPDX-License-Identifier: Apache-2.0 */
/*
 * noise.h - whether a run is slower than earlier ones, or within their noise.
 *
 * The noise is that of the baseline: if nothing has changed, the new run is one more like those.
 * So the interval is the one in which the mean of its steps would lie: Student's t with the
 * standard deviation of the baseline's steps, fewer effective steps where neighbours are alike,
 * and the deviation of runs from each other. The latter is learned from the runs; what is usual
 * counts as a few more of them, so that one run has an interval, too, and it is wide.
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

/* Percent of equal runs that lie in the interval: one of 100 is above it, one below. */
#define SS_NOISE_LEVEL 98

/* How often a change of `visible` is found, in percent. */
#define SS_NOISE_POWER 90

/*
 * How much the mean steps of equal runs differ beyond the noise of their steps, before any run
 * shows it: clocks, temperature and the place in the network vary. Runs of one machine differ by
 * some 0.5 %, of shared ones by 2 % and more (docs/check.md); this as 4 runs says 0.6 to 3.7 %.
 */
#define SS_NOISE_RUN_SHARE 0.01
#define SS_NOISE_RUN_WEIGHT 3 /* degrees of freedom */

/* Runs that show how much runs differ: more of them make the interval little narrower. */
#define SS_NOISE_RUNS_GOOD 10

/* With fewer, what is usual counts for more than what the runs show. */
#define SS_NOISE_RUNS_FEW (SS_NOISE_RUN_WEIGHT + 1)

/* The steps of a run in their order, in ns. */
struct ss_noise_run {
	const double *steps;
	uint32_t count;
};

/* Shares are of the baseline's figure: 0.02 is 2 %. */
struct ss_noise_figure {
	double before_ns, after_ns;
	double change;
	double half;       /* of the interval's width: change - half to change + half */
	double steps_half; /* the same, if runs did not differ beyond their steps */
	double visible;    /* the smallest change that SS_NOISE_POWER percent of checks find */
	enum ss_check_verdict verdict;
	enum ss_check_verdict by_steps; /* with steps_half */
};

/* How much the runs of a job differ, from levels that no run is compared with any more. */
struct ss_noise_history {
	double squares;   /* of deviations from the mean of their level, as shares of it */
	uint32_t freedom; /* runs, less one for each level */
};

struct ss_noise {
	struct ss_noise_figure mean, typical;
	double threshold;
	double step_share;    /* standard deviation of the baseline's steps */
	double run_share;     /* of its runs from each other, beyond that of their steps */
	double correlation;   /* of neighbouring steps; 0: none that is certain */
	uint32_t runs;        /* of the baseline */
	uint32_t freedom;     /* of run_share; 0: it is what is usual */
	uint32_t runs_needed; /* to find a change like this one; 0: no number of runs helps */
	double visible_more;  /* what could be seen with SS_NOISE_RUNS_GOOD runs that differ so */
	uint32_t steps_before, steps_after, steps_least; /* of a run */
	bool is_typical;                                 /* the typical step decided */
	enum ss_check_verdict verdict;
	enum ss_check_verdict by_steps; /* the same if runs did not differ beyond their steps */
};

/*
 * Judges a run against `count` earlier ones. Inconclusive if there are too few steps, if the noise
 * of the steps hides a change of the threshold, or if the change reaches the threshold and equal
 * runs may differ that much. False: no memory.
 */
SS_MUST_USE
bool ss_noise_judge(struct ss_noise *out, const struct ss_noise_run *before, uint32_t count,
		    const struct ss_noise_run *after, double threshold,
		    const struct ss_noise_history *history, struct ss_memory *memory);

/* Adds what the runs of a level show about how much runs differ. */
void ss_noise_history_add(struct ss_noise_history *history, const struct ss_noise_run *runs,
			  uint32_t count);

#endif
