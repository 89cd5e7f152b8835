/* SPDX-License-Identifier: Apache-2.0 */
/*
 * training_steps.h - the training steps of a device's events, as far as the stacks show
 * them.
 *
 * A step ends when the optimizer has run (its step(), zero_grad()) and other work follows;
 * in recordings without an optimizer, when backward has run and a forward follows. Without
 * either there are no steps. A trace records its steps: those are used.
 */
#ifndef SS_MEMORY_TRAINING_STEPS_H
#define SS_MEMORY_TRAINING_STEPS_H

#include "memory/history/history.h"
#include "memory/stack_places.h"

struct ss_snapshot_steps {
	struct ss_memory *memory;
	uint32_t *starts; /* rows at which steps begin; the first is the first event */
	uint32_t count, capacity;
	uint32_t before;  /* 1: the first is no step, but what comes before the steps of a trace */
	bool has_steps;   /* false: there is one, which is all */
	bool is_recorded; /* a trace has told them; what comes after them is the last */
};

SS_MUST_USE
enum ss_status ss_snapshot_steps_init(struct ss_snapshot_steps *rounds,
				      const struct ss_history *history,
				      const struct ss_device_memory *device,
				      const struct ss_snapshot_places *spots, struct ss_error *err);
void ss_snapshot_steps_release(struct ss_snapshot_steps *rounds);

/* The number of the step of a row, from 0; -1: it is in none, or there are none. */
int64_t ss_snapshot_steps_step(const struct ss_snapshot_steps *rounds, uint32_t row);

/* The round of a row. */
uint32_t ss_snapshot_steps_round(const struct ss_snapshot_steps *rounds, uint32_t row);

#endif
