/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recording.h - what is kept of a trace to compare it with others after it is gone: when
 * and for which run it was recorded, what it lacks, and how large the devices are.
 */
#ifndef SS_LOAD_FILES_RECORDING_H
#define SS_LOAD_FILES_RECORDING_H

#include "memory/subject.h"

struct ss_recording {
	bool is_noted; /* the trace was read */
	bool has_clock;
	int64_t start_ns, end_ns; /* since 1970 */
	int64_t world_size;       /* -1: not recorded */
	uint64_t events;          /* entries of traceEvents */
	uint64_t joined_graphs;   /* device events whose operators a capture tells */
	uint64_t first_step;      /* hash of the name of the first ProfilerStep; 0: there is none */
	bool has_collectives;
	bool is_cut;       /* the file is truncated */
	bool is_damaged;   /* its compressed data fails the check */
	bool lacks_calls;  /* runtime calls are missing, though a device worked */
	bool lacks_device; /* no device events, though there was a device */
	bool lacks_stacks, lacks_shapes, lacks_memory; /* flags that were off */
	bool is_one_step;        /* nothing shows whether its step is complete */
	uint8_t recorder;        /* enum ss_recorder */
	uint8_t step_anchor;     /* enum ss_step_anchor: how its steps were found */
	uint32_t cut_steps;      /* steps that do not count because the file is cut */
	char *run[SS_RUN_FACTS]; /* what the file says about its run; NULL: nothing */
	char *trace_id;          /* of this recording; NULL: not recorded */
	char *device;            /* model of the machine's first; NULL: not recorded */
	struct ss_device_size *sizes;
	uint32_t size_count, size_capacity;
};

/* False at the limit; to be released either way. */
SS_MUST_USE
bool ss_recording_note(struct ss_recording *out, const struct ss_trace *trace,
		       struct ss_memory *memory);
void ss_recording_release(struct ss_recording *recording, struct ss_memory *memory);

#endif
