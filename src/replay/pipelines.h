/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipelines.h - the pipelines of a job: ranks that sends and receives connect are their stages.
 *
 * A pipeline has two ends. Rings, as of sequence parallelism, have none, and are not found here.
 */
#ifndef SS_REPLAY_PIPELINES_H
#define SS_REPLAY_PIPELINES_H

#include "base/memory.h"
#include "replay/replay.h"

/* What one pipeline does in its steps, all together. */
struct ss_pipeline {
	uint32_t first, stages; /* its ranks: in `ranks` */
	uint32_t steps;
	double pairs;     /* per step, of the first stage: it has one neighbour */
	int64_t span_ns;  /* from the first work of a step to the last but the optimizer's */
	int64_t work_ns;  /* of the stage that computes most */
	uint32_t busiest; /* its rank; of stages that compute alike the one nearest the end */
	int64_t busy_ns;  /* what that one computes */
	uint32_t kernels; /* of the busiest stage */
	double turns; /* per step, of the stage that changes from forward to backward most often */
	double micro; /* micro-batches per step; below 1: not known */
};

struct ss_pipelines {
	struct ss_arena arena;
	uint32_t *of;    /* per rank: number of its pipeline, or SS_NO_ROW */
	uint32_t *ranks; /* by pipeline */
	struct ss_pipeline *items;
	uint32_t count;
};

/* Of the ranks of a replay. False: no memory, and nothing is left to release. */
SS_MUST_USE
bool ss_pipelines_find(struct ss_pipelines *out, const struct ss_replay *replay,
		       struct ss_memory *memory);
void ss_pipelines_release(struct ss_pipelines *pipelines);

/* The idle time of the busiest stage until the pipeline is full, as a part of its work. */
double ss_pipeline_bubble(const struct ss_pipeline *pipeline);

/* A kernel of a forward or backward pass in a step. */
bool ss_pipeline_passes(const struct ss_packed *graph, uint32_t task);

#endif
