/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.c - one pass over the held blocks in their order, one over their stacks; and for calls
 * that run several times, one over the events of the device: the peak if each run were
 * checkpointed.
 */
#include "memory/holders/calls.h"

#include "base/sort.h"
#include "memory/events/pools.h"

/* --- a call checkpointed ------------------------------------------------------------- */

/*
 * What the peak would be if each run of a call were checkpointed. The events are replayed once
 * more. What a run of the call made in forward and still holds when it ends would not be kept,
 * except for the last live block: the run's result, from which the next one starts. Backward
 * recomputes a run before it frees the first of its blocks: from then on, its remaining blocks
 * are there as recorded.
 */
#define NO_RUN UINT32_MAX

/* How a call is seen on stacks. */
struct call_sight {
	const uint32_t *inside; /* per stack: what runs right inside of it; 0: it is not there */
	uint32_t capacity;      /* ids of `inside` are below this */
	uint32_t turns;         /* of what is seen inside, in each run: 1 or more */
	bool is_module;         /* each one inside is a run of its own */
};

struct checkpoint_run {
	int64_t held_bytes;
	uint32_t first_row;
	bool is_hidden; /* over, and not computed again yet */
};

struct checkpoint_trial {
	const struct ss_snapshot_subject *subject;
	const struct ss_device_memory *device;
	const struct call_sight *sight;
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
		trying->hidden_bytes = ss_amount_subtract(trying->hidden_bytes, run->held_bytes);
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
		run->held_bytes = ss_amount_subtract(run->held_bytes, history->bytes[row]);
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
	trying->hidden_bytes = ss_amount_add(trying->hidden_bytes, run->held_bytes);
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
			if (!SS_GROW(trying->subject->history->memory, trying->runs,
				     trying->run_capacity, trying->run_count)) {
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
	int64_t bytes = ss_amount_subtract(trying->active_bytes, trying->hidden_bytes);

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
	run->held_bytes = ss_amount_add(run->held_bytes, trying->subject->history->bytes[row]);
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
	run->held_bytes = ss_amount_subtract(run->held_bytes, history->bytes[made]);
	if (run->is_hidden)
		trying->hidden_bytes = ss_amount_subtract(trying->hidden_bytes,
							  history->bytes[made]);
}

/* Follows the memory in use less that of hidden runs, and its peak. */
static void trial_replay_events(struct checkpoint_trial *trying)
{
	const struct ss_snapshot_places *spots = trying->subject->spots;
	const struct ss_history *history = trying->subject->history;
	const struct ss_snapshot_events *events = &trying->subject->snapshot->events;
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
		trying->active_bytes = ss_amount_add(trying->active_bytes, change);
		trial_measure_peak(trying);
	}
}

/* Leaves by how much the peak would be lower; 0 where another moment is as high. */
static enum ss_status checkpoint_try(const struct ss_snapshot_subject *subject,
				     const struct ss_device_memory *device,
				     const struct call_sight *sight, int64_t *saved_bytes,
				     struct ss_error *err)
{
	struct checkpoint_trial trying = { .subject = subject,
					   .device = device,
					   .sight = sight,
					   .open = NO_RUN,
					   .active_bytes = device->first_active_bytes };
	struct ss_memory *memory = subject->history->memory;
	SS_SCRATCH(scratch, memory);

	trying.failed = !SS_ALLOC(&scratch, trying.run_of, (size_t)device->count + 1) ||
			!SS_ALLOC(&scratch, trying.seen, (size_t)sight->capacity + 1);
	if (!trying.failed)
		trial_replay_events(&trying);
	SS_FREE(memory, trying.runs, trying.run_capacity);
	*saved_bytes = ss_amount_subtract(device->peak_active_bytes, trying.peak_bytes);
	return trying.failed ? ss_fail_memory(err, "the runs of a call") : SS_OK;
}

/* Nobody nests modules deeper by hand; calls further out are not charged. */
#define DEPTH_MAX 64

/* Calls that a checkpoint is tried around: those that hold most. Each is a pass over events. */
#define TRIED_MAX 12

/* Stacks that together hold less than a twentieth of a call ran in some of its runs only. */
#define FEW_SHARE 20

/* A call on a stack, and what runs right inside of it; of modules of a class, which one. */
struct call_level {
	uint32_t line, inside;
	bool is_module;
};

/* A call while blocks are counted. */
struct call_state {
	struct ss_call call;
	uint32_t turn;   /* from 1 */
	uint32_t inside; /* of the last block */
};

/* What the blocks of one stack are for a call. */
struct call_share {
	uint32_t line, count;
	int64_t bytes;
};

struct call_counting {
	const struct ss_snapshot_subject *subject;
	const struct ss_held_blocks *held;
	struct call_state *states;  /* per line */
	struct ss_pointer_map seen; /* line and what is inside of it: the run it was last in */
	struct call_share *shares;
	uint32_t share_count, share_capacity;
	uint32_t *counts; /* per stack: activations held */
	int64_t *bytes;   /* the same */
};

