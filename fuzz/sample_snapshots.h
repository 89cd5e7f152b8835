/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_snapshots.h - small snapshots of memory, as pickles and as a memory timeline.
 */
#ifndef SS_FUZZ_SAMPLE_SNAPSHOTS_H
#define SS_FUZZ_SAMPLE_SNAPSHOTS_H

#include <stdio.h>

/*
 * Device 0: steps that keep a block each, a segment that is given back, and an allocation that
 * failed; device 1: pages of an expandable segment, and a block that a stream still uses; then
 * a device without events, and pinned memory of the host.
 */
void write_sample_snapshot(FILE *file, unsigned steps);

/* The form of before there were events: segments alone. */
void write_sample_old(FILE *file);

/* A memory timeline of the profiler, which has no devices. */
void write_sample_timeline(FILE *file);

#endif
