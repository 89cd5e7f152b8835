/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packed.h - a graph when its trace is gone: the same tasks and edges in a quarter of the bytes.
 *
 * A verdict holds the graphs of all ranks at once, and a replay runs over all of their edges. So
 * each value takes what it usually needs, and what is rare stands in a table:
 *
 *     own time     4 bytes; those of half a second and more in `longs`
 *     start        a byte or more behind the end of the task before it. Of a transfer its end is
 *                  kept: that stays when the replay finds when it began
 *     row          a byte or more behind that of the task before it
 *     track, step  once for all neighbours that share them
 *     delay        in `delays`: one task in thousands has one
 *     edge         1 byte from the end of the task before it; 3 with a lag, 5 from another task,
 *                  13 where that is far away or the lag is long
 *
 * Starts and rows are found from the first of their block on, edges from marks on.
 */
#ifndef SS_REPLAY_PACKED_H
#define SS_REPLAY_PACKED_H

#include <string.h>

#include "replay/graph.h"

/*
 * Own times from here on are in `longs`: 4 bytes have room for shorter ones, also when a fix makes
 * them longer (SS_EDIT_SCALE_MAX).
 */
#define SS_PACKED_LONG_NS (UINT32_MAX / 8)

/* Tasks of a block. */
#define SS_PACKED_BLOCK 64

/* A critical path reads the edges of most tasks: every 16th task has a mark. */
#define SS_PACKED_MARK 16

struct ss_packed_block {
	int64_t base_ns;    /* the start of its first task */
	uint32_t starts_at; /* those of the others, in bytes */
	uint32_t run;       /* of its first task */
	uint32_t rows_at;   /* the row of its first task, in bytes; counts from row 0 */
};

/* Neighbours with the same track and step. */
struct ss_packed_run {
	uint32_t from; /* first task */
	uint32_t track;
	uint32_t step;
};

struct ss_packed {
	struct ss_memory *memory;
	uint32_t task_count, edge_count;
	uint8_t *kinds;                 /* enum ss_task_kind, enum ss_phase << 4 */
	uint32_t *own_ns;               /* UINT32_MAX: in longs */
	struct ss_packed_block *blocks; /* of SS_PACKED_BLOCK tasks */
	struct ss_packed_run *runs;     /* and one that no task reaches */
	uint32_t run_count;
	struct ss_packed_time *longs, *delays; /* by task */
	uint32_t long_count, delay_count;
	uint8_t *starts, *rows, *edges;
	uint32_t *marks; /* the edges of each SS_PACKED_MARK-th task, in bytes */
	uint32_t start_bytes, row_bytes, edge_bytes;
	/* as in struct ss_graph */
	struct ss_strings names;
	uint8_t *names_of;
	uint32_t name_room;
	uint8_t name_bytes;
	struct ss_graph_step *steps;
	uint32_t step_count;
	struct ss_graph_comm *comms;
	uint32_t comm_count, comm_capacity;
	uint32_t main;
	uint32_t edges_of[SS_EDGE_KINDS];
};

/* Packs tasks and edges. Another thread may read the graph meanwhile. */
SS_MUST_USE
enum ss_status ss_packed_fill(struct ss_packed *packed, const struct ss_graph *graph,
			      struct ss_error *err);

/* Takes names, delays, steps and collectives from the graph it was filled from. Release both. */
void ss_packed_take(struct ss_packed *packed, struct ss_graph *graph);

/* Both. */
SS_MUST_USE
enum ss_status ss_packed_make(struct ss_packed *packed, struct ss_graph *graph,
			      struct ss_error *err);
void ss_packed_release(struct ss_packed *packed);

/*
 * Fills tasks and edges of a graph that has the account; names, delays, steps and collectives stay
 * where they are. False: no memory.
 */
SS_MUST_USE bool ss_packed_unpack(const struct ss_packed *packed, struct ss_graph *graph);

