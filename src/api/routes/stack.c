/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack.c - route: a stack of a snapshot, and what it holds.
 */
#include <inttypes.h>

#include "api/viewer/route.h"
#include "api/viewer/spot.h"
#include "memory/holders/held_blocks.h"

/* The frames of a stack; "own": of the user's program. */
static void stack_write_frames(const struct ss_opened *opened, uint32_t stack, struct ss_text *out)
{
	const struct ss_snapshot *snapshot = &opened->snapshot;
	const struct ss_frame_list *list = &snapshot->stacks.items[stack];

	ss_text_add_string(out, ",\"frames\":[");
	for (uint32_t i = 0; i < list->count; i++) {
		uint32_t index = snapshot->stacks.frames[list->first + i];
		const struct ss_code_frame *frame = ss_snapshot_frame(snapshot, index);
		uint16_t flags = opened->spots.flags[index];

		ss_text_addf(out, "%s{\"line\":%" PRIu32, i ? "," : "", frame->line);
		ss_spot_text("file", ss_strings_text(&snapshot->texts, frame->file), out);
		ss_spot_text("name", ss_strings_text(&snapshot->texts, frame->name), out);
		ss_text_addf(out, ",\"own\":%s,\"noise\":%s}",
			     (flags & SS_FRAME_PYTHON) && !(flags & SS_FRAME_LIBRARY) ? "true"
										      : "false",
			     flags & SS_FRAME_NOISE ? "true" : "false");
	}
	ss_text_add_string(out, "]");
}

/* What blocks of the stack are in use at a moment. */
static enum ss_status stack_write_held(const char *name, const struct ss_opened *opened,
				       const struct ss_device_memory *device, uint32_t stack,
				       uint32_t row, struct ss_text *out, struct ss_error *err)
{
	struct ss_held_blocks held;
	int64_t bytes = 0;
	uint32_t blocks = 0;

	SS_TRY(ss_held_blocks_init(&held, &opened->subject, device, row, err));
	for (uint32_t i = 0; i < held.count; i++)
		if (held.items[i].stack == stack) {
			bytes += held.items[i].bytes;
			blocks++;
		}
	ss_held_blocks_release(&held);
	ss_text_addf(out, ",\"%s_bytes\":%" PRId64 ",\"%s_blocks\":%" PRIu32, name, bytes, name,
		     blocks);
	return SS_OK;
}

static void stack_write_made(const struct ss_opened *opened, const struct ss_device_memory *device,
			     uint32_t stack, struct ss_text *out)
{
	const struct ss_snapshot_events *events = &opened->snapshot.events;
	uint64_t made = 0, freed = 0;

	for (uint32_t row = device->first; row < device->first + device->count; row++)
		if (events->stack[row] == stack && events->action[row] == SS_ACTION_ALLOC) {
			made++;
			freed += opened->history.partner[row] != SS_NO_ROW;
		}
	ss_text_addf(out, ",\"made\":%" PRIu64 ",\"freed\":%" PRIu64, made, freed);
}

static enum ss_status stack_answer(const struct ss_viewer_request *asked, struct ss_answer *out,
				   struct ss_error *err)
{
	const struct ss_device_memory *device;
	const struct ss_opened *opened;
	struct ss_text *body = &out->body;
	int64_t stack;

	SS_TRY(ss_viewer_snapshot(asked, &opened, err));
	SS_TRY(ss_viewer_device(asked, opened, &device, err));
	SS_TRY(ss_viewer_int_required(asked, "stack", 0, (int64_t)opened->snapshot.stacks.count - 1,
				      &stack, err));
	ss_text_addf(body, "{\"schema\":\"stepscope.stack/1\",\"stack\":%" PRId64, stack);
	ss_spot_text("line", ss_snapshot_places_line(&opened->spots, (uint32_t)stack), body);
	stack_write_frames(opened, (uint32_t)stack, body);
	if (device) {
		stack_write_made(opened, device, (uint32_t)stack, body);
		if (device->count)
			SS_TRY(stack_write_held("peak", opened, device, (uint32_t)stack,
						device->peak_row, body, err));
		SS_TRY(stack_write_held("end", opened, device, (uint32_t)stack, SS_LIVE_AT_END,
					body, err));
	}
	ss_text_add_string(body, "}\n");
	return SS_OK;
}

const struct ss_route ss_route_stack = {
	.name = "stack",
	.summary = "A stack of a snapshot, frame by frame, and the memory it holds",
	.parameters = "snapshot device stack",
	.answer = "interface Frame { line: number; file: string | null; name: string | "
		  "null; own: boolean; noise: boolean }\n"
		  "interface StackAnswer { schema: \"stepscope.stack/1\"; stack: number; "
		  "line: string | null; frames: Frame[]; made?: number; freed?: number; "
		  "peak_bytes?: number; peak_blocks?: number; end_bytes?: number; "
		  "end_blocks?: number }\n",
	.apart = true,
	.run = stack_answer,
};
