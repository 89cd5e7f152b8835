/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stacks.c - route: the stacks that allocate at a line of the program, and what they hold.
 */
#include <inttypes.h>
#include <string.h>

#include "api/viewer/route.h"
#include "api/viewer/spot.h"
#include "base/sort.h"
#include "memory/events/pools.h"
#include "memory/holders/held_blocks.h"

/* Nobody reads more; all of them are counted. */
#define STACKS_MAX 64

struct held_stack {
	uint32_t stack;
	int64_t bytes[2]; /* at the peak, at the end */
	uint32_t blocks[2];
	uint32_t made, freed;
};

struct line_stacks {
	const struct ss_opened *opened;
	const struct ss_device_memory *device;
	uint32_t line;           /* in spots.texts */
	struct held_stack *sums; /* per stack */
	uint32_t count;          /* of stacks that made or hold something, after stacks_order() */
};

static bool stacks_is_at_line(const struct line_stacks *stacks, uint32_t stack)
{
	return stacks->opened->spots.line[stack] == stacks->line;
}

/* Adds up the blocks of each stack that are in use after the event `row`. */
static enum ss_status stacks_add_held(struct line_stacks *stacks, int moment, uint32_t row,
				      struct ss_error *err)
{
	struct ss_held_blocks held;

	SS_TRY(ss_held_blocks_init(&held, &stacks->opened->subject, stacks->device, row, err));
	for (uint32_t i = 0; i < held.count; i++) {
		const struct ss_held_block *block = &held.items[i];

		if (!stacks_is_at_line(stacks, block->stack))
			continue;
		stacks->sums[block->stack].bytes[moment] =
			ss_amount_add(stacks->sums[block->stack].bytes[moment], block->bytes);
		stacks->sums[block->stack].blocks[moment]++;
	}
	ss_held_blocks_release(&held);
	return SS_OK;
}

static void stacks_add_made(struct line_stacks *stacks)
{
	const struct ss_snapshot_events *events = &stacks->opened->snapshot.events;
	uint32_t first = stacks->device->first, end = first + stacks->device->count;

	for (uint32_t row = first; row < end; row++) {
		if (events->action[row] != SS_ACTION_ALLOC ||
		    !stacks_is_at_line(stacks, events->stack[row]))
			continue;
		stacks->sums[events->stack[row]].made++;
		stacks->sums[events->stack[row]].freed += stacks->opened->history.partner[row] !=
							  SS_NO_ROW;
	}
}

/* Orders stacks that hold most first, then those that made most. */
SS_COMPARATOR(held_stack_compare_size, struct held_stack,
	      SS_DESCENDING(bytes[0]) SS_DESCENDING(bytes[1]) SS_DESCENDING(made)
		      SS_ASCENDING(stack))

static void stacks_order(struct line_stacks *stacks, uint32_t all)
{
	for (uint32_t i = 0; i < all; i++) {
		struct held_stack sums = stacks->sums[i];

		sums.stack = i;
		if (sums.made || sums.blocks[0] || sums.blocks[1])
			stacks->sums[stacks->count++] = sums;
	}
	SS_SORT(stacks->sums, stacks->count, held_stack_compare_size);
}

static void stacks_write_one(const struct line_stacks *stacks, const struct held_stack *sums,
			     bool is_first, struct ss_text *out)
{
	struct ss_text shown = { 0 };

	ss_text_add_string(&shown, "");
	ss_snapshot_add_stack(&stacks->opened->subject, sums->stack, &shown);
	ss_text_addf(out, "%s\n {\"stack\":%" PRIu32, is_first ? "" : ",", sums->stack);
	ss_spot_text("text", shown.length ? shown.data : NULL, out);
	if (stacks->device->count)
		ss_text_addf(out, ",\"peak_bytes\":%" PRId64 ",\"peak_blocks\":%" PRIu32,
			     sums->bytes[0], sums->blocks[0]);
	ss_text_addf(out,
		     ",\"end_bytes\":%" PRId64 ",\"end_blocks\":%" PRIu32 ",\"made\":%" PRIu32
		     ",\"freed\":%" PRIu32 "}",
		     sums->bytes[1], sums->blocks[1], sums->made, sums->freed);
	ss_text_end(&shown, out);
}

/* Adds up what the stacks of the line made and hold, and writes the largest. */
static enum ss_status stacks_write(struct line_stacks *stacks, const char *line,
				   struct ss_text *out, struct ss_error *err)
{
	if (stacks->device->count) {
		SS_TRY(stacks_add_held(stacks, 0, stacks->device->peak_row, err));
		stacks_add_made(stacks);
	}
	SS_TRY(stacks_add_held(stacks, 1, SS_LIVE_AT_END, err));
	stacks_order(stacks, stacks->opened->snapshot.stacks.count);
	ss_text_add_string(out, "{\"schema\":\"stepscope.stacks/1\"");
	ss_spot_text("line", *line ? line : NULL, out);
	ss_text_addf(out, ",\"count\":%" PRIu32 ",\"stacks\":[", stacks->count);
	for (uint32_t i = 0; i < stacks->count && i < STACKS_MAX; i++)
		stacks_write_one(stacks, &stacks->sums[i], i == 0, out);
	ss_text_add_string(out, "]}\n");
	return SS_OK;
}

static enum ss_status stacks_answer(const struct ss_viewer_request *asked, struct ss_answer *out,
				    struct ss_error *err)
{
	const char *line = ss_viewer_text(asked, "line");
	struct line_stacks stacks = { 0 };
	enum ss_status status;
	size_t bytes;

	SS_TRY(ss_viewer_snapshot(asked, &stacks.opened, err));
	SS_TRY(ss_viewer_device(asked, stacks.opened, &stacks.device, err));
	if (!stacks.device)
		return ss_fail(err, SS_ERR_MISSING,
			       "no stacks: a memory timeline does not record them");
	line = line ? line : "";
	stacks.line = *line ? ss_strings_find(&stacks.opened->spots.texts, line, strlen(line)) : 0;
	if (stacks.line == SS_NO_ID)
		return ss_fail(err, SS_ERR_MISSING, "nothing was allocated at '%.120s'", line);
	bytes = (size_t)stacks.opened->snapshot.stacks.count * sizeof(*stacks.sums);
	stacks.sums = ss_memory_zeroed(stacks.opened->history.memory, bytes);
	if (!stacks.sums)
		return ss_fail_memory(err, "the stacks");
	status = stacks_write(&stacks, line, &out->body, err);
	ss_memory_free(stacks.opened->history.memory, stacks.sums, bytes);
	return status;
}

const struct ss_route ss_route_stacks = {
	.name = "stacks",
	.summary = "The stacks of a snapshot that allocate at a line, and the memory they hold",
	.parameters = "snapshot device line",
	.answer = "interface StackSums { stack: number; text: string | null; peak_bytes?: "
		  "number; peak_blocks?: number; end_bytes: number; end_blocks: number; "
		  "made: number; freed: number }\n"
		  "interface StacksAnswer { schema: \"stepscope.stacks/1\"; line: string | "
		  "null; count: number; stacks: StackSums[] }\n",
	.apart = true,
	.run = stacks_answer,
};
