/* SPDX-License-Identifier: Apache-2.0 */
/*
 * holders.c - view: what holds memory at the peak and at the end.
 *
 * By source line, stack, category, or call in a forward() with what checkpointing it would
 * save at the peak (calls.h).
 */
#include "memory/events/pools.h"
#include "memory/holders/calls.h"

enum holders_group { BY_LINE, BY_STACK, BY_CATEGORY, BY_CALL };

static const struct ss_column columns[] = {
	SS_COLUMN_DEVICE,
	{ "line", SS_COLUMN_TEXT, "where it was allocated: source line or call", 0 },
	{ "category", SS_COLUMN_TEXT,
	  "purpose, as far as the stack shows it; for a line: of its largest block", 0 },
	{ "peak_bytes", SS_COLUMN_BYTES, "held at the peak of the device", 0 },
	{ "peak_percent", SS_COLUMN_PERCENT, "share of all memory held at the peak",
	  SS_COLUMN_BAR },
	{ "peak_blocks", SS_COLUMN_COUNT, "number of these blocks", 0 },
	{ "end_bytes", SS_COLUMN_BYTES, "held at the end", 0 },
	{ "end_blocks", SS_COLUMN_COUNT, "number of these blocks", SS_COLUMN_DETAIL },
	{ "repeats", SS_COLUMN_COUNT,
	  "for a call: how many times it ran; empty: once, or the order of its blocks does not "
	  "show it",
	  0 },
	{ "checkpoint_bytes", SS_COLUMN_BYTES,
	  "how much lower the peak would be with activation checkpointing around each run of the "
	  "call",
	  0 },
	{ "stack", SS_COLUMN_TEXT, "stack of its largest block, innermost frame first",
	  SS_COLUMN_DETAIL | SS_COLUMN_WRAP },
};

struct holder_listing {
	const struct ss_snapshot_subject *subject;
	const struct ss_device_memory *device;
	struct ss_held_blocks held[2]; /* at the peak, at the end */
	struct ss_holders tally;
	struct ss_calls calls;
	uint8_t *purpose; /* per id: of the largest block */
};

static uint32_t holder_id(const struct holder_listing *work, const struct ss_held_block *block)
{
	switch (work->subject->group) {
	case BY_STACK:
		return block->stack;
	case BY_CATEGORY:
		return block->purpose;
	default:
		return work->subject->spots->line[block->stack];
	}
}

static uint32_t holder_id_count(const struct holder_listing *work)
{
	switch (work->subject->group) {
	case BY_STACK:
		return work->subject->snapshot->stacks.count;
	case BY_CATEGORY:
		return SS_PURPOSE_COUNT;
	default:
		return work->subject->spots->texts.count;
	}
}

static void holders_sum(struct holder_listing *work)
{
	for (int moment = 0; moment < 2; moment++)
		for (uint32_t i = 0; i < work->held[moment].count; i++) {
			const struct ss_held_block *block = &work->held[moment].items[i];
			uint32_t id = holder_id(work, block);

			if (block->bytes > work->tally.rows[id].largest_bytes)
				work->purpose[id] = block->purpose;
			ss_holders_add(&work->tally, id, moment, block->bytes, block->stack);
		}
}

static const char *holder_line(const struct holder_listing *work, uint32_t id)
{
	const struct ss_snapshot_places *spots = work->subject->spots;

	switch (work->subject->group) {
	case BY_STACK:
		return ss_snapshot_places_line(spots, id);
	case BY_CATEGORY:
		return NULL;
	default:
		return id ? ss_strings_text(&spots->texts, id) : NULL;
	}
}

static const char *holder_category(const struct holder_listing *work, uint32_t id)
{
	return ss_purpose_name(
		(enum ss_purpose)(work->subject->group == BY_CATEGORY ? id : work->purpose[id]));
}

static void holders_add_row(const struct holder_listing *work, const struct ss_holder *row,
			    int64_t peak_bytes, struct ss_table *out)
{
	bool has_peak = work->device->count > 0;

	ss_row_begin(out);
	ss_row_text(out, ss_snapshot_device_name(work->device, out));
	ss_row_text(out, holder_line(work, row->id));
	ss_row_text(out, holder_category(work, row->id));
	ss_row_int_known(out, has_peak ? row->bytes[0] : -1);
	ss_row_share(out, (double)row->bytes[0], has_peak ? (double)peak_bytes : 0);
	ss_row_int_known(out, has_peak ? (int64_t)row->blocks[0] : -1);
	ss_row_int(out, row->bytes[1]);
	ss_row_int(out, row->blocks[1]);
	ss_row_nulls(out, 2);
	ss_row_text(out, work->subject->group == BY_CATEGORY
				 ? NULL
				 : ss_snapshot_stack(work->subject, row->stack, out));
	ss_row_end(out);
}

