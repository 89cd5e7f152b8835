/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.h - the graphs of all ranks together, run again with other durations.
 *
 * Ranks meet in their collectives: a transfer begins when the last member has arrived.
 * Without edits, every task starts when it was recorded to start. Without the delays that
 * no edge explains, the difference says how far the graph can be trusted
 * (`error_percent`). A fix is a list of edits: tasks with another duration, waits that are
 * removed. Several fixes are run together; their gains do not add up.
 */
#ifndef SS_REPLAY_REPLAY_H
#define SS_REPLAY_REPLAY_H

#include "ranks/join.h"
#include "replay/edits.h"
#include "replay/moments.h"
#include "replay/packed.h"

struct ss_progress_report; /* load/job.h */

/* A collective of the job: begins when its last member arrives. */
struct ss_replay_collective {
	uint32_t first, count; /* in `members` */
};

struct ss_replay_member {
	uint32_t rank, task; /* the arrival; the transfer is the next task */
	uint32_t collective;
	bool is_awaited; /* the others wait for it */
};

/* A transfer that waits until its collective is complete. */
struct ss_replay_transfer {
	uint32_t task;
	uint32_t member; /* + 1; 0: it does not wait */
};

/* Limits of the bit fields of a stretch. */
#define SS_REPLAY_RANKS_MAX ((1U << 20) - 1)
#define SS_REPLAY_STRETCH_MAX ((1U << 11) - 1)

/* Tasks of one rank that are run one after the other. */
struct ss_replay_stretch {
	uint32_t rank : 20; /* or the number of ranks: tasks are collectives */
	uint32_t waits : 1; /* the first task is a transfer that waits */
	uint32_t count : 11;
	uint32_t task;     /* the first; of a transfer that waits: its member */
	uint32_t edges_at; /* of the first task, in the edges of its rank */
};

/* A dependency that closes a circle, and is left out. */
struct ss_replay_left_out {
	uint32_t rank;
	uint32_t member; /* + 1: the transfer of this member waits for nobody; 0: an edge */
	uint32_t at;     /* the transfer, or the first byte of the edge */
	uint8_t head;    /* of the edge, as it was */
};

/* Of a rank: when the work of its steps runs, and when that before them ends. */
struct ss_replay_reach {
	int64_t from_ns, to_ns, before_ns;
};

struct ss_replay {
	struct ss_memory *memory;
	struct ss_packed *ranks;        /* lent, in the order of their ranks */
	const struct ss_joined *joined; /* lent; NULL: they do not meet */
	uint32_t rank_count;
	uint32_t *first;     /* per rank: number of its first task; then of the first collective */
	uint32_t task_count; /* of all ranks, with the collectives and what fills up blocks */
	int64_t *offset_ns;  /* per rank: from its own time to the job's */
	struct ss_replay_collective *collectives;
	struct ss_replay_member *members;
	uint32_t collective_count, member_count;
	/* as many as the job has, whether they have tasks or not */
	uint32_t collective_capacity, member_capacity;
	struct ss_replay_transfer *transfers; /* rank after rank, by task */
	uint32_t *transfers_from;        /* per rank: its first one; the next rank's is the end */
	struct ss_replay_stretch *order; /* all tasks, each after all that it waits for */
	uint32_t stretch_count, stretch_capacity;
	bool is_settled;  /* transfers begin when their collectives do, in the graphs, too */
	bool is_together; /* clocks can be compared, and all have as many steps */
	uint32_t broken;  /* edges that went round in a circle and are left out */
	struct ss_replay_left_out *left_out;
	uint32_t left_out_count, left_out_capacity;
	/* of the last run, per task */
	struct ss_moments starts;
	int64_t *complete_ns;         /* per collective */
	uint32_t *own_ns;             /* UINT32_MAX: in longs */
	struct ss_packed_time *longs; /* of all ranks, by the number of the task */
	uint32_t long_count;
	uint8_t *flags;                /* enum ss_replay_flag */
	bool *is_edited;               /* per rank */
	struct ss_replay_reach *reach; /* per rank, of the last run */
	int64_t step_ns;     /* mean over ranks of their mean steps, as the view steps has them */
	int64_t unedited_ns; /* the same, as a run without edits gives it */
	int64_t apart_ns; /* of the last run: how far the mean rank ends before the last, a step */
	int64_t unedited_apart_ns; /* the same, of a run without edits */
	double error_percent;      /* of the mean step, when run without delays */
	struct ss_replay *twins;   /* share everything but what a run changes; NULL */
	uint32_t twin_count;
};

/*
 * What a run needs to know about a task, in one byte: it reads edges, starts and own times of
 * millions of tasks, and the tasks themselves only if this is not enough.
 */
