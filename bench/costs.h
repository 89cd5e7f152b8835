/* SPDX-License-Identifier: Apache-2.0 */
/*
 * costs.h - what the programs that measure costs share: clocks, and how they end. Define
 * COSTS_NAME, the program's name, before including it.
 */
#ifndef SS_BENCH_COSTS_H
#define SS_BENCH_COSTS_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline double seconds_of(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static inline double cpu_seconds(void)
{
	return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

static inline _Noreturn void fail(const char *text)
{
	fprintf(stderr, "%s: %s\n", COSTS_NAME, text);
	exit(1);
}

#endif
