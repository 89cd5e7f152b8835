/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph.h - what had to wait for what on one rank: tasks, and edges between them.
 *
 * A task is a piece of a thread (between two calls), a call, or work of a device. It
 * starts when everything that it waits for is done:
 *
 *     start = max over edges (end of the other task, or its start, + lag) + delay
 *     end   = start + own
 *
 * The delay is what no edge explains; with it the recorded times come out again
 * exactly, without it they come out as far as the graph is right (replay.h).
 *
 * A call that waits for the device is two tasks: the call itself, and its return
 * (SS_TASK_WAIT), which takes no time and has an edge from what was waited for. A
 * collective is two tasks, too: the rank arrives (no time), and data is moved
 * (SS_TASK_TRANSFER), which begins when all members have arrived.
 *
 * The graph outlives the trace: nothing in it points there. `row` tells rules that
 * look at graph and trace together which slice a task is.
 */
#ifndef SS_REPLAY_GRAPH_H
#define SS_REPLAY_GRAPH_H

#include <string.h>

#include "analyze/facts.h"
#include "view/view.h"

#define SS_NO_TASK UINT32_MAX
#define SS_NO_STEP UINT16_MAX

enum ss_task_kind {
	/* threads */
	SS_TASK_WORK,      /* operators and Python between calls */
	SS_TASK_LAUNCH,    /* a call that gives work to the device, a copy too */
	SS_TASK_CALL,      /* a call that can wait for the device, without the waiting */
	SS_TASK_WAIT,      /* the return of such a call */
	SS_TASK_INPUT,     /* in the DataLoader's __next__ */
	SS_TASK_ALLOCATOR, /* cudaMalloc, cudaFree and their like */
	SS_TASK_COMPILE,   /* compiling, looking up compiled code */
	SS_TASK_GC,        /* Python's garbage collector */
	SS_TASK_JOIN,      /* waited for another thread or process; takes no time of its own */
	/* devices */
	SS_TASK_KERNEL,
	SS_TASK_COPY,
	SS_TASK_MEMSET,
	/* collectives, on a stream or, in jobs without devices, on a thread */
	SS_TASK_ARRIVE,
	SS_TASK_TRANSFER,
	SS_TASK_KINDS,
};

/* Why one task waits for another. */
enum ss_edge_kind {
	SS_EDGE_THREAD,   /* the order of a thread */
	SS_EDGE_HANDOVER, /* between threads: autograd and the thread that called backward */
	SS_EDGE_LAUNCH,   /* from the start of the call */
	SS_EDGE_STREAM,   /* the order of a stream */
	SS_EDGE_EVENT,    /* a stream waits for another one; recorded */
	SS_EDGE_INFERRED, /* a stream waits for another one; by when it started */
	SS_EDGE_SYNC,     /* a thread waits for the device */
	SS_EDGE_QUEUE,    /* a launch waits for a place in the queue: from a start */
	SS_EDGE_BATCH,    /* the workers of a DataLoader need so long for the next batch */
	SS_EDGE_KINDS,
};

struct ss_task {
	int64_t start_ns; /* recorded; from the trace's origin, in a job on its clock */
	int64_t own_ns;
	uint32_t row;   /* slice of the trace that it is, or is in; SS_NO_ROW: none */
	uint32_t edges; /* first of its edges; the next task's is the end */
	uint32_t track; /* of the trace; SS_NO_ROW: none */
	uint16_t step;  /* number among the measured steps, or SS_NO_STEP */
	uint8_t kind;   /* enum ss_task_kind */
	uint8_t phase;  /* enum ss_phase; of device work: of its launch */
};
static_assert(sizeof(struct ss_task) == 32, "a trace has millions of them");

struct ss_edge {
	uint32_t from;
	uint8_t kind;    /* enum ss_edge_kind */
	bool from_start; /* of the other task; else its end */
	int64_t lag_ns;  /* may be below 0: work that overlaps what it follows */
};

/* The same in 8 bytes, as a graph has it. */
struct ss_short_edge {
	uint32_t from;
	uint32_t kind : 4;
	uint32_t from_start : 1;
	uint32_t is_long : 1;
	uint32_t lag : 26; /* in ns + SS_SHORT_LAG; of a long one its number among the lags */
};
/* Lags in ns that fit are below it; longer ones are as rare as pauses of 33 ms. */
#define SS_SHORT_LAG (UINT32_C(1) << 25)
static_assert(sizeof(struct ss_short_edge) == 8, "a trace has millions of them");

