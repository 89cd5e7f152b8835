/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checkpoint.h - what the peak would be if each run of a call were checkpointed.
 *
 * The events are replayed once more. What a run of the call made in forward and still
 * holds when it ends would not be kept, except for the last live block: the run's result,
 * from which the next one starts. Backward recomputes a run before it frees the first of
 * its blocks: from then on, its remaining blocks are there as recorded.
 */
#ifndef SS_MEMORY_HOLDERS_CHECKPOINT_H
#define SS_MEMORY_HOLDERS_CHECKPOINT_H

#include "memory/holders/calls.h"

/* How a call is seen on stacks. */
struct ss_call_sight {
	const uint32_t *inside; /* per stack: what runs right inside of it; 0: it is not there */
	uint32_t room;          /* ids of `inside` are below this */
	uint32_t turns;         /* of what is seen inside, in each run: 1 or more */
	bool is_module;         /* each one inside is a run of its own */
};

/* Leaves what the peak would be less; 0 where another moment is as high. */
SS_MUST_USE
enum ss_status ss_checkpoint_try(const struct ss_snapshot_subject *subject,
				 const struct ss_device_memory *device,
				 const struct ss_call_sight *sight, int64_t *saved_bytes,
				 struct ss_error *err);

#endif
