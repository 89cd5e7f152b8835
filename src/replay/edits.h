/* SPDX-License-Identifier: Apache-2.0 */
/*
 * edits.h - what a fix changes: tasks with another duration, waits that are removed.
 *
 * A fix of a large job edits millions of tasks, mostly alike and rank after rank. What neighbours
 * share is kept once; of each there are how far its task is behind the one before, and its time,
 * with 7 bits in a byte: 2 to 4 bytes an edit.
 */
#ifndef SS_REPLAY_EDITS_H
#define SS_REPLAY_EDITS_H

#include "base/memory.h"

struct ss_edit {
	uint32_t task;  /* of the graph of `rank`; SS_NO_TASK: none */
	uint32_t rank;  /* index into the ranks of the replay */
	int64_t own_ns; /* instead of the recorded one */
	bool releases;  /* no longer waits: SS_TASK_WAIT for the device, SS_TASK_JOIN for the
			 * other thread or process, SS_TASK_TRANSFER for the other members */
	bool unlocks;   /* its delay is gone, too */
	bool merges;    /* part of the work before it on its stream: no gap between them */
	bool subtracts; /* what own_ns is less goes, on top of what other edits take of the task */
	float scale;    /* what is left of its time is multiplied by this at last; 0: it is not */
};

/* No fix makes a task longer than this many times. */
#define SS_EDIT_SCALE_MAX 7

/* Zeroed: empty. */
struct ss_edits {
	struct ss_memory *memory;
	uint8_t *bytes;
	uint32_t byte_count, byte_capacity;
	uint32_t count, last_task;
	struct ss_edit *stretches; /* what neighbours share; task is the number of the first edit,
				    * own_ns the least that they can have */
	uint32_t stretch_count, stretch_capacity;
	bool subtracts, scales; /* one of them does */
};

void ss_edits_init(struct ss_edits *edits, struct ss_memory *memory);
void ss_edits_release(struct ss_edits *edits);
SS_MUST_USE bool ss_edits_add(struct ss_edits *edits, struct ss_edit edit);

/* Visits the edits in their order. Zeroed: before the first. */
struct ss_edits_visit {
	uint32_t at, stretch, byte;
	struct ss_edit edit;
};

static inline uint32_t ss_edits_number(const struct ss_edits *edits, struct ss_edits_visit *visit)
{
	uint32_t value = 0, shift = 0, byte;

	do {
		byte = edits->bytes[visit->byte++];
		value |= (byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	return value;
}

/* False: no more. */
static inline bool ss_edits_next(const struct ss_edits *edits, struct ss_edits_visit *visit)
{
	uint32_t behind, task = visit->edit.task;

	if (visit->at == edits->count)
		return false;
	if (visit->stretch < edits->stretch_count &&
	    edits->stretches[visit->stretch].task == visit->at)
		visit->edit = edits->stretches[visit->stretch++];
	behind = ss_edits_number(edits, visit);
	visit->edit.task = task + (behind >> 1 ^ (behind & 1 ? UINT32_MAX : 0));
	visit->edit.own_ns = edits->stretches[visit->stretch - 1].own_ns +
			     ss_edits_number(edits, visit);
	visit->at++;
	return true;
}

#endif
