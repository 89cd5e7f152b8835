/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.h - what calls in forward() hold at a moment, and what checkpointing each would
 * save.
 *
 * A call is a line of a forward() outside PyTorch itself, or, in traces that record them,
 * the modules of a class. It is charged with the activations of everything inside it.
 *
 * Checkpointing each run of a call that runs repeatedly keeps what the runs return, not
 * what they hold (checkpoint.h); for a call that runs once it saves nothing, because
 * backward recomputes all of it at once. Modules are recorded separately; how many times a
 * line ran is not recorded. The line was left and entered again if the code inside it
 * returns to an earlier place after something else; and it did not run more often than
 * nearly all of its bytes were made, otherwise there is a loop inside it.
 */
#ifndef SS_MEMORY_HOLDERS_CALLS_H
#define SS_MEMORY_HOLDERS_CALLS_H

#include "memory/holders/held_blocks.h"

struct ss_call {
	uint32_t line;  /* or module: id in ss_snapshot_places.texts */
	uint32_t stack; /* of its largest block */
	int64_t bytes, largest_bytes;
	int64_t saved_bytes; /* of the peak, by a checkpoint around each run; -1: not told */
	uint32_t blocks;
	uint32_t runs;  /* that hold something; 1: once, or it is not told */
	uint32_t turns; /* of what is inside, in each run */
	bool is_module;
};

struct ss_calls {
	struct ss_memory *memory;
	struct ss_call *items; /* what saves most first, then by bytes; those not told last */
	uint32_t count, capacity;
};

/* `held` is what is held at the peak of the device. Release it also when this failed. */
SS_MUST_USE
enum ss_status ss_calls_init(struct ss_calls *calls, const struct ss_snapshot_subject *subject,
			     const struct ss_device_memory *device,
			     const struct ss_held_blocks *held, struct ss_error *err);
void ss_calls_release(struct ss_calls *calls);

/*
 * The calls on a stack, as ids of texts, each once, the innermost first. Returns how many there are
 * and leaves at most `room` of them.
 */
uint32_t ss_calls_on(const struct ss_snapshot_subject *subject, uint32_t stack, uint32_t *lines,
		     uint32_t capacity);

#endif
