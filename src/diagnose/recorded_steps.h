/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorded_steps.h - what the recorded steps show without a replay: how busy the GPUs are, and how
 * much the steps differ.
 */
#ifndef SS_DIAGNOSE_RECORDED_STEPS_H
#define SS_DIAGNOSE_RECORDED_STEPS_H

#include "analyze/kernel/category.h"
#include "load/job.h"

/*
 * How much of the steps the GPUs are busy, and why they are idle otherwise. Shares are means over
 * the ranks with a device; each rank's share is of the sum of its steps. A GPU is busy while a
 * kernel, copy or memset runs on it, so it is also busy in a collective that waits for other ranks.
 */
struct ss_gpu_use {
	uint32_t rank_count; /* ranks with a device and steps; 0: nothing else is known */
	double busy;         /* 0 to 1; the next three sum to it */
	double compute, exposed_communication, exposed_copies;
	double least, most;       /* the same as `busy`, of single ranks */
	enum ss_idle_cause cause; /* the largest of the idle time, */
	double cause_share;       /* and its share of the steps */
};

/* Of the ranks that are chosen, by their indexes into job->digests. */
void ss_gpu_use_measure(struct ss_gpu_use *out, const struct ss_job *job, const uint32_t *ranks,
			uint32_t rank_count);

/*
 * MFU and HFU of the steps (analyze/work/flops.h), as the view roofline has them for all steps of a
 * rank. Several ranks: all FLOPs as a share of what all devices could do. Shares; 0: unknown.
 */
struct ss_mfu {
	double mfu, hfu;
	double known;        /* kernel time of operators whose FLOPs are known, of all kernels */
	const char *unknown; /* why it is; NULL */
};

/* Kernel time in the steps of all ranks, by what kernels do: shares of it; all 0: there is none. */
struct ss_kernel_time {
	double share[SS_KERNEL_CATEGORIES];
};

/*
 * How much the steps differ, and why the longest are long. A mean says little if every second step
 * takes twice as long. The length of a step is the mean over its ranks. The cause of an outlier is
 * the part that exceeds the same part of the median step the most.
 */
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
