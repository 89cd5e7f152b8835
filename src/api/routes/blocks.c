/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocks.c - route: the segments of a snapshot and the blocks in them, at a moment.
 */
#include <inttypes.h>

#include "api/viewer/route.h"
#include "memory/holders/block_map.h"

/* Browsers cannot draw more rectangles. */
#define BLOCKS_MAX 1000000u

static const char *blocks_state_name(uint8_t state)
{
	return state == SS_BLOCK_INACTIVE ? "free" : state == SS_BLOCK_PENDING ? "pending" : "used";
}

static void blocks_write_about(const struct ss_snapshot *snapshot, uint32_t index,
			       struct ss_text *out)
{
	const struct ss_segment *segment = &snapshot->segments[index];

	ss_text_addf(out, ",\"stream\":%" PRIu64 ",\"type\":\"%s\",\"expandable\":%s",
		     segment->stream,
		     !segment->has_type  ? ""
		     : segment->is_small ? "small"
					 : "large",
		     segment->is_expandable ? "true" : "false");
}

/* [offset, bytes, state, purpose, requested bytes, stack, event] */
static void blocks_write_block(const struct ss_device_memory *device,
			       const struct ss_map_segment *segment,
			       const struct ss_map_block *block, bool is_first, struct ss_text *out)
{
	ss_text_addf(out, "%s[%" PRIu64 ",%" PRId64 ",\"%s\",", is_first ? "" : ",",
		     block->address - segment->address, block->bytes,
		     blocks_state_name(block->state));
	if (block->state == SS_BLOCK_INACTIVE) {
		ss_text_add_string(out, "null,null,null,null]");
		return;
	}
	ss_text_addf(out, "\"%s\",", ss_purpose_name((enum ss_purpose)block->purpose));
	if (block->requested_bytes < 0)
		ss_text_add_string(out, "null");
	else
		ss_text_add_int(out, block->requested_bytes);
	ss_text_addf(out, ",%" PRIu32, block->stack);
	if (block->row == SS_NO_ROW)
		ss_text_add_string(out, ",null]");
	else
		ss_text_addf(out, ",%" PRIu32 "]", block->row - device->first);
}

static void blocks_write_map(const struct ss_block_map *map, const struct ss_snapshot *snapshot,
			     const struct ss_device_memory *device, struct ss_text *out)
{
	for (uint32_t i = 0; i < map->segment_count; i++) {
		const struct ss_map_segment *segment = &map->segments[i];

		ss_text_addf(out, "%s\n {\"address\":\"0x%" PRIx64 "\",\"bytes\":%" PRId64,
			     i ? "," : "", segment->address, segment->bytes);
		if (segment->segment != SS_NO_ID)
			blocks_write_about(snapshot, segment->segment, out);
		ss_text_add_string(out, ",\"blocks\":[");
		for (uint32_t k = 0; k < segment->count; k++)
			blocks_write_block(device, segment, &map->blocks[segment->first + k],
					   k == 0, out);
		ss_text_add_string(out, "]}");
	}
}

static enum ss_status blocks_answer(const struct ss_viewer_request *asked, struct ss_answer *out,
				    struct ss_error *err)
{
	const struct ss_device_memory *device;
	const struct ss_opened *opened;
	uint32_t row = SS_LIVE_AT_END;
	struct ss_block_map map;
	enum ss_status status;
	int64_t event;

	SS_TRY(ss_viewer_snapshot(asked, &opened, err));
	SS_TRY(ss_viewer_device(asked, opened, &device, err));
	if (!device)
		return ss_fail(err, SS_ERR_MISSING,
			       "no blocks: a memory timeline does not record them");
	if (device->traced)
		return ss_fail(err, SS_ERR_MISSING,
			       "no segments and blocks: a trace does not record them, "
			       "torch.cuda.memory._dump_snapshot() does");
	SS_TRY(ss_viewer_int(asked, "event", 0, (int64_t)device->count - 1, -1, &event, err));
	if (event >= 0)
		row = device->first + (uint32_t)event;
	status = ss_block_map_make(&map, &opened->subject, device, row, err);
	if (status == SS_OK && map.block_count > BLOCKS_MAX)
		status = ss_fail(err, SS_ERR_LIMIT,
				 "%" PRIu32 " blocks are too many to draw: use the view "
				 "snapshot-segments",
				 map.block_count);
	if (status == SS_OK) {
		ss_text_add_string(&out->body, "{\"schema\":\"stepscope.blocks/1\",\"event\":");
		if (event < 0)
			ss_text_add_string(&out->body, "null");
		else
			ss_text_add_int(&out->body, event);
		ss_text_add_string(&out->body, ",\"segments\":[");
		blocks_write_map(&map, &opened->snapshot, device, &out->body);
		ss_text_add_string(&out->body, "]}\n");
	}
	ss_block_map_release(&map);
	return status;
}

const struct ss_route ss_route_blocks = {
	.name = "blocks",
	.summary =
		"The segments of a snapshot and the blocks in them, at the end or after an event",
	.parameters = "snapshot device event",
	.answer = "type Block = [offset: number, bytes: number, state: \"used\" | \"pending\" | "
		  "\"free\", category: string | null, requested_bytes: number | null, stack: "
		  "number | null, event: number | null]\n"
		  "interface Segment { address: string; bytes: number; stream?: number; "
		  "type?: string; expandable?: boolean; blocks: Block[] }\n"
		  "interface BlocksAnswer { schema: \"stepscope.blocks/1\"; event: number | "
		  "null; segments: Segment[] }\n",
	.apart = true,
	.run = blocks_answer,
};
