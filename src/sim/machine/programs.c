/* SPDX-License-Identifier: Apache-2.0 */
/*
 * programs.c - the programs of a job: one for each stage, with the usual work and
 * with more, for decode and for prefill.
 */
#include <string.h>

#include "sim/groups.h"
#include "sim/machine/programs.h"

static bool rank_is_odd(const struct ss_sim_odd_rank *odd, const struct ss_sim_plan *plan,
			uint32_t rank, uint32_t step)
{
	if (odd->rank < 0 || !odd->permille)
		return false;
	return odd->rotates ? step % plan->rank_count == rank : (uint32_t)odd->rank == rank;
}

/* Stages, each as it is and with more work, each for decode and for prefill. */
uint32_t ss_sim_program_at(const struct ss_sim_programs *programs, uint32_t rank, uint32_t step)
{
	const struct ss_sim_plan *plan = programs->plan;
	uint32_t index = ss_sim_place_of(plan, rank).stage * 4;

	if (rank_is_odd(&plan->more_work, plan, rank, step))
		index += 2;
	if (plan->prefill_every && step % plan->prefill_every == 0)
		index += 1;
	return index;
}

enum ss_status ss_sim_programs_open(struct ss_sim_programs *programs,
				    const struct ss_sim_plan *plan, struct ss_memory *memory,
				    struct ss_error *err)
{
	uint32_t count = plan->pipe * 4;

	*programs = (struct ss_sim_programs){ .plan = plan };
	programs->items = ss_memory_resize(memory, NULL, 0, count * sizeof(*programs->items));
	if (!programs->items)
		return ss_fail_memory(err, "the programs of a simulated job");
	memset(programs->items, 0, count * sizeof(*programs->items));
	programs->count = count;
	for (uint32_t i = 0; i < count; i++) {
		struct ss_sim_program *program = &programs->items[i];
		struct ss_sim_part part = { .stage = i / 4,
					    .work_permille = 1000,
					    .prefill = i % 2 == 1 };

		if ((i % 2 && !plan->prefill_every) || (i % 4 > 1 && !plan->more_work.permille))
			continue;
		if (i % 4 > 1)
			part.work_permille = plan->more_work.permille;
		if (!ss_sim_program_init(program, memory, plan->device))
			return ss_fail_memory(err, "the programs of a simulated job");
		program->with_stack = plan->with_stack;
		plan->layout->build(plan, &part, program);
		if (program->failed)
			return ss_fail_memory(err, "the programs of a simulated job");
		if (program->event_count > programs->events_max)
			programs->events_max = program->event_count;
		if (program->slot_count > programs->slots_max)
			programs->slots_max = program->slot_count;
		if (program->sequence_count > programs->sequences_max)
			programs->sequences_max = program->sequence_count;
	}
	return SS_OK;
}

void ss_sim_programs_close(struct ss_sim_programs *programs, struct ss_memory *memory)
{
	for (uint32_t i = 0; i < programs->count; i++)
		ss_sim_program_release(&programs->items[i]);
	ss_memory_free(memory, programs->items, programs->count * sizeof(*programs->items));
	*programs = (struct ss_sim_programs){ 0 };
}
