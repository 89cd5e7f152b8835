/* SPDX-License-Identifier: Apache-2.0 */
/*
 * allocations.c - view: the most expensive allocations: size times how long they were
 * held.
 *
 * Without times, the number of events is used as the duration. An allocation that was not
 * freed is held until the last event. By line, stack or call, the figures are sums; a call
 * in a forward() includes everything inside it, so nested calls count the same allocations
 * twice.
 */

#include "base/sort.h"
#include "memory/events/alloc.h"
#include "memory/holders/calls.h"
#include "memory/training_steps.h"

enum snapshot_allocations_group { EACH, BY_LINE, BY_STACK, BY_CALL };

/* Rows that are listed, of millions; sums are over all. */
#define SHOWN_MAX 10000

static const struct ss_column columns[] = {
	SS_COLUMN_DEVICE,
	{ "bytes", SS_COLUMN_BYTES, "size of the block; for a line: total size of all its blocks",
	  0 },
	{ "requested_bytes", SS_COLUMN_BYTES, "requested size", SS_COLUMN_DETAIL },
	{ "allocations", SS_COLUMN_COUNT, "number of allocations of the line, stack or call", 0 },
	{ "held_gb_s", SS_COLUMN_NUMBER,
	  "size times how long it was held, in GB x seconds; empty: times are not recorded", 0 },
	{ "held_percent", SS_COLUMN_PERCENT, "share of held_gb_s of all allocations",
	  SS_COLUMN_BAR },
	{ "line", SS_COLUMN_TEXT, "source line that allocated it; or the call", 0 },
	{ "category", SS_COLUMN_TEXT, "purpose, as far as the stack shows it", 0 },
	{ "at_ns", SS_COLUMN_NS, "time of the allocation, from the first event", 0 },
	{ "lifetime_ns", SS_COLUMN_NS, "time until it was freed; empty: not freed in the events",
	  0 },
	{ "freed", SS_COLUMN_COUNT, "number of allocations freed in the events", 0 },
	{ "step", SS_COLUMN_ID, "step in which it was allocated, from 0; empty: none, or unknown",
	  0 },
	{ "event", SS_COLUMN_ID, "number of the allocation event, from 0", SS_COLUMN_DETAIL },
	{ "address", SS_COLUMN_TEXT, "memory address", SS_COLUMN_DETAIL },
	{ "freed_by", SS_COLUMN_TEXT, "source line that freed it", SS_COLUMN_DETAIL },
	{ "stack", SS_COLUMN_TEXT, "stack, innermost frame first",
	  SS_COLUMN_DETAIL | SS_COLUMN_WRAP },
};

struct held_allocation {
	double held; /* bytes x ns, or x events */
	int64_t bytes;
	uint32_t row;
};

struct held_sums {
	double held;
	int64_t bytes, requested_bytes;
	uint32_t id, count, freed, stack;
};

struct held_listing {
	const struct ss_snapshot_subject *subject;
	const struct ss_device_memory *device;
	struct ss_snapshot_steps rounds;
	struct ss_table *out;
	const char *name;
	bool has_times, has_addresses;
	double all;                    /* sum of `held` */
	struct held_allocation *items; /* the largest so far: the least of them first, as a heap */
	uint32_t count;
	struct held_sums *sums;
	uint32_t sum_count;
};

static uint32_t held_end_row(const struct held_listing *work, uint32_t row)
{
	uint32_t freed = work->subject->history->partner[row];

	return freed == SS_NO_ROW ? work->device->first + work->device->count - 1 : freed;
}

/* The event that freed it, or SS_NO_ROW: none did, or it is not recorded when. */
static uint32_t held_freed_row(const struct held_listing *work, uint32_t row)
{
	const struct ss_traced_row *rows = work->subject->snapshot->traced_rows;
	uint32_t freed = work->subject->history->partner[row];

	return freed != SS_NO_ROW && rows && rows[freed].is_added ? SS_NO_ROW : freed;
}

static int64_t held_step(const struct held_listing *work, uint32_t row)
{
	const struct ss_snapshot *snapshot = work->subject->snapshot;

	if (!work->device->traced)
		return ss_snapshot_steps_step(&work->rounds, row);
	return ss_allocs_step_around(snapshot->steps, snapshot->step_count,
				     snapshot->events.time_ns[row]);
}

static double held_bytes_ns(const struct held_listing *work, uint32_t row)
{
	const struct ss_snapshot *snapshot = work->subject->snapshot;
	double bytes = (double)work->subject->history->bytes[row];
	int64_t span_ns;

	if (ss_history_is_loose(work->subject->history, row))
		return 0; /* when it was freed is unknown */
	if (!work->has_times)
		return bytes * (double)(held_end_row(work, row) - row);
	span_ns = ss_snapshot_span_ns(snapshot, row, held_end_row(work, row));
	return span_ns < 0 ? 0 : bytes * (double)span_ns;
}

