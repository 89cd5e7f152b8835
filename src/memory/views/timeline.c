/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline.c - view: active memory over time, by category, source line or stack.
 *
 * The recorded time (or the events, if times are not recorded) is cut into equal samples;
 * each has the minimum and maximum of the active memory, and what the maximum consists of:
 * no peak is lost, however short. The group `all` lists every event; the groups `line` and
 * `stack` have a row for each of those that hold the most at the peak, and one for the
 * rest.
 */
#include <string.h>

#include "memory/events/pools.h"
#include "memory/holders/held_blocks.h"

enum snapshot_timeline_group { COARSE, FINE, ALL, BY_LINE, BY_STACK };

static const uint32_t part_counts[] = {
	[COARSE] = 64, [FINE] = 512, [ALL] = 0, [BY_LINE] = 64, [BY_STACK] = 64
};

/* Lines or stacks with rows of their own; a plot has no more colours either. */
#define LINES 10
/* What memory is attributed to: categories, or lines and the rest. */
#define SLOTS (LINES + 1)

static const struct ss_column columns[] = {
	SS_COLUMN_DEVICE,
	{ "at_ns", SS_COLUMN_NS,
	  "time of the sample or event, from the first event; empty: not recorded", 0 },
	{ "event", SS_COLUMN_ID, "number of its first event, from 0", 0 },
	{ "min_bytes", SS_COLUMN_BYTES, "minimum of the active memory in the sample",
	  SS_COLUMN_DETAIL },
	{ "max_bytes", SS_COLUMN_BYTES, "maximum of the active memory in the sample", 0 },
	{ "active_percent", SS_COLUMN_PERCENT, "max_bytes as a share of the peak", SS_COLUMN_BAR },
	{ "reserved_bytes", SS_COLUMN_BYTES, "maximum of the reserved memory in the sample", 0 },
	{ "parameter_bytes", SS_COLUMN_BYTES, "of max_bytes: parameters", 0 },
	{ "optimizer_state_bytes", SS_COLUMN_BYTES, "of max_bytes: optimizer state", 0 },
	{ "gradient_bytes", SS_COLUMN_BYTES, "of max_bytes: gradients", 0 },
	{ "activation_bytes", SS_COLUMN_BYTES, "of max_bytes: activations", 0 },
	{ "temporary_bytes", SS_COLUMN_BYTES,
	  "of max_bytes: freed in the same phase in which it was allocated", 0 },
	{ "input_bytes", SS_COLUMN_BYTES, "of max_bytes: inputs, where the file has this category",
	  0 },
	{ "autograd_detail_bytes", SS_COLUMN_BYTES,
	  "of max_bytes: autograd details, where the file has this category", 0 },
	{ "unknown_bytes", SS_COLUMN_BYTES, "of max_bytes: unknown category", 0 },
	{ "events", SS_COLUMN_COUNT, "number of events in the sample", SS_COLUMN_DETAIL },
	{ "line", SS_COLUMN_TEXT, "source line; (other): all lines that are not listed", 0 },
	{ "line_bytes", SS_COLUMN_BYTES, "of max_bytes: held by the line or stack", 0 },
	{ "stack", SS_COLUMN_TEXT, "stack, innermost frame first (group stack)",
	  SS_COLUMN_DETAIL | SS_COLUMN_WRAP },
};

static_assert((int)SS_PURPOSE_COUNT <= (int)SLOTS, "a slot for every category");

struct timeline_sample {
	int64_t active_bytes, reserved_bytes; /* now; reserved -1: not known */
	int64_t now[SLOTS];
	int64_t min_bytes, max_bytes, max_reserved_bytes;
	int64_t at_max[SLOTS];
	uint32_t first, events;
};

struct timeline_drawing {
	const struct ss_snapshot_subject *subject;
	const struct ss_device_memory *device;
	struct ss_table *out;
	const char *name;
	int64_t peak_bytes;
	uint8_t *slot_of_stack; /* NULL: slots are categories */
	const char *slot_names[SLOTS], *slot_stacks[SLOTS];
};

/* A sample begins with the state before its first event. */
static void timeline_begin_sample(struct timeline_sample *part, uint32_t event)
{
	part->min_bytes = part->max_bytes = part->active_bytes;
	part->max_reserved_bytes = part->reserved_bytes;
	memcpy(part->at_max, part->now, sizeof(part->now));
	part->first = event;
	part->events = 0;
}

