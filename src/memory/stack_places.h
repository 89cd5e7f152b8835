/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_places.h - the place of a snapshot's stack in the program: line, phase, calls
 * around it.
 *
 * The line is the innermost frame of the user's own code, or the innermost Python frame if
 * all frames are from libraries; without Python, what autograd runs there, or the
 * innermost operator of a trace that does more than allocate. The frames on the stack give
 * the phase: an optimizer, the autograd engine, a forward() or a module call, creating or
 * loading a model. Of the user's own function names, only forward, step and the usual
 * names of optimizer files count.
 */
#ifndef SS_MEMORY_STACK_PLACES_H
#define SS_MEMORY_STACK_PLACES_H

#include "memory/load/snapshot.h"

enum ss_stack_phase {
	SS_STACK_UNKNOWN, /* no stack */
	SS_STACK_OTHER,   /* a stack with none of the following on it */
	SS_STACK_SETUP,   /* making, moving or loading a model */
	SS_STACK_FORWARD,
	SS_STACK_BACKWARD,
	SS_STACK_OPTIMIZER,
	SS_STACK_STEP, /* inside of the optimizer's step(), or zero_grad() */
};

enum ss_frame_flag {
	SS_FRAME_PYTHON = 1 << 0,
	SS_FRAME_LIBRARY = 1 << 1, /* not the user's own */
	SS_FRAME_NOISE = 1 << 2,   /* says nothing to anybody: unwinding, the interpreter */
	SS_FRAME_SETUP = 1 << 3,
	SS_FRAME_FORWARD = 1 << 4,
	SS_FRAME_BACKWARD = 1 << 5,
	SS_FRAME_OPTIMIZER = 1 << 6,
	SS_FRAME_STEP = 1 << 7,
	SS_FRAME_NODE = 1 << 8,       /* of autograd's graph: MmBackward0 */
	SS_FRAME_TORCH = 1 << 9,      /* of torch itself */
	SS_FRAME_CALLING = 1 << 10,   /* how a module is called: around every forward() */
	SS_FRAME_ALLOCATES = 1 << 11, /* only allocates: aten::empty, the allocator */
	SS_FRAME_MODULE = 1 << 12,    /* a module of a trace: nn.Module: Block_3 */
};

/* A frame taken apart: snapshots have file, line and name; the profiler's has all in the name. */
struct ss_snapshot_frame_parts {
	const char *file, *function;
	size_t file_length, function_length;
	uint32_t line;
};

/* Takes "torch/optim/adam.py(347): step" apart; false: it is no frame of Python. */
bool ss_snapshot_frame_split(const char *name, size_t length, struct ss_snapshot_frame_parts *out);

struct ss_snapshot_places {
	const struct ss_snapshot *snapshot;
	struct ss_memory *memory;
	struct ss_strings texts; /* lines */
	uint32_t frame_count, stack_count;
	uint16_t *flags;      /* per frame: enum ss_frame_flag */
	uint32_t *frame_line; /* per frame: "train.py:43 (step)", as an id in texts */
	uint32_t *frame_call; /* per frame: what a checkpoint can be put around; 0: nothing */
	uint32_t *line;       /* per stack: id in texts; 0: no stack */
	uint8_t *phase;       /* per stack: enum ss_stack_phase */
};

SS_MUST_USE
enum ss_status ss_snapshot_places_init(struct ss_snapshot_places *spots,
				       const struct ss_snapshot *snapshot, struct ss_memory *memory,
				       struct ss_error *err);
void ss_snapshot_places_release(struct ss_snapshot_places *spots);

/* Whether any stack is of that phase, or of one that comes after it in a step. */
bool ss_snapshot_places_has(const struct ss_snapshot_places *spots, enum ss_stack_phase first);

/* The line of a stack; NULL: not recorded. */
const char *ss_snapshot_places_line(const struct ss_snapshot_places *spots, uint32_t stack);

#endif
