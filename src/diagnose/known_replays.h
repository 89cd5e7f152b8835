/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known_replays.h - replays that have already run: what-if requests the same sets of fixes over
 * and over.
 *
 * The result of a run depends only on its set of fixes, and the fixes of a diagnosis do not
 * change.
 */
#ifndef SS_DIAGNOSE_KNOWN_REPLAYS_H
#define SS_DIAGNOSE_KNOWN_REPLAYS_H

#include "diagnose/account.h"

/* Sets that are remembered: a click asks for a few dozen. */
#define SS_KNOWN_REPLAYS_MAX 4096

struct ss_known_replay {
	uint64_t hash;
	const struct ss_edits **fixes; /* sorted */
	uint32_t count;
	bool has_next;
	int64_t step_ns;
	const char *next; /* what remains; NULL: nothing */
	bool has_parts;
	struct ss_account_parts parts; /* what its time is spent on */
};

struct ss_known_replays {
	struct ss_memory *memory;
	struct ss_arena *arena; /* lent: the sets, and what remains */
	struct ss_known_replay *items;
	uint32_t count, capacity;
};

/* The run of the set, or NULL: it was not run, or is not remembered. Valid until the next add. */
struct ss_known_replay *ss_known_replays_find(const struct ss_known_replays *memo,
					      const struct ss_edits *const *fixes, uint32_t count);

/* Remembers a run, unless there is no memory. */
void ss_known_replays_add(struct ss_known_replays *memo, const struct ss_edits *const *fixes,
			  uint32_t count, int64_t step_ns);
void ss_known_replays_release(struct ss_known_replays *memo);

#endif
