/*
 * holders.c - view: who holds the memory at the peak, and at the end.
 *
 * By line of the program, stack, category, or call of a module. A call is charged with the
 * activations of everything inside of it that are held at the peak: what a checkpoint around
 * it does not keep. While backward runs, one call at a time is computed again, so one call's
 * part is not saved: that of one repetition of the stack that is held most often, at least.
 */
#include "analyze/pools.h"
#include "snapshot/held.h"

enum group { BY_LINE, BY_STACK, BY_CATEGORY, BY_CALL };

static const struct ss_column columns[] = {
	SS_COLUMN_DEVICE,
	{ "line", SS_COLUMN_TEXT, "where it was allocated: line of the program, or call", 0 },
	{ "category", SS_COLUMN_TEXT,
	  "what it is for, as far as stacks tell; of a line: its largest block", 0 },
	{ "peak_bytes", SS_COLUMN_BYTES, "held at the peak", 0 },
	{ "peak_percent", SS_COLUMN_PERCENT, "of all that is held at the peak", SS_COLUMN_BAR },
	{ "peak_blocks", SS_COLUMN_COUNT, "blocks of it", 0 },
	{ "end_bytes", SS_COLUMN_BYTES, "held at the end", 0 },
	{ "end_blocks", SS_COLUMN_COUNT, "blocks of it", SS_COLUMN_DETAIL },
	{ "repeats", SS_COLUMN_COUNT,
	  "of a call: how often the most frequent stack inside of it is held at the peak", 0 },
	{ "checkpoint_bytes", SS_COLUMN_BYTES,
	  "at most: what a checkpoint around the call would save at the peak", 0 },
	{ "stack", SS_COLUMN_TEXT, "stack of its largest block, innermost first",
	  SS_COLUMN_DETAIL | SS_COLUMN_WRAP },
};

struct work {
	const struct ss_snapshot_subject *subject;
	const struct ss_device_memory *device;
	struct ss_held held[2]; /* at the peak, at the end */
	struct ss_tally tally;
	uint8_t *purpose;    /* per id: of the largest block */
	uint32_t *per_stack; /* activations at the peak by stack */
	uint32_t *repeats;   /* per line: most of one stack */
};

static uint32_t id_of(const struct work *work, const struct ss_held_block *block)
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

static uint32_t id_count(const struct work *work)
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

static void sum(struct work *work)
{
	for (int moment = 0; moment < 2; moment++)
		for (uint32_t i = 0; i < work->held[moment].count; i++) {
			const struct ss_held_block *block = &work->held[moment].items[i];
			uint32_t id = id_of(work, block);

			if (block->bytes > work->tally.rows[id].largest_bytes)
				work->purpose[id] = block->purpose;
			ss_tally_add(&work->tally, id, moment, block->bytes, block->stack);
		}
}

/* Charges a block to every call around it; a line that is on a stack twice counts once. */
static void charge_calls(struct work *work, const struct ss_held_block *block)
{
	const struct ss_spots *spots = work->subject->spots;
	const struct ss_stacks *stacks = &work->subject->snapshot->stacks;
	const struct ss_frame_list *list = &stacks->items[block->stack];
	uint32_t last = SS_NO_ID;

	for (uint32_t i = 0; i < list->count; i++) {
		uint32_t frame = stacks->frames[list->first + i], line = spots->frame_line[frame];

		if (!ss_spots_is_call(spots, frame) || line == last)
			continue;
		ss_tally_add(&work->tally, line, 0, block->bytes, block->stack);
		if (work->per_stack[block->stack] > work->repeats[line])
			work->repeats[line] = work->per_stack[block->stack];
		last = line;
	}
}

static void sum_calls(struct work *work)
{
	for (uint32_t i = 0; i < work->held[0].count; i++)
		if (work->held[0].items[i].purpose == SS_PURPOSE_ACTIVATION)
			work->per_stack[work->held[0].items[i].stack]++;
	for (uint32_t i = 0; i < work->held[0].count; i++)
		if (work->held[0].items[i].purpose == SS_PURPOSE_ACTIVATION)
			charge_calls(work, &work->held[0].items[i]);
}

static const char *line_of(const struct work *work, uint32_t id)
{
	const struct ss_spots *spots = work->subject->spots;

	switch (work->subject->group) {
	case BY_STACK:
		return ss_spots_line(spots, id);
	case BY_CATEGORY:
		return NULL;
	default:
		return id ? ss_strings_text(&spots->texts, id) : NULL;
	}
}

