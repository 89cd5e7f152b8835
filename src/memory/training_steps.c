/* SPDX-License-Identifier: Apache-2.0 */
/*
 * training_steps.c - finds the training steps of a snapshot from the phases of its stacks,
 * in one pass.
 */
#include "memory/training_steps.h"

#include "base/search.h"

static bool training_steps_begin(struct ss_snapshot_steps *rounds, uint32_t row)
{
	if (!SS_GROW(rounds->memory, rounds->starts, rounds->capacity, rounds->count))
		return false;
	rounds->starts[rounds->count++] = row;
	return true;
}

/* What ends a step, and what begins the next one. */
struct step_borders {
	bool by_optimizer;
};

static bool is_end_of_step(const struct step_borders *borders, enum ss_stack_phase phase)
{
	return borders->by_optimizer ? phase == SS_STACK_STEP : phase == SS_STACK_BACKWARD;
}

/* What has no stack says nothing: frees of backward often have none. */
static bool is_start_of_step(const struct step_borders *borders, enum ss_stack_phase phase)
{
	if (borders->by_optimizer)
		return phase == SS_STACK_FORWARD || phase == SS_STACK_OTHER ||
		       phase == SS_STACK_BACKWARD;
	return phase == SS_STACK_FORWARD;
}

static bool find_steps_by_stacks(struct ss_snapshot_steps *rounds,
				 const struct ss_snapshot_events *events,
				 const struct ss_device_memory *device,
				 const struct ss_snapshot_places *spots,
				 const struct step_borders *borders)
{
	bool ended = false;

	if (!training_steps_begin(rounds, device->first))
		return false;
	for (uint32_t row = device->first; row < device->first + device->count; row++) {
		enum ss_stack_phase phase = (enum ss_stack_phase)spots->phase[events->stack[row]];

		if (is_end_of_step(borders, phase)) {
			ended = rounds->has_steps = true;
		} else if (ended && events->action[row] == SS_ACTION_ALLOC &&
			   is_start_of_step(borders, phase)) {
			ended = false;
			if (!training_steps_begin(rounds, row))
				return false;
		}
	}
	return true;
}

/* Each step of a trace begins with its first event; what comes after the last one is another. */
static bool take_steps_of_trace(struct ss_snapshot_steps *rounds,
				const struct ss_snapshot *snapshot,
				const struct ss_device_memory *device)
{
	const int64_t *time_ns = snapshot->events.time_ns;
	const struct ss_step *steps = snapshot->steps;
	uint32_t row = device->first, end = device->first + device->count;

	rounds->has_steps = rounds->is_recorded = true;
	rounds->before = row < end && time_ns[row] < steps->host_start_ns;
	if (rounds->before && !training_steps_begin(rounds, device->first))
		return false;
	for (uint32_t i = 0; i < snapshot->step_count; i++) {
		while (row < end && time_ns[row] < steps[i].host_start_ns)
			row++;
		if (!training_steps_begin(rounds, row))
			return false;
	}
	while (row < end && time_ns[row] <= steps[snapshot->step_count - 1].host_end_ns)
		row++;
	return training_steps_begin(rounds, row);
}

enum ss_status ss_snapshot_steps_init(struct ss_snapshot_steps *rounds,
				      const struct ss_history *history,
				      const struct ss_device_memory *device,
				      const struct ss_snapshot_places *spots, struct ss_error *err)
{
	const struct ss_snapshot_events *events = &history->snapshot->events;
	struct step_borders borders = { 0 };

	*rounds = (struct ss_snapshot_steps){ .memory = history->memory };
	for (uint32_t row = device->first; row < device->first + device->count; row++)
		borders.by_optimizer |= spots->phase[events->stack[row]] == SS_STACK_STEP;
	if (device->traced && history->snapshot->has_marked_steps
		    ? take_steps_of_trace(rounds, history->snapshot, device)
		    : find_steps_by_stacks(rounds, events, device, spots, &borders))
		return SS_OK;
	ss_snapshot_steps_release(rounds);
	return ss_fail_memory(err, "the steps");
}

void ss_snapshot_steps_release(struct ss_snapshot_steps *rounds)
{
	SS_FREE(rounds->memory, rounds->starts, rounds->capacity);
	rounds->starts = NULL;
	rounds->count = rounds->capacity = 0;
}

int64_t ss_snapshot_steps_step(const struct ss_snapshot_steps *rounds, uint32_t row)
{
	uint32_t round = ss_snapshot_steps_round(rounds, row);

	if (!rounds->has_steps || round < rounds->before ||
	    (rounds->is_recorded && round + 1 == rounds->count))
		return -1;
	return (int64_t)round - rounds->before;
}

uint32_t ss_snapshot_steps_round(const struct ss_snapshot_steps *rounds, uint32_t row)
{
	uint32_t low = 0, high = rounds->count;

	SS_SEARCH(low, high, at, rounds->starts[at] <= row);
	return low ? low - 1 : 0;
}
