/* SPDX-License-Identifier: Apache-2.0 */
/*
 * allocations.c - view: every allocation, largest first: who made it, when, and how long
 * it lived; or the allocations grouped by size.
 *
 * Covers all devices. An allocation that is not freed in the file has no lifetime; the
 * mean lifetime of a size class covers only the freed ones.
 */
#include "analyze/facts.h"
#include "analyze/host/places.h"
#include "memory/events/alloc.h"
#include "view/view.h"
#include "trace/order.h"

enum allocations_group { EACH, BY_SIZE };

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "device", SS_COLUMN_TEXT, "device that holds it: CUDA:0, HIP:0, CPU ...",
	  SS_COLUMN_CONTEXT },
	{ "up_to", SS_COLUMN_TEXT, "size class: up to this size, above the previous class", 0 },
	{ "allocations", SS_COLUMN_COUNT, "number of allocations in the class", 0 },
	{ "size_bytes", SS_COLUMN_BYTES, "size of the allocation, or total size of the class",
	  SS_COLUMN_FILLED },
	{ "op", SS_COLUMN_TEXT, "innermost operator around it that does more than allocate",
	  SS_COLUMN_SLICES },
	{ "line", SS_COLUMN_TEXT, "source line that allocated it", SS_COLUMN_WRAP },
	{ "at_ns", SS_COLUMN_NS, "time of the allocation, from the first event", SS_COLUMN_MOMENT },
	{ "lifetime_ns", SS_COLUMN_NS,
	  "time until it was freed; empty: not freed in the file. By size: mean of the freed ones",
	  SS_COLUMN_LENGTH },
	{ "step", SS_COLUMN_ID, "step in which it was allocated, numbered in the file from 0", 0 },
	{ "freed", SS_COLUMN_COUNT, "allocations of the class that were freed in the file", 0 },
	{ "freed_ns", SS_COLUMN_NS, "time of the free; empty: not freed in the file",
	  SS_COLUMN_DETAIL },
	{ "allocator", SS_COLUMN_TEXT, "innermost operator around it, of any kind",
	  SS_COLUMN_DETAIL },
	{ "address", SS_COLUMN_TEXT, "its memory address; empty: not recorded", SS_COLUMN_DETAIL },
};

/* What a row shows, gathered in the order of events: in that of sizes, each lookup would miss
 * the cache. */
struct listed_allocation {
	int64_t bytes, at_ns, freed_ns; /* freed_ns is -1 where it was not */
	int64_t address;
	uint32_t pool, place;
	uint32_t op, holder; /* names; SS_NO_ID: none */
};

struct allocation_listing {
	const struct ss_trace *trace;
	const struct ss_allocs *allocs;
	const struct ss_places *places;
	struct ss_arena scratch;
	const char **devices; /* per pool; NULL: not named yet */
	struct listed_allocation *items;
	uint32_t *order; /* of the items: by size, then by time */
	uint32_t count;
};

static const char *allocation_device_name(const struct allocation_listing *work, uint32_t pool,
					  struct ss_table *out)
{
	if (!work->devices[pool])
		work->devices[pool] = ss_pool_name(&work->allocs->pools.items[pool], out);
	return work->devices[pool];
}

#define ADDRESS_BYTES sizeof("0x0123456789abcdef")

/* One per allocation: printf would be too slow. */
static const char *address_text(uint64_t address, char text[ADDRESS_BYTES])
{
	static const char hex[] = "0123456789abcdef";
	char *at = text;
	int shift = 60;

	if (!address)
		return NULL;
	*at++ = '0';
	*at++ = 'x';
	while (!(address >> shift & 15))
		shift -= 4;
	for (; shift >= 0; shift -= 4)
		*at++ = hex[address >> shift & 15];
	*at = '\0';
	return text;
}

static const char *allocation_op_name(const struct ss_trace *trace, uint32_t name)
{
	return name == SS_NO_ID ? NULL : ss_strings_text(&trace->names, name);
}

