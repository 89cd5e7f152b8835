/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay_parts.h - what replay.c is made of: collectives that join the ranks, and the order of all
 * tasks.
 */
#ifndef SS_REPLAY_REPLAY_PARTS_H
#define SS_REPLAY_REPLAY_PARTS_H

#include "replay/replay.h"

/* Zeroed, with room for one more; sets `whole` to false without memory. */
static inline void *ss_replay_array(struct ss_replay *replay, size_t count, size_t size,
				    bool *whole)
{
	void *items = ss_memory_zeroed(replay->memory, (count + 1) * size);

	*whole &= items != NULL;
	return items;
}

static inline void ss_replay_free_array(struct ss_replay *replay, void *items, size_t count,
					size_t size)
{
	ss_memory_free(replay->memory, items, (count + 1) * size);
}

/* collectives.c: fills collectives, members and clocks; NULL: the ranks do not meet. */
SS_MUST_USE bool ss_replay_join(struct ss_replay *replay, const struct ss_joined *joined);

/*
 * collectives.c: transfers begin when the last member arrives, in the graphs of the ranks, too.
 * False: no memory.
 */
SS_MUST_USE bool ss_replay_settle(struct ss_replay *replay);

/* Makes the graphs, which are lent, as they were before. */
void ss_replay_unsettle(struct ss_replay *replay);

/*
 * collectives.c: fills replay->order, in which each task comes after what it waits for. Edges that
 * close a circle (clocks and matches of files can be wrong) are taken out and counted. False: no
 * memory.
 */
SS_MUST_USE
bool ss_replay_sort(struct ss_replay *replay);

#endif
