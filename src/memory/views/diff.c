/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff.c - view: what holds more or less memory than in another snapshot, line by line.
 *
 * Lines are matched by their text, over all devices, at the end of both snapshots.
 */
#include <string.h>

#include "base/sort.h"
#include "memory/events/pools.h"
#include "memory/holders/held_blocks.h"

static const struct ss_column columns[] = {
	{ "line", SS_COLUMN_TEXT, "source line that allocated it; empty: no stack", 0 },
	{ "category", SS_COLUMN_TEXT, "purpose of its last block, as far as the stack shows it",
	  0 },
	{ "change_bytes", SS_COLUMN_BYTES, "after minus before", 0 },
	{ "before_bytes", SS_COLUMN_BYTES, "held at the end of the first snapshot", 0 },
	{ "after_bytes", SS_COLUMN_BYTES, "held at the end of the second snapshot", 0 },
	{ "before_blocks", SS_COLUMN_COUNT, "number of these blocks", 0 },
	{ "after_blocks", SS_COLUMN_COUNT, "number of these blocks", 0 },
};

struct diff_line {
	int64_t bytes[2];
	uint32_t blocks[2];
	uint32_t id;
	uint8_t purpose;
};

struct diff_counting {
	struct ss_memory *memory;
	struct ss_strings lines;
	struct diff_line *items; /* by id, then by change */
	uint32_t count, capacity;
	uint32_t *known; /* per stack of the side: the id of its line, plus 1 */
};

/* The id of the line that a stack allocates at: looked up once, for lines can be long. */
static uint32_t diff_line_of(struct diff_counting *work, const struct ss_snapshot_subject *subject,
			     uint32_t stack)
{
	const char *text;
	uint32_t id;

	if (work->known[stack])
		return work->known[stack] - 1;
	text = ss_snapshot_places_line(subject->spots, stack);
	id = ss_strings_add(&work->lines, text ? text : "", text ? strlen(text) : 0);
	if (id != SS_NO_ID)
		work->known[stack] = id + 1;
	return id;
}

static bool diff_add_block(struct diff_counting *work, const struct ss_snapshot_subject *subject,
			   const struct ss_held_block *block, int side)
{
	uint32_t id = diff_line_of(work, subject, block->stack);

	if (id == SS_NO_ID || !SS_GROW(work->memory, work->items, work->capacity, id))
		return false;
	for (; work->count <= id; work->count++)
		work->items[work->count] = (struct diff_line){ .id = work->count };
	work->items[id].bytes[side] = ss_amount_add(work->items[id].bytes[side], block->bytes);
	work->items[id].blocks[side]++;
	work->items[id].purpose = block->purpose;
	return true;
}

static enum ss_status diff_add_side(struct diff_counting *work,
				    const struct ss_snapshot_subject *subject, int side,
				    struct ss_error *err)
{
	SS_SCRATCH(scratch, work->memory);

	if (!SS_ALLOC(&scratch, work->known, (size_t)subject->snapshot->stacks.count + 1))
		return ss_fail_memory(err, "the lines");
	for (uint32_t i = 0; i < subject->history->device_count; i++) {
		SS_OWNED(ss_held_blocks_release) struct ss_held_blocks held = { 0 };

		SS_TRY(ss_held_blocks_init(&held, subject, &subject->history->devices[i],
					   SS_LIVE_AT_END, err));
		for (uint32_t k = 0; k < held.count; k++)
			if (!diff_add_block(work, subject, &held.items[k], side))
				return ss_fail_memory(err, "the lines");
	}
	return SS_OK;
}

static int64_t diff_change(const struct diff_line *line)
{
	return ss_amount_subtract(line->bytes[1], line->bytes[0]);
}

static int diff_line_compare(const void *left, const void *right)
{
	const struct diff_line *a = left, *b = right;
	int64_t change_a = diff_change(a), change_b = diff_change(b);
	int64_t size_a = change_a < 0 ? -change_a : change_a;
	int64_t size_b = change_b < 0 ? -change_b : change_b;

	if (size_a != size_b)
		return size_a > size_b ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

static void diff_add_rows(struct diff_counting *work, struct ss_table *out)
{
	SS_SORT(work->items, work->count, diff_line_compare);
	for (uint32_t i = 0; i < work->count; i++) {
		const struct diff_line *line = &work->items[i];
		const char *text = ss_strings_text(&work->lines, line->id);

		if (!line->blocks[0] && !line->blocks[1])
			continue;
		ss_row_begin(out);
		ss_row_text(out, text);
		ss_row_text(out, ss_purpose_name((enum ss_purpose)line->purpose));
		ss_row_int(out, diff_change(line));
		ss_row_int(out, line->bytes[0]);
		ss_row_int(out, line->bytes[1]);
		ss_row_int(out, line->blocks[0]);
		ss_row_int(out, line->blocks[1]);
		ss_row_end(out);
	}
}

static enum ss_status diff_run(const struct ss_snapshot_subject *subject, struct ss_table *out,
			       struct ss_error *err)
{
	struct diff_counting work = { .memory = subject->history->memory };
	enum ss_status status = SS_OK;

	if (!subject->before)
		return ss_fail(err, SS_ERR_USAGE,
			       "diff compares two snapshots: give the path of the second one");
	if (!ss_strings_init(&work.lines, work.memory))
		status = ss_fail_memory(err, "the lines");
	if (status == SS_OK)
		status = diff_add_side(&work, subject->before, 0, err);
	if (status == SS_OK)
		status = diff_add_side(&work, subject, 1, err);
	if (status == SS_OK)
		diff_add_rows(&work, out);
	ss_strings_release(&work.lines);
	SS_FREE(work.memory, work.items, work.capacity);
	return status;
}

const struct ss_view ss_snapshot_view_diff = {
	.name = "snapshot-diff",
	.summary = "What holds more or less memory than in another snapshot",
	.empty = "Neither snapshot holds any memory.",
	SS_TABLE_COLUMNS(columns),
	.sums = "change_bytes before_bytes after_bytes before_blocks after_blocks",
	.rankless = true,
	.run_snapshot = diff_run,
};
