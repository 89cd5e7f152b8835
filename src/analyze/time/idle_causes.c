/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle_causes.c - what the causes of idle time are called.
 */
#include "analyze/time/idle.h"

static const char *const idle_cause_names[] = {
	[SS_IDLE_PROFILER] = "profiler",     [SS_IDLE_INPUT] = "input",
	[SS_IDLE_ALLOCATOR] = "allocator",   [SS_IDLE_COMPILE] = "compile",
	[SS_IDLE_GC] = "garbage collection", [SS_IDLE_SYNC] = "sync",
	[SS_IDLE_LAUNCH] = "launch-bound",   [SS_IDLE_LATENCY] = "launch latency",
	[SS_IDLE_DEPENDENCY] = "dependency", [SS_IDLE_UNKNOWN] = "unattributed",
};

const char *ss_idle_name(enum ss_idle_cause cause)
{
	return idle_cause_names[cause];
}

static const char *const idle_cause_abouts[] = {
	[SS_IDLE_PROFILER] = "the profiler did its own work",
	[SS_IDLE_INPUT] = "the host waited for the next batch or prepared it",
	[SS_IDLE_ALLOCATOR] = "the host was in the GPU memory allocator",
	[SS_IDLE_COMPILE] = "the host compiled code or looked up compiled code",
	[SS_IDLE_GC] = "Python ran garbage collection",
	[SS_IDLE_SYNC] = "the host waited for the GPU before it launched more work",
	[SS_IDLE_LAUNCH] = "the host launched kernels more slowly than the GPU finished them",
	[SS_IDLE_LATENCY] = "time from the launch to the start on the GPU",
	[SS_IDLE_DEPENDENCY] = "launched in time: the work waited for another GPU of the file",
	[SS_IDLE_UNKNOWN] = "the trace does not show why",
};

const char *ss_idle_about(enum ss_idle_cause cause)
{
	return idle_cause_abouts[cause];
}

enum ss_idle_cause ss_idle_gap_cause(const struct ss_gap *gap)
{
	enum ss_idle_cause best = SS_IDLE_UNKNOWN;

	for (int i = 0; i < SS_IDLE_CAUSES; i++)
		if (gap->cause_ns[i] > gap->cause_ns[best])
			best = (enum ss_idle_cause)i;
	return best;
}
