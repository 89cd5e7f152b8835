/* SPDX-License-Identifier: Apache-2.0 */
/*
 * members.h - a slice as a collective: who else took part, and who waited.
 */
#ifndef SS_TIMELINE_MEMBERS_H
#define SS_TIMELINE_MEMBERS_H

#include "timeline/timeline.h"

struct ss_members {
	const struct ss_arrival *arrival; /* NULL: the slice is no collective */
	const struct ss_meeting *meeting; /* NULL: it met nobody */
};

struct ss_members ss_members_of(const struct ss_timeline *timeline, uint32_t file, uint32_t row);

/* The file of a rank of the job; SS_NO_ROW: its trace is not there. */
uint32_t ss_timeline_file_of(const struct ss_timeline *timeline, uint32_t rank_index);

/* What a member waited for the others; -1: not known. */
int64_t ss_members_wait(const struct ss_meeting *meeting, const struct ss_arrival *arrival);

#endif
