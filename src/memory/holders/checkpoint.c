/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checkpoint.c - the peak with a call checkpointed: one pass over the events of a device.
 */
#include "memory/holders/checkpoint.h"

#include "memory/events/pools.h"

#define NO_RUN UINT32_MAX

struct checkpoint_run {
	int64_t held_bytes;
	uint32_t first_row;
	bool is_hidden; /* over, and not computed again yet */
};

struct checkpoint_trial {
	const struct ss_snapshot_subject *subject;
	const struct ss_device_memory *device;
	const struct ss_call_sight *sight;
	uint32_t *run_of; /* per event of the device: run of an allocation + 1; 0: of none */
	uint32_t *seen;   /* per id of what runs inside: the turn it was last seen in */
	struct checkpoint_run *runs;
	uint32_t run_count, run_capacity;
	uint32_t open; /* the run that goes on, or NO_RUN */
	uint32_t inside, turn;
	int64_t active_bytes, hidden_bytes, peak_bytes;
	bool failed;
};

static void run_unhide(struct checkpoint_trial *trying, uint32_t number)
{
	struct checkpoint_run *run = &trying->runs[number];

	if (run->is_hidden)
		trying->hidden_bytes = ss_bytes_less(trying->hidden_bytes, run->held_bytes);
	run->is_hidden = false;
}

/* The last block of a run that is alive when it is over is what it returns. */
static void run_forget_result(struct checkpoint_trial *trying, struct checkpoint_run *run,
			      uint32_t number, uint32_t end)
{
	const struct ss_history *history = trying->subject->history;
	uint32_t first = trying->device->first;

	for (uint32_t row = end; row-- > run->first_row;) {
		if (trying->run_of[row - first] != number + 1 || history->partner[row] < end)
			continue;
		trying->run_of[row - first] = 0;
		run->held_bytes = ss_bytes_less(run->held_bytes, history->bytes[row]);
		return;
	}
}

/* The run that goes on is over before the event of that row. */
static void trial_end_run(struct checkpoint_trial *trying, uint32_t row)
{
	struct checkpoint_run *run;

	if (trying->open == NO_RUN)
		return;
	run = &trying->runs[trying->open];
	run_forget_result(trying, run, trying->open, row);
	run->is_hidden = true;
	trying->hidden_bytes = ss_bytes_add(trying->hidden_bytes, run->held_bytes);
	trying->open = NO_RUN;
}

/* Whether what runs inside of the call now was there before, after something else. */
static bool trial_comes_back(struct checkpoint_trial *trying, uint32_t inside)
{
	bool changed = inside != trying->inside;

	return changed && (trying->sight->is_module || trying->seen[inside] == trying->turn);
}

static void trial_enter_run(struct checkpoint_trial *trying, uint32_t inside, uint32_t row)
{
	uint32_t last = trying->run_count - 1;

	if (!trying->turn || trial_comes_back(trying, inside)) {
		trying->turn++;
		if ((trying->turn - 1) % trying->sight->turns == 0) {
			trial_end_run(trying, row);
			if (!ss_memory_reserve(trying->subject->history->memory,
					       (void **)&trying->runs, &trying->run_capacity,
					       (size_t)trying->run_count + 1,
					       sizeof(*trying->runs))) {
				trying->failed = true;
				return;
			}
			last = trying->run_count++;
			trying->runs[last] = (struct checkpoint_run){ .first_row = row };
		}
	}
	trying->inside = inside;
	trying->seen[inside] = trying->turn;
	run_unhide(trying, last);
	trying->open = last;
}

static void trial_measure_peak(struct checkpoint_trial *trying)
{
	int64_t bytes = ss_bytes_less(trying->active_bytes, trying->hidden_bytes);

	if (bytes > trying->peak_bytes)
		trying->peak_bytes = bytes;
}

static void trial_allocate(struct checkpoint_trial *trying, uint32_t row, uint32_t inside)
{
	struct checkpoint_run *run;

	if (!inside)
		return;
	trial_enter_run(trying, inside, row);
	if (trying->failed)
		return;
	trying->run_of[row - trying->device->first] = trying->open + 1;
	run = &trying->runs[trying->open];
	run->held_bytes = ss_bytes_add(run->held_bytes, trying->subject->history->bytes[row]);
}

static void trial_free(struct checkpoint_trial *trying, uint32_t row, enum ss_stack_phase phase)
{
	const struct ss_history *history = trying->subject->history;
	uint32_t made = history->partner[row], number;
	struct checkpoint_run *run;

	if (made == SS_NO_ROW || made == row || !trying->run_of[made - trying->device->first])
		return;
	number = trying->run_of[made - trying->device->first] - 1;
	run = &trying->runs[number];
	if (phase != SS_STACK_FORWARD && number != trying->open) {
		run_unhide(trying, number);
		trial_measure_peak(trying);
	}
	run->held_bytes = ss_bytes_less(run->held_bytes, history->bytes[made]);
	if (run->is_hidden)
		trying->hidden_bytes = ss_bytes_less(trying->hidden_bytes, history->bytes[made]);
}

static void trial_replay_events(struct checkpoint_trial *trying)
{
	const struct ss_stack_places *spots = trying->subject->spots;
	const struct ss_history *history = trying->subject->history;
	const struct ss_memory_events *events = &trying->subject->snapshot->events;
	uint32_t first = trying->device->first, end = first + trying->device->count;

	trial_measure_peak(trying);
	for (uint32_t row = first; row < end && !trying->failed; row++) {
		uint32_t stack = events->stack[row];
		enum ss_stack_phase phase = (enum ss_stack_phase)spots->phase[stack];
		uint32_t inside = phase == SS_STACK_FORWARD ? trying->sight->inside[stack] : 0;
		int64_t change = ss_history_change(history, row);

		if (!change)
			continue;
		if (!inside && phase != SS_STACK_UNKNOWN)
			trial_end_run(trying, row);
		if (events->action[row] == SS_ACTION_ALLOC)
			trial_allocate(trying, row, inside);
		else
			trial_free(trying, row, phase);
		trying->active_bytes = ss_bytes_add(trying->active_bytes, change);
		trial_measure_peak(trying);
	}
}

enum ss_status ss_checkpoint_try(const struct ss_snapshot_subject *subject,
				 const struct ss_device_memory *device,
				 const struct ss_call_sight *sight, int64_t *saved_bytes,
				 struct ss_error *err)
{
	struct checkpoint_trial trying = { .subject = subject,
					   .device = device,
					   .sight = sight,
					   .open = NO_RUN,
					   .active_bytes = device->first_active_bytes };
	struct ss_memory *memory = subject->history->memory;
	struct ss_arena scratch;

	ss_arena_init(&scratch, memory);
	trying.run_of = SS_ARENA_NEW(&scratch, uint32_t, (size_t)device->count + 1);
	trying.seen = SS_ARENA_NEW(&scratch, uint32_t, (size_t)sight->room + 1);
	trying.failed = !trying.run_of || !trying.seen;
	if (!trying.failed)
		trial_replay_events(&trying);
	ss_memory_free(memory, trying.runs, (size_t)trying.run_capacity * sizeof(*trying.runs));
	ss_arena_release(&scratch);
	*saved_bytes = ss_bytes_less(device->peak_active_bytes, trying.peak_bytes);
	return trying.failed ? ss_fail_memory(err, "the runs of a call") : SS_OK;
}
