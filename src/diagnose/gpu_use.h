/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_use.h - how much of the recorded steps the GPUs are busy, and why they are idle otherwise.
 *
 * Shares are means over the ranks with a device; each rank's share is of the sum of its steps. A
 * GPU is busy while a kernel, copy or memset runs on it, so it is also busy in a collective that
 * waits for other ranks.
 */
#ifndef SS_DIAGNOSE_GPU_USE_H
#define SS_DIAGNOSE_GPU_USE_H

#include "load/job.h"

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

#endif
