/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.c - one pass over the held blocks in their order, one over their stacks.
 */
#include "memory/holders/calls.h"

#include <stdlib.h>
#include <string.h>

#include "memory/events/pools.h"
#include "memory/holders/checkpoint.h"

/* Deeper nests of modules are not written by hand; what lies further out is not charged. */
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
	const struct ss_live_blocks *held;
	struct call_state *states;  /* per line */
	struct ss_address_map seen; /* line and what is inside of it: the run it was last in */
	struct call_share *shares;
	uint32_t share_count, share_capacity;
	uint32_t *counts; /* per stack: activations held */
	int64_t *bytes;   /* the same */
};

void ss_calls_release(struct ss_calls *calls)
{
	ss_memory_free(calls->memory, calls->items,
		       (size_t)calls->capacity * sizeof(*calls->items));
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

static bool stack_has_modules(const struct ss_stack_places *spots, const uint32_t *frames,
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
			    struct call_level *levels, uint32_t room)
{
	const struct ss_stack_places *spots = subject->spots;
	const struct ss_stacks *stacks = &subject->snapshot->stacks;
	const struct ss_frame_list *list = &stacks->items[stack];
	const uint32_t *frames = list->count ? stacks->frames + list->first : NULL;
	bool by_module = stack_has_modules(spots, frames, list->count);
	uint32_t count = 0, inside = 0;

	for (uint32_t i = 0; i < list->count && count < room; i++) {
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
		     uint32_t room)
{
	struct call_level levels[DEPTH_MAX];
	uint32_t count = find_levels(subject, stack, levels, room < DEPTH_MAX ? room : DEPTH_MAX);

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
	     (level->is_module || ss_address_map_find(&counting->seen, key, 0) == state->turn)))
		state->turn++;
	state->call.is_module = level->is_module;
	state->inside = level->inside;
	return ss_address_map_put(&counting->seen, key, state->turn);
}

static bool count_block(struct call_counting *counting, const struct ss_live_block *block)
{
	struct call_level levels[DEPTH_MAX];
	uint32_t count = find_levels(counting->subject, block->stack, levels, DEPTH_MAX);

	counting->counts[block->stack]++;
	counting->bytes[block->stack] = ss_bytes_add(counting->bytes[block->stack], block->bytes);
	for (uint32_t i = 0; i < count; i++) {
		struct call_state *state = &counting->states[levels[i].line];
		struct ss_call *call = &state->call;

		call->line = levels[i].line;
		call->bytes = ss_bytes_add(call->bytes, block->bytes);
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

static int call_share_compare(const void *left, const void *right)
{
	const struct call_share *a = left, *b = right;

	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return a->count < b->count ? -1 : a->count > b->count;
}

static bool add_shares(struct call_counting *counting, uint32_t stack)
{
	struct call_level levels[DEPTH_MAX];
	uint32_t count = find_levels(counting->subject, stack, levels, DEPTH_MAX);

	if (!ss_memory_reserve(counting->held->memory, (void **)&counting->shares,
			       &counting->share_capacity, (size_t)counting->share_count + count + 1,
			       sizeof(*counting->shares)))
		return false;
	for (uint32_t i = 0; i < count; i++)
		counting->shares[counting->share_count++] = (struct call_share){
			levels[i].line, counting->counts[stack], counting->bytes[stack]
		};
	return true;
}

/* How often nearly all bytes of a line were made, at least: its shares are sorted by count. */
static uint32_t least_count(const struct call_share *shares, uint32_t count, int64_t bytes)
{
	int64_t passed = 0;

	for (uint32_t i = 0; i + 1 < count; i++) {
		passed = ss_bytes_add(passed, shares[i].bytes);
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
	const struct ss_live_blocks *held = counting->held;

	for (uint32_t i = 0; i < held->count; i++)
		if (held->items[i].purpose == SS_PURPOSE_ACTIVATION &&
		    !count_block(counting, &held->items[i]))
			return false;
	for (uint32_t i = 0; i < counting->subject->snapshot->stacks.count; i++)
		if (counting->counts[i] && !add_shares(counting, i))
			return false;
	if (counting->share_count)
		qsort(counting->shares, counting->share_count, sizeof(*counting->shares),
		      call_share_compare);
	return true;
}

static int call_compare_bytes(const void *left, const void *right)
{
	const struct ss_call *a = left, *b = right;

	if (a->bytes != b->bytes)
		return a->bytes > b->bytes ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

static int call_compare_saving(const void *left, const void *right)
{
	const struct ss_call *a = left, *b = right;

	if (a->saved_bytes != b->saved_bytes)
		return a->saved_bytes > b->saved_bytes ? -1 : 1;
	return call_compare_bytes(left, right);
}

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
		if (!ss_memory_reserve(calls->memory, (void **)&calls->items, &calls->capacity,
				       (size_t)calls->count + 1, sizeof(*calls->items)))
			return false;
		calls->items[calls->count++] = state->call;
		from = i;
	}
	if (calls->count)
		qsort(calls->items, calls->count, sizeof(*calls->items), call_compare_bytes);
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
		struct ss_call_sight sight = { inside, subject->spots->texts.count + 1, call->turns,
					       call->is_module };

		if (call->runs < 2)
			continue;
		find_inside(subject, call->line, inside);
		status = ss_checkpoint_try(subject, device, &sight, &call->saved_bytes, err);
		tried++;
	}
	ss_memory_free(calls->memory, inside, bytes);
	if (calls->count)
		qsort(calls->items, calls->count, sizeof(*calls->items), call_compare_saving);
	return status;
}

enum ss_status ss_calls_init(struct ss_calls *calls, const struct ss_snapshot_subject *subject,
			     const struct ss_device_memory *device,
			     const struct ss_live_blocks *held, struct ss_error *err)
{
	struct call_counting counting = { .subject = subject, .held = held };
	size_t stacks = (size_t)subject->snapshot->stacks.count + 1;
	struct ss_arena scratch;
	bool whole;

	*calls = (struct ss_calls){ .memory = held->memory };
	ss_arena_init(&scratch, held->memory);
	ss_address_map_init(&counting.seen, held->memory);
	counting.states = SS_ARENA_NEW(&scratch, struct call_state,
				       (size_t)subject->spots->texts.count + 1);
	counting.counts = SS_ARENA_NEW(&scratch, uint32_t, stacks);
	counting.bytes = SS_ARENA_NEW(&scratch, int64_t, stacks);
	whole = counting.states && counting.counts && counting.bytes &&
		calls_count_blocks(&counting) && calls_take_counted(&counting, calls);
	ss_memory_free(held->memory, counting.shares,
		       (size_t)counting.share_capacity * sizeof(*counting.shares));
	ss_address_map_release(&counting.seen);
	ss_arena_release(&scratch);
	if (!whole)
		return ss_fail_memory(err, "the calls");
	/* without backward nothing is kept for it */
	return ss_stack_places_has(subject->spots, SS_STACK_BACKWARD)
		       ? try_checkpoints(calls, subject, device, err)
		       : SS_OK;
}
