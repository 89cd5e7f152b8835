/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_parts.h - the steps of a job, each as the mean over its ranks, and the parts of each.
 */
#ifndef SS_LOAD_STEP_PARTS_H
#define SS_LOAD_STEP_PARTS_H

#include "load/job.h"

enum ss_step_part {
	SS_STEP_COMPUTE,
	SS_STEP_COMM,
	SS_STEP_COPY,
	SS_STEP_REST, /* of ranks without a device: outside of operators */
	SS_STEP_IDLE, /* the first cause of idle time; the others follow */
	SS_STEP_PARTS = SS_STEP_IDLE + SS_IDLE_CAUSES,
};

/* The part of one cause of idle time. */
#define SS_STEP_IDLE_BY(cause) ((int)SS_STEP_IDLE + (int)(cause))

/* "exposed communication", "waiting for input": what the step does in this part; static. */
const char *ss_job_step_part_name(int part);

struct ss_step_mean {
	uint32_t number, ranks;
	int64_t dur_ns;
	int64_t part_ns[SS_STEP_PARTS];
};

struct ss_step_means {
	struct ss_step_mean *items; /* by number; in the arena */
	uint32_t count;
};

/*
 * The steps of the first of these ranks (indexes into job->digests); the mean of a step covers the
 * ranks that have it. False: no memory.
 */
SS_MUST_USE
bool ss_job_step_means_make(struct ss_step_means *out, const struct ss_job *job,
			    const uint32_t *ranks, uint32_t rank_count, struct ss_arena *arena);

#endif
