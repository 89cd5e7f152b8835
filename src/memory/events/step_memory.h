/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_memory.h - the memory of each device in each counted step.
 *
 * The allocator works when the host calls it, so here a step is its range on the CPU. The
 * minimum of a step is what outlives steps: parameters, optimizer state, and leaks. Steps
 * in which a device has no events are left out.
 */
#ifndef SS_MEMORY_EVENTS_STEP_MEMORY_H
#define SS_MEMORY_EVENTS_STEP_MEMORY_H

#include "memory/events/alloc.h"

struct ss_step_memory {
	uint32_t pool, step;
	bool is_host;                                          /* the CPU stands last */
	int64_t start_bytes, min_bytes, peak_bytes, end_bytes; /* allocated */
	int64_t reserved_bytes;                                /* most of it; -1: not recorded */
	int64_t allocations, allocated_bytes;                  /* how many, and their sum */
	int64_t net_bytes;                                     /* less what was freed */
	int64_t kept_bytes; /* of its allocations, not freed in the file */
};

/* Device by device, each in the order of time. */
struct ss_step_memories {
	struct ss_memory *memory;
	struct ss_step_memory *items;
	uint32_t count, capacity;
};

SS_MUST_USE
enum ss_status ss_step_memories_init(struct ss_step_memories *memories,
				     const struct ss_allocs *allocs, struct ss_error *err);
void ss_step_memories_release(struct ss_step_memories *memories);

/* The measured step at that moment, or SS_NO_ROW; `at` begins with 0, moments come in order. */
uint32_t ss_step_memory_step(const struct ss_steps *steps, uint32_t *at, int64_t now_ns);

#endif