static void allocations_add_row(struct allocation_listing *work, struct ss_table *out,
				const struct listed_allocation *item)
{
	const struct ss_trace *trace = work->trace;
	char address[ADDRESS_BYTES];
	bool freed = item->freed_ns >= 0;

	ss_row_begin(out);
	ss_row_text(out, allocation_device_name(work, item->pool, out));
	ss_row_null(out);
	ss_row_null(out);
	ss_row_int(out, item->bytes);
	ss_row_text(out, allocation_op_name(trace, item->holder));
	ss_row_text(out, ss_places_line(work->places, item->place));
	ss_row_int(out, item->at_ns);
	ss_row_int_known(out, freed ? item->freed_ns - item->at_ns : -1);
	ss_row_int_known(out, ss_allocs_step_around(trace->steps.items, trace->steps.count,
						    item->at_ns));
	ss_row_null(out);
	ss_row_int_known(out, item->freed_ns);
	ss_row_text(out, allocation_op_name(trace, item->op));
	ss_row_text(out, address_text((uint64_t)item->address, address));
	ss_row_end(out);
}

static enum ss_status allocations_add_rows(struct allocation_listing *work, struct ss_table *out,
					   struct ss_error *err)
{
	if (!SS_ALLOC(&work->scratch, work->devices, (size_t)work->allocs->pools.count + 1))
		return ss_fail_memory(err, "the allocations");
	for (uint32_t i = 0; i < work->count; i++)
		allocations_add_row(work, out, &work->items[work->order[i]]);
	return SS_OK;
}

/* Classes are powers of 4 from 512 B, the least that CUDA's allocator gives, on. */
#define FIRST_CLASS_BITS 9
#define CLASS_COUNT 28

struct size_class {
	int64_t count, bytes, freed;
	double lifetime_ns;
};

static uint32_t size_class_of(int64_t bytes)
{
	uint32_t at = 0;

	while (at + 1 < CLASS_COUNT && bytes > INT64_C(1) << (FIRST_CLASS_BITS + 2 * at))
		at++;
	return at;
}

static const char *size_class_name(uint32_t at, struct ss_table *out)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	uint32_t bits = FIRST_CLASS_BITS + 2 * at;

	return ss_table_print(out, "%u %s", 1u << bits % 10, units[bits / 10]);
}

static void size_class_add_row(struct ss_table *out, const char *device, const char *size,
			       const struct size_class *class, bool paired)
{
	ss_row_begin(out);
	ss_row_text(out, device);
	ss_row_text(out, size);
	ss_row_int(out, class->count);
	ss_row_int(out, class->bytes);
	for (int i = 0; i < 3; i++)
		ss_row_null(out);
	if (class->freed)
		ss_row_int(out, (int64_t)(class->lifetime_ns / (double)class->freed + 0.5));
	else
		ss_row_null(out);
	ss_row_null(out);
	ss_row_int_known(out, paired ? class->freed : -1);
	for (int i = 0; i < 3; i++)
		ss_row_null(out);
	ss_row_end(out);
}

static void size_class_count(const struct ss_allocs *allocs, uint32_t event,
			     struct size_class *classes)
{
	const struct ss_allocations *events = &allocs->trace->allocations;
	struct size_class *class = &classes[size_class_of(events->bytes[event])];
	uint32_t freed = ss_allocs_freed(allocs, event);

	class->count++;
	class->bytes = ss_amount_add(class->bytes, events->bytes[event]);
	if (freed == SS_NO_ROW)
		return;
	class->freed++;
	class->lifetime_ns += (double)(events->start_ns[freed] - events->start_ns[event]);
}

/* From small to large, device by device. */
static void size_classes_add_rows(const struct ss_allocs *allocs, struct ss_table *out)
{
	for (uint32_t pool = 0; pool < allocs->pools.count; pool++) {
		const struct ss_pool *item = &allocs->pools.items[pool];
		struct size_class classes[CLASS_COUNT] = { 0 };
		const char *device = ss_pool_name(item, out);

		for (uint32_t i = 0; i < item->events; i++)
			if (ss_allocs_is_made(allocs, allocs->pools.order[item->first + i]))
				size_class_count(allocs, allocs->pools.order[item->first + i],
						 classes);
		for (uint32_t i = 0; i < CLASS_COUNT; i++)
			if (classes[i].count)
				size_class_add_row(out, device, size_class_name(i, out),
						   &classes[i], allocs->has_addresses);
	}
}

