/* SPDX-License-Identifier: Apache-2.0 */
/*
 * time_slices.h - a device that another process uses as well.
 *
 * Launched work does not start, nothing of this process runs, and this lasts equally long
 * each time: the device is shared in time slices, and the other process is not in the
 * file.
 */
#ifndef SS_DIAGNOSE_STRAGGLERS_TIME_SLICES_H
#define SS_DIAGNOSE_STRAGGLERS_TIME_SLICES_H

#include "ranks/digest.h"

struct ss_time_slices {
	uint32_t count;   /* gaps of the same length; 0: there are none */
	int64_t slice_ns; /* their length: the median */
	int64_t sum_ns;   /* of all of them */
};

/* `scratch` has room for one value a gap of the rank. */
struct ss_time_slices ss_time_slices_find(const struct ss_digest *rank, int64_t *scratch);

#endif
