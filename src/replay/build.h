/*
 * build.h - a graph in the making; shared by the files that make one.
 *
 * Threads come first (threads.c: tasks in the order of each thread), then streams
 * (streams.c: device work with its launches), then what waits for what (waits.c). Edges
 * may be added in any order; ss_build_finish() sorts them and finds the delays.
 */
#ifndef SS_REPLAY_BUILD_H
#define SS_REPLAY_BUILD_H

#include "replay/graph.h"

/* Clocks of host and device agree only so far: a wait was seen to end 7.5 us before its work. */
#define SS_BUILD_CLOCKS_NS 10000

enum ss_call_flag {
	SS_CALL_LAUNCHES = 1 << 0, /* something ran on a device for it */
	SS_CALL_BLOCKS = 1 << 1,   /* a copy call that held the host while the device copied */
	SS_CALL_STAGES = 1 << 2,   /* and worked until the copy began; its task ends there */
};

/* An edge whose place is not known yet. */
struct ss_build_edge {
	uint32_t to;
	struct ss_edge edge;
};

struct ss_build {
	struct ss_graph *graph;
	const struct ss_trace *trace;
	const struct ss_phases *phases;
	struct ss_arena scratch;
	struct ss_build_edge *edges;
	uint32_t edge_count, edge_capacity;
	uint32_t *call_task;   /* per host row: the task of the call that it is, or SS_NO_TASK */
	uint32_t *device_task; /* per device row: its task (of collectives the transfer) */
	uint8_t *calls;        /* per host row: enum ss_call_flag */
	uint32_t *names;       /* per name of the trace: id in the graph + 1; 0: not there yet */
	uint32_t *step_items;  /* of the steps that count: their numbers in the trace */
	uint32_t host_tasks;   /* tasks of threads; those of devices follow */
	uint32_t main;         /* track of the thread that runs the steps, or SS_NO_ROW */
	bool failed;           /* no memory */
};

/* Returns its number, or SS_NO_TASK without memory. */
uint32_t ss_build_task(struct ss_build *build, struct ss_task task);
void ss_build_edge(struct ss_build *build, uint32_t to, struct ss_edge edge);

/* The step that counts in whose range on the host the moment lies, or SS_NO_STEP. */
uint16_t ss_build_step(const struct ss_build *build, int64_t moment_ns);

void ss_build_threads(struct ss_build *build); /* threads.c */
void ss_build_streams(struct ss_build *build); /* streams.c */
void ss_build_waits(struct ss_build *build);   /* waits.c */

#endif
