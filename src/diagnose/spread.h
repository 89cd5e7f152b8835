/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spread.h - how much the steps of a job differ, and why the longest are long.
 *
 * A mean says little if every second step takes twice as long. The length of a step is the mean
 * over its ranks. The cause of an outlier is the part that exceeds the same part of the median
 * step the most.
 */
#ifndef SS_DIAGNOSE_SPREAD_H
#define SS_DIAGNOSE_SPREAD_H

#include "load/job.h"

#define SS_OUTLIERS_SHOWN 3

struct ss_outlier {
	uint32_t step; /* number in the file, from 0 */
	bool is_first; /* the first that counts: start-up work shows there */
	int64_t step_ns;
	int64_t excess_ns; /* over the median step */
	const char *cause; /* the part that exceeds it most; lives forever */
	int64_t cause_ns;  /* by how much */
};

struct ss_spread {
	uint32_t count; /* of steps; fewer than 3: nothing else is known */
	bool is_uneven;
	int64_t median_ns, p10_ns, p90_ns, min_ns, max_ns;
	uint32_t outlier_count; /* all of them; the longest are in the list */
	struct ss_outlier outliers[SS_OUTLIERS_SHOWN];
};

/* Of the ranks that are chosen, by their indexes into job->digests. */
SS_MUST_USE
enum ss_status ss_spread_measure(struct ss_spread *out, const struct ss_job *job,
				 const uint32_t *ranks, uint32_t rank_count, struct ss_error *err);

#endif
