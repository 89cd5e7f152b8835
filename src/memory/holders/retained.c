/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retained.c - one pass for what each stack keeps in each step, then lines of stacks.
 */
#include "memory/holders/retained.h"

#include <string.h>

#include "base/sort.h"
#include "memory/events/pools.h"

#define LEAK_STEPS 3
/* With fewer steps: enough for memory that should not outlive a step. */
#define LEAK_STEPS_SHORT 2
/* Leaks grow evenly; growth that falls to a tenth is warm-up. */
#define LEAK_EVENNESS 10

/* What one stack keeps; a run is of steps in a row. */
struct stack_sums {
	int64_t bytes, requested_bytes;
	int64_t run_bytes, step_bytes, most_bytes; /* asked for: in the run, its last and most */
	uint32_t blocks, made, first_row, last_row;
	uint32_t run, last_step;
	uint32_t made_steps, made_step; /* steps that are over with an allocation; the last + 1 */
};

static void count_kept(struct stack_sums *sums, uint32_t row, int64_t bytes, int64_t requested)
{
	if (!sums->blocks)
		sums->first_row = row;
	sums->last_row = row;
	sums->blocks++;
	sums->bytes = ss_amount_add(sums->bytes, bytes);
	sums->requested_bytes = ss_amount_add(sums->requested_bytes, requested);
}

static void count_step(struct stack_sums *sums, uint32_t step, int64_t requested)
{
	if (!sums->run || step != sums->last_step) {
		bool goes_on = sums->run && step == sums->last_step + 1;

		sums->run = goes_on ? sums->run + 1 : 1;
		sums->run_bytes = goes_on ? sums->run_bytes : 0;
		sums->most_bytes = goes_on ? sums->most_bytes : 0;
		sums->step_bytes = 0;
		sums->last_step = step;
	}
	sums->run_bytes = ss_amount_add(sums->run_bytes, requested);
	sums->step_bytes = ss_amount_add(sums->step_bytes, requested);
	if (sums->step_bytes > sums->most_bytes)
		sums->most_bytes = sums->step_bytes;
}

static bool is_leak(const struct ss_retained *retained, const struct stack_sums *sums,
		    enum ss_stack_phase phase)
{
	uint32_t needed = LEAK_STEPS;

	if (retained->complete_steps - retained->rounds.before < LEAK_STEPS &&
	    (phase == SS_STACK_FORWARD || phase == SS_STACK_OTHER))
		needed = LEAK_STEPS_SHORT;
	return retained->rounds.has_steps && sums->run >= needed &&
	       sums->last_step + 1 == retained->complete_steps &&
	       2 * sums->run > sums->made_steps &&
	       sums->step_bytes >= sums->most_bytes / LEAK_EVENNESS;
}

/* Whether a round is a step, and whole. */
static bool is_complete_step(const struct ss_retained *retained, uint32_t round)
{
	return round >= retained->rounds.before && round < retained->complete_steps;
}

/* What each stack allocates and keeps, step by step. */
static void sum_stacks(const struct ss_snapshot_subject *subject,
		       const struct ss_device_memory *device, struct ss_retained *retained,
		       struct stack_sums *stacks)
{
	const struct ss_snapshot_events *events = &subject->snapshot->events;
	uint32_t step = 0;

	for (uint32_t row = device->first; row < device->first + device->count; row++) {
		struct stack_sums *sums = &stacks[events->stack[row]];

		while (step + 1 < retained->rounds.count &&
		       retained->rounds.starts[step + 1] <= row)
			step++;
		if (events->action[row] != SS_ACTION_ALLOC)
			continue;
		sums->made++;
		if (is_complete_step(retained, step) && sums->made_step != step + 1) {
			sums->made_step = step + 1;
			sums->made_steps++;
		}
		if (subject->history->partner[row] != SS_NO_ROW ||
		    ss_history_is_loose(subject->history, row))
			continue;
		count_kept(sums, row, subject->history->bytes[row], events->bytes[row]);
		if (is_complete_step(retained, step))
			count_step(sums, step, events->bytes[row]);
	}
}