static const char *category_of(const struct work *work, uint32_t id)
{
	if (work->subject->group == BY_CALL)
		return NULL;
	return ss_purpose_name(
		(enum ss_purpose)(work->subject->group == BY_CATEGORY ? id : work->purpose[id]));
}

static void add(const struct work *work, const struct ss_tally_row *row, int64_t peak_bytes,
		struct ss_table *out)
{
	bool has_peak = work->device->count > 0, is_call = work->subject->group == BY_CALL;

	ss_row_begin(out);
	ss_row_text(out, ss_snapshot_device_name(work->device, out));
	ss_row_text(out, line_of(work, row->id));
	ss_row_text(out, category_of(work, row->id));
	ss_row_int_known(out, has_peak ? row->bytes[0] : -1);
	ss_row_share(out, (double)row->bytes[0], has_peak ? (double)peak_bytes : 0);
	ss_row_int_known(out, has_peak ? (int64_t)row->blocks[0] : -1);
	ss_row_int_known(out, is_call ? -1 : row->bytes[1]);
	ss_row_int_known(out, is_call ? -1 : (int64_t)row->blocks[1]);
	ss_row_int_known(out, is_call ? (int64_t)work->repeats[row->id] : -1);
	ss_row_int_known(out,
			 is_call ? row->bytes[0] - row->bytes[0] / work->repeats[row->id] : -1);
	ss_row_text(out, work->subject->group == BY_CATEGORY
				 ? NULL
				 : ss_snapshot_stack(work->subject, row->stack, out));
	ss_row_end(out);
}

static void add_rows(struct work *work, struct ss_table *out)
{
	int64_t peak_bytes = 0;

	for (uint32_t i = 0; i < work->held[0].count; i++)
		peak_bytes = ss_bytes_add(peak_bytes, work->held[0].items[i].bytes);
	ss_tally_order(&work->tally);
	for (uint32_t i = 0; i < work->tally.count; i++)
		add(work, &work->tally.rows[i], peak_bytes, out);
}

static enum ss_status run_device(struct work *work, struct ss_arena *scratch, struct ss_table *out,
				 struct ss_error *err)
{
	uint32_t moment = work->device->count ? work->device->peak_row : SS_HELD_AT_END;
	uint32_t count = id_count(work);

	SS_TRY(ss_held_init(&work->held[0], work->subject, work->device, moment, err));
	SS_TRY(ss_held_init(&work->held[1], work->subject, work->device, SS_HELD_AT_END, err));
	work->purpose = SS_ARENA_NEW(scratch, uint8_t, (size_t)count + 1);
	work->repeats = SS_ARENA_NEW(scratch, uint32_t, (size_t)count + 1);
	work->per_stack = SS_ARENA_NEW(scratch, uint32_t,
				       (size_t)work->subject->snapshot->stacks.count + 1);
	if (!work->purpose || !work->repeats || !work->per_stack ||
	    !ss_tally_init(&work->tally, work->subject->history->memory, count))
		return ss_fail_memory(err, "the holders");
	if (work->subject->group == BY_CALL)
		sum_calls(work);
	else
		sum(work);
	add_rows(work, out);
	return SS_OK;
}

static enum ss_status holders_run(const struct ss_snapshot_subject *subject, struct ss_table *out,
				  struct ss_error *err)
{
	enum ss_status status = SS_OK;

	for (uint32_t i = 0; i < subject->history->device_count && status == SS_OK; i++) {
		struct work work = { .subject = subject, .device = &subject->history->devices[i] };
		struct ss_arena scratch;

		work.held[0].memory = work.held[1].memory = subject->history->memory;
		work.tally.memory = subject->history->memory;
		ss_arena_init(&scratch, subject->history->memory);
		status = run_device(&work, &scratch, out, err);
		ss_tally_release(&work.tally);
		ss_held_release(&work.held[0]);
		ss_held_release(&work.held[1]);
		ss_arena_release(&scratch);
	}
	ss_snapshot_notes(subject, out);
	return status;
}

const struct ss_view ss_snapshot_view_holders = {
	.name = "snapshot-holders",
	.summary = "Who holds the memory at the peak and at the end",
	.empty = "Nothing is held.",
	.columns = columns,
	.column_count = SS_COUNT(columns),
	.groups = { "line", "stack", "category", "call" },
	.rankless = true,
	.run_snapshot = holders_run,
};
