/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hang.h - the dumps of all ranks together: who waits for whom, and who lets the others wait.
 *
 * A collective has a group and a number in it. A rank that called it and has not finished waits
 * for the members that have not called it. Following that from rank to rank ends at ranks that
 * wait for nobody (they did not come, or left no dump), at a collective that all members called
 * (and called differently, or that does not finish), or in a circle.
 *
 * Collectives of one group finish in order: one that is older than a finished one is finished,
 * whatever its record says. Backends that record no states (gloo) only say whether the watchdog
 * still has the collective.
 */
#ifndef SS_HANG_HANG_H
#define SS_HANG_HANG_H

#include "hang/load/flight.h"

/* A dump, or stacks, of a rank. */
struct ss_hang_input {
	int64_t rank; /* -1: the name of the file does not say */
	bool is_twin; /* a dump that does not count: others of these ranks do; its rank is -1 */
	const char *path;
	const struct ss_flight *flight;     /* NULL: it has stacks */
	const struct ss_stack_file *stacks; /* NULL: it is a dump */
};

enum ss_hang_state {
	SS_HANG_FINISHED, /* nothing is pending, and nobody waits for it */
	SS_HANG_WAITING,  /* it waits for ranks that have not come */
	SS_HANG_STALLED,  /* it is in a collective that all members called */
	SS_HANG_ABSENT,   /* nothing is pending, and others wait for it */
	SS_HANG_NO_DUMP,
	SS_HANG_STATES,
};

enum ss_hang_kind {
	SS_HANG_DID_NOT_COME,
	SS_HANG_LEFT_NO_DUMP,
	SS_HANG_OTHER_OPERATION,
	SS_HANG_OTHER_SIZE,
	SS_HANG_OTHER_TYPE,
	SS_HANG_OTHER_ROOT,
	SS_HANG_ONE_MORE,
	SS_HANG_ONE_FEWER,
	SS_HANG_GROUP_ORDER, /* two groups, in different order */
	SS_HANG_PAIR_CIRCLE, /* the same of point-to-point calls */
	SS_HANG_NOT_STARTED, /* all came; the devices of some have not begun it */
	SS_HANG_NOT_FINISHED,
	SS_HANG_UNEVEN_EXCHANGE, /* of an all-to-all */
	SS_HANG_LEFT_LOOP,       /* its stack shows that */
	SS_HANG_TEARDOWN,
	SS_HANG_WATCHDOG,
	SS_HANG_NOT_KNOWN, /* records that would tell were overwritten */
	SS_HANG_KINDS,
};

struct ss_hang_rank {
	int64_t rank;
	const struct ss_flight *flight;     /* NULL: no dump */
	const struct ss_stack_file *stacks; /* NULL: none */
	uint32_t thread;                    /* in stacks: the one that trains */
	uint32_t pending;                   /* entry that it waits in; SS_NO_ROW: none */
	uint32_t member;                    /* of that entry; SS_NO_ROW: a point-to-point call */
	uint32_t peer;                      /* of a point-to-point call, index; SS_NO_ROW */
	uint32_t *members;                  /* per entry of the dump; SS_NO_ROW: none */
	uint8_t state;                      /* enum ss_hang_state */
	bool is_awaited;                    /* others wait for it */
	int64_t dropped;                    /* records that were overwritten */
};

/* A rank in a group. Entries are those of the rank's dump; SS_NO_ROW: none. */
struct ss_hang_member {
	uint32_t group, rank;
	int64_t last_sequence, done_sequence; /* 0: none */
	int64_t pending_sequence;             /* the first that is not finished; 0: none */
	uint32_t last, pending;
	uint32_t at;     /* the call at the group's place */
	bool is_unknown; /* no record of the group is left */
};

struct ss_hang_group {
	uint32_t name, about;   /* texts */
	uint32_t ranks;         /* as the dumps have it; 0: not recorded */
	uint32_t first, count;  /* members, by rank */
	int64_t frontier;       /* the first collective that is not finished; 0: all are */
	int64_t farthest;       /* the last that a member called */
	int64_t place;          /* whose calls are compared: the frontier, or else the farthest */
	int64_t nearest;        /* the last that all members called, as far as is known */
	int64_t nearest_dumped; /* the same of members with a dump */
};