/* Adds what a stack keeps to its line; the stack that keeps most stands for the line. */
static void retained_add_stack(struct ss_retained *retained,
			       const struct ss_snapshot_subject *subject,
			       struct ss_retained_line *line, uint32_t stack,
			       const struct stack_sums *sums)
{
	if (!line->blocks || sums->first_row < line->first_row)
		line->first_row = sums->first_row;
	if (!line->blocks || sums->last_row > line->last_row)
		line->last_row = sums->last_row;
	if (!line->blocks || sums->bytes > line->stack_bytes) {
		line->stack = stack;
		line->stack_bytes = sums->bytes;
		line->purpose = (uint8_t)ss_purpose_of(subject->history, subject->spots,
						       sums->first_row);
	}
	line->blocks += sums->blocks;
	line->bytes = ss_amount_add(line->bytes, sums->bytes);
	line->requested_bytes = ss_amount_add(line->requested_bytes, sums->requested_bytes);
	if (!is_leak(retained, sums, (enum ss_stack_phase)subject->spots->phase[stack]))
		return;
	if (sums->run > line->leak_steps)
		line->leak_steps = sums->run;
	line->leak_step_bytes = ss_amount_add(line->leak_step_bytes,
					      sums->run_bytes / (int64_t)sums->run);
}

SS_COMPARATOR(retained_line_compare, struct ss_retained_line,
	      SS_DESCENDING(leak_step_bytes) SS_DESCENDING(bytes) SS_ASCENDING(line))

static void order_lines(struct ss_retained *retained)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < retained->count; i++) {
		if (!retained->lines[i].blocks)
			continue;
		retained->leak_step_bytes = ss_amount_add(retained->leak_step_bytes,
							  retained->lines[i].leak_step_bytes);
		retained->lines[count++] = retained->lines[i];
	}
	retained->count = count;
	SS_SORT(retained->lines, count, retained_line_compare);
}

static bool sum_lines(struct ss_retained *retained, const struct ss_snapshot_subject *subject,
		      const struct ss_device_memory *device)
{
	size_t bytes = (size_t)subject->snapshot->stacks.count * sizeof(struct stack_sums);
	struct stack_sums *stacks = ss_memory_zeroed(retained->memory, bytes);

	if (!stacks)
		return false;
	sum_stacks(subject, device, retained, stacks);
	for (uint32_t i = 0; i < retained->count; i++)
		retained->lines[i].line = i;
	for (uint32_t i = 0; i < subject->snapshot->stacks.count; i++) {
		struct ss_retained_line *line = &retained->lines[subject->spots->line[i]];

		line->made += stacks[i].made;
		if (stacks[i].blocks)
			retained_add_stack(retained, subject, line, i, &stacks[i]);
	}
	ss_memory_free(retained->memory, stacks, bytes);
	order_lines(retained);
	return true;
}

enum ss_status ss_retained_init(struct ss_retained *retained,
				const struct ss_snapshot_subject *subject,
				const struct ss_device_memory *device, struct ss_error *err)
{
	*retained = (struct ss_retained){ .memory = subject->history->memory,
					  .count = subject->spots->texts.count,
					  .capacity = subject->spots->texts.count };
	retained->rounds.memory = retained->memory;
	if (!SS_MEMORY_NEW(retained->memory, retained->lines, (size_t)retained->capacity + 1))
		return ss_fail_memory(err, "what is kept");
	memset(retained->lines, 0, ((size_t)retained->capacity + 1) * sizeof(*retained->lines));
	if (ss_snapshot_steps_init(&retained->rounds, subject->history, device, subject->spots,
				   err) != SS_OK) {
		ss_retained_release(retained);
		return SS_ERR_LIMIT;
	}
	retained->complete_steps = retained->rounds.count - 1;
	if (sum_lines(retained, subject, device))
		return SS_OK;
	ss_retained_release(retained);
	return ss_fail_memory(err, "what is kept");
}

void ss_retained_release(struct ss_retained *retained)
{
	ss_snapshot_steps_release(&retained->rounds);
	SS_FREE(retained->memory, retained->lines, (size_t)retained->capacity + 1);
	retained->lines = NULL;
	retained->count = 0;
}