/* What few tasks have. */
struct ss_packed_time {
	uint32_t task;
	int64_t ns;
};

/* A measured step. */
struct ss_graph_step {
	int64_t start_ns, end_ns; /* effective, as the view steps has them */
};

/* A collective: the task of its arrival; that of the transfer is the next one. */
struct ss_graph_comm {
	uint32_t row, task;
};

/* Where the tasks of a kind are; others can lie between them. */
struct ss_task_range {
	uint32_t from, to;
};

struct ss_graph {
	struct ss_memory *memory;
	struct ss_task *tasks; /* one more than task_count: where the edges end */
	struct ss_short_edge *edges;
	int64_t *lags; /* of long edges */
	uint32_t task_count, task_capacity;
	uint32_t edge_count, edge_capacity;
	uint32_t lag_count, lag_capacity;
	struct ss_packed_time *delays; /* by task: beyond what the edges explain */
	uint32_t delay_count, delay_capacity;
	struct ss_strings names;
	uint8_t *names_of; /* per task: number of the name of its slice, or 0; NULL: all 0 */
	uint32_t name_room;
	uint8_t name_bytes;
	struct ss_graph_step *steps;
	uint32_t step_count;
	struct ss_graph_comm *comms; /* by row */
	uint32_t comm_count, comm_capacity;
	uint32_t main; /* track of the thread that runs the steps, or SS_NO_ROW */
	uint32_t edges_of[SS_EDGE_KINDS];
	struct ss_task_range of_kind[SS_TASK_KINDS]; /* while it is made from a trace */
};

/* The trace may go afterwards. */
SS_MUST_USE
enum ss_status ss_replay_graph_make(struct ss_graph *graph, const struct ss_subject *subject,
				    struct ss_memory *memory, struct ss_error *err);
void ss_replay_graph_release(struct ss_graph *graph);

/*
 * Cuts lags to what was recorded; what is later than all edges ask for is a delay. False: no
 * memory, as with the next two.
 */
SS_MUST_USE bool ss_replay_graph_find_delays(struct ss_graph *graph);

/* Writes an edge to one of the graph, or to one that will be. */
SS_MUST_USE bool ss_replay_edge_shorten(struct ss_graph *graph, const struct ss_edge *edge,
					struct ss_short_edge *out);

/* Sets the name of a task, by its number in the names of the graph. */
SS_MUST_USE bool ss_replay_graph_name_task(struct ss_graph *graph, uint32_t task, uint32_t name);

/* One of the numbers of `bytes` (1 or 4) in `names_of`. */
static inline uint32_t ss_replay_name_at(const uint8_t *names_of, uint8_t bytes, uint32_t task)
{
	uint32_t name = bytes == 1 ? names_of[task] : 0;

	if (bytes > 1)
		memcpy(&name, &names_of[(size_t)task * sizeof(name)], sizeof(name));
	return name;
}

static inline struct ss_edge ss_replay_edge_of(const struct ss_graph *graph,
					       const struct ss_short_edge *edge)
{
	return (struct ss_edge){ .from = edge->from,
				 .kind = edge->kind,
				 .from_start = edge->from_start,
				 .lag_ns = edge->is_long ? graph->lags[edge->lag]
							 : (int64_t)edge->lag - SS_SHORT_LAG };
}

/* The arrival of the collective that a row is, or SS_NO_TASK. */
uint32_t ss_replay_graph_find_comm(const struct ss_graph_comm *comms, uint32_t count, uint32_t row);

static inline uint32_t ss_replay_graph_comm_of(const struct ss_graph *graph, uint32_t row)
{
	return ss_replay_graph_find_comm(graph->comms, graph->comm_count, row);
}

const char *ss_task_name(enum ss_task_kind kind);

static inline bool ss_task_on_device(enum ss_task_kind kind)
{
	return kind == SS_TASK_KERNEL || kind == SS_TASK_COPY || kind == SS_TASK_MEMSET;
}

/* Where the work of devices is. */
static inline struct ss_task_range ss_replay_device_tasks(const struct ss_graph *graph)
{
	struct ss_task_range all = { graph->task_count, graph->task_count };

	for (int kind = SS_TASK_KERNEL; kind <= SS_TASK_MEMSET; kind++)
		if (graph->of_kind[kind].to && graph->of_kind[kind].from < all.from)
			all.from = graph->of_kind[kind].from;
	return all;
}

static inline int64_t ss_task_end(const struct ss_task *task)
{
	return task->start_ns + task->own_ns;
}

#endif
