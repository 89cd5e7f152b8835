/* SPDX-License-Identifier: Apache-2.0 */
/*
 * from_trace.c - makes stacks in order of time, then rows device by device.
 */
#include "memory/from_trace.h"

#include <string.h>

#include "memory/events/alloc.h"
#include "memory/history/address_map.h"

struct trace_conversion {
	const struct ss_trace *trace;
	struct ss_snapshot *out;
	struct ss_pools pools;
	uint32_t *stacks; /* per event */
	uint32_t *pair;   /* per event, as in struct ss_allocs */
	uint32_t *rows;   /* per event: the row of its allocation; SS_NO_ROW: it made none */
	uint32_t *ends;   /* per allocation: the one before it that had no free, or SS_NO_ROW */
	uint32_t *order;  /* events, device by device, each in order; those that failed, too */
	uint32_t *firsts; /* per device: its part of the order; one more at the end */
};

/* The device that is written. */
struct converted_device {
	struct trace_conversion *making;
	struct ss_traced_device *traced;
	struct ss_pointer_map gone;     /* addresses whose first event was met */
	int64_t now_bytes, least_bytes; /* in use; from 0 where totals are not recorded */
	int64_t old_bytes;              /* freed, and there before the first event */
	int64_t left_bytes;             /* there before the first event and not freed yet */
	int64_t reserved_bytes;         /* -1: not known yet */
	bool failed;
};

/* What one event does. */
struct event_change {
	enum ss_action action;
	uint64_t
		address; /* of a failed allocation: the free bytes of the device, as in snapshots */
	int64_t bytes, change_bytes;
	uint32_t made; /* of a free: the row of its allocation, or SS_NO_ROW */
	bool is_old;   /* of a free: what it frees was there before the first event */
};

static uint32_t converted_add_row(struct converted_device *device, uint32_t event,
				  enum ss_action action, uint64_t address, int64_t bytes,
				  uint32_t stack)
{
	struct ss_snapshot *out = device->making->out;
	uint32_t row = device->failed ? SS_NO_ID
				      : ss_snapshot_events_add(&out->events, out->memory);

	if (row == SS_NO_ID ||
	    !SS_GROW(out->memory, out->traced_rows, out->traced_row_capacity, row)) {
		device->failed = true;
		return SS_NO_ID;
	}
	out->traced_rows[row] = (struct ss_traced_row){ .partner = SS_NO_ROW };
	out->events.action[row] = (uint8_t)action;
	out->events.address[row] = address;
	out->events.bytes[row] = bytes;
	out->events.time_ns[row] = device->making->trace->allocations.start_ns[event];
	out->events.stack[row] = stack;
	return row;
}

/* A row for what the recorded total shows and no event says. */
static uint32_t converted_add_unrecorded(struct converted_device *device, uint32_t event,
					 enum ss_action action, uint64_t address, int64_t bytes)
{
	uint32_t row = converted_add_row(device, event, action, address, bytes, 0);

	if (row != SS_NO_ID) {
		device->making->out->traced_rows[row].is_added = true;
		device->traced->unexplained++;
	}
	return row;
}

static void converted_join_rows(struct converted_device *device, uint32_t made, uint32_t freed)
{
	struct ss_traced_row *rows = device->making->out->traced_rows;

	if (device->failed)
		return;
	rows[made].partner = freed;
	rows[freed].partner = made;
}

static void converted_count_bytes(struct converted_device *device, int64_t change)
{
	device->now_bytes = ss_amount_add(device->now_bytes, change);
	if (device->now_bytes < device->least_bytes)
		device->least_bytes = device->now_bytes;
}

/* The size of an event; an impossible one counts as 0. */
static int64_t valid_size(struct converted_device *device, int64_t bytes)
{
	if (bytes >= -SS_SNAPSHOT_BYTES_MAX && bytes <= SS_SNAPSHOT_BYTES_MAX)
		return bytes < 0 ? -bytes : bytes;
	device->making->out->odd_numbers++;
	return 0;
}

/* A recorded amount; -1 if there is none, or an impossible one. */
static int64_t valid_amount(struct converted_device *device, int64_t bytes)
{
	if (bytes <= SS_SNAPSHOT_BYTES_MAX)
		return bytes < 0 ? -1 : bytes;
	device->making->out->odd_numbers++;
	return -1;
}

