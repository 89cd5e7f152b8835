/* SPDX-License-Identifier: Apache-2.0 */
/*
 * median.h - the median of many numbers without sorting them.
 */
#ifndef SS_BASE_MEDIAN_H
#define SS_BASE_MEDIAN_H

#include "base/error.h"

/*
 * The median of at least one number; of an even count the mean of the two in the middle, rounded
 * down. Changes the order of the array.
 */
int64_t ss_median(int64_t *values, size_t count);

/* The same of doubles, which it sorts: their mean is not rounded. */
double ss_median_double(double *values, size_t count);

/* The number at `rank` (from 0) in sorted order. Changes the order of the array. */
int64_t ss_nth_smallest(int64_t *values, size_t count, size_t rank);

/*
 * The two numbers in the middle. The median of all numbers but one follows from them, so each
 * number can be compared with the median of the others without another pass. Of two middle numbers
 * the median here is the lower one, of no numbers it is 0.
 */
struct ss_middle {
	int64_t low, high;
	size_t count;
};

/* Changes the order of the array. */
struct ss_middle ss_middle_of(int64_t *values, size_t count);
int64_t ss_middle_median(const struct ss_middle *middle);

/* The median without one of the numbers, which is `value`. */
int64_t ss_middle_without(const struct ss_middle *middle, int64_t value);

#endif