static uint32_t row_name_or_none(const struct ss_trace *trace, uint32_t row)
{
	return row == SS_NO_ROW ? SS_NO_ID : trace->slices.name[row];
}

static struct listed_allocation listed_allocation_of(const struct ss_allocs *allocs, uint32_t event)
{
	const struct ss_allocations *events = &allocs->trace->allocations;
	uint32_t freed = ss_allocs_freed(allocs, event);

	return (struct listed_allocation){
		.bytes = events->bytes[event],
		.at_ns = events->start_ns[event],
		.freed_ns = freed == SS_NO_ROW ? -1 : events->start_ns[freed],
		.address = events->address[event],
		.pool = allocs->pools.pool[event],
		.place = allocs->place[event],
		.op = row_name_or_none(allocs->trace, allocs->op[event]),
		.holder = row_name_or_none(allocs->trace, allocs->holder[event])
	};
}

/* The largest first, in the order of time where they are equal. */
static bool allocations_collect(struct allocation_listing *work)
{
	struct ss_order order;
	uint32_t made = 0, *spare;
	int64_t *keys;

	for (uint32_t i = 0; i < work->allocs->event_count; i++)
		made += ss_allocs_is_made(work->allocs, i);
	if (!SS_ALLOC(&work->scratch, work->items, (size_t)made + 1) ||
	    !SS_ALLOC(&work->scratch, work->order, (size_t)made + 1) ||
	    !SS_ALLOC(&work->scratch, spare, (size_t)made + 1) ||
	    !SS_ALLOC(&work->scratch, keys, (size_t)made + 1))
		return false;
	for (uint32_t i = 0; i < work->allocs->event_count; i++) {
		if (!ss_allocs_is_made(work->allocs, i))
			continue;
		work->order[work->count] = work->count;
		keys[work->count] = -work->trace->allocations.bytes[i];
		work->items[work->count++] = listed_allocation_of(work->allocs, i);
	}
	order = (struct ss_order){ .start_ns = keys };
	ss_order_sort(&order, work->order, spare, work->count);
	return true;
}

static enum ss_status allocations_run(const struct ss_subject *subject, struct ss_table *out,
				      struct ss_error *err)
{
	struct ss_memory *memory = out->arena->memory;
	struct allocation_listing work = { .trace = subject->trace };
	enum ss_status status;

	SS_TRY(ss_allocs_of_facts(subject->facts, &work.allocs, err));
	if (subject->group != BY_SIZE)
		SS_TRY(ss_facts_places(subject->facts, &work.places, err));
	ss_arena_init(&work.scratch, memory);
	if (subject->group == BY_SIZE) {
		status = SS_OK;
		size_classes_add_rows(work.allocs, out);
	} else if (allocations_collect(&work)) {
		status = allocations_add_rows(&work, out, err);
	} else {
		status = ss_fail_memory(err, "the allocations");
	}
	if (status == SS_OK)
		ss_allocs_note(work.allocs, out);
	ss_arena_release(&work.scratch);
	return status;
}

const struct ss_view ss_view_allocations = {
	.name = "allocations",
	.summary = "Every allocation, largest first: who made it, how long it lived",
	.empty = "Allocations are not recorded: use profile(profile_memory=True).",
	SS_TABLE_COLUMNS(columns),
	.sums = "allocations size_bytes freed",
	.basis = SS_BASIS_FILE,
	.bases = { [EACH] = SS_BASIS_EVENT },
	.groups = { "each", "size" },
	.order = { "size_bytes" },
	.own_order = 1u << BY_SIZE,
	.events = 1u << EACH,
	.run = allocations_run,
};
