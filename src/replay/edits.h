/* SPDX-License-Identifier: Apache-2.0 */
/*
 * edits.h - what a fix changes: tasks with another duration, waits that are removed.
 *
 * A fix of a large job edits millions of tasks, mostly alike and rank after rank. What neighbours
 * share is kept once, so an edit takes 8 bytes.
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

struct ss_edits_item {
	uint32_t task;
	uint32_t own_ns; /* more than that of its stretch */
};

/* Zeroed: empty. */
struct ss_edits {
	struct ss_memory *memory;
	struct ss_edits_item *items;
	uint32_t count, capacity;
	struct ss_edit *stretches; /* what neighbours share; task is the number of the first item,
				    * own_ns the least that they can have */
	uint32_t stretch_count, stretch_capacity;
	bool subtracts, scales; /* one of them does */
};

void ss_edits_init(struct ss_edits *edits, struct ss_memory *memory);
void ss_edits_release(struct ss_edits *edits);
SS_MUST_USE bool ss_edits_add(struct ss_edits *edits, struct ss_edit edit);

/* Visits the edits in their order. Zeroed: before the first. */
struct ss_edits_visit {
	uint32_t at, stretch;
	struct ss_edit edit;
};

/* False: no more. */
static inline bool ss_edits_next(const struct ss_edits *edits, struct ss_edits_visit *visit)
{
	const struct ss_edits_item *item;

	if (visit->at == edits->count)
		return false;
	item = &edits->items[visit->at];
	if (visit->stretch < edits->stretch_count &&
	    edits->stretches[visit->stretch].task == visit->at)
		visit->edit = edits->stretches[visit->stretch++];
	visit->edit.task = item->task;
	visit->edit.own_ns = edits->stretches[visit->stretch - 1].own_ns + item->own_ns;
	visit->at++;
	return true;
}

#endif