/* An address in use is not given out again: the block there was freed without an event. */
static void free_unrecorded_block(struct converted_device *device, uint32_t event)
{
	const struct ss_snapshot_events *events = &device->making->out->events;
	uint32_t ended = device->making->ends[event], made;

	made = ended == SS_NO_ROW ? SS_NO_ROW : device->making->rows[ended];
	if (made == SS_NO_ROW)
		return;
	converted_count_bytes(device, -events->bytes[made]);
	converted_join_rows(device, made,
			    converted_add_unrecorded(device, event, SS_ACTION_FREE_COMPLETED,
						     events->address[made], events->bytes[made]));
}

/*
 * A free of what was allocated has the size of its allocation. One of what was there before
 * takes from that; one that fits nothing (freed twice, or more than there was) keeps its size
 * and loses its address: it ends no block.
 */
static struct event_change change_of_free(struct converted_device *device, uint32_t event,
					  uint64_t address, int64_t bytes)
{
	struct event_change change = { .action = SS_ACTION_FREE_COMPLETED,
				       .address = address,
				       .bytes = bytes,
				       .change_bytes = -bytes,
				       .made = SS_NO_ROW };
	uint32_t made = device->making->pair[event];

	if (made != SS_NO_ROW)
		change.made = device->making->rows[made];
	if (change.made != SS_NO_ROW) {
		change.bytes = device->making->out->events.bytes[change.made];
		change.change_bytes = -change.bytes;
	} else if (address && ss_pointer_map_find(&device->gone, address, SS_NO_ROW) == SS_NO_ROW &&
		   (!device->traced->has_totals || bytes <= device->left_bytes)) {
		device->left_bytes -= device->traced->has_totals ? bytes : 0;
		device->old_bytes = ss_amount_add(device->old_bytes, bytes);
		change.is_old = true;
	} else {
		change.address = 0;
	}
	if (address)
		device->failed |= !ss_pointer_map_put(&device->gone, address, 0);
	return change;
}

static struct event_change change_of_event(struct converted_device *device, uint32_t event)
{
	const struct ss_allocations *events = &device->making->trace->allocations;
	uint64_t address = (uint64_t)events->address[event];
	int64_t bytes = valid_size(device, events->bytes[event]);

	if (events->out_of_memory[event])
		return (struct event_change){ .action = SS_ACTION_OOM,
					      .address = SS_NO_FREE_BYTES,
					      .bytes = bytes,
					      .made = SS_NO_ROW };
	if (!bytes)
		return (struct event_change){ .action = SS_ACTION_OTHER, .made = SS_NO_ROW };
	if (events->bytes[event] < 0)
		return change_of_free(device, event, address, bytes);
	free_unrecorded_block(device, event);
	return (struct event_change){ .action = SS_ACTION_ALLOC,
				      .address = address,
				      .bytes = bytes,
				      .change_bytes = bytes,
				      .made = SS_NO_ROW };
}

/* By how much the reserved memory changes with an event. */
static int64_t reserved_change_of(struct converted_device *device, uint32_t event)
{
	const struct ss_allocations *events = &device->making->trace->allocations;
	int64_t reserved = valid_amount(device, events->reserved_bytes[event]);
	int64_t change = reserved - device->reserved_bytes;

	if (reserved < 0 || device->traced->is_cpu)
		return 0; /* the host has no cache: a 0 is written there */
	if (device->reserved_bytes < 0) {
		device->traced->first_reserved_bytes = reserved;
		change = 0;
	}
	device->reserved_bytes = reserved;
	return change;
}

/* The difference between the recorded total and what the events give. */
static void add_unexplained_change(struct converted_device *device, uint32_t event, int64_t change)
{
	const struct ss_allocations *events = &device->making->trace->allocations;
	int64_t total = valid_amount(device, events->allocated_bytes[event]), gap;

	gap = total - ss_amount_add(device->now_bytes, change);
	if (total < 0 || !gap || gap > SS_SNAPSHOT_BYTES_MAX || gap < -SS_SNAPSHOT_BYTES_MAX)
		return;
	converted_add_unrecorded(device, event, gap > 0 ? SS_ACTION_GAIN : SS_ACTION_LOSS, 0,
				 gap > 0 ? gap : -gap);
	converted_count_bytes(device, gap);
}