/* As ss_replay_graph_comm_of(). */
static inline uint32_t ss_packed_comm_of(const struct ss_packed *packed, uint32_t row)
{
	return ss_replay_graph_find_comm(packed->comms, packed->comm_count, row);
}

uint32_t ss_packed_name(const struct ss_packed *packed, uint32_t task);
uint32_t ss_packed_row(const struct ss_packed *packed, uint32_t task);
int64_t ss_packed_delay(const struct ss_packed *packed, uint32_t task);

/* A task without what few ask for. */
struct ss_packed_task {
	int64_t start_ns, own_ns;
	uint32_t track;
	uint16_t step;
	uint8_t kind, phase;
};

/* One of `longs`. */
int64_t *ss_packed_long(const struct ss_packed *packed, uint32_t task);

static inline enum ss_task_kind ss_packed_kind(const struct ss_packed *packed, uint32_t task)
{
	return (enum ss_task_kind)(packed->kinds[task] & 0xf);
}

static inline int64_t ss_packed_own(const struct ss_packed *packed, uint32_t task)
{
	return packed->own_ns[task] < UINT32_MAX ? packed->own_ns[task]
						 : *ss_packed_long(packed, task);
}

static inline const struct ss_packed_run *ss_packed_run(const struct ss_packed *packed,
							uint32_t task)
{
	const struct ss_packed_run *run = &packed->runs[packed->blocks[task / SS_PACKED_BLOCK].run];

	while (run[1].from <= task)
		run++;
	return run;
}

/* Reads all starts of a block; of transfers the ends. */
void ss_packed_moments(const struct ss_packed *packed, uint32_t block,
		       int64_t moments_ns[SS_PACKED_BLOCK]);

/* Reads up to 64 tasks; use struct ss_packed_starts for the starts of all tasks. */
int64_t ss_packed_start(const struct ss_packed *packed, uint32_t task);

/* The end of the transfer that follows an arrival, and when the rank arrived. */
int64_t ss_packed_transfer_end(const struct ss_packed *packed, uint32_t arrival,
			       int64_t *arrived_ns);

/* Reads starts block by block: the starts of the last block. */
struct ss_packed_starts {
	const struct ss_packed *packed;
	uint32_t block;
	int64_t moments_ns[SS_PACKED_BLOCK];
};

static inline void ss_packed_starts_init(struct ss_packed_starts *starts,
					 const struct ss_packed *packed)
{
	starts->packed = packed;
	starts->block = UINT32_MAX;
}

static inline int64_t ss_packed_starts_get(struct ss_packed_starts *starts, uint32_t task)
{
	const struct ss_packed *packed = starts->packed;
	int64_t moment_ns;

	if (task / SS_PACKED_BLOCK != starts->block) {
		starts->block = task / SS_PACKED_BLOCK;
		ss_packed_moments(packed, starts->block, starts->moments_ns);
	}
	moment_ns = starts->moments_ns[task % SS_PACKED_BLOCK];
	return ss_packed_kind(packed, task) == SS_TASK_TRANSFER
		       ? moment_ns - ss_packed_own(packed, task)
		       : moment_ns;
}

/* A task whose start is known, or not needed. */
static inline struct ss_packed_task ss_packed_task_from(const struct ss_packed *packed,
							uint32_t task, int64_t start_ns)
{
	const struct ss_packed_run *run = ss_packed_run(packed, task);

	return (struct ss_packed_task){ .start_ns = start_ns,
					.own_ns = ss_packed_own(packed, task),
					.track = run->track,
					.step = (uint16_t)run->step,
					.kind = packed->kinds[task] & 0xf,
					.phase = packed->kinds[task] >> 4 };
}

static inline struct ss_packed_task ss_packed_task(const struct ss_packed *packed, uint32_t task)
{
	return ss_packed_task_from(packed, task, ss_packed_start(packed, task));
}

