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
#define SS_RUNS_KEPT 4096

struct ss_run {
	uint64_t hash;
	const struct ss_edits **fixes; /* sorted */
	uint32_t count;
	bool has_next;
	int64_t step_ns;
	const char *next; /* what remains; NULL: nothing */
	bool has_parts;
	struct ss_account_parts parts; /* what its time is spent on */
};

struct ss_run_memo {
	struct ss_memory *memory;
	struct ss_arena *arena; /* lent: the sets, and what remains */
	struct ss_run *items;
	uint32_t count, capacity;
};

/* The run of the set, or NULL: it was not run, or is not remembered. Valid until the next add. */
struct ss_run *ss_run_find(const struct ss_run_memo *memo, const struct ss_edits *const *fixes,
			   uint32_t count);

/* Remembers a run; where there is no memory it is not. */
void ss_run_add(struct ss_run_memo *memo, const struct ss_edits *const *fixes, uint32_t count,
		int64_t step_ns);
void ss_run_memo_release(struct ss_run_memo *memo);

#endif
