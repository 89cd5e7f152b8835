/* SPDX-License-Identifier: Apache-2.0 */
/*
 * growth.h - the memory of each device in each counted step, and what grows from step to
 * step: memory that is kept (a leak), and memory that is reserved but cannot be used
 * (fragmentation).
 *
 * The allocator works when the host calls it, so here a step is its range on the CPU. The
 * minimum of a step is what outlives steps: parameters, optimizer state, and leaks. Steps
 * in which a device has no events are left out.
 */
#ifndef SS_MEMORY_EVENTS_GROWTH_H
#define SS_MEMORY_EVENTS_GROWTH_H

#include "memory/events/alloc.h"

struct ss_growth_step {
	uint32_t pool, step;
	bool is_host;                                          /* the CPU stands last */
	int64_t start_bytes, min_bytes, peak_bytes, end_bytes; /* allocated */
	int64_t reserved_bytes;                                /* most of it; -1: not recorded */
	int64_t allocations, allocated_bytes;                  /* how many, and their sum */
	int64_t net_bytes;                                     /* less what was freed */
	int64_t kept_bytes; /* of its allocations, not freed in the file */
};

/* Device by device, each in the order of time. */
struct ss_growth {
	struct ss_memory *memory;
	struct ss_growth_step *items;
	uint32_t count, capacity;
};

SS_MUST_USE
enum ss_status ss_growth_init(struct ss_growth *memories, const struct ss_allocs *allocs,
			      struct ss_error *err);
void ss_growth_release(struct ss_growth *memories);

/* Memory that grows from each step to the next and is never freed. */
struct ss_leak {
	uint32_t pool, steps;
	uint32_t rises;       /* that are judged: from step to step, without the first of several */
	int64_t growth_bytes; /* of the lowest points, in these */
	int64_t kept_bytes;   /* allocated in the steps before them and never freed */
	int64_t most_bytes;   /* of that, what one operator on one line allocated ... */
	uint32_t op, place;   /* ... host rows of it, or SS_NO_ROW */
};

/* What is allocated stays, and ever more is reserved. */
struct ss_fragmentation {
	uint32_t pool, steps;
	int64_t first_bytes, last_bytes; /* reserved in the first and in the last step */
	int64_t peak_bytes;              /* most that was allocated in any */
};

/*
 * Looks at the device whose steps begin at items[from]; `next` is where those of the
 * next one begin. False: none.
 */
bool ss_leak_find(const struct ss_growth *memories, uint32_t from, uint32_t *next,
		  struct ss_leak *out);
bool ss_fragmentation_find(const struct ss_growth *memories, uint32_t from, uint32_t *next,
			   struct ss_fragmentation *out);

/* Fills op, place and most_bytes of all leaks, which are of different devices. */
SS_MUST_USE
enum ss_status ss_leaks_blame(const struct ss_allocs *allocs, const uint32_t *lines,
			      struct ss_leak *leaks, uint32_t count, struct ss_error *err);

#endif
