/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.h - a whole job: all ranks and their collectives.
 *
 * A job is run twice. The first run is about time only: all ranks at once, each
 * until it needs the others, and what is kept is when each collective ended. With
 * those ends known no rank needs another one, so the second run takes rank after
 * rank, on as many threads as there are, and writes the files. Memory is that of
 * the ranks' clocks and the collectives, whatever the number of events.
 */
#ifndef SS_SIM_MACHINE_RUN_H
#define SS_SIM_MACHINE_RUN_H

#include "sim/machine/machine.h"

/* The collectives of one channel, in their order. */
struct ss_sim_channel {
	int64_t *ends_ns;
	uint32_t count, capacity;
	uint32_t first_recorded; /* index; count when none is */
	int64_t transfer_ns;     /* of all recorded ones */
	/* of recorded ones, when they are kept */
	struct ss_sim_collective_run *details;
	uint32_t detail_count, detail_capacity;
	int64_t *arrivals_ns; /* members of the first, of the second, ... */
	uint32_t arrival_count, arrival_capacity;
	/* the open one */
	uint32_t arrived;
	int64_t last_ns;
};

struct ss_sim_collective_run {
	uint32_t step, program, comm; /* of the first member */
	int64_t transfer_ns;
};

struct ss_sim_outcome {
	const struct ss_sim_plan *plan;
	struct ss_memory *memory;
	struct ss_sim_channel *channels;
	uint32_t channel_count;
	struct ss_sim_span *spans; /* steps of rank 0, of rank 1, ... */
	int64_t mean_step_ns;      /* over all ranks and recorded steps */
	int64_t host_step_ns;      /* CPU time of a step on rank 0, without waiting */
	int64_t comm_step_ns;      /* transfers of a step in the channel that has most of them */
	uint64_t allocated_peak_bytes, reserved_peak_bytes; /* the largest of all ranks */
};

/* The first run. `with_details`: keeps who arrived when. */
SS_MUST_USE
enum ss_status ss_sim_outcome_open(struct ss_sim_outcome *outcome,
				   const struct ss_sim_programs *programs, struct ss_memory *memory,
				   bool with_details, struct ss_error *err);
void ss_sim_outcome_close(struct ss_sim_outcome *outcome);

/* When the collective that a WAITING rank is in ended. */
int64_t ss_sim_outcome_end(const struct ss_sim_outcome *outcome, const struct ss_sim_rank *rank);

#endif
