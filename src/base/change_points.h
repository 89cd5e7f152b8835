/* SPDX-License-Identifier: Apache-2.0 */
/*
 * change_points.h - where the level of a series changes for good: a job whose steps take longer
 * from one run on.
 *
 * The series is split where both sides differ most for their noise, and each side again (binary
 * segmentation); at the end every split is tested once more against its neighbours alone. The
 * noise comes from the differences of neighbours (their median absolute deviation), so that
 * changes of the level are not part of it. A split counts if it exceeds the largest that noise
 * has in a series of this length, and a share of the level. A single odd run is no change.
 */
#ifndef SS_BASE_CHANGE_POINTS_H
#define SS_BASE_CHANGE_POINTS_H

#include "base/memory.h"

/* Values on each side, at least: fewer could be a short disturbance. */
#define SS_CHANGE_SIDE_MIN 3

struct ss_change_point {
	uint32_t at;          /* index of the first value of the new level */
	double before, after; /* medians, up to the neighbouring change points */
	double score;         /* the difference in standard deviations of its noise */
};

struct ss_change_points {
	struct ss_change_point *items; /* by index; in the arena */
	uint32_t count;
	double noise; /* standard deviation of a value */
};

/* Changes of at least this share of the level before; false: no memory. */
SS_MUST_USE
bool ss_change_points_find(struct ss_change_points *out, const double *values, uint32_t count,
			   double least_share, struct ss_arena *arena);

#endif
