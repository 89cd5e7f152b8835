/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.h - the clock that only moves forward; moments of the wall clock as texts.
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

/* As people read it, and the bytes that it needs. */
#define SS_CLOCK_SHOWN "%Y-%m-%d %H:%M:%S"
#define SS_CLOCK_SHOWN_BYTES 24

/* Writes a moment since 1970 in the form of strftime(); "" where that is no date. */
static inline void ss_clock_utc(int64_t ns, const char *form, char *out, size_t room)
{
	time_t seconds = (time_t)(ns / 1000000000);
	struct tm parts;

	*out = '\0';
	if (!gmtime_r(&seconds, &parts) || !strftime(out, room, form, &parts))
		*out = '\0';
}

#endif
