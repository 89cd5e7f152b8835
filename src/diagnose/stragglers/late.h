/* SPDX-License-Identifier: Apache-2.0 */
/*
 * late.h - who arrives late at collectives, step by step, and what it did before.
 *
 * All ranks leave a symmetric collective together, so between two collectives on a stream
 * all start at the same moment: a rank that arrives later did more, or waited elsewhere.
 * Each part of what a rank did since then is compared with the median of the members; the
 * parts it spent more time on made it late. Time in other communicators is inherited:
 * another rank caused that lateness.
 */
#ifndef SS_DIAGNOSE_STRAGGLERS_LATE_H
#define SS_DIAGNOSE_STRAGGLERS_LATE_H

#include "ranks/join.h"

/* One rank in one step. */
struct ss_late_step {
	int64_t late_ns;      /* how much later than the first member it arrived, sum */
	int64_t worst_ns;     /* the most in one collective */
	int64_t inherited_ns; /* of that, because it waited in other communicators */
	int64_t gain_ns;      /* how much earlier all would have left without it alone */
	int64_t lost_ns; /* sum of the others' waits for it after the second last had arrived */
	int64_t own_ns[SS_OWN_PARTS]; /* the rest of late_ns, by what it did more of */
};

struct ss_lateness {
	struct ss_arena *arena;
	uint32_t rank_count, step_count;
	uint32_t *numbers;          /* of the steps */
	struct ss_late_step *items; /* rank after rank */
	int64_t *step_ns;           /* per rank: mean time of a step; 0: none */
};

SS_MUST_USE
bool ss_late_find(struct ss_lateness *lateness, const struct ss_joined *joined,
		  struct ss_arena *arena);

/* The lateness that it causes itself: another rank caused what it inherited. */
static inline int64_t ss_late_step_own(const struct ss_late_step *step)
{
	return step->late_ns - step->inherited_ns;
}

static inline const struct ss_late_step *ss_late_step_of(const struct ss_lateness *lateness,
							 uint32_t rank, uint32_t step)
{
	return &lateness->items[(size_t)rank * lateness->step_count + step];
}

#endif
