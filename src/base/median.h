/* SPDX-License-Identifier: Apache-2.0 */
/*
 * median.h - the median of many numbers without sorting them.
 */
#ifndef SS_BASE_MEDIAN_H
#define SS_BASE_MEDIAN_H

#include "base/error.h"

/*
 * The median of at least one number; of an even number of them what lies halfway between
 * the two in the middle, rounded down. Changes their order.
 */
int64_t ss_median(int64_t *values, size_t count);

/* The number at `rank` (from 0) in sorted order. Changes the order of the array. */
int64_t ss_value_at(int64_t *values, size_t count, size_t rank);

#endif
