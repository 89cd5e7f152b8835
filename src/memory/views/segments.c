/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segments.c - view: allocator segments, or their blocks, by address.
 */
#include <inttypes.h>

#include "memory/events/pools.h"
#include "memory/subject.h"

enum segments_group { BY_SEGMENT, BY_BLOCK };

static const struct ss_column columns[] = {
	SS_COLUMN_DEVICE,
	{ "address", SS_COLUMN_TEXT, "start address", 0 },
	{ "bytes", SS_COLUMN_BYTES, "size of the segment or block", 0 },
	{ "active_bytes", SS_COLUMN_BYTES, "memory in use; for a block: all or nothing", 0 },
	{ "active_percent", SS_COLUMN_PERCENT, "share of its size that is in use", SS_COLUMN_BAR },
	{ "largest_free_bytes", SS_COLUMN_BYTES, "its largest free block", 0 },
	{ "blocks", SS_COLUMN_COUNT, "number of blocks in the segment", 0 },
	{ "state", SS_COLUMN_TEXT,
	  "state of a block: allocated, pending (a stream still uses it), inactive", 0 },
	{ "requested_bytes", SS_COLUMN_BYTES, "requested size; empty: not recorded", 0 },
	{ "type", SS_COLUMN_TEXT, "small: for allocations up to 1 MB; large: for larger ones", 0 },
	{ "expandable", SS_COLUMN_TEXT, "yes: the segment can grow", SS_COLUMN_CONTEXT },
	{ "pool", SS_COLUMN_TEXT,
	  "private pool, for example of a CUDA graph; empty: the default pool", SS_COLUMN_CONTEXT },
	{ "stream", SS_COLUMN_TEXT, "stream that owns it", SS_COLUMN_CONTEXT },
	{ "line", SS_COLUMN_TEXT, "source line that allocated it", 0 },
	{ "category", SS_COLUMN_TEXT, "purpose of a block in use, as far as its stack shows it",
	  0 },
	{ "segment", SS_COLUMN_ID, "number of the segment on the device, from 0",
	  SS_COLUMN_DETAIL },
	{ "stack", SS_COLUMN_TEXT, "stack, innermost frame first",
	  SS_COLUMN_DETAIL | SS_COLUMN_WRAP },
};

/* Blocks share their stacks, and stacks are long: each is printed once. */
struct segment_listing {
	const struct ss_snapshot_subject *subject;
	const char **stacks; /* NULL: not printed yet, or none */
	struct ss_table *out;
};

static const char *segment_stack(const struct segment_listing *work, uint32_t stack)
{
	if (!work->stacks[stack])
		work->stacks[stack] = ss_snapshot_stack(work->subject, stack, work->out);
	return work->stacks[stack];
}

static const char *segment_pool_text(const struct ss_snapshot *snapshot,
				     const struct ss_segment *segment, struct ss_table *out)
{
	const struct ss_pool_id *pool;

	if (segment->pool == SS_NO_ID)
		return NULL;
	pool = ss_records_at(&snapshot->pools, segment->pool);
	if (!pool->owner && !pool->number)
		return NULL;
	return ss_table_print(out, "%" PRIu64 ",%" PRIu64, pool->owner, pool->number);
}

/* Columns that a segment shares with its blocks. */
static void segments_add_common(const struct ss_snapshot_subject *subject,
				const struct ss_segment *segment, struct ss_table *out)
{
	ss_row_text(out, !segment->has_type ? NULL : segment->is_small ? "small" : "large");
	ss_row_text(out, segment->is_expandable ? "yes" : NULL);
	ss_row_text(out, segment_pool_text(subject->snapshot, segment, out));
	ss_row_text(out, segment->stream ? ss_snapshot_address(segment->stream, out) : "0");
}

