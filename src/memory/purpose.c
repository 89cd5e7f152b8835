/* SPDX-License-Identifier: Apache-2.0 */
/*
 * purpose.c - the table of purpose.h.
 */
#include "memory/purpose.h"

#include <string.h>

static const char *const names[] = {
	[SS_PURPOSE_PARAMETER] = "parameter",      [SS_PURPOSE_OPTIMIZER] = "optimizer_state",
	[SS_PURPOSE_GRADIENT] = "gradient",        [SS_PURPOSE_ACTIVATION] = "activation",
	[SS_PURPOSE_TEMPORARY] = "temporary",      [SS_PURPOSE_INPUT] = "input",
	[SS_PURPOSE_AUTOGRAD] = "autograd_detail", [SS_PURPOSE_UNKNOWN] = "unknown",
};

const char *ss_purpose_name(enum ss_purpose purpose)
{
	return names[purpose];
}

/* Whether memory that was made in a phase goes with it. */
static bool ends_with_phase(enum ss_stack_phase made, enum ss_stack_phase freed)
{
	if (made == SS_STACK_OPTIMIZER || made == SS_STACK_STEP)
		return freed == SS_STACK_OPTIMIZER || freed == SS_STACK_STEP;
	return made == freed;
}

static enum ss_purpose by_phase(enum ss_stack_phase made, bool is_temporary)
{
	switch (made) {
	case SS_STACK_SETUP:
		return SS_PURPOSE_PARAMETER;
	case SS_STACK_FORWARD:
		return is_temporary ? SS_PURPOSE_TEMPORARY : SS_PURPOSE_ACTIVATION;
	case SS_STACK_BACKWARD:
		return is_temporary ? SS_PURPOSE_TEMPORARY : SS_PURPOSE_GRADIENT;
	case SS_STACK_OPTIMIZER:
	case SS_STACK_STEP:
		return is_temporary ? SS_PURPOSE_TEMPORARY : SS_PURPOSE_OPTIMIZER;
	default:
		return SS_PURPOSE_UNKNOWN;
	}
}

/* What the profiler says. */
static bool by_record(const struct ss_snapshot *snapshot, uint32_t row, enum ss_purpose *out)
{
	uint32_t id = ss_snapshot_about(snapshot, row)->category;

	for (int i = 0; id && i < SS_PURPOSE_COUNT; i++)
		if (strcmp(ss_strings_text(&snapshot->texts, id), names[i]) == 0) {
			*out = (enum ss_purpose)i;
			return true;
		}
	return false;
}

enum ss_purpose ss_purpose_of(const struct ss_history *history,
			      const struct ss_snapshot_places *spots, uint32_t row)
{
	const struct ss_snapshot_events *events = &history->snapshot->events;
	uint32_t freed = history->partner[row];
	enum ss_stack_phase made = (enum ss_stack_phase)spots->phase[events->stack[row]];
	enum ss_purpose purpose;

	if (ss_history_is_loose(history, row))
		return SS_PURPOSE_UNKNOWN; /* when it was freed is not known */
	if (by_record(history->snapshot, row, &purpose))
		return purpose;
	return by_phase(made, freed != SS_NO_ROW &&
				      ends_with_phase(made, (enum ss_stack_phase)spots
								    ->phase[events->stack[freed]]));
}

static bool frees_gradients(const struct ss_snapshot *snapshot, uint32_t stack)
{
	const struct ss_frame_list *list = &snapshot->stacks.items[stack];

	for (uint32_t i = 0; i < list->count; i++) {
		uint32_t frame = snapshot->stacks.frames[list->first + i];
		uint32_t name = ss_snapshot_frame(snapshot, frame)->name;

		if (strstr(ss_strings_text(&snapshot->texts, name), "zero_grad"))
			return true;
	}
	return false;
}

/* Of what was made before the events, where it was freed tells what it was. */
static enum ss_purpose by_free(const struct ss_snapshot *snapshot,
			       const struct ss_snapshot_places *spots, uint32_t freed_row)
{
	uint32_t stack;

	/* a file without stacks has no column of them */
	if (!snapshot->events.stack)
		return SS_PURPOSE_UNKNOWN;
	stack = snapshot->events.stack[freed_row];
	switch ((enum ss_stack_phase)spots->phase[stack]) {
	case SS_STACK_BACKWARD:
		return SS_PURPOSE_ACTIVATION;
	case SS_STACK_OPTIMIZER:
	case SS_STACK_STEP:
		return frees_gradients(snapshot, stack) ? SS_PURPOSE_GRADIENT
							: SS_PURPOSE_OPTIMIZER;
	default:
		return SS_PURPOSE_UNKNOWN;
	}
}

enum ss_purpose ss_purpose_of_old(const struct ss_history *history,
				  const struct ss_snapshot_places *spots,
				  const struct ss_old_block *old)
{
	uint32_t stack = old->block == SS_NO_ID ? 0 : history->snapshot->blocks[old->block].stack;

	if (!stack && old->freed_row != SS_NO_ROW)
		return by_free(history->snapshot, spots, old->freed_row);
	return by_phase((enum ss_stack_phase)spots->phase[stack], false);
}

enum ss_purpose ss_purpose_of_curve(enum ss_curve_category category)
{
	static const enum ss_purpose purposes[] = {
		[SS_CURVE_PARAMETER] = SS_PURPOSE_PARAMETER,
		[SS_CURVE_OPTIMIZER_STATE] = SS_PURPOSE_OPTIMIZER,
		[SS_CURVE_INPUT] = SS_PURPOSE_INPUT,
		[SS_CURVE_TEMPORARY] = SS_PURPOSE_TEMPORARY,
		[SS_CURVE_ACTIVATION] = SS_PURPOSE_ACTIVATION,
		[SS_CURVE_GRADIENT] = SS_PURPOSE_GRADIENT,
		[SS_CURVE_AUTOGRAD_DETAIL] = SS_PURPOSE_AUTOGRAD,
		[SS_CURVE_UNKNOWN] = SS_PURPOSE_UNKNOWN,
	};

	return purposes[category];
}
