/* SPDX-License-Identifier: Apache-2.0 */
/*
 * out_of_memory.h - why an allocation failed, and what would have helped.
 *
 * The allocator looks for a free block that is large enough, asks the device for a
 * segment, and releases completely free segments before it gives up. So it failed because
 * no free block was large enough and the device had too little left. The remedy depends on
 * whether the memory was free but fragmented, or not free at all.
 */
#ifndef SS_MEMORY_HOLDERS_OUT_OF_MEMORY_H
#define SS_MEMORY_HOLDERS_OUT_OF_MEMORY_H

#include "memory/holders/held_blocks.h"

enum ss_out_of_memory_cause {
	SS_OOM_UNKNOWN,   /* what was free is not known */
	SS_OOM_FRAGMENTS, /* it was free, in pieces */
	SS_OOM_LEAK,      /* what earlier steps left behind would have been enough */
	SS_OOM_TOO_MUCH,  /* it was not there */
};

struct ss_out_of_memory {
	const struct ss_oom *oom;
	int64_t asked_bytes;
	int64_t device_free_bytes; /* what the device had left; -1: not recorded */
	int64_t missing_bytes;     /* beyond all that was free; 0: it was there in pieces */
	int64_t leaked_bytes;      /* kept by earlier steps */
	int64_t purpose_bytes[SS_PURPOSE_COUNT];
	enum ss_out_of_memory_cause cause;
	bool helps_expandable, helps_split_size; /* at most one of them */
	bool helps_checkpoint, helps_leak_fix;
	bool leaked_at_least; /* the beginning is lost, and what was left behind there */
};

SS_MUST_USE
enum ss_status ss_out_of_memory_find(const struct ss_snapshot_subject *subject,
				     const struct ss_device_memory *device,
				     const struct ss_oom *oom, struct ss_out_of_memory *out,
				     struct ss_error *err);

/* Whether segments that grow are switched on. */
bool ss_out_of_memory_has_expandable(const struct ss_snapshot *snapshot);

/* "it was free, in pieces" */
const char *ss_out_of_memory_cause_text(enum ss_out_of_memory_cause cause);

#endif
