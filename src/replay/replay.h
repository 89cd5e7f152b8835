/*
 * replay.h - the graphs of all ranks together, run again with other durations.
 *
 * Ranks meet in their collectives: a transfer begins when the last member has
 * arrived. Run without edits every task starts when it was recorded to start. Run
 * without the delays that no edge explains, the difference says how far the graph can
 * be trusted (`error_percent`). A fix is a list of edits: tasks that take another time,
 * waits that are gone. Several fixes are run together; their gains do not add up.
 */
#ifndef SS_REPLAY_REPLAY_H
#define SS_REPLAY_REPLAY_H

#include "job/many.h"
#include "replay/graph.h"

struct ss_edit {
	uint32_t task;  /* of the graph of `rank`; SS_NO_TASK: none */
	uint32_t rank;  /* index into the ranks of the replay */
	int64_t own_ns; /* instead of the recorded one */
	bool releases;  /* SS_TASK_WAIT: no longer waits for the device */
	bool unlocks;   /* its delay is gone, too */
};

/* Zeroed: empty. */
struct ss_edits {
	struct ss_memory *memory;
	struct ss_edit *items;
	uint32_t count, capacity;
};

void ss_edits_init(struct ss_edits *edits, struct ss_memory *memory);
void ss_edits_release(struct ss_edits *edits);
SS_MUST_USE bool ss_edits_add(struct ss_edits *edits, struct ss_edit edit);

struct ss_replay {
	struct ss_memory *memory;
	struct ss_graph *ranks; /* lent, in the order of their ranks */
	uint32_t rank_count;
	uint32_t *first;     /* per rank: number of its first task in the job; then the meetings */
	uint32_t task_count; /* of all ranks, and meetings */
	/* ... (order, meetings) */
	uint32_t *order; /* tasks, each behind all that it waits for */
	struct ss_task *meetings;
	struct ss_edge *meeting_edges; /* from arrivals to meetings */
	uint32_t *meeting_of;          /* per task of kind SS_TASK_TRANSFER: see replay.c */
	uint32_t meeting_count;
	int64_t *start_ns; /* of the last run, per task; ends are start + own */
	int64_t *own_ns;
	double error_percent; /* of the mean step, run without delays */
	int64_t step_ns;      /* mean over ranks of their mean steps, as recorded */
};

/* Joins the graphs; `many` may be NULL: the ranks do not meet. All must outlive it. */
SS_MUST_USE
enum ss_status ss_replay_init(struct ss_replay *replay, struct ss_graph *ranks, uint32_t rank_count,
			      const struct ss_many *many, struct ss_memory *memory,
			      struct ss_error *err);
void ss_replay_release(struct ss_replay *replay);

/* Runs it with all these edits; returns the mean step. Where two edit a task the shorter counts. */
int64_t ss_replay_run(struct ss_replay *replay, const struct ss_edits *const *fixes,
		      uint32_t fix_count);

#endif
