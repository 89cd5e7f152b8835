/* SPDX-License-Identifier: Apache-2.0 */
/*
 * overlap.h - which compute kernels overlapped the communication of a device.
 *
 * Each moment at which both ran is charged to one kernel: the running one that started
 * first. So the parts add up to |U(C) & U(K)| exactly.
 */
#ifndef SS_ANALYZE_TIME_OVERLAP_H
#define SS_ANALYZE_TIME_OVERLAP_H

#include "analyze/time/cover.h"
#include "trace/trace.h"

/* How much of a cover lies in an interval, by two searches. */
struct ss_cover_index {
	const struct ss_cover *cover;
	int64_t *before_ns; /* length of all intervals before each */
};

/* False: no memory. The index lives as long as the arena. */
SS_MUST_USE
bool ss_cover_index_init(struct ss_cover_index *index, const struct ss_cover *cover,
			 struct ss_arena *arena);

int64_t ss_cover_index_in(const struct ss_cover_index *index, int64_t from_ns, int64_t to_ns);

struct ss_overlapping {
	uint32_t name;
	int64_t calls, hidden_ns;
};

/* Adds the kernels of the device to hiders[], indexed by name; false: no memory. */
SS_MUST_USE
bool ss_overlap_count(const struct ss_trace *trace, int64_t device, const struct ss_cover *comm,
		      struct ss_arena *scratch, struct ss_overlapping *hiders);

#endif