/* A row: of all categories, or of one line or stack. */
static void timeline_add_row(const struct timeline_drawing *work,
			     const struct timeline_sample *part, int64_t at_ns, int slot)
{
	struct ss_table *out = work->out;

	ss_row_begin(out);
	ss_row_text(out, work->name);
	ss_row_int_known(out, at_ns);
	ss_row_int(out, part->first);
	ss_row_int(out, part->min_bytes);
	ss_row_int(out, part->max_bytes);
	ss_row_share(out, (double)(slot < 0 ? part->max_bytes : part->at_max[slot]),
		     (double)work->peak_bytes);
	ss_row_int_known(out, part->max_reserved_bytes);
	for (int i = 0; i < SS_PURPOSE_COUNT; i++)
		if (slot < 0)
			ss_row_int(out, part->at_max[i]);
		else
			ss_row_null(out);
	ss_row_int(out, part->events);
	if (slot < 0) {
		ss_row_nulls(out, 3);
	} else {
		ss_row_text(out, work->slot_names[slot]);
		ss_row_int(out, part->at_max[slot]);
		ss_row_text(out, work->slot_stacks[slot]);
	}
	ss_row_end(out);
}

static void timeline_add_sample(const struct timeline_drawing *work,
				const struct timeline_sample *part, int64_t at_ns)
{
	if (!work->slot_of_stack)
		timeline_add_row(work, part, at_ns, -1);
	for (int i = 0; i < SLOTS && work->slot_of_stack; i++)
		if (part->at_max[i] || (i == LINES && !part->max_bytes))
			timeline_add_row(work, part, at_ns, i);
}

static uint32_t slot_of_row(const struct timeline_drawing *work, uint32_t row)
{
	if (work->slot_of_stack)
		return work->slot_of_stack[work->subject->snapshot->events.stack[row]];
	return ss_purpose_of(work->subject->history, work->subject->spots, row);
}

static uint32_t slot_of_old(const struct timeline_drawing *work, const struct ss_old_block *old)
{
	const struct ss_snapshot *snapshot = work->subject->snapshot;
	uint32_t stack = old->block == SS_NO_ID ? 0 : snapshot->blocks[old->block].stack;

	if (work->slot_of_stack)
		return work->slot_of_stack[stack];
	return ss_purpose_of_old(work->subject->history, work->subject->spots, old);
}

/* Whose memory an event changes. */
static uint32_t timeline_slot_of(const struct timeline_drawing *work, uint32_t row)
{
	const struct ss_history *history = work->subject->history;
	const struct ss_snapshot *snapshot = work->subject->snapshot;
	const struct ss_old_block *old;

	if (ss_history_is_loose(history, row))
		return work->slot_of_stack ? work->slot_of_stack[0] : SS_PURPOSE_UNKNOWN;
	if (snapshot->events.action[row] == SS_ACTION_ALLOC)
		return slot_of_row(work, row);
	if (history->partner[row] != row)
		return slot_of_row(work, history->partner[row]);
	old = ss_history_old(work->device, snapshot->events.address[row]);
	if (old)
		return slot_of_old(work, old);
	return work->slot_of_stack ? LINES : SS_PURPOSE_UNKNOWN;
}

static void timeline_count_event(const struct timeline_drawing *work, struct timeline_sample *part,
				 uint32_t row)
{
	int64_t change = ss_history_change(work->subject->history, row);

	part->events++;
	if (part->reserved_bytes >= 0)
		part->reserved_bytes =
			ss_amount_add(part->reserved_bytes,
				      ss_history_reserved_change(work->subject->snapshot, row));
	if (part->reserved_bytes > part->max_reserved_bytes)
		part->max_reserved_bytes = part->reserved_bytes;
	if (change) {
		uint32_t slot = timeline_slot_of(work, row);

		part->now[slot] = ss_amount_add(part->now[slot], change);
		part->active_bytes = ss_amount_add(part->active_bytes, change);
	}
	if (part->active_bytes < part->min_bytes)
		part->min_bytes = part->active_bytes;
	if (part->active_bytes > part->max_bytes) {
		part->max_bytes = part->active_bytes;
		memcpy(part->at_max, part->now, sizeof(part->now));
	}
}

