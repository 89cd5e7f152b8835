/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retained.h - what was allocated in the events and never freed, line by line, and what of it
 * grows.
 *
 * A leak is told by these together: blocks of one stack outlive the step they were made in,
 * one step after the other up to the last one that is over; in most of the steps that the
 * stack is seen in, as what is read ahead is kept for a few steps and freed; and what stays is
 * as large at the end as it ever was. Three steps are asked for, as first steps make what
 * stays; two will do where the recording has no third and the stack is one of forward or of
 * the loop itself, where nothing has to outlive its step. Without steps nothing is called a
 * leak.
 */
#ifndef SS_SNAPSHOT_HOLDERS_RETAINED_H
#define SS_SNAPSHOT_HOLDERS_RETAINED_H

#include "snapshot/subject.h"
#include "snapshot/training_steps.h"

struct ss_retained_line {
	uint32_t line;  /* id in ss_stack_places.texts; 0: no stack */
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
	struct ss_training_steps rounds;
	struct ss_retained_line *lines; /* leaks first, then by bytes */
	uint32_t count, capacity;
	uint32_t complete_steps; /* rounds that are over, with those before the first step */
	int64_t leak_step_bytes; /* of all lines */
};

SS_MUST_USE
enum ss_status ss_retained_init(struct ss_retained *kept, const struct ss_snapshot_subject *subject,
				const struct ss_device_memory *device, struct ss_error *err);
void ss_retained_release(struct ss_retained *kept);

#endif
