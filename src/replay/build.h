/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build.h - a graph under construction; shared by the files that build it.
 *
 * Threads come first (threads.c: tasks in the order of each thread), then streams
 * (streams.c: device work with its launches), then dependencies (recorded.c if the file
 * has them, and waits.c). Edges may be added in any order; graph.c sorts them and finds
 * the delays.
 */
#ifndef SS_REPLAY_BUILD_H
#define SS_REPLAY_BUILD_H

#include "replay/graph.h"

/* Clocks of host and device agree only to this: a wait was seen to end 7.5 us before its work. */
#define SS_BUILD_CLOCKS_NS 10000

/* Work that waits for an event starts within this after it: users.md 5.1. */
#define SS_BUILD_EVENT_NS 20000

/* A start that is later than explained by more than this has another reason. */
#define SS_BUILD_TOLERANCE_NS 3000

/* What a call waits for: all work of the device. */
#define SS_ALL_TASKS (UINT32_MAX - 1)

enum ss_call_flag {
	SS_CALL_LAUNCHES = 1 << 0, /* something ran on a device for it */
	SS_CALL_BLOCKS = 1 << 1,   /* a copy call that blocked the host while the device copied */
	SS_CALL_STAGES = 1 << 2,   /* and worked until the copy began; its task ends there */
};

/* An edge to a task, before edges are sorted. */
struct ss_build_edge {
	uint32_t to;
	struct ss_short_edge edge;
};

/* Tracks of two streams, the second of which was recorded to wait for the first. */
struct ss_build_pair {
	uint32_t from, to;
};

struct ss_build {
	struct ss_graph *graph;
	const struct ss_trace *trace;
	const struct ss_phases *phases;
	struct ss_arena scratch;
	struct ss_build_edge *edges;
	uint32_t edge_count, edge_capacity;
	/* per host row: the task of the call, or of the return of a batch; or SS_NO_TASK */
	uint32_t *call_task;
	uint32_t *device_task; /* per device row: its task (of collectives the transfer) */
	uint8_t *calls;        /* per host row: enum ss_call_flag */
	uint32_t *names;       /* per name of the trace: id in the graph + 1; 0: not added yet */
	uint32_t *wait_for;   /* per host row: what its call waits for; NULL: nothing is recorded */
	uint32_t *first_edge; /* per track: edge of the launch of its first work, if that is late */
	int64_t latency_ns;   /* usual, from a launch to an idle stream */
	int64_t *bound_ns;    /* per device task: when it could start; INT64_MIN: not known */
	struct ss_records pairs; /* struct ss_build_pair */
	uint32_t *step_items;    /* of the measured steps: their numbers in the trace */
	uint32_t host_tasks;     /* tasks of threads; those of devices follow */
	uint32_t main;           /* track of the thread that runs the steps, or SS_NO_ROW */
	bool failed;             /* no memory */
};

/* Returns its number, or SS_NO_TASK without memory. */
uint32_t ss_build_task(struct ss_build *build, struct ss_task task);
void ss_build_edge(struct ss_build *build, uint32_t to, struct ss_edge edge);

/* The row is a collective, whose arrival is this task. */
void ss_build_comm(struct ss_build *build, uint32_t row, uint32_t task);

/* The measured step in whose range on the host the moment lies, or SS_NO_STEP. */
uint16_t ss_build_step(const struct ss_build *build, int64_t moment_ns);

/*
 * Whether device work starts later than its launch, its stream and recorded waits explain, and
 * right after work that ended `gap_ns` before it. The first work of a stream is late, too, if only
 * work from before the file began would explain it.
 */
bool ss_build_is_late(const struct ss_build *build, uint32_t task, int64_t gap_ns);

/*
 * Device work waits for other work. If it is the first of its stream and started late, right after
 * that work, this is the reason, and not what ran there before the file began.
 */
void ss_build_delay(struct ss_build *build, uint32_t to, struct ss_edge edge);

/* A __next__ of a DataLoader with workers on the thread that runs the steps. */
bool ss_build_is_batch(const struct ss_build *build, uint32_t row); /* batches.c */

void ss_build_threads(struct ss_build *build);  /* threads.c */
void ss_build_batches(struct ss_build *build);  /* batches.c */
void ss_build_streams(struct ss_build *build);  /* streams.c */
void ss_build_recorded(struct ss_build *build); /* recorded.c */
void ss_build_waits(struct ss_build *build);    /* waits.c */

/* --- thread_rows.c: rows of threads ------------------------------------------------------ */

/*
 * Points are rows with a meaning of their own: runtime calls, DataLoader ranges, compiling,
 * garbage collection, collectives of jobs without devices.
 */
#define SS_NO_POINT SS_TASK_KINDS

struct ss_point {
	uint32_t row;
	enum ss_task_kind kind;
};

/* Lives in the scratch memory of the build. Zeroed: empty. */
struct ss_points {
	struct ss_point *items; /* in the order of rows */
	uint32_t count;
	uint32_t *from; /* per track: its first point; the next track's is the end */
	uint32_t *tops; /* rows without a parent, in the order of rows */
	uint32_t top_count;
	uint32_t *top_from; /* per track */
};

/* False: no memory. */
SS_MUST_USE
bool ss_build_find_points(struct ss_points *out, struct ss_build *build);

/* The first row of the track that starts after the moment, or the track's end. */
uint32_t ss_build_next_row(const struct ss_trace *trace, uint32_t track, int64_t moment_ns);

/* When the track last began or ended something before the moment; INT64_MIN: never. */
int64_t ss_build_silent_since(const struct ss_trace *trace, uint32_t track, int64_t moment_ns);

/*
 * Whether DDP's reducer waits for all-reduces at the moment: the last gradient is computed, or a
 * bucket was copied back, and autograd does not go on. On a busy machine a thread goes on tens of
 * milliseconds after it could, so the time alone does not show it.
 */
bool ss_build_waits_for_reducer(const struct ss_trace *trace, uint32_t track, int64_t moment_ns);

/*
 * The moment in [from, to] at which the thread goes on after DDP made it wait at the end of
 * backward, for `least_ns` or longer. False: it did not wait, or backward is not over before `to`.
 */
bool ss_build_backward_resume(const struct ss_trace *trace, uint32_t track, int64_t from_ns,
			      int64_t to_ns, int64_t least_ns, int64_t *resume_ns);

#endif