static void timeline_start(const struct timeline_drawing *work, struct timeline_sample *part)
{
	const struct ss_device_memory *device = work->device;

	*part = (struct timeline_sample){ .active_bytes = device->first_active_bytes,
					  .reserved_bytes = device->first_reserved_bytes };
	for (uint32_t i = 0; i < device->old_count; i++) {
		uint32_t slot = slot_of_old(work, &device->old[i]);

		part->now[slot] = ss_amount_add(part->now[slot], device->old[i].bytes);
	}
}

/* The part of an event: by time, or by number where no times are recorded. */
static uint32_t timeline_sample_at(const struct timeline_drawing *work, uint32_t row,
				   int64_t span_ns, uint32_t parts)
{
	const struct ss_device_memory *device = work->device;
	int64_t at_ns;

	if (span_ns <= 0)
		return (uint32_t)((uint64_t)(row - device->first) * parts / device->count);
	at_ns = ss_snapshot_span_ns(work->subject->snapshot, device->first, row);
	if (at_ns < 0)
		return 0;
	return at_ns >= span_ns ? parts - 1
				: (uint32_t)((double)at_ns / (double)span_ns * (double)parts);
}

static int64_t timeline_sample_ns(const struct timeline_drawing *work,
				  const struct timeline_sample *part)
{
	return ss_snapshot_time_ns(work->subject->snapshot, work->device,
				   work->device->first + part->first);
}

/* Adds a sample whenever the next event belongs to a later one. */
static void timeline_draw(const struct timeline_drawing *work)
{
	const struct ss_device_memory *device = work->device;
	uint32_t last = device->first + device->count - 1;
	uint32_t parts = part_counts[work->subject->group];
	int64_t span_ns = ss_snapshot_span_ns(work->subject->snapshot, device->first, last);
	uint32_t now = 0;
	struct timeline_sample part;

	timeline_start(work, &part);
	timeline_begin_sample(&part, 0);
	for (uint32_t row = device->first; row <= last; row++) {
		uint32_t at = parts ? timeline_sample_at(work, row, span_ns, parts)
				    : row - device->first;

		if (at > now) { /* clocks of files go back: such an event counts where it stands */
			timeline_add_sample(work, &part, timeline_sample_ns(work, &part));
			timeline_begin_sample(&part, row - device->first);
			now = at;
		}
		timeline_count_event(work, &part, row);
	}
	timeline_add_sample(work, &part, timeline_sample_ns(work, &part));
}

/* What gets a slot: the line of a stack, or the stack itself. */
static uint32_t timeline_slot_id(const struct timeline_drawing *work, uint32_t stack)
{
	return work->subject->group == BY_STACK ? stack : work->subject->spots->line[stack];
}

/* The `slot`-th of those that hold most at the peak. */
static void timeline_name_slot(struct timeline_drawing *work, uint32_t slot, uint32_t id)
{
	const struct ss_snapshot_subject *subject = work->subject;
	const struct ss_snapshot_places *spots = subject->spots;
	uint32_t line = subject->group == BY_STACK ? spots->line[id] : id;

	for (uint32_t i = 0; i < subject->snapshot->stacks.count; i++)
		if (timeline_slot_id(work, i) == id)
			work->slot_of_stack[i] = (uint8_t)slot;
	work->slot_names[slot] = line ? ss_strings_text(&spots->texts, line) : "(no stack)";
	if (subject->group == BY_STACK)
		work->slot_stacks[slot] = ss_snapshot_stack(subject, id, work->out);
}

/* The lines or stacks that hold most at the peak get a slot each. */
static enum ss_status timeline_find_slots(struct timeline_drawing *work, struct ss_arena *scratch,
					  struct ss_error *err)
{
	const struct ss_snapshot_subject *subject = work->subject;
	uint32_t stacks = subject->snapshot->stacks.count;
	uint32_t count = subject->group == BY_STACK ? stacks : subject->spots->texts.count;
	struct ss_held_blocks held;
	struct ss_holders tally;

	if (!SS_ALLOC(scratch, work->slot_of_stack, (size_t)stacks + 1))
		return ss_fail_memory(err, "the lines");
	memset(work->slot_of_stack, LINES, (size_t)stacks + 1);
	SS_TRY(ss_held_blocks_init(&held, subject, work->device, work->device->peak_row, err));
	if (!ss_holders_init(&tally, held.memory, count)) {
		ss_held_blocks_release(&held);
		return ss_fail_memory(err, "the lines");
	}
	for (uint32_t i = 0; i < held.count; i++)
		ss_holders_add(&tally, timeline_slot_id(work, held.items[i].stack), 0,
			       held.items[i].bytes, 0);
	ss_holders_sort(&tally);
	for (uint32_t i = 0; i < tally.count && i < LINES; i++)
		timeline_name_slot(work, i, tally.rows[i].id);
	work->slot_names[LINES] = "(other)";
	ss_holders_release(&tally);
	ss_held_blocks_release(&held);
	return SS_OK;
}