/* Adds the rows of an event: first what its total shows and no event says, then itself. */
static void converted_add_event(struct converted_device *device, uint32_t event)
{
	struct trace_conversion *making = device->making;
	struct event_change change = change_of_event(device, event);
	uint32_t row;

	add_unexplained_change(device, event, change.change_bytes);
	row = converted_add_row(device, event, change.action, change.address, change.bytes,
				making->stacks[event]);
	if (device->failed)
		return;
	making->out->traced_rows[row].reserved_change = reserved_change_of(device, event);
	converted_count_bytes(device, change.change_bytes);
	if (change.made != SS_NO_ROW)
		converted_join_rows(device, change.made, row);
	else if (change.is_old)
		making->out->traced_rows[row].partner = row;
	if (change.action == SS_ACTION_ALLOC) {
		making->rows[event] = row;
		device->failed |= change.address &&
				  !ss_pointer_map_put(&device->gone, change.address, row);
	}
}

/* The steps of the trace, which the snapshot outlives. */
static bool conversion_copy_steps(struct trace_conversion *making)
{
	const struct ss_steps *steps = &making->trace->steps;
	struct ss_snapshot *out = making->out;
	size_t bytes = steps->count * sizeof(*steps->items);

	out->has_marked_steps = ss_traced_stacks_has_steps(making->trace);
	if (!steps->count)
		return true;
	out->steps = ss_memory_resize(out->memory, NULL, 0, bytes);
	if (!out->steps)
		return false;
	memcpy(out->steps, steps->items, bytes);
	out->step_count = steps->count;
	return true;
}

/* --- devices ------------------------------------------------------------------------- */

/* What was in use at the beginning and is never freed. */
static int64_t never_freed_bytes(const struct converted_device *device)
{
	int64_t low = ss_amount_add(device->least_bytes, device->old_bytes);

	if (device->traced->has_totals)
		return device->left_bytes;
	return low < 0 ? -low : 0; /* at least that: memory in use is never below 0 */
}

static void converted_begin_device(struct converted_device *device, struct trace_conversion *making,
				   uint32_t pool)
{
	const struct ss_allocations *events = &making->trace->allocations;
	const struct ss_pool *own = &making->pools.items[pool];
	uint32_t first = own->events ? making->pools.order[own->first] : SS_NO_ROW;

	device->making = making;
	device->reserved_bytes = -1;
	ss_pointer_map_init(&device->gone, making->out->memory);
	*device->traced = (struct ss_traced_device){ .is_cpu = !own->type,
						     .has_totals = own->has_totals,
						     .first_reserved_bytes = -1 };
	if (first != SS_NO_ROW && events->allocated_bytes[first] >= 0 && own->first_bytes > 0 &&
	    own->first_bytes <= SS_SNAPSHOT_BYTES_MAX)
		device->left_bytes = device->now_bytes = own->first_bytes;
	for (uint32_t i = making->firsts[pool]; i < making->firsts[pool + 1]; i++)
		device->traced->has_addresses |= events->address[making->order[i]] &&
						 !events->out_of_memory[making->order[i]];
}

static bool convert_device(struct trace_conversion *making, uint32_t pool, uint32_t number)
{
	struct ss_snapshot *out = making->out;
	struct converted_device device = { .traced = &out->traced[number] };
	uint32_t first = out->events.count;

	converted_begin_device(&device, making, pool);
	for (uint32_t i = making->firsts[pool]; i < making->firsts[pool + 1] && !device.failed; i++)
		converted_add_event(&device, making->order[i]);
	device.traced->rest_bytes = never_freed_bytes(&device);
	ss_pointer_map_release(&device.gone);
	out->traces[number] = (struct ss_device_trace){ .device = making->pools.items[pool].id,
							.first = first,
							.count = out->events.count - first };
	return !device.failed;
}

/* Snapshots know devices by number: of two kinds with the same number, the first is used. */
static bool is_device_taken(const struct trace_conversion *making, uint32_t pool)
{
	const struct ss_pool *own = &making->pools.items[pool];

	if (own->id < 0 || own->id >= SS_SNAPSHOT_DEVICES)
		return true;
	for (uint32_t i = 0; i < pool; i++)
		if (making->pools.items[i].id == own->id &&
		    !making->pools.items[i].type == !own->type)
			return true;
	return false;
}

static bool convert_devices(struct trace_conversion *making)
{
	struct ss_snapshot *out = making->out;
	uint32_t capacity = making->pools.count, number = 0;

	if (!SS_MEMORY_NEW(out->memory, out->traces, capacity) ||
	    !SS_MEMORY_NEW(out->memory, out->traced, capacity)) {
		SS_FREE(out->memory, out->traces, capacity);
		SS_FREE(out->memory, out->traced, capacity);
		out->traces = NULL;
		out->traced = NULL;
		return false;
	}
	out->trace_capacity = capacity;
	for (uint32_t i = 0; i < making->pools.count; i++) {
		if (is_device_taken(making, i))
			out->left_out += making->firsts[i + 1] - making->firsts[i];
		else if (!convert_device(making, i, number++))
			return false;
		out->trace_count = number;
	}
	return true;
}