enum ss_replay_flag {
	/* by edits */
	SS_REPLAY_RELEASED = 1 << 0, /* does not wait for device, thread or ranks */
	SS_REPLAY_UNLOCKED = 1 << 1, /* has no delay */
	SS_REPLAY_MERGED = 1 << 2,   /* no gap to what is before it on its stream */
	SS_REPLAY_EDITED = SS_REPLAY_RELEASED | SS_REPLAY_UNLOCKED | SS_REPLAY_MERGED,
	/* always */
	SS_REPLAY_IN_STEP = 1 << 3, /* steps are measured by it */
	SS_REPLAY_BEFORE = 1 << 4,  /* the first step begins when it is done */
	SS_REPLAY_DELAYED = 1 << 5, /* has a delay */
};

/* Own time of one of the long tasks in the last run. */
int64_t *ss_replay_long(const struct ss_replay *replay, uint32_t number);

/* Own time of a task in the last run. */
static inline int64_t ss_replay_own(const struct ss_replay *replay, uint32_t number)
{
	return replay->own_ns[number] < UINT32_MAX ? replay->own_ns[number]
						   : *ss_replay_long(replay, number);
}

/* Start of a task in the last run. */
static inline int64_t ss_replay_start(const struct ss_replay *replay, uint32_t number)
{
	return ss_moments_get(&replay->starts, number);
}

/* The waiting transfer that is this task; NULL: it is none. */
struct ss_replay_transfer *ss_replay_transfer_of(const struct ss_replay *replay, uint32_t rank,
						 uint32_t task);

/* Whether steps are measured by it: the main thread and the devices. */
static inline bool ss_replay_is_measured(const struct ss_packed *graph, uint32_t task)
{
	return ss_packed_kind(graph, task) > SS_TASK_JOIN ||
	       ss_packed_run(graph, task)->track == graph->main;
}

/*
 * When an edge lets its task start, in the last run; INT64_MIN: it does not delay it. `first` is
 * the number of the rank's first task, `flags` are those of the task.
 */
static inline int64_t ss_replay_edge_ns(const struct ss_replay *replay, uint32_t first,
					const struct ss_edge *edge, uint8_t flags)
{
	uint32_t from = first + edge->from;
	int64_t at_ns;

	if (edge->kind == SS_EDGE_KINDS ||
	    ((flags & SS_REPLAY_RELEASED) &&
	     (edge->kind == SS_EDGE_SYNC || edge->kind == SS_EDGE_HANDOVER ||
	      edge->kind == SS_EDGE_BATCH)))
		return INT64_MIN;
	at_ns = ss_replay_start(replay, from) +
		(edge->from_start ? 0 : ss_replay_own(replay, from));
	/* work that overlaps what is before it may go on doing so */
	return (flags & SS_REPLAY_MERGED) && edge->kind == SS_EDGE_STREAM && edge->lag_ns > 0
		       ? at_ns
		       : at_ns + edge->lag_ns;
}

/* From the start of a rank's first step to the end of its last one, in the last run. */
struct ss_replay_span {
	int64_t from_ns, to_ns; /* to <= from: the rank has no steps */
};
struct ss_replay_span ss_replay_span(const struct ss_replay *replay, uint32_t rank);

/*
 * Joins the graphs at the collectives of `joined`; NULL: the ranks have none. All must outlive it.
 */
SS_MUST_USE
enum ss_status ss_replay_init(struct ss_replay *replay, struct ss_packed *ranks,
			      uint32_t rank_count, const struct ss_joined *joined,
			      struct ss_memory *memory, struct ss_error *err);
void ss_replay_release(struct ss_replay *replay);

/*
 * Runs it with all these edits; returns the mean step. If two edit a task, the shorter time counts.
 * Starts and own times of all tasks stay in the replay until the next run. Without memory it sets
 * starts.failed, and the results are not valid.
 */
int64_t ss_replay_run(struct ss_replay *replay, const struct ss_edits *const *fixes,
		      uint32_t fix_count);

/* Fixes to run together. */
struct ss_replay_set {
	const struct ss_edits *const *fixes;
	uint32_t count;
	bool is_run;     /* if not, it was cancelled, or there was no memory */
	int64_t step_ns; /* as ss_replay_run() returns it */
};

/* Of each more than the first thread that runs sets: 9 bytes per task. */
#define SS_REPLAY_TWINS_MAX 7

/* Runs all sets, each on a thread of its own. Which of them was the last run is not known. */
void ss_replay_run_sets(struct ss_replay *replay, struct ss_replay_set *sets, uint32_t count,
			const struct ss_progress_report *watch);

/* Frees what ss_replay_run_sets() keeps for its next call. */
void ss_replay_release_twins(struct ss_replay *replay);

/*
 * The most that edits can save: no path shrinks by more than everything that they remove. Edits
 * that remove edges can save more: INT64_MAX.
 */
int64_t ss_replay_most_saved(const struct ss_replay *replay, const struct ss_edits *edits);

#endif
