/* SPDX-License-Identifier: Apache-2.0 */
/*
 * programs.h - all programs of a job, and which of them a rank runs when.
 */
#ifndef SS_SIM_MACHINE_PROGRAMS_H
#define SS_SIM_MACHINE_PROGRAMS_H

#include "sim/plan.h"
#include "sim/programs/program.h"

/* Programs of the steps; a rank with more work has another one. */
struct ss_sim_programs {
	const struct ss_sim_plan *plan;
	struct ss_sim_program *items;
	uint32_t count;
	uint32_t events_max, slots_max, sequences_max; /* over all of them */
};

/* Which of them a rank runs in a step. */
uint32_t ss_sim_program_at(const struct ss_sim_programs *programs, uint32_t rank, uint32_t step);

/* Builds the programs of the plan. */
SS_MUST_USE
enum ss_status ss_sim_programs_open(struct ss_sim_programs *programs,
				    const struct ss_sim_plan *plan, struct ss_memory *memory,
				    struct ss_error *err);
void ss_sim_programs_close(struct ss_sim_programs *programs, struct ss_memory *memory);

#endif
