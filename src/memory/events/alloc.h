/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alloc.h - every tensor allocation, how long it lived, and who made it.
 *
 * An allocation ends with the next event of its device and address: its free, or another
 * allocation if the free was not recorded. It is charged to the innermost operator of its
 * thread at that moment, and a free to the operator of its allocation. Nearly all memory
 * comes from a few operators that only allocate (aten::empty): the holder is the operator
 * that called them.
 */
#ifndef SS_MEMORY_EVENTS_ALLOC_H
#define SS_MEMORY_EVENTS_ALLOC_H

#include "analyze/facts.h"
#include "memory/events/pools.h"

struct ss_allocs {
	const struct ss_trace *trace;
	struct ss_memory *memory;
	struct ss_pools pools;
	uint32_t event_count; /* the columns below are as long: events of trace->allocations */
	uint32_t *pair;   /* of an allocation what ended it, of a free its allocation; SS_NO_ROW */
	uint32_t *place;  /* innermost host row of its thread then; of a free: of its allocation */
	uint32_t *op;     /* innermost operator, or SS_NO_ROW */
	uint32_t *holder; /* innermost operator that does more than allocate, else op */
	bool has_addresses;
};

SS_MUST_USE
enum ss_status ss_allocs_init(struct ss_allocs *allocs, const struct ss_trace *trace,
			      struct ss_memory *memory, struct ss_error *err);
void ss_allocs_release(struct ss_allocs *allocs);

/* Those of a trace, made on first use and shared by its views and rules. */
SS_MUST_USE
enum ss_status ss_allocs_of_facts(struct ss_facts *facts, const struct ss_allocs **out,
				  struct ss_error *err);

/*
 * Fills `pair`, as above: the one place that says which event ends which, for views of traces
 * and for snapshots made of them. False at the limit.
 */
SS_MUST_USE
bool ss_allocs_pair(const struct ss_pools *pools, uint32_t *pair, bool *has_addresses);

/* The step around a moment by its range on the CPU, numbered in the file from 0; -1: none. */
int64_t ss_allocs_step_around(const struct ss_step *steps, uint32_t count, int64_t at_ns);

/* True for an event that allocated memory; a failed allocation did not. */
static inline bool ss_allocs_is_made(const struct ss_allocs *allocs, uint32_t event)
{
	return allocs->trace->allocations.bytes[event] > 0 &&
	       !allocs->trace->allocations.out_of_memory[event];
}

/* The free of an allocation, or SS_NO_ROW: alive at the end, or its free was not recorded. */
static inline uint32_t ss_allocs_freed(const struct ss_allocs *allocs, uint32_t event)
{
	uint32_t pair = allocs->pair[event];

	return pair != SS_NO_ROW && allocs->trace->allocations.bytes[pair] < 0 ? pair : SS_NO_ROW;
}

/* Is the allocation known to be alive right after another event? */
static inline bool ss_allocs_is_alive(const struct ss_allocs *allocs, uint32_t event, uint32_t at)
{
	return event <= at && (allocs->pair[event] == SS_NO_ROW || allocs->pair[event] > at) &&
	       allocs->trace->allocations.address[event] && ss_allocs_is_made(allocs, event);
}

/* Whether an operator only allocates memory for its caller: aten::empty. */
bool ss_allocs_only_allocates(const char *name);

/* How far the events of a thread have been followed. */
struct ss_allocs_walk {
	uint32_t next; /* first row of the thread that has not begun, from 0 */
	uint32_t open; /* innermost row that has not ended, or SS_NO_ROW: where it starts */
};

/*
 * The innermost row of the event's thread then, or SS_NO_ROW. Events come in the order of
 * time, so what has ended for one has ended for all that follow. The end belongs to the row:
 * old files cut times to microseconds.
 */
uint32_t ss_allocs_walk_to(struct ss_allocs_walk *walk, const struct ss_trace *trace,
			   uint32_t event);

/* A note where addresses are not recorded, so that nobody knows what was freed. */
void ss_allocs_note(const struct ss_allocs *allocs, struct ss_table *out);

#endif
