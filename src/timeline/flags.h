/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flags.h - where on the timeline a finding is: the tasks that its fix would shorten.
 */
#ifndef SS_TIMELINE_FLAGS_H
#define SS_TIMELINE_FLAGS_H

#include "diagnose/diagnose.h"
#include "timeline/timeline.h"

/* A finding lists its longest places, and the longest of each stretch of the run. */
#define SS_FLAG_PLACES 24
#define SS_FLAG_STRETCHES 128

struct ss_flag_place {
	uint32_t file;
	uint32_t row, track;      /* SS_NO_ROW: none */
	int64_t start_ns, end_ns; /* times of the timeline */
	int64_t ns;               /* what the fix would save there */
};

struct ss_flag_places {
	struct ss_flag_place longest[SS_FLAG_PLACES]; /* the longest first */
	uint32_t count;
	uint64_t all_count; /* listed or not */
	/* by the stretch in which they begin; all stretches are equally long; ns 0: none */
	struct ss_flag_place stretches[SS_FLAG_STRETCHES];
};

void ss_flag_find(const struct ss_diagnosis *diagnosis, const struct ss_finding *finding,
		  const struct ss_timeline *timeline, struct ss_flag_places *out);

/*
 * Where other ranks wait for the ranks of a finding: of the collectives at which one of these
 * arrived last, its slice in the one with the longest wait. SS_NO_ROW: nobody waits for them, or
 * their traces are missing.
 */
uint32_t ss_flag_collective(const struct ss_finding *finding, const struct ss_timeline *timeline,
			    uint32_t *file);

#endif
