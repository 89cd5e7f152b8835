/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notes.h - what a reader of any table about the job must know: ranks that are missing or
 * occur twice, files of different jobs, clocks that cannot be compared.
 */
#ifndef SS_RANKS_NOTES_H
#define SS_RANKS_NOTES_H

#include "ranks/join.h"

/* Ranks that the world has and no file is of. */
struct ss_missing_ranks {
	int64_t count, world; /* of the job, as its files say */
	char list[128];       /* the first of them */
};

struct ss_missing_ranks ss_missing_ranks(const struct ss_joined *joined);

/* "rank 3 of 8 is missing" */
void ss_missing_ranks_tell(const struct ss_missing_ranks *missing, struct ss_text *out);

void ss_joined_note(const struct ss_joined *joined, struct ss_table *out);

#endif
