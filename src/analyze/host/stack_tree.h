/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_tree.h - the stacks of a file, merged: a tree of frames with time.
 *
 * A stack begins with its thread; its frames are the nested rows of that thread: Python
 * frames, modules, annotations, operators. If an old writer gave the operators a call
 * stack in place of frames, that is used. Each moment of a thread belongs to the innermost
 * open row, so all self times of a thread add up to the time in which anything was
 * recorded on it. Device time belongs to the stack around its launch (runtime calls are
 * not frames there), with the kernel as the last frame.
 */
#ifndef SS_ANALYZE_HOST_STACK_TREE_H
#define SS_ANALYZE_HOST_STACK_TREE_H

#include "analyze/host/step_phase.h"
#include "trace/trace.h"

/* Set in the name of a frame of a call stack: the rest is an id into texts. */
#define SS_STACK_OWN_TEXT 0x80000000u

enum ss_stack_value { SS_STACK_DEVICE, SS_STACK_HOST };

struct ss_stack {
	uint32_t parent;                   /* node, or SS_NO_ID: a thread */
	uint32_t name;                     /* id into the trace's names; of threads: into texts */
	int64_t calls;                     /* rows or device events whose stack this is */
	int64_t self_ns;                   /* their time */
	int64_t total_ns;                  /* and of all stacks that begin with it */
	uint64_t text_bytes;               /* of all its frames, joined */
	int64_t phases_ns[SS_PHASE_COUNT]; /* parts of self_ns, if the tree has phases */
};

struct ss_stack_tree {
	const struct ss_trace *trace;
	struct ss_memory *memory;
	struct ss_strings texts; /* threads and frames of call stacks */
	struct ss_stack *nodes;  /* parents before children */
	uint32_t count, capacity;
	uint32_t step_name; /* name of the first step: all steps are one frame */
	int64_t all_ns;
	bool has_lines; /* there are frames of Python */
};

/* `phases` may be NULL; they are read only during the call. */
SS_MUST_USE
enum ss_status ss_stack_tree_init(struct ss_stack_tree *tree, const struct ss_trace *trace,
				  enum ss_stack_value value, const struct ss_phases *phases,
				  struct ss_memory *memory, struct ss_error *err);
void ss_stack_tree_release(struct ss_stack_tree *tree);

/* The name of a node's last frame; not terminated. */
struct ss_string ss_stack_frame(const struct ss_stack_tree *tree, uint32_t node);

/*
 * All frames, outermost first, joined by ';', which is ':' inside of names: as many bytes as
 * the node's text_bytes says, and no zero byte behind them.
 */
void ss_stack_text(const struct ss_stack_tree *tree, uint32_t node, char *text);

#endif
