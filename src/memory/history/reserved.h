/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reserved.h - the addresses that a device had reserved when its events begin.
 *
 * Of segments: what is there at the end and was not added on the way, and what is removed on
 * the way and was not added before. Pages of expandable segments come and go in ranges; of
 * those, what is there at the end, less what was mapped, plus what was unmapped.
 */
#ifndef SS_MEMORY_HISTORY_RESERVED_H
#define SS_MEMORY_HISTORY_RESERVED_H

#include "memory/history/history.h"

struct ss_reserved_range {
	uint64_t address, end;
	bool is_pages; /* of expandable segments */
};

struct ss_reserved {
	struct ss_memory *memory;
	struct ss_reserved_range *ranges; /* by address */
	uint32_t count, capacity;
};

/* False at the limit; to be released either way. */
SS_MUST_USE
bool ss_reserved_find(struct ss_reserved *out, const struct ss_history *history,
		      const struct ss_device_memory *device);
void ss_reserved_release(struct ss_reserved *reserved);

#endif