static void holders_add_call(const struct holder_listing *work, const struct ss_call *call,
			     int64_t peak_bytes, struct ss_table *out)
{
	ss_row_begin(out);
	ss_row_text(out, ss_snapshot_device_name(work->device, out));
	ss_row_text(out, ss_strings_text(&work->subject->spots->texts, call->line));
	ss_row_null(out);
	ss_row_int(out, call->bytes);
	ss_row_share(out, (double)call->bytes, (double)peak_bytes);
	ss_row_int(out, call->blocks);
	ss_row_nulls(out, 2);
	ss_row_int_known(out, call->runs > 1 ? (int64_t)call->runs : -1);
	ss_row_int_known(out, call->saved_bytes);
	ss_row_text(out, ss_snapshot_stack(work->subject, call->stack, out));
	ss_row_end(out);
}

static int64_t holders_peak(const struct holder_listing *work)
{
	int64_t peak_bytes = 0;

	for (uint32_t i = 0; i < work->held[0].count; i++)
		peak_bytes = ss_amount_add(peak_bytes, work->held[0].items[i].bytes);
	return peak_bytes;
}

static enum ss_status holders_add_calls(struct holder_listing *work, struct ss_table *out,
					struct ss_error *err)
{
	int64_t peak_bytes = holders_peak(work);

	if (!work->device->count) /* when it was held is not known */
		return SS_OK;
	SS_TRY(ss_calls_init(&work->calls, work->subject, work->device, &work->held[0], err));
	for (uint32_t i = 0; i < work->calls.count; i++)
		holders_add_call(work, &work->calls.items[i], peak_bytes, out);
	return SS_OK;
}

static enum ss_status holders_add_sums(struct holder_listing *work, struct ss_arena *scratch,
				       struct ss_table *out, struct ss_error *err)
{
	uint32_t count = holder_id_count(work);
	int64_t peak_bytes = holders_peak(work);

	if (!SS_ALLOC(scratch, work->purpose, (size_t)count + 1) ||
	    !ss_holders_init(&work->tally, work->subject->history->memory, count))
		return ss_fail_memory(err, "the holders");
	holders_sum(work);
	ss_holders_sort(&work->tally);
	for (uint32_t i = 0; i < work->tally.count; i++)
		holders_add_row(work, &work->tally.rows[i], peak_bytes, out);
	return SS_OK;
}

static enum ss_status holders_run_device(struct holder_listing *work, struct ss_arena *scratch,
					 struct ss_table *out, struct ss_error *err)
{
	uint32_t moment = work->device->count ? work->device->peak_row : SS_LIVE_AT_END;

	SS_TRY(ss_held_blocks_init(&work->held[0], work->subject, work->device, moment, err));
	SS_TRY(ss_held_blocks_init(&work->held[1], work->subject, work->device, SS_LIVE_AT_END,
				   err));
	return work->subject->group == BY_CALL ? holders_add_calls(work, out, err)
					       : holders_add_sums(work, scratch, out, err);
}

static enum ss_status holders_run(const struct ss_snapshot_subject *subject, struct ss_table *out,
				  struct ss_error *err)
{
	enum ss_status status = SS_OK;

	for (uint32_t i = 0; i < subject->history->device_count && status == SS_OK; i++) {
		struct holder_listing work = { .subject = subject,
					       .device = &subject->history->devices[i] };
		SS_SCRATCH(scratch, subject->history->memory);

		work.held[0].memory = work.held[1].memory = subject->history->memory;
		work.tally.memory = work.calls.memory = subject->history->memory;
		status = holders_run_device(&work, &scratch, out, err);
		ss_holders_release(&work.tally);
		ss_calls_release(&work.calls);
		ss_held_blocks_release(&work.held[0]);
		ss_held_blocks_release(&work.held[1]);
	}
	ss_snapshot_notes(subject, out);
	return status;
}

const struct ss_view ss_snapshot_view_holders = {
	.name = "snapshot-holders",
	.summary = "What holds memory at the peak and at the end",
	.empty = "No memory is held.",
	SS_TABLE_COLUMNS(columns),
	.sums = "peak_bytes peak_blocks end_bytes end_blocks",
	.nested = 1u << BY_CALL,
	.groups = { "line", "stack", "category", "call" },
	.rankless = true,
	.run_snapshot = holders_run,
};
