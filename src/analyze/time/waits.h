/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waits.h - host syncs: where the host waited for the device, and the idle time each one
 * caused.
 *
 * A host sync is a synchronize call, a copy call that is synchronous by name, or a copy
 * call that returned only when the device was done (pageable memory). A wait inside a wait
 * (synchronizeStream > synchronize) is part of it.
 */
#ifndef SS_ANALYZE_TIME_WAITS_H
#define SS_ANALYZE_TIME_WAITS_H

#include "analyze/time/idle.h"

/* The part of a gap that a wait causes. */
struct ss_wait_idle {
	uint32_t row;
	uint32_t step; /* among the steps of ss_steps_cover() */
	int64_t idle_ns;
};

struct ss_waits {
	struct ss_memory *memory;
	uint32_t row_count; /* of host rows */
	uint32_t *wait;     /* per host row: itself where it is a wait */
	struct ss_wait_idle *idle;
	uint32_t idle_count, idle_capacity;
};

SS_MUST_USE
enum ss_status ss_waits_init(struct ss_waits *waits, const struct ss_idle *idle,
			     struct ss_memory *memory, struct ss_error *err);
void ss_waits_release(struct ss_waits *waits);

#endif