void ss_calls_release(struct ss_calls *calls)
{
	SS_FREE(calls->memory, calls->items, calls->capacity);
	*calls = (struct ss_calls){ 0 };
}

/* --- stacks -------------------------------------------------------------------------- */

static bool levels_contain_line(const struct call_level *levels, uint32_t count, uint32_t line)
{
	for (uint32_t i = 0; i < count; i++)
		if (levels[i].line == line)
			return true;
	return false;
}

static bool stack_has_modules(const struct ss_snapshot_places *spots, const uint32_t *frames,
			      uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (spots->flags[frames[i]] & SS_FRAME_MODULE)
			return true;
	return false;
}

/*
 * The calls on a stack, the innermost first: modules where they are recorded, as lines are those of
 * definitions then. What runs inside of a line is the next Python frame that is not merely how
 * modules are called.
 */
static uint32_t find_levels(const struct ss_snapshot_subject *subject, uint32_t stack,
			    struct call_level *levels, uint32_t capacity)
{
	const struct ss_snapshot_places *spots = subject->spots;
	const struct ss_stacks *stacks = &subject->snapshot->stacks;
	const struct ss_frame_list *list = &stacks->items[stack];
	const uint32_t *frames = list->count ? stacks->frames + list->first : NULL;
	bool by_module = stack_has_modules(spots, frames, list->count);
	uint32_t count = 0, inside = 0;

	for (uint32_t i = 0; i < list->count && count < capacity; i++) {
		uint32_t call = spots->frame_call[frames[i]], line = spots->frame_line[frames[i]];
		unsigned flags = spots->flags[frames[i]];
		bool is_module = flags & SS_FRAME_MODULE;

		if (call && is_module == by_module && !levels_contain_line(levels, count, call))
			levels[count++] = (struct call_level){ call, is_module ? line : inside,
							       is_module };
		if ((flags & SS_FRAME_PYTHON) && !(flags & SS_FRAME_CALLING))
			inside = line;
	}
	return count;
}

uint32_t ss_calls_on(const struct ss_snapshot_subject *subject, uint32_t stack, uint32_t *lines,
		     uint32_t capacity)
{
	struct call_level levels[DEPTH_MAX];
	uint32_t count = find_levels(subject, stack, levels,
				     capacity < DEPTH_MAX ? capacity : DEPTH_MAX);

	for (uint32_t i = 0; i < count; i++)
		lines[i] = levels[i].line;
	return count;
}

/* --- runs ---------------------------------------------------------------------------- */

/* False at the limit. */
static bool call_enter(struct call_counting *counting, struct call_state *state,
		       const struct call_level *level)
{
	uint64_t key = (uint64_t)level->line << 32 | level->inside;

	if (!state->turn ||
	    (level->inside != state->inside &&
	     (level->is_module || ss_pointer_map_find(&counting->seen, key, 0) == state->turn)))
		state->turn++;
	state->call.is_module = level->is_module;
	state->inside = level->inside;
	return ss_pointer_map_put(&counting->seen, key, state->turn);
}

/* Charges a held block to all calls on its stack. */
static bool count_block(struct call_counting *counting, const struct ss_held_block *block)
{
	struct call_level levels[DEPTH_MAX];
	uint32_t count = find_levels(counting->subject, block->stack, levels, DEPTH_MAX);

	counting->counts[block->stack]++;
	counting->bytes[block->stack] = ss_amount_add(counting->bytes[block->stack], block->bytes);
	for (uint32_t i = 0; i < count; i++) {
		struct call_state *state = &counting->states[levels[i].line];
		struct ss_call *call = &state->call;

		call->line = levels[i].line;
		call->bytes = ss_amount_add(call->bytes, block->bytes);
		call->blocks++;
		if (block->bytes > call->largest_bytes) {
			call->largest_bytes = block->bytes;
			call->stack = block->stack;
		}
		if (!call_enter(counting, state, &levels[i]))
			return false;
	}
	return true;
}

SS_COMPARATOR(call_share_compare, struct call_share, SS_ASCENDING(line) SS_ASCENDING(count))

static bool add_shares(struct call_counting *counting, uint32_t stack)
{
	struct call_level levels[DEPTH_MAX];
	uint32_t count = find_levels(counting->subject, stack, levels, DEPTH_MAX);

	if (!SS_RESERVE(counting->held->memory, counting->shares, counting->share_capacity,
			(size_t)counting->share_count + count + 1))
		return false;
	for (uint32_t i = 0; i < count; i++)
		counting->shares[counting->share_count++] = (struct call_share){
			levels[i].line, counting->counts[stack], counting->bytes[stack]
		};
	return true;
}

/* The least number of times that nearly all bytes of a line were allocated; by count. */
static uint32_t least_count(const struct call_share *shares, uint32_t count, int64_t bytes)
{
	int64_t passed = 0;

	for (uint32_t i = 0; i + 1 < count; i++) {
		passed = ss_amount_add(passed, shares[i].bytes);
		if (passed > bytes / FEW_SHARE)
			return shares[i].count;
	}
	return shares[count - 1].count;
}

