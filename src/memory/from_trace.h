/* SPDX-License-Identifier: Apache-2.0 */
/*
 * from_trace.h - converts the memory events of a trace to a snapshot, so that all snapshot
 * views can show them.
 *
 * profile(profile_memory=True) records allocations and frees, and after each the device's
 * total and what the allocator has reserved. The totals show how much was in use before
 * the first event: its blocks become known when they are freed, the rest stays one amount.
 * If a total differs from what the events give, the difference gets its own row
 * (SS_ACTION_GAIN, SS_ACTION_LOSS), so that amounts match the recording. So does the end of
 * an allocation whose address is given out again without a free. All other rows are the
 * events of the file, one each.
 *
 * Events without an address have address 0: they count as amounts, and their blocks are
 * unknown.
 */
#ifndef SS_MEMORY_FROM_TRACE_H
#define SS_MEMORY_FROM_TRACE_H

#include "memory/load/snapshot.h"
#include "trace/trace.h"
#include "analyze/host/step_phase.h"
#include "memory/events/alloc.h"

/* To be released when SS_OK came back; fails (SS_ERR_MISSING) where no memory was recorded. */
SS_MUST_USE
enum ss_status ss_snapshot_from_trace(struct ss_snapshot *out, const struct ss_trace *trace,
				      struct ss_memory *memory, struct ss_error *err);

/*
 * The stacks of a trace's memory events, as those of a snapshot.
 *
 * A stack is what lies around an event on its thread: Python frames, modules, ranges and
 * operators; steps of the profiler and calls of the runtime are no frames, nor are calls that
 * opened a range and have returned since. Where old writers gave operators a call stack
 * instead of frames, it stands around them. The phase that the trace tells
 * (analyze/host/step_phase.h) is the outermost frame where no other frame tells it.
 *
 * Frames are looked up once per name and nodes by (node around it, frame), so the cost grows
 * with the number of rows, not with the depth of stacks.
 */

/* Deeper stacks lose their outermost frames; real programs do not have them. */
#define SS_TRACED_FRAMES_MAX 256

/* Frames that stand for a phase; stack_places.c knows them by these names. */
#define SS_PHASE_FRAME_FORWARD "(forward)"
#define SS_PHASE_FRAME_BACKWARD "(backward)"
#define SS_PHASE_FRAME_OPTIMIZER "(optimizer)"

/* The phase that a stack belongs to, apart from its frames. */
enum ss_added_phase {
	SS_ADDED_NONE,
	SS_ADDED_FORWARD,
	SS_ADDED_BACKWARD,
	SS_ADDED_OPTIMIZER,
	SS_ADDED_COUNT
};

struct ss_stack_node {
	uint32_t parent, frame;
	uint32_t stacks[SS_ADDED_COUNT]; /* its stack, by phase; SS_NO_ID: not made yet */
	bool tells;                      /* one of its frames says which phase it is */
	bool has_python;
};

/* Where the stack of a call stack's text was put last. */
struct ss_text_node {
	uint32_t parent, node;
};

struct ss_traced_stacks {
	const struct ss_trace *trace;
	struct ss_snapshot *out; /* lent: gets frames and stacks */
	struct ss_arena arena;   /* of the columns below */
	struct ss_phases phases;
	struct ss_records keys; /* (parent, frame): its id is that of the node */
	struct ss_stack_node *nodes;
	uint32_t node_count, node_capacity;
	struct ss_allocs_walk *walks;  /* per track */
	uint32_t *row_nodes;           /* per host row; SS_NO_ID: not looked up yet */
	uint32_t *name_frames;         /* per name of the trace; SS_NO_ID: the same */
	struct ss_text_node *by_texts; /* per text of the trace */
	uint32_t *path;                /* rows on the way to the root */
	uint32_t path_count, path_capacity;
	uint32_t phase_frames[SS_ADDED_COUNT];
	uint32_t step; /* the first that is not over at the latest event */
	bool trains;   /* there is backward work, so what comes before it is forward */
	bool has_steps;
};

/* Release it also when this failed. */
SS_MUST_USE
enum ss_status ss_traced_stacks_init(struct ss_traced_stacks *stacks, const struct ss_trace *trace,
				     struct ss_snapshot *out, struct ss_error *err);
void ss_traced_stacks_release(struct ss_traced_stacks *stacks);

/* The stack of an allocation event; they are asked for in order. SS_NO_ID at the limit. */
SS_MUST_USE
uint32_t ss_traced_stacks_at(struct ss_traced_stacks *stacks, uint32_t event);

/* Whether ranges on the host mark the steps; otherwise stacks do. */
bool ss_traced_stacks_has_steps(const struct ss_trace *trace);

#endif