/* --- the whole ----------------------------------------------------------------------- */

/* Which event ends which, as all views of traces have it. */
static bool conversion_pair_events(struct trace_conversion *making)
{
	const struct ss_allocations *events = &making->trace->allocations;
	bool has_addresses;

	if (!ss_allocs_pair(&making->pools, making->pair, &has_addresses))
		return false;
	memset(making->rows, 0xff, events->count * sizeof(*making->rows));
	memset(making->ends, 0xff, events->count * sizeof(*making->ends));
	for (uint32_t i = 0; i < events->count; i++)
		if (events->bytes[i] > 0 && making->pair[i] != SS_NO_ROW &&
		    events->bytes[making->pair[i]] > 0)
			making->ends[making->pair[i]] = i;
	return true;
}

static void conversion_order_events(struct trace_conversion *making)
{
	const struct ss_pools *pools = &making->pools;
	uint32_t first = 0;

	for (uint32_t i = 0; i < pools->count; i++) {
		making->firsts[i + 1] = first;
		first += pools->items[i].events + pools->items[i].failed;
	}
	/* each begins where the one before it ends, which is where that is when all are in */
	for (uint32_t i = 0; i < pools->event_count; i++)
		making->order[making->firsts[pools->pool[i] + 1]++] = i;
	making->firsts[0] = 0;
}

static enum ss_status conversion_find_stacks(struct trace_conversion *making, struct ss_error *err)
{
	struct ss_traced_stacks stacks;
	enum ss_status status = ss_traced_stacks_init(&stacks, making->trace, making->out, err);

	for (uint32_t i = 0; i < making->pools.event_count && status == SS_OK; i++) {
		making->stacks[i] = ss_traced_stacks_at(&stacks, i);
		if (making->stacks[i] == SS_NO_ID)
			status = ss_fail_memory(err, "the stacks");
	}
	ss_traced_stacks_release(&stacks);
	return status;
}

static enum ss_status convert_trace(struct trace_conversion *making, struct ss_error *err)
{
	struct ss_event_about about = { .pool = SS_NO_ID };
	struct ss_arena scratch;
	enum ss_status status;

	size_t count;

	SS_TRY(ss_pools_init(&making->pools, making->trace, making->out->memory, err));
	count = (size_t)making->pools.event_count + 1;
	ss_arena_init(&scratch, making->out->memory);
	if (!SS_ALLOC(&scratch, making->stacks, count) ||
	    !SS_ALLOC(&scratch, making->order, count) || !SS_ALLOC(&scratch, making->pair, count) ||
	    !SS_ALLOC(&scratch, making->rows, count) || !SS_ALLOC(&scratch, making->ends, count) ||
	    !SS_ALLOC(&scratch, making->firsts, (size_t)making->pools.count + 1) ||
	    !conversion_pair_events(making) || !conversion_copy_steps(making) ||
	    ss_records_add(&making->out->abouts, &about) == SS_NO_ID) {
		status = ss_fail_memory(err, "the memory events");
	} else {
		conversion_order_events(making);
		status = conversion_find_stacks(making, err);
	}
	if (status == SS_OK && !convert_devices(making))
		status = ss_fail_memory(err, "the memory events");
	ss_arena_release(&scratch);
	ss_pools_release(&making->pools);
	return status;
}

enum ss_status ss_snapshot_from_trace(struct ss_snapshot *out, const struct ss_trace *trace,
				      struct ss_memory *memory, struct ss_error *err)
{
	struct trace_conversion making = { .trace = trace, .out = out };
	enum ss_status status;

	if (!trace->allocations.count)
		return ss_fail(err, SS_ERR_MISSING,
			       "memory was not recorded in this trace: use "
			       "profile(profile_memory=True)");
	if (ss_snapshot_init(out, memory))
		status = convert_trace(&making, err);
	else
		status = ss_fail_memory(err, "the memory events");
	out->has_traces = true;
	out->file_bytes = trace->file_bytes;
	out->is_cut = ss_quality_is_cut(&trace->quality);
	if (status != SS_OK)
		ss_snapshot_release(out);
	return status;
}
