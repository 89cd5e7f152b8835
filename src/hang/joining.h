/* SPDX-License-Identifier: Apache-2.0 */
/*
 * joining.h - shared by the files that join dumps: groups.c finds ranks and groups, join.c how far
 * their members came.
 */
#ifndef SS_HANG_JOINING_H
#define SS_HANG_JOINING_H

#include "hang/hang.h"

/* Larger numbers of ranks in a file are damage: no job has a million. */
#define SS_HANG_RANK_MAX 1000000

/* A rank of a group, before both have their places. */
struct ss_hang_pair {
	uint32_t group;
	uint32_t rank; /* number */
};

/* What a dump calls a group, and which one that is. */
struct ss_hang_alias {
	uint32_t name, about;
	uint32_t group;
};

struct ss_hang_joining {
	struct ss_hang *hang;
	const struct ss_hang_input *inputs;
	uint32_t input_count;
	struct ss_hang_pair *pairs;
	uint32_t pair_count, pair_capacity;
	struct ss_records group_keys; /* struct ss_hang_key */
	uint32_t group_capacity;
	struct ss_hang_alias *aliases; /* of the current dump */
	uint32_t alias_count, alias_capacity;
	bool *has_done, *has_pending; /* per group: of any member */
	bool *goes_on;                /* likewise: a member called something after it */
	bool failed;                  /* no memory */
};

struct ss_hang_key {
	uint32_t name, ranks;
};

/* The number of a text of a dump; 0 and `failed` without memory. */
uint32_t ss_hang_joining_text(struct ss_hang_joining *joining, const struct ss_flight *flight,
			      uint32_t text);

/* Which group an entry is of. */
uint32_t ss_hang_joining_alias(struct ss_hang_joining *joining, const struct ss_hang_input *input,
			       const struct ss_flight_entry *entry);

/* A rank is in a group. */
void ss_hang_joining_add_pair(struct ss_hang_joining *joining, uint32_t group, int64_t rank);

/* All groups and their ranks; false: no memory. */
SS_MUST_USE bool ss_hang_joining_find_groups(struct ss_hang_joining *joining);

#endif