/* Why ranks wait. */
struct ss_hang_cause {
	enum ss_hang_kind kind;
	uint32_t group;   /* SS_NO_ROW: of point-to-point calls, or none */
	int64_t sequence; /* of the collective; 0: none */
	uint32_t *ranks;  /* who causes it; of a circle: all in it, in order */
	uint32_t rank_count;
	uint32_t *waiting; /* who waits in that collective */
	uint32_t waiting_count;
	uint32_t guilty; /* how many of `ranks` surely differ from the others; 0: unclear */
};

struct ss_hang {
	struct ss_memory *memory;
	struct ss_arena arena;
	struct ss_strings texts;
	struct ss_hang_rank *ranks; /* by number; also those that only other dumps mention */
	uint32_t rank_count;
	struct ss_hang_group *groups;
	uint32_t group_count, group_capacity;
	struct ss_hang_member *members;
	uint32_t member_count;
	struct ss_hang_cause *causes; /* the most certain first */
	uint32_t cause_count;
	uint32_t states[SS_HANG_STATES]; /* ranks */
	uint32_t dump_count, stack_count, cut_count, json_count, version_count;
	bool has_errors; /* collectives are over that cannot have finished */
	/* groups whose ranks nobody lists, with one call, the last of its ranks: perhaps failed */
	uint32_t loose_ends;
	uint32_t rankless; /* dumps whose name has no rank */
	uint32_t twins;    /* dumps of ranks that have another one */
	int64_t newest_ns; /* when the last collective of all was called; 0: not recorded */
	uint32_t late;     /* member that comes last, where all finish; SS_NO_ROW */
	int64_t late_ns;   /* by how much, on average */
	uint32_t late_count, shared_count; /* collectives where it is last, of how many */
	struct ss_strings backends;        /* "nccl", "gloo" */
	bool *has_states; /* per backend: it records more than that it was called */
	uint32_t has_states_capacity;
};

/* Compares the dumps, which must outlive it. Release it in any case. */
SS_MUST_USE
enum ss_status ss_hang_make(struct ss_hang *out, const struct ss_hang_input *inputs, uint32_t count,
			    struct ss_memory *memory, struct ss_error *err);
void ss_hang_release(struct ss_hang *hang);

/* Whether ranks wait for others, or in a collective that does not finish. */
static inline bool ss_hang_is_stuck(const struct ss_hang *hang)
{
	return hang->cause_count > 0;
}

static inline const struct ss_flight_entry *ss_hang_entry(const struct ss_hang *hang, uint32_t rank,
							  uint32_t entry)
{
	return &hang->ranks[rank].flight->entries[entry];
}

/* groups.c: "all_reduce" of "nccl:all_reduce". */
const char *ss_hang_operation(const struct ss_flight *flight, const struct ss_flight_entry *entry);

/* groups.c: whether the backend, or the watchdog of one without states, is done with it. */
bool ss_hang_is_done(const struct ss_hang *hang, const struct ss_flight *flight,
		     const struct ss_flight_entry *entry);

/* groups.c: the backend of a record: an index of backends and has_states. */
uint32_t ss_hang_backend(const struct ss_hang *hang, const struct ss_flight *flight,
			 const struct ss_flight_entry *entry);

/* join.c: the member of a rank in a group, or SS_NO_ROW. */
uint32_t ss_hang_find_member(const struct ss_hang *hang, uint32_t group, uint32_t rank);

/* join.c: the index of a rank, or SS_NO_ROW. */
uint32_t ss_hang_find_rank(const struct ss_hang *hang, int64_t rank);

/* join.c: whether a member has called its group's collective of that number. */
bool ss_hang_has_called(const struct ss_hang_member *member, int64_t sequence);

/* waits.c: the state of each rank. */
void ss_hang_find_waits(struct ss_hang *hang);

/* waits.c: whether the member waits for another one. */
static inline bool ss_hang_member_waits(const struct ss_hang *hang,
					const struct ss_hang_member *member)
{
	return member->pending_sequence > hang->groups[member->group].nearest;
}

