/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_phase.h - which part of a training step a host row belongs to (metrics.md 3).
 *
 * Ranges decide: those of PyTorch (the DataLoader's __next__, Optimizer.step#,
 * Optimizer.zero_grad#) and those that a user named forward, backward or optimizer. The
 * innermost range counts, and everything inside has its phase. Elsewhere, backward is what
 * the autograd engine runs, by operator name, and everything on its threads; forward is
 * every other operator, launch and copy. In files without operators, launches of forward
 * and backward look the same. Work inside backward is never forward: a recomputed
 * checkpoint is part of backward.
 */
#ifndef SS_ANALYZE_HOST_STEP_PHASE_H
#define SS_ANALYZE_HOST_STEP_PHASE_H

#include "analyze/host/places.h"
#include "base/bitmap.h"
#include "trace/trace.h"

enum ss_phase {
	SS_PHASE_INPUT,
	SS_PHASE_FORWARD,
	SS_PHASE_BACKWARD,
	SS_PHASE_OPTIMIZER,
	SS_PHASE_OTHER, /* no evidence: frames, steps, waits outside of operators */
	SS_PHASE_COUNT,
};

struct ss_phases {
	const struct ss_trace *trace;
	struct ss_memory *memory;
	uint32_t row_count; /* of host rows */
	uint8_t *phase;     /* enum ss_phase, per host row */
	uint32_t main;      /* the track of the thread that runs the steps, or SS_NO_ROW */
	bool has_ops;       /* operators are recorded */
	bool has[SS_PHASE_COUNT];
};

SS_MUST_USE
enum ss_status ss_phases_init(struct ss_phases *phases, const struct ss_trace *trace,
			      struct ss_memory *memory, struct ss_error *err);
void ss_phases_release(struct ss_phases *phases);

const char *ss_phase_name(enum ss_phase phase);

/* The phase of the launch of a device row; SS_PHASE_OTHER where it is not recorded. */
enum ss_phase ss_phase_of_launch(const struct ss_phases *phases, uint32_t row);

struct ss_cover; /* analyze/time/cover.h */

/*
 * phase_share.c: how long the main thread was in each phase in each of `parts`: sums[phase *
 * parts->count + part], cleared before. Where it does nothing else, it waits for the threads of
 * autograd. Time without a phase is "other". There must be a main thread. False: no memory.
 */
SS_MUST_USE
bool ss_phases_share_host(const struct ss_phases *phases, const struct ss_cover *parts,
			  struct ss_memory *memory, int64_t *sums);

/*
 * Which host rows are part of training: forward operators with a backward,
 * backward, and the optimizer.
 *
 * A function with none of these inside is something else that the loop does: input,
 * logging, saving, validation. Operators in it may still compute (validation does). In
 * files without autograd's links, no forward operator is known to be trained (has_links).
 */

struct ss_training {
	const struct ss_trace *trace;
	struct ss_memory *memory;
	uint32_t row_count;        /* of host rows */
	struct ss_bitmap marks;    /* host rows that are training */
	struct ss_bitmap computes; /* those that launch a kernel or, without a device, compute */
	bool trains;               /* backward is recorded */
	bool has_links;            /* forward operators are known by their backward */
};

SS_MUST_USE
enum ss_status ss_training_init(struct ss_training *training, const struct ss_phases *phases,
				const struct ss_places *places, struct ss_memory *memory,
				struct ss_error *err);
void ss_training_release(struct ss_training *training);

/* Whether it is an operator of a forward pass: matrix product, convolution, attention. */
bool ss_training_is_heavy(const char *op);

/* Rows [from, to) of one thread. */
static inline bool ss_training_in(const struct ss_training *training, uint32_t from, uint32_t to)
{
	return ss_bitmap_before(&training->marks, to) > ss_bitmap_before(&training->marks, from);
}

static inline uint32_t ss_training_computes(const struct ss_training *training, uint32_t from,
					    uint32_t to)
{
	return ss_bitmap_before(&training->computes, to) -
	       ss_bitmap_before(&training->computes, from);
}

#endif
