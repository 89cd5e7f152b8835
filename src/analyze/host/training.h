/* SPDX-License-Identifier: Apache-2.0 */
/*
 * training.h - which host rows are part of training: forward operators with a backward,
 * backward, and the optimizer.
 *
 * A function with none of these inside is something else that the loop does: input,
 * logging, saving, validation. Operators in it may still compute (validation does). In
 * files without autograd's links, no forward operator is known to be trained (has_links).
 */
#ifndef SS_ANALYZE_HOST_TRAINING_H
#define SS_ANALYZE_HOST_TRAINING_H

#include "analyze/host/places.h"
#include "analyze/host/step_phase.h"

struct ss_training {
	const struct ss_trace *trace;
	struct ss_memory *memory;
	uint32_t row_count; /* of host rows */
	uint32_t *marks;    /* per host row and one more: how many before it are training */
	uint32_t *computes; /* likewise: how many launch a kernel or, without a device, compute */
	bool trains;        /* backward is recorded */
	bool has_links;     /* forward operators are known by their backward */
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
	return training->marks[to] > training->marks[from];
}

static inline uint32_t ss_training_computes(const struct ss_training *training, uint32_t from,
					    uint32_t to)
{
	return training->computes[to] - training->computes[from];
}

#endif