/* More turns than the least count: several of them are one run. */
static void call_finish(struct call_state *state, uint32_t least)
{
	struct ss_call *call = &state->call;

	if (call->is_module || state->turn < least)
		least = state->turn;
	call->runs = least;
	call->turns = (state->turn + least / 2) / least;
	call->saved_bytes = -1;
}

/* --- all ----------------------------------------------------------------------------- */

static bool calls_count_blocks(struct call_counting *counting)
{
	const struct ss_held_blocks *held = counting->held;

	for (uint32_t i = 0; i < held->count; i++)
		if (held->items[i].purpose == SS_PURPOSE_ACTIVATION &&
		    !count_block(counting, &held->items[i]))
			return false;
	for (uint32_t i = 0; i < counting->subject->snapshot->stacks.count; i++)
		if (counting->counts[i] && !add_shares(counting, i))
			return false;
	SS_SORT(counting->shares, counting->share_count, call_share_compare);
	return true;
}

SS_COMPARATOR(call_compare_bytes, struct ss_call, SS_DESCENDING(bytes) SS_ASCENDING(line))

SS_COMPARATOR(call_compare_saving, struct ss_call,
	      SS_DESCENDING(saved_bytes) SS_DESCENDING(bytes) SS_ASCENDING(line))

static bool calls_take_counted(struct call_counting *counting, struct ss_calls *calls)
{
	uint32_t from = 0;

	for (uint32_t i = 1; i <= counting->share_count; i++) {
		struct call_state *state = &counting->states[counting->shares[from].line];

		if (i < counting->share_count &&
		    counting->shares[i].line == counting->shares[from].line)
			continue;
		call_finish(state,
			    least_count(counting->shares + from, i - from, state->call.bytes));
		if (!SS_GROW(calls->memory, calls->items, calls->capacity, calls->count))
			return false;
		calls->items[calls->count++] = state->call;
		from = i;
	}
	SS_SORT(calls->items, calls->count, call_compare_bytes);
	return true;
}

static void find_inside(const struct ss_snapshot_subject *subject, uint32_t line, uint32_t *inside)
{
	struct call_level levels[DEPTH_MAX];

	for (uint32_t i = 0; i < subject->snapshot->stacks.count; i++) {
		uint32_t count = find_levels(subject, i, levels, DEPTH_MAX);

		inside[i] = 0;
		for (uint32_t k = 0; k < count; k++)
			if (levels[k].line == line)
				inside[i] = levels[k].inside + 1;
	}
}

/* Tries a checkpoint around the calls that hold most, and sorts by what it saves. */
static enum ss_status try_checkpoints(struct ss_calls *calls,
				      const struct ss_snapshot_subject *subject,
				      const struct ss_device_memory *device, struct ss_error *err)
{
	size_t bytes = ((size_t)subject->snapshot->stacks.count + 1) * sizeof(uint32_t);
	uint32_t *inside = ss_memory_resize(calls->memory, NULL, 0, bytes);
	enum ss_status status = inside ? SS_OK : ss_fail_memory(err, "the calls");
	uint32_t tried = 0;

	for (uint32_t i = 0; i < calls->count && tried < TRIED_MAX && status == SS_OK; i++) {
		struct ss_call *call = &calls->items[i];
		struct call_sight sight = { inside, subject->spots->texts.count + 1, call->turns,
					    call->is_module };

		if (call->runs < 2)
			continue;
		find_inside(subject, call->line, inside);
		status = checkpoint_try(subject, device, &sight, &call->saved_bytes, err);
		tried++;
	}
	ss_memory_free(calls->memory, inside, bytes);
	SS_SORT(calls->items, calls->count, call_compare_saving);
	return status;
}

enum ss_status ss_calls_init(struct ss_calls *calls, const struct ss_snapshot_subject *subject,
			     const struct ss_device_memory *device,
			     const struct ss_held_blocks *held, struct ss_error *err)
{
	struct call_counting counting = { .subject = subject, .held = held };
	size_t stacks = (size_t)subject->snapshot->stacks.count + 1;
	SS_SCRATCH(scratch, held->memory);
	bool whole;

	*calls = (struct ss_calls){ .memory = held->memory };
	ss_pointer_map_init(&counting.seen, held->memory);
	whole = SS_ALLOC(&scratch, counting.states, (size_t)subject->spots->texts.count + 1) &&
		SS_ALLOC(&scratch, counting.counts, stacks) &&
		SS_ALLOC(&scratch, counting.bytes, stacks) && calls_count_blocks(&counting) &&
		calls_take_counted(&counting, calls);
	SS_FREE(held->memory, counting.shares, counting.share_capacity);
	ss_pointer_map_release(&counting.seen);
	if (!whole)
		return ss_fail_memory(err, "the calls");
	/* without backward nothing is kept for it */
	return ss_snapshot_places_has(subject->spots, SS_STACK_BACKWARD)
		       ? try_checkpoints(calls, subject, device, err)
		       : SS_OK;
}
