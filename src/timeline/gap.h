/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gap.h - one gap of a device: where it is, and what the host did meanwhile.
 *
 * Gaps are numbered as ss_idle has them, through all devices; the idle track of the k-th
 * device is number track_count + k.
 */
#ifndef SS_TIMELINE_GAP_H
#define SS_TIMELINE_GAP_H

#include "timeline/index.h"

/* The gap of an idle track; NULL: there is no such track, or it does not have that gap. */
const struct ss_idle_gap *ss_gap_of_track(const struct ss_index *index, uint32_t track,
					  uint32_t gap);

/* Its device, and whether there is one. */
const struct ss_idle_device *ss_gap_device(const struct ss_index *index, uint32_t track);

/* Its causes: the main one first, then by length; returns how many. */
uint32_t ss_gap_causes(const struct ss_index *index, uint32_t gap,
		       struct ss_idle_piece out[SS_IDLE_CAUSES]);

/* A gap of which a slice of the host is the reason, or in which it ran. */
struct ss_row_gap {
	uint32_t track, gap;
	bool is_cause;
};

/*
 * Of the gaps that wait for the slice or for what it calls, the one that waits longest; without
 * one the gap that has most of its time in common with the slice. False: there is neither.
 */
bool ss_gap_of_row(const struct ss_index *index, uint32_t row, struct ss_row_gap *out);

/* The gap that a slice of a device ended. False: there is none. */
bool ss_gap_before_row(const struct ss_index *index, uint32_t row, struct ss_row_gap *out);

/* Lines of the program; made when the first asks for them. */
SS_MUST_USE
enum ss_status ss_index_places(struct ss_index *index, const struct ss_places **out,
			       struct ss_error *err);

/* "dir/train.py(91): step" as "train.py:91"; what is no such line stays. */
void ss_timeline_short_line(const char *line, char *out, size_t room);

#endif
