/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ns.h - saturating sums of durations that come from files.
 *
 * One slice is bounded (SS_SLICE_NS_MAX), and so is one moment, but a file can have any number of
 * them: a sum stops at the largest number that fits instead of turning negative.
 */
#ifndef SS_BASE_NS_H
#define SS_BASE_NS_H

#include <stdint.h>

/* Never INT64_MIN: the result can be negated. */
static inline int64_t ss_ns_sum(int64_t a_ns, int64_t b_ns)
{
	int64_t sum_ns;

	if (__builtin_add_overflow(a_ns, b_ns, &sum_ns))
		return a_ns < 0 ? -INT64_MAX : INT64_MAX;
	return sum_ns;
}

static inline void ss_ns_add(int64_t *sum_ns, int64_t ns)
{
	*sum_ns = ss_ns_sum(*sum_ns, ns);
}

/* May go below 0: callers subtract the sums of parts one after the other. */
static inline void ss_ns_subtract(int64_t *sum_ns, int64_t ns)
{
	int64_t left_ns;

	if (__builtin_sub_overflow(*sum_ns, ns, &left_ns))
		left_ns = ns > 0 ? -INT64_MAX : INT64_MAX;
	*sum_ns = left_ns;
}

#endif
