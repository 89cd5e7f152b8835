/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flags.h - where on the timeline a finding is: the tasks that its fix would shorten.
 */
#ifndef SS_TIMELINE_FLAGS_H
#define SS_TIMELINE_FLAGS_H

#include "diagnose/diagnose.h"
#include "timeline/timeline.h"

/* Places of a finding that are listed: the longest, and the longest of each stretch of the run. */
#define SS_FLAG_PLACES 24
#define SS_FLAG_STRETCHES 128

struct ss_flag_place {
	uint32_t file;
	uint32_t row, track;      /* SS_NO_ROW: none */
	int64_t start_ns, end_ns; /* times of the timeline */
	int64_t ns;               /* what the fix takes off it */
};

struct ss_flag_places {
	struct ss_flag_place longest[SS_FLAG_PLACES]; /* the longest first */
	uint32_t count;
	uint64_t all_count; /* told or not */
	/* by the stretch that they begin in, all of one length; ns is 0: none there */
	struct ss_flag_place stretches[SS_FLAG_STRETCHES];
};

void ss_flag_find(const struct ss_diagnosis *diagnosis, const struct ss_finding *finding,
		  const struct ss_timeline *timeline, struct ss_flag_places *out);

/*
 * Where the others wait for the ranks that a finding is about: of the collectives to which one of
 * them came last, its slice of the one that was waited for longest. SS_NO_ROW: nobody waits for
 * them, or their traces are not there.
 */
uint32_t ss_flag_collective(const struct ss_finding *finding, const struct ss_timeline *timeline,
			    uint32_t *file);

#endif
