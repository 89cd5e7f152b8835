/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.h - the clock that only moves forward.
 */
#ifndef SS_BASE_SYSTEM_CLOCK_H
#define SS_BASE_SYSTEM_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds since some moment; 0 where there is no such clock. */
static inline int64_t ss_clock_ns(void)
{
	struct timespec now = { 0 };

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#endif
