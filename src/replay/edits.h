/* SPDX-License-Identifier: Apache-2.0 */
/*
 * edits.h - what a fix changes: tasks with another duration, waits that are removed.
 *
 * A fix of a large job edits millions of tasks, most of them alike, rank after rank. What
 * neighbours share is stored once. Each edit adds the distance of its task from the previous one
 * and its time, with 7 bits per byte: 1 to 4 bytes per edit. They are stored in chunks: a list that
 * moves when it grows would fragment memory.
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
	bool subtracts; /* what own_ns is shorter is removed on top of what other edits remove */
	float scale; /* what is left of its time is multiplied by this at the end; 0: not scaled */
};

/* No fix makes a task longer than this many times. */
#define SS_EDIT_SCALE_MAX 7

struct ss_edits_chunk {
	struct ss_edits_chunk *next;
	uint32_t used, room; /* bytes */
	uint8_t bytes[];
};

/* Zeroed: empty. */
struct ss_edits {
	struct ss_memory *memory;
	struct ss_edits_chunk *first, *last;
	uint32_t count, last_task;
	struct ss_edit *stretches; /* what neighbours share; task is the number of the first edit,
				    * own_ns the least that they can have */
	uint32_t stretch_count, stretch_capacity;
	bool subtracts, scales; /* at least one of them does */
};

void ss_edits_init(struct ss_edits *edits, struct ss_memory *memory);
void ss_edits_release(struct ss_edits *edits);
SS_MUST_USE bool ss_edits_add(struct ss_edits *edits, struct ss_edit edit);

/* Visits the edits in their order. Zeroed: before the first. */
struct ss_edits_visit {
	uint32_t at, stretch;
	const struct ss_edits_chunk *chunk;
	const uint8_t *byte, *end; /* in the chunk */
	struct ss_edit edit;
};

static inline uint64_t ss_edits_number(struct ss_edits_visit *visit)
{
	uint64_t value = 0, byte;
	uint32_t shift = 0;

	do {
		byte = *visit->byte++;
		value |= (byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	return value;
}

/* False: no more. */
static inline bool ss_edits_next(const struct ss_edits *edits, struct ss_edits_visit *visit)
{
	uint32_t behind, task = visit->edit.task;
	uint64_t number;

	if (visit->at == edits->count)
		return false;
	if (visit->byte == visit->end) {
		visit->chunk = visit->chunk ? visit->chunk->next : edits->first;
		visit->byte = visit->chunk->bytes;
		visit->end = visit->chunk->bytes + visit->chunk->used;
	}
	if (visit->stretch < edits->stretch_count &&
	    edits->stretches[visit->stretch].task == visit->at)
		visit->edit = edits->stretches[visit->stretch++];
	number = ss_edits_number(visit);
	behind = (uint32_t)(number >> 1);
	visit->edit.task = task + (behind >> 1 ^ (behind & 1 ? UINT32_MAX : 0));
	visit->edit.own_ns = edits->stretches[visit->stretch - 1].own_ns;
	/* the shortest time has no number of its own */
	if (number & 1)
		visit->edit.own_ns += (int64_t)ss_edits_number(visit);
	visit->at++;
	return true;
}

#endif
