/* SPDX-License-Identifier: Apache-2.0 */
/*
 * join.h - the ranks of a job together: which collectives belong together, how far apart
 * the clocks are, who waited for whom.
 *
 * Ranks are sorted by number; everywhere below, `rank` is an index into them.
 * ss_join_ranks() makes it from digests; the result does not depend on the order of the
 * files or on threads.
 */
#ifndef SS_RANKS_JOIN_H
#define SS_RANKS_JOIN_H

#include "base/sort.h"
#include "ranks/digest.h"
#include "trace/pack/pack.h"

#define SS_NO_COLLECTIVE UINT32_MAX

/* A process group of the job. */
struct ss_group {
	const char *name, *description; /* "" when not recorded */
	uint32_t first, count;          /* its members, in `group_members` */
};

struct ss_member {
	uint32_t rank;
	uint32_t arrival; /* of that rank */
};

/* One collective with the members that recorded it, by rank. */
struct ss_collective {
	uint32_t group;
	uint32_t first, count; /* in `members` */
	enum ss_collective_kind kind;
	bool is_symmetric;     /* and has at least two members: waits can be measured */
	bool breaks_causality; /* on the aligned clocks a member left before the last arrived */
	int64_t transfer_ns;   /* the shortest stay */
	int64_t longest_ns;
	int64_t wait_ns;          /* sum over members of stay less transfer */
	uint32_t last_rank;       /* the member that stayed shortest; SS_NO_ROW: several */
	int64_t bytes;            /* largest recorded; -1: not recorded */
	uint32_t step;            /* number, on the first member that has one */
	int64_t start_ns, end_ns; /* first start and last end on the aligned clock */
};

struct ss_clock {
	uint32_t component; /* ranks of one component are comparable; SS_NO_ROW: no anchor */
	int64_t offset_ns;  /* to be added to the rank's own time */
	int64_t error_ns;   /* of the offset, plus or minus, 95 % */
	int64_t drift_ppb;  /* of the rank's clock against the first one; 0: not significant */
	int64_t middle_ns;  /* own time at which the offset is exact */
	uint32_t anchors;   /* collectives that show it */
	int64_t residual_p50_ns, residual_p90_ns;
	uint32_t violations; /* collectives with this rank that break causality */
};

struct ss_joined {
	struct ss_memory *memory;
	struct ss_arena arena;
	struct ss_digest *ranks; /* lent */
	uint32_t rank_count;
	uint32_t *hosts;                  /* per rank: number of its host; 0: not recorded */
	struct ss_class_lists host_ranks; /* of each host */
	struct ss_group *groups;
	uint32_t *group_members; /* ranks */
	uint32_t group_count;
	uint32_t **rank_groups; /* per rank: job's number of each of its groups */
	/*
	 * Per rank: its stage in a pipeline, -1: none or not known. Ranks of one role are of the
	 * same stage; `role_count` as a role: there is no other rank of its stage, or no pipeline.
	 */
	int64_t *stages;
	uint32_t *roles, role_count;
	struct ss_collective *collectives; /* by their first start */
	uint32_t collective_count, collective_capacity;
	struct ss_member *members;
	uint32_t member_count, member_capacity;
	uint32_t **collective_of; /* per rank and arrival: collective or SS_NO_COLLECTIVE */
	struct ss_clock *clocks;
	uint64_t unmatched; /* arrivals without a match */
	bool by_pairs;      /* clocks were compared by sends and receives, too */
	uint32_t copies;    /* files that are left out: copies of others */
	int64_t copied_rank;
	struct ss_pack_choice packs; /* files that are read from their packs, packs that are not */
};

/* `ranks` must outlive it. */
SS_MUST_USE
enum ss_status ss_join_ranks(struct ss_joined *joined, struct ss_digest *ranks, uint32_t rank_count,
			     struct ss_memory *memory, struct ss_error *err);
void ss_joined_release(struct ss_joined *joined);

/* A moment of a rank on the aligned clock. */
int64_t ss_joined_align(const struct ss_joined *joined, uint32_t rank, int64_t moment_ns);

static inline const struct ss_arrival *ss_joined_arrival(const struct ss_joined *joined,
							 const struct ss_member *member)
{
	return &joined->ranks[member->rank].arrivals[member->arrival];
}

/* Whether a rank is compared with another one: they have the same part of the model. */
static inline bool ss_joined_are_peers(const struct ss_joined *joined, uint32_t rank,
				       uint32_t other)
{
	return joined->roles[rank] == joined->role_count ||
	       joined->roles[rank] == joined->roles[other];
}

/* join.c: fills groups with their members, and hosts. */
SS_MUST_USE bool ss_joined_find_groups(struct ss_joined *joined);
SS_MUST_USE bool ss_joined_find_hosts(struct ss_joined *joined);
/* match.c: fills groups, collectives and members. */
SS_MUST_USE bool ss_joined_match(struct ss_joined *joined);
/* roles.c: fills stages and roles. */
SS_MUST_USE bool ss_joined_find_roles(struct ss_joined *joined);
/* clock_offsets.c: fills clocks from the collectives. */
SS_MUST_USE bool ss_joined_set_clocks(struct ss_joined *joined);

/*
 * notes.c: what a reader of any table about the job must know: ranks that are missing or occur
 * twice, files of different jobs, clocks that cannot be compared.
 */

/* Ranks of the job that have no file. */
struct ss_missing_ranks {
	int64_t count, world; /* size of the job, as its files say */
	char list[128];       /* the first of them */
};

struct ss_missing_ranks ss_missing_ranks(const struct ss_joined *joined);

/* "rank 3 of 8 is missing" */
void ss_joined_format_missing(const struct ss_missing_ranks *missing, struct ss_text *out);

void ss_joined_add_notes(const struct ss_joined *joined, struct ss_table *out);

#endif