/* Less: held less, or equal and smaller, or equal and later. */
static bool held_is_less(const struct held_allocation *a, const struct held_allocation *b)
{
	if (a->held != b->held)
		return a->held < b->held;
	return a->bytes < b->bytes || (a->bytes == b->bytes && a->row > b->row);
}

static void held_heap_sift(struct held_allocation *items, uint32_t count, uint32_t at)
{
	for (;;) {
		uint32_t least = at, left = 2 * at + 1;
		struct held_allocation moved;

		for (uint32_t child = left; child < count && child <= left + 1; child++)
			if (held_is_less(&items[child], &items[least]))
				least = child;
		if (least == at)
			return;
		moved = items[at];
		items[at] = items[least];
		items[least] = moved;
		at = least;
	}
}

static void held_heap_offer(struct held_listing *work, struct held_allocation item)
{
	if (work->count < SHOWN_MAX) {
		uint32_t at = work->count++;

		while (at && held_is_less(&item, &work->items[(at - 1) / 2])) {
			work->items[at] = work->items[(at - 1) / 2];
			at = (at - 1) / 2;
		}
		work->items[at] = item;
	} else if (held_is_less(&work->items[0], &item)) {
		work->items[0] = item;
		held_heap_sift(work->items, work->count, 0);
	}
}

/* Deeper nests are charged to the innermost calls. */
#define CALLS_MAX 64

/* The sums that an allocation of a stack belongs to. */
static uint32_t held_sum_ids(const struct held_listing *work, uint32_t stack, uint32_t *ids)
{
	switch (work->subject->group) {
	case BY_CALL:
		return ss_calls_on(work->subject, stack, ids, CALLS_MAX);
	case BY_STACK:
		ids[0] = stack;
		return 1;
	default:
		ids[0] = work->subject->spots->line[stack];
		return 1;
	}
}

static void held_sums_count(struct held_listing *work, uint32_t row, double held)
{
	const struct ss_snapshot_events *events = &work->subject->snapshot->events;
	uint32_t stack = events->stack[row], ids[CALLS_MAX];
	uint32_t count = held_sum_ids(work, stack, ids);

	for (uint32_t i = 0; i < count; i++) {
		struct held_sums *sums = &work->sums[ids[i]];

		sums->held += held;
		sums->bytes = ss_amount_add(sums->bytes, work->subject->history->bytes[row]);
		sums->requested_bytes = ss_amount_add(sums->requested_bytes, events->bytes[row]);
		sums->count++;
		sums->freed += held_freed_row(work, row) != SS_NO_ROW;
		sums->stack = stack;
	}
}

static void held_collect(struct held_listing *work)
{
	const struct ss_snapshot_events *events = &work->subject->snapshot->events;
	const struct ss_device_memory *device = work->device;

	for (uint32_t row = device->first; row < device->first + device->count; row++) {
		double held;

		if (events->action[row] != SS_ACTION_ALLOC)
			continue;
		held = held_bytes_ns(work, row);
		work->all += held;
		if (work->subject->group == EACH)
			held_heap_offer(work,
					(struct held_allocation){
						held, work->subject->history->bytes[row], row });
		else
			held_sums_count(work, row, held);
	}
}

static int held_allocation_compare(const void *left, const void *right)
{
	return held_is_less(left, right) ? 1 : held_is_less(right, left) ? -1 : 0;
}

SS_COMPARATOR(held_sums_compare, struct held_sums,
	      SS_DESCENDING(held) SS_DESCENDING(bytes) SS_ASCENDING(id))

static void held_add_cells(const struct held_listing *work, double held)
{
	if (work->has_times && work->has_addresses)
		ss_row_number(work->out, held / 1e18);
	else
		ss_row_null(work->out);
	ss_row_share(work->out, held, work->all);
}

