/*
 * flags.h - where on the timeline a finding is: the tasks that its fix would shorten.
 */
#ifndef SS_TIMELINE_FLAGS_H
#define SS_TIMELINE_FLAGS_H

#include "diagnose/diagnose.h"
#include "timeline/timeline.h"

/* Places of a finding that are told. */
#define SS_FLAG_PLACES 24

struct ss_flag_place {
	uint32_t file;
	uint32_t row, track;      /* SS_NO_ROW: none */
	int64_t start_ns, end_ns; /* times of the timeline */
	int64_t ns;               /* what the fix takes off it */
};

/*
 * Where the others wait for the ranks that a finding is about: of the collectives to which one of
 * them came last, its slice of the one that was waited for longest. SS_NO_ROW: nobody waits for
 * them, or their traces are not there.
 */
uint32_t ss_flag_collective(const struct ss_finding *finding, const struct ss_timeline *timeline,
			    uint32_t *file);

/* Fills `out` with the longest; returns how many. */
uint32_t ss_flag_find(const struct ss_diagnosis *diagnosis, const struct ss_finding *finding,
		      const struct ss_timeline *timeline, struct ss_flag_place *out);

#endif
