/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retained.h - what was allocated in the events and never freed, by source line, and which
 * of it grows.
 *
 * A leak has all of these signs: blocks of one stack outlive the step in which they were
 * made, in consecutive steps up to the last complete one; this happens in most of the
 * steps in which the stack occurs (prefetched data is kept for a few steps and then
 * freed); and what remains is as large at the end as it ever was. This needs three steps,
 * because the first steps create what stays; two are enough if the recording has no third
 * and the stack is in forward or in the loop itself, where nothing has to outlive its
 * step. Without steps, nothing is called a leak.
 */
#ifndef SS_MEMORY_HOLDERS_RETAINED_H
#define SS_MEMORY_HOLDERS_RETAINED_H

#include "memory/subject.h"
#include "memory/training_steps.h"

struct ss_retained_line {
	uint32_t line;  /* id in ss_snapshot_places.texts; 0: no stack */
	uint32_t stack; /* of the most that is kept */
	int64_t stack_bytes;
	int64_t bytes;           /* of blocks */
	int64_t requested_bytes; /* of the same */
	uint32_t blocks;         /* kept */
	uint32_t made;           /* allocations of the line */
	uint32_t first_row, last_row;
	uint32_t leak_steps;     /* steps in a row that keep something; 0: no leak */
	int64_t leak_step_bytes; /* what was asked for in each, on average */
	uint8_t purpose;         /* enum ss_purpose */
};

struct ss_retained {
	struct ss_memory *memory;
	struct ss_snapshot_steps rounds;
	struct ss_retained_line *lines; /* leaks first, then by bytes */
	uint32_t count, capacity;
	uint32_t complete_steps; /* rounds that are over, with those before the first step */
	int64_t leak_step_bytes; /* of all lines */
};

SS_MUST_USE
enum ss_status ss_retained_init(struct ss_retained *retained,
				const struct ss_snapshot_subject *subject,
				const struct ss_device_memory *device, struct ss_error *err);
void ss_retained_release(struct ss_retained *retained);

#endif