/* stacks.c: the thread of each rank that trains. */
void ss_hang_place_stacks(struct ss_hang *hang, const struct ss_hang_input *inputs, uint32_t count);

/* stacks.c: what the rank's stack shows beyond a line: SS_HANG_DID_NOT_COME if nothing. */
enum ss_hang_kind ss_hang_kind_by_stack(const struct ss_hang *hang, uint32_t rank);

/* stacks.c: the innermost frame of the user's own code; NULL: no stack. */
const struct ss_code_frame *ss_hang_place(const struct ss_hang *hang, uint32_t rank);

/* late.c: who comes last where all finish; false: no memory. */
SS_MUST_USE bool ss_hang_find_late(struct ss_hang *hang);

/* calls.c: groups whose members called different things; false: no memory. */
SS_MUST_USE bool ss_hang_compare_calls(struct ss_hang *hang);

/* causes.c: all other causes. */
SS_MUST_USE bool ss_hang_find_causes(struct ss_hang *hang);

/* causes.c: a new cause with room for all ranks; NULL: no memory. */
SS_MUST_USE
struct ss_hang_cause *ss_hang_add_cause(struct ss_hang *hang, enum ss_hang_kind kind,
					uint32_t group, int64_t sequence);

/* kinds.c */

/* "did-not-come" */
const char *ss_hang_kind_name(enum ss_hang_kind kind);

/* "A rank did not come" */
const char *ss_hang_kind_title(enum ss_hang_kind kind);

/* What to do about it. */
const char *ss_hang_fix(enum ss_hang_kind kind);

/* words.c */

const char *ss_hang_state_name(enum ss_hang_state state);

/* "0-2, 5" of indexes of ranks; a long list ends in "and 17 more". */
void ss_hang_add_ranks(const struct ss_hang *hang, const uint32_t *ranks, uint32_t count,
		       struct ss_text *out);

/* "Ranks 0-2, 5", "rank 2" */
void ss_hang_add_rank_words(const struct ss_hang *hang, const uint32_t *ranks, uint32_t count,
			    bool begins, struct ss_text *out);

/* "all_reduce #7 of group 2 [2, 3] at train (train.py:116)"; SS_NO_ROW: without the group. */
void ss_hang_add_call(const struct ss_hang *hang, uint32_t rank, uint32_t entry, uint32_t group,
		      struct ss_text *out);

/* " since 05:37:12.345 UTC"; nothing if it is not recorded. */
void ss_hang_add_since(int64_t created_ns, struct ss_text *out);

/* "group 2 [2, 3]", "default_pg (4 ranks)" */
void ss_hang_add_group(const struct ss_hang *hang, uint32_t group, struct ss_text *out);

/* "gradients (train.py:86)"; nothing if it is not recorded. */
void ss_hang_add_line(const struct ss_hang *hang, uint32_t rank, uint32_t entry,
		      struct ss_text *out);

/* Where the rank's stack file shows it: the same form; nothing without one. */
void ss_hang_add_place(const struct ss_hang *hang, uint32_t rank, struct ss_text *out);

/*
 * "load (a.py:3) < train (a.py:9)": where the rank's stack file shows it, else the stack of the
 * entry (SS_NO_ROW: none).
 */
void ss_hang_add_stack(const struct ss_hang *hang, uint32_t rank, uint32_t entry,
		       struct ss_text *out);

/* "Rank 2 did not come to all_reduce #7 of group 2 [2, 3]" */
void ss_hang_add_title(const struct ss_hang *hang, const struct ss_hang_cause *cause,
		       struct ss_text *out);

/* sentences.c */

/* Sentence number `index` of its evidence; false: there are no more. */
bool ss_hang_add_evidence(const struct ss_hang *hang, const struct ss_hang_cause *cause,
			  uint32_t index, struct ss_text *out);

/* What cannot be known, sentence by sentence, in the same way. */
bool ss_hang_add_note(const struct ss_hang *hang, uint32_t index, struct ss_text *out);

/* The sentence where nothing waits: who finished what. */
void ss_hang_add_calm(const struct ss_hang *hang, struct ss_text *out);

#endif