/* --- memory timelines of the profiler ------------------------------------------------ */

static void timeline_take_point(struct timeline_sample *part, const struct ss_curve_point *point)
{
	part->events++;
	part->active_bytes = 0;
	for (int i = 0; i < SS_CURVE_COUNT; i++) {
		part->now[ss_purpose_of_curve((enum ss_curve_category)i)] = point->bytes[i];
		part->active_bytes += point->bytes[i];
	}
	if (part->active_bytes < part->min_bytes || part->events == 1)
		part->min_bytes = part->active_bytes;
	if (part->active_bytes > part->max_bytes || part->events == 1) {
		part->max_bytes = part->active_bytes;
		memcpy(part->at_max, part->now, sizeof(part->now));
	}
}

/* When a point is, from the first that has a time; what was there before the recording: 0. */
static int64_t timeline_point_ns(const struct ss_snapshot_curve *curve, uint32_t first,
				 uint32_t point)
{
	int64_t from = first < curve->count ? curve->points[first].time_ns : SS_NO_TIME;
	int64_t at = curve->points[point].time_ns, span;

	if (from == SS_NO_TIME)
		return -1;
	return at == SS_NO_TIME || __builtin_sub_overflow(at, from, &span) || span < 0 ? 0 : span;
}

static void timeline_draw_curve(const struct timeline_drawing *work)
{
	const struct ss_snapshot_curve *curve = &work->subject->snapshot->curve;
	uint32_t parts = part_counts[work->subject->group];
	uint32_t first = 0, now = 0;
	struct timeline_sample part = { .reserved_bytes = -1, .max_reserved_bytes = -1 };
	int64_t span_ns;

	while (first < curve->count && curve->points[first].time_ns == SS_NO_TIME)
		first++;
	span_ns = timeline_point_ns(curve, first, curve->count - 1);
	for (uint32_t i = 0; i < curve->count; i++) {
		int64_t at_ns = timeline_point_ns(curve, first, i);
		uint32_t at = !parts ? i
			      : span_ns > 0
				      ? (uint32_t)((double)at_ns / (double)span_ns * (parts - 1))
				      : (uint32_t)((uint64_t)i * parts / curve->count);

		if (at > now) {
			timeline_add_sample(work, &part,
					    timeline_point_ns(curve, first, part.first));
			part.first = i;
			part.events = 0;
			now = at;
		}
		timeline_take_point(&part, &curve->points[i]);
	}
	timeline_add_sample(work, &part, timeline_point_ns(curve, first, part.first));
}

static enum ss_status timeline_run(const struct ss_snapshot_subject *subject, struct ss_table *out,
				   struct ss_error *err)
{
	if (subject->snapshot->curve.count) {
		struct timeline_drawing work = { .subject = subject, .out = out };

		work.peak_bytes = ss_snapshot_curve_peak(subject->snapshot, NULL);
		timeline_draw_curve(&work);
	}
	for (uint32_t i = 0; i < subject->history->device_count; i++) {
		struct timeline_drawing work = { .subject = subject,
						 .device = &subject->history->devices[i],
						 .out = out };
		SS_SCRATCH(scratch, subject->history->memory);

		work.name = ss_snapshot_device_name(work.device, out);
		work.peak_bytes = work.device->peak_active_bytes;
		if (!work.device->count)
			continue;
		if (subject->group >= BY_LINE)
			SS_TRY(timeline_find_slots(&work, &scratch, err));
		timeline_draw(&work);
	}
	ss_snapshot_notes(subject, out);
	return SS_OK;
}

const struct ss_view ss_snapshot_view_timeline = {
	.name = "snapshot-timeline",
	.summary = "Active memory over time, by category, line or stack",
	.empty = "No events were recorded: call torch.cuda.memory._record_memory_history() first.",
	SS_TABLE_COLUMNS(columns),
	.groups = { "coarse", "fine", "all", "line", "stack" },
	.rankless = true,
	.run_snapshot = timeline_run,
};