static void held_add_allocation(const struct held_listing *work, const struct held_allocation *item)
{
	const struct ss_snapshot_subject *subject = work->subject;
	const struct ss_snapshot_events *events = &subject->snapshot->events;
	uint32_t freed = held_freed_row(work, item->row);
	struct ss_table *out = work->out;

	ss_row_begin(out);
	ss_row_text(out, work->name);
	ss_row_int(out, subject->history->bytes[item->row]);
	ss_row_int(out, events->bytes[item->row]);
	ss_row_null(out);
	held_add_cells(work, item->held);
	ss_row_text(out, ss_snapshot_places_line(subject->spots, events->stack[item->row]));
	ss_row_text(out,
		    ss_purpose_name(ss_purpose_of(subject->history, subject->spots, item->row)));
	ss_row_int_known(out, ss_snapshot_time_ns(subject->snapshot, work->device, item->row));
	ss_row_int_known(out, freed == SS_NO_ROW
				      ? -1
				      : ss_snapshot_span_ns(subject->snapshot, item->row, freed));
	ss_row_null(out);
	ss_row_int_known(out, held_step(work, item->row));
	ss_row_int(out, item->row - work->device->first);
	ss_row_text(out, work->has_addresses ? ss_snapshot_address(events->address[item->row], out)
					     : NULL);
	ss_row_text(out, freed == SS_NO_ROW
				 ? NULL
				 : ss_snapshot_places_line(subject->spots, events->stack[freed]));
	ss_row_text(out, ss_snapshot_stack(subject, events->stack[item->row], out));
	ss_row_end(out);
}

static void held_add_sums(const struct held_listing *work, const struct held_sums *sums)
{
	const struct ss_snapshot_subject *subject = work->subject;
	struct ss_table *out = work->out;

	ss_row_begin(out);
	ss_row_text(out, work->name);
	ss_row_int(out, sums->bytes);
	ss_row_int(out, sums->requested_bytes);
	ss_row_int(out, sums->count);
	held_add_cells(work, sums->held);
	ss_row_text(out, subject->group == BY_CALL
				 ? ss_strings_text(&subject->spots->texts, sums->id)
				 : ss_snapshot_places_line(subject->spots, sums->stack));
	ss_row_nulls(out, 3);
	ss_row_int_known(out, work->has_addresses ? (int64_t)sums->freed : -1);
	ss_row_nulls(out, 4);
	ss_row_text(out, subject->group == BY_STACK ? ss_snapshot_stack(subject, sums->stack, out)
						    : NULL);
	ss_row_end(out);
}

static void held_add_rows(struct held_listing *work)
{
	SS_SORT(work->items, work->count, held_allocation_compare);
	for (uint32_t i = 0; i < work->count; i++)
		held_add_allocation(work, &work->items[i]);
	SS_SORT(work->sums, work->sum_count, held_sums_compare);
	for (uint32_t i = 0; i < work->sum_count; i++)
		if (work->sums[i].count)
			held_add_sums(work, &work->sums[i]);
	if (work->count == SHOWN_MAX)
		ss_table_note(work->out,
			      "Only the %d most expensive allocations of each device are listed.",
			      SHOWN_MAX);
}

static enum ss_status held_run_device(struct held_listing *work, struct ss_arena *scratch,
				      struct ss_error *err)
{
	const struct ss_snapshot_subject *subject = work->subject;

	work->sum_count = subject->group == EACH       ? 0
			  : subject->group == BY_STACK ? subject->snapshot->stacks.count
						       : subject->spots->texts.count;
	if (!SS_ALLOC(scratch, work->items, SHOWN_MAX) ||
	    !SS_ALLOC(scratch, work->sums, (size_t)work->sum_count + 1))
		return ss_fail_memory(err, "the allocations");
	for (uint32_t i = 0; i < work->sum_count; i++)
		work->sums[i].id = i;
	SS_TRY(ss_snapshot_steps_init(&work->rounds, subject->history, work->device, subject->spots,
				      err));
	work->has_addresses = !work->device->traced || work->device->traced->has_addresses;
	work->has_times = subject->snapshot->events.time_ns[work->device->first] != SS_NO_TIME;
	held_collect(work);
	held_add_rows(work);
	ss_snapshot_steps_release(&work->rounds);
	return SS_OK;
}

static enum ss_status snapshot_allocations_run(const struct ss_snapshot_subject *subject,
					       struct ss_table *out, struct ss_error *err)
{
	for (uint32_t i = 0; i < subject->history->device_count; i++) {
		struct held_listing work = { .subject = subject,
					     .device = &subject->history->devices[i],
					     .out = out };
		SS_SCRATCH(scratch, subject->history->memory);

		if (!work.device->count)
			continue;
		work.name = ss_snapshot_device_name(work.device, out);
		SS_TRY(held_run_device(&work, &scratch, err));
	}
	ss_snapshot_notes(subject, out);
	return SS_OK;
}

const struct ss_view ss_snapshot_view_allocations = {
	.name = "snapshot-allocations",
	.summary = "Allocations by size times how long they were held",
	.empty = "No events were recorded: call torch.cuda.memory._record_memory_history() first.",
	SS_TABLE_COLUMNS(columns),
	.groups = { "each", "line", "stack", "call" },
	.rankless = true,
	.run_snapshot = snapshot_allocations_run,
};