static void segments_add_segment(const struct segment_listing *work, const char *device,
				 const struct ss_segment *segment, uint32_t number)
{
	const struct ss_snapshot_subject *subject = work->subject;
	struct ss_table *out = work->out;
	int64_t active = 0, largest = 0, requested = 0;

	for (uint32_t i = 0; i < segment->block_count; i++) {
		const struct ss_block *block = &subject->snapshot->blocks[segment->first_block + i];

		if (block->state != SS_BLOCK_INACTIVE) {
			active = ss_amount_add(active, block->bytes);
			if (block->requested_bytes < 0)
				requested = INT64_MIN;
			requested = ss_amount_add(requested, block->requested_bytes);
		} else if (block->bytes > largest) {
			largest = block->bytes;
		}
	}
	ss_row_begin(out);
	ss_row_text(out, device);
	ss_row_text(out, ss_snapshot_address(segment->address, out));
	ss_row_int(out, segment->total_bytes);
	ss_row_int(out, active);
	ss_row_share(out, (double)active, (double)segment->total_bytes);
	ss_row_int(out, largest);
	ss_row_int(out, segment->block_count);
	ss_row_null(out);
	ss_row_int_known(out, requested);
	segments_add_common(subject, segment, out);
	ss_row_text(out, ss_snapshot_places_line(subject->spots, segment->stack));
	ss_row_null(out);
	ss_row_int(out, number);
	ss_row_text(out, segment_stack(work, segment->stack));
	ss_row_end(out);
}

static void segments_add_block(const struct segment_listing *work, const char *device,
			       const struct ss_segment *segment, uint32_t number, uint32_t index)
{
	const struct ss_snapshot_subject *subject = work->subject;
	struct ss_table *out = work->out;
	static const char *const states[] = { "inactive", "allocated", "pending" };
	const struct ss_block *block = &subject->snapshot->blocks[index];
	struct ss_old_block old = { .block = index };
	bool is_active = block->state != SS_BLOCK_INACTIVE;

	ss_row_begin(out);
	ss_row_text(out, device);
	ss_row_text(out, ss_snapshot_address(block->address, out));
	ss_row_int(out, block->bytes);
	ss_row_int(out, is_active ? block->bytes : 0);
	ss_row_share(out, is_active ? (double)block->bytes : 0, (double)block->bytes);
	ss_row_nulls(out, 2);
	ss_row_text(out, states[block->state]);
	ss_row_int_known(out, is_active ? block->requested_bytes : -1);
	segments_add_common(subject, segment, out);
	ss_row_text(out, ss_snapshot_places_line(subject->spots, block->stack));
	ss_row_text(out, is_active ? ss_purpose_name(ss_purpose_of_old(subject->history,
								       subject->spots, &old))
				   : NULL);
	ss_row_int(out, number);
	ss_row_text(out, segment_stack(work, block->stack));
	ss_row_end(out);
}

static enum ss_status segments_run(const struct ss_snapshot_subject *subject, struct ss_table *out,
				   struct ss_error *err)
{
	struct segment_listing work = { .subject = subject, .out = out };

	if (!SS_ALLOC(out->arena, work.stacks, subject->snapshot->stacks.count))
		return ss_fail_memory(err, "the segments");
	ss_snapshot_explain_empty(subject, "Segments and blocks", out);
	for (uint32_t i = 0; i < subject->history->device_count; i++) {
		const struct ss_device_memory *device = &subject->history->devices[i];
		const char *name = ss_snapshot_device_name(device, out);

		for (uint32_t k = 0; k < device->segment_count; k++) {
			const struct ss_segment *segment =
				&subject->snapshot->segments[device->segments[k]];

			if (subject->group == BY_SEGMENT)
				segments_add_segment(&work, name, segment, k);
			for (uint32_t b = 0; b < segment->block_count; b++)
				if (subject->group == BY_BLOCK)
					segments_add_block(&work, name, segment, k,
							   segment->first_block + b);
		}
	}
	return SS_OK;
}

const struct ss_view ss_snapshot_view_segments = {
	.name = "snapshot-segments",
	.summary = "Allocator segments by address, or the blocks in them",
	.empty = "The snapshot has no segments.",
	SS_TABLE_COLUMNS(columns),
	.sums = "bytes active_bytes blocks requested_bytes",
	.groups = { "segment", "block" },
	.rankless = true,
	.run_snapshot = segments_run,
};
