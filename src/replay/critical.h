/* SPDX-License-Identifier: Apache-2.0 */
/*
 * critical.h - the critical path: what the end of the job waited for, what that waited
 * for, and so on back to the start of the steps.
 *
 * Work that is not on it can get faster without making the job faster. Its pieces are
 * contiguous: they add up to the time of the steps exactly.
 */
#ifndef SS_REPLAY_CRITICAL_H
#define SS_REPLAY_CRITICAL_H

#include "replay/replay.h"

enum ss_critical_part {
	SS_CRITICAL_COMPUTE,
	SS_CRITICAL_COMM,
	SS_CRITICAL_COPY,
	SS_CRITICAL_HOST,
	SS_CRITICAL_LAUNCH,  /* calls that launch, and the way from call to device */
	SS_CRITICAL_LATENCY, /* between two pieces of work that are both queued */
	SS_CRITICAL_SYNC,    /* calls that wait, and the way back from the device */
	SS_CRITICAL_INPUT,
	SS_CRITICAL_ALLOCATOR,
	SS_CRITICAL_COMPILE,
	SS_CRITICAL_GC,
	SS_CRITICAL_UNEXPLAINED, /* delays that no edge explains */
	SS_CRITICAL_PARTS,
};

const char *ss_critical_name(enum ss_critical_part part);

struct ss_critical_piece {
	int64_t start_ns, end_ns; /* on the job's clock */
	uint32_t rank, task;
	enum ss_critical_part part;
};

/* Zeroed: empty. */
struct ss_critical {
	struct ss_memory *memory;
	struct ss_critical_piece *pieces; /* the last one first */
	uint32_t count, capacity;
	int64_t length_ns; /* of all of it */
};

/* The path of the last run. */
SS_MUST_USE
enum ss_status ss_critical_find(struct ss_critical *path, const struct ss_replay *replay,
				struct ss_memory *memory, struct ss_error *err);
void ss_critical_release(struct ss_critical *path);

#endif
