/*
 * median.h - the middle of many numbers without sorting them.
 */
#ifndef SS_ANALYZE_MEDIAN_H
#define SS_ANALYZE_MEDIAN_H

#include "base/memory.h"

/*
 * The median of at least one number; of an even number of them what lies halfway between
 * the two in the middle, rounded down. Changes their order.
 */
int64_t ss_median(int64_t *values, size_t count);

#endif
