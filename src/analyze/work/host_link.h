/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_link.h - how fast a device can be fed from host memory: copies of a trace by
 * direction and kind of memory, and what copies from pinned memory reach.
 */
#ifndef SS_ANALYZE_WORK_HOST_LINK_H
#define SS_ANALYZE_WORK_HOST_LINK_H

#include "trace/trace.h"

enum ss_copy_way { SS_COPY_IN, SS_COPY_OUT, SS_COPY_WAYS };

enum ss_copy_memory {
	SS_COPY_NONE = 0, /* no copy between host and device */
	SS_COPY_PAGEABLE,
	SS_COPY_PINNED,
	SS_COPY_HOST, /* the name does not say which of the two */
};

struct ss_copy_kind {
	uint8_t memory; /* enum ss_copy_memory */
	uint8_t way;    /* enum ss_copy_way */
};

struct ss_host_link {
	struct ss_copy_kind *kinds; /* per name */
	double rate[SS_COPY_WAYS];  /* of pinned memory, bytes per second; 0: unknown */
	double most[SS_COPY_WAYS];  /* what the link allows at best */
	bool is_measured[SS_COPY_WAYS];
};

/* `device` is a number; texts and arrays are in the arena. False: no memory. */
SS_MUST_USE
bool ss_host_link_init(struct ss_host_link *link, const struct ss_trace *trace, int64_t device,
		       struct ss_arena *arena);

/* The size of a copy; -1: not recorded. */
int64_t ss_copy_bytes(const struct ss_trace *trace, uint32_t row);

/*
 * Whether its call lasted until half of the copy was done: analyze/time/waits.c says why half.
 */
bool ss_copy_blocks_host(const struct ss_trace *trace, uint32_t row);

#endif