static inline int64_t ss_packed_end(const struct ss_packed_task *task)
{
	return task->start_ns + task->own_ns;
}

/* --- edges ------------------------------------------------------------------------------- */

/* The first byte of an edge: its kind, and these. */
enum ss_packed_head {
	SS_PACKED_KIND = 0xf,
	SS_PACKED_FROM_START = 1 << 4,
	SS_PACKED_LAST = 1 << 5, /* of its task */
	SS_PACKED_FORM_AT = 6,   /* enum ss_packed_form from this bit on */
};

enum ss_packed_form {
	SS_PACKED_NEXT,    /* from the task before it, without a lag */
	SS_PACKED_LAGGING, /* with a lag of 2 bytes */
	SS_PACKED_NEAR,    /* from a task up to 65,535 before it, in 2 bytes; the lag in 2 */
	SS_PACKED_FAR,     /* the task in 4 bytes, the lag in 8 */
};

/* The only edge of a task, from the one before it on its thread. */
#define SS_PACKED_CHAIN ((int)SS_EDGE_THREAD | (int)SS_PACKED_LAST)

/* Instead of edges, where a task has none. */
#define SS_PACKED_NO_EDGE (SS_PACKED_KIND | SS_PACKED_LAST)

/* Reads the edge at `*at` and moves on to the next; false: it was the last of its task. */
static inline bool ss_packed_edge(const uint8_t **at, uint32_t task, struct ss_edge *out)
{
	const uint8_t *bytes = *at + 1;
	uint8_t head = **at;
	uint16_t distance;
	int16_t lag;

	out->from = task - 1;
	out->kind = head & SS_PACKED_KIND;
	out->from_start = head & SS_PACKED_FROM_START;
	out->lag_ns = 0;
	switch ((enum ss_packed_form)(head >> SS_PACKED_FORM_AT)) {
	case SS_PACKED_NEXT:
		break;
	case SS_PACKED_LAGGING:
		memcpy(&lag, bytes, sizeof(lag));
		out->lag_ns = lag;
		bytes += sizeof(lag);
		break;
	case SS_PACKED_NEAR:
		memcpy(&distance, bytes, sizeof(distance));
		memcpy(&lag, bytes + sizeof(distance), sizeof(lag));
		out->from = task - distance;
		out->lag_ns = lag;
		bytes += sizeof(distance) + sizeof(lag);
		break;
	case SS_PACKED_FAR:
		memcpy(&out->from, bytes, sizeof(out->from));
		memcpy(&out->lag_ns, bytes + sizeof(out->from), sizeof(out->lag_ns));
		bytes += sizeof(out->from) + sizeof(out->lag_ns);
		break;
	}
	*at = bytes;
	return !(head & SS_PACKED_LAST);
}

/* Where the edges of a task begin, in bytes. */
uint32_t ss_packed_edges(const struct ss_packed *packed, uint32_t task);

/* Visits the edges of a task. */
struct ss_packed_visit {
	const uint8_t *at;
	uint32_t task;
	bool is_done;
};

static inline struct ss_packed_visit ss_packed_visit(const struct ss_packed *packed, uint32_t task)
{
	const uint8_t *at = &packed->edges[ss_packed_edges(packed, task)];

	return (struct ss_packed_visit){ at, task, *at == SS_PACKED_NO_EDGE };
}

/* False: no more. */
static inline bool ss_packed_next(struct ss_packed_visit *visit, struct ss_edge *out)
{
	if (visit->is_done)
		return false;
	visit->is_done = !ss_packed_edge(&visit->at, visit->task, out);
	return true;
}

/* --- what a replay changes ---------------------------------------------------------------- */

/*
 * A transfer takes so long until its end, at most since its rank arrived, and has no delay. The
 * arrival is the task before it.
 */
void ss_packed_settle(struct ss_packed *packed, uint32_t task, int64_t own_ns);

#endif
