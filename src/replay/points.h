/* SPDX-License-Identifier: Apache-2.0 */
/*
 * points.h - rows of threads that have a meaning of their own: runtime calls, DataLoader
 * ranges, compiling, garbage collection, collectives of jobs without devices.
 */
#ifndef SS_REPLAY_POINTS_H
#define SS_REPLAY_POINTS_H

#include "replay/build.h"

#define SS_NO_POINT SS_TASK_KINDS

struct ss_point {
	uint32_t row;
	enum ss_task_kind kind;
};

/* Lives in the scratch memory of the build. Zeroed: empty. */
struct ss_points {
	struct ss_point *items; /* in the order of rows */
	uint32_t count;
	uint32_t *from; /* per track: its first point; the next track's is the end */
	uint32_t *tops; /* rows that nothing is around, in the order of rows */
	uint32_t top_count;
	uint32_t *top_from; /* per track */
};

/* False: no memory. */
SS_MUST_USE
bool ss_points_find(struct ss_points *out, struct ss_build *build);

#endif
