/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alloc.c - finds pairs by a hash of device and address, and owners by one walk over the
 * rows of each thread alongside the events.
 */
#include "memory/events/alloc.h"

#include <string.h>

#include "base/hash/hash.h"
#include "base/search.h"

/* Where an address was last allocated; the key stays when it was freed. */
struct address_slot {
	int64_t address;
	uint32_t pool;
	uint32_t event; /* SS_NO_ROW: nothing is there now */
};

struct address_slots {
	struct address_slot *items;
	size_t count; /* a power of 2 */
};

static struct address_slot *address_slots_find(const struct address_slots *slots, uint32_t pool,
					       int64_t address)
{
	uint64_t hash = ss_hash_mix(ss_hash_mix(SS_HASH_SEED, pool), (uint64_t)address);
	size_t at = (size_t)(hash >> 16) & (slots->count - 1);

	/* 0 is no address: such a slot is free */
	while (slots->items[at].address &&
	       !(slots->items[at].address == address && slots->items[at].pool == pool))
		at = (at + 1) & (slots->count - 1);
	return &slots->items[at];
}

static void pair_event(const struct ss_pools *pools, const struct address_slots *slots,
		       uint32_t event, uint32_t *pair)
{
	const struct ss_allocations *events = &pools->trace->allocations;
	bool made = events->bytes[event] > 0;
	struct address_slot *slot = address_slots_find(slots, pools->pool[event],
						       events->address[event]);

	if (slot->address && slot->event != SS_NO_ROW) {
		pair[slot->event] = event;
		if (!made)
			pair[event] = slot->event;
	} else if (!made && !slot->address) {
		return; /* a free of what was there before needs no slot */
	}
	*slot = (struct address_slot){ events->address[event], pools->pool[event],
				       made ? event : SS_NO_ROW };
}

bool ss_allocs_pair(const struct ss_pools *pools, uint32_t *pair, bool *has_addresses)
{
	const struct ss_allocations *events = &pools->trace->allocations;
	struct address_slots slots = { .count = 16 };
	uint32_t made = 0;
	size_t bytes;

	for (uint32_t i = 0; i < events->count; i++)
		made += events->bytes[i] > 0;
	while (slots.count < (size_t)made * 2)
		slots.count *= 2;
	bytes = slots.count * sizeof(*slots.items);
	slots.items = ss_memory_zeroed(pools->memory, bytes);
	if (!slots.items)
		return false;
	*has_addresses = false;
	for (uint32_t i = 0; i < events->count; i++) {
		pair[i] = SS_NO_ROW;
		if (events->out_of_memory[i] || !events->bytes[i] || !events->address[i])
			continue;
		*has_addresses = true;
		pair_event(pools, &slots, i, pair);
	}
	ss_memory_free(pools->memory, slots.items, bytes);
	return true;
}

bool ss_allocs_only_allocates(const char *name)
{
	static const char *const names[] = {
		"aten::empty",           "aten::empty_strided",     "aten::empty_like",
		"aten::new_empty",       "aten::new_empty_strided", "aten::resize_",
		"aten::_resize_output_",
	};

	for (size_t i = 0; i < SS_COUNT(names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

struct alloc_owners {
	struct ss_allocs_walk *walks; /* per track */
	uint32_t *inner;  /* per host row: itself or the innermost operator around its start */
	uint32_t *up;     /* per operator: the next one around it that may not have ended */
	uint32_t *holder; /* per operator: itself or the next around it that does more */
};

static uint32_t op_around(const struct ss_trace *trace, const struct alloc_owners *owners,
			  uint32_t row)
{
	uint32_t parent = trace->slices.parent[row];

	return parent == SS_NO_ROW ? SS_NO_ROW : owners->inner[parent];
}

/* Parents stand before their children: one pass fills all columns. */
static void find_ops_around(const struct ss_trace *trace, struct alloc_owners *owners,
			    uint8_t *kinds)
{
	const struct ss_slices *slices = &trace->slices;

	for (uint32_t row = 0; row < trace->device_from; row++) {
		uint32_t name = slices->name[row], op = op_around(trace, owners, row);

		owners->inner[row] = op;
		if (slices->kind[row] != SS_KIND_OP)
			continue;
		if (!kinds[name])
			kinds[name] = ss_allocs_only_allocates(ss_strings_text(&trace->names, name))
					      ? 1
					      : 2;
		owners->inner[row] = row;
		owners->up[row] = op;
		owners->holder[row] = kinds[name] == 2  ? row
				      : op == SS_NO_ROW ? SS_NO_ROW
							: owners->holder[op];
	}
}

/*
 * The first operator that has not ended, from `op` outwards: a range may outlive the
 * operator that it began in. What has ended is skipped at once the next time.
 */
static uint32_t op_still_open(const struct ss_slices *slices, struct alloc_owners *owners,
			      uint32_t op, int64_t at_ns)
{
	uint32_t found = op;

	while (found != SS_NO_ROW && ss_slice_end(slices, found) < at_ns)
		found = owners->up[found];
	while (op != found) {
		uint32_t next = owners->up[op];

		owners->up[op] = found;
		op = next;
	}
	return found;
}

uint32_t ss_allocs_walk_to(struct ss_allocs_walk *walk, const struct ss_trace *trace,
			   uint32_t event)
{
	const struct ss_slices *slices = &trace->slices;
	const struct ss_track *track = &trace->tracks[trace->allocations.track[event]];
	int64_t at_ns = trace->allocations.start_ns[event];

	while (walk->next < track->row_count &&
	       slices->start_ns[track->first_row + walk->next] <= at_ns)
		walk->open = track->first_row + walk->next++;
	while (walk->open != SS_NO_ROW && ss_slice_end(slices, walk->open) < at_ns)
		walk->open = slices->parent[walk->open];
	return walk->open;
}

static void find_event_owner(struct ss_allocs *allocs, struct alloc_owners *owners, uint32_t event)
{
	const struct ss_trace *trace = allocs->trace;
	struct ss_allocs_walk *walk = &owners->walks[trace->allocations.track[event]];
	uint32_t place = ss_allocs_walk_to(walk, trace, event), op = SS_NO_ROW, holder = SS_NO_ROW;

	if (place != SS_NO_ROW)
		op = op_still_open(&trace->slices, owners, owners->inner[place],
				   trace->allocations.start_ns[event]);
	if (op != SS_NO_ROW)
		holder = owners->holder[op];
	allocs->place[event] = place;
	allocs->op[event] = op;
	allocs->holder[event] = holder == SS_NO_ROW ? op : holder;
}

/* What a free is charged to was found before: its allocation stands before it. */
static void inherit_owner(struct ss_allocs *allocs, uint32_t event)
{
	uint32_t made = allocs->pair[event];

	if (allocs->trace->allocations.bytes[event] >= 0)
		return;
	allocs->place[event] = made == SS_NO_ROW ? SS_NO_ROW : allocs->place[made];
	allocs->op[event] = made == SS_NO_ROW ? SS_NO_ROW : allocs->op[made];
	allocs->holder[event] = made == SS_NO_ROW ? SS_NO_ROW : allocs->holder[made];
}

/* Fills place, op and holder of all events, in the order of time. */
static bool find_alloc_owners(struct ss_allocs *allocs)
{
	const struct ss_trace *trace = allocs->trace;
	size_t rows = (size_t)trace->device_from + 1;
	SS_SCRATCH(scratch, allocs->memory);
	struct alloc_owners owners;
	uint8_t *kinds;

	if (!SS_ALLOC(&scratch, owners.walks, (size_t)trace->track_count + 1) ||
	    !SS_ALLOC(&scratch, owners.inner, rows) || !SS_ALLOC(&scratch, owners.up, rows) ||
	    !SS_ALLOC(&scratch, owners.holder, rows) ||
	    !SS_ALLOC(&scratch, kinds, (size_t)trace->names.count + 1))
		return false;
	find_ops_around(trace, &owners, kinds);
	for (uint32_t i = 0; i < trace->track_count; i++)
		owners.walks[i].open = SS_NO_ROW;
	for (uint32_t i = 0; i < allocs->event_count; i++) {
		find_event_owner(allocs, &owners, i);
		inherit_owner(allocs, i);
	}
	return true;
}

enum ss_status ss_allocs_init(struct ss_allocs *allocs, const struct ss_trace *trace,
			      struct ss_memory *memory, struct ss_error *err)
{
	size_t bytes = ((size_t)trace->allocations.count + 1) * sizeof(uint32_t);

	*allocs = (struct ss_allocs){ .trace = trace,
				      .memory = memory,
				      .event_count = trace->allocations.count };
	SS_TRY(ss_pools_init(&allocs->pools, trace, memory, err));
	allocs->pair = ss_memory_resize(memory, NULL, 0, bytes);
	allocs->place = ss_memory_resize(memory, NULL, 0, bytes);
	allocs->op = ss_memory_resize(memory, NULL, 0, bytes);
	allocs->holder = ss_memory_resize(memory, NULL, 0, bytes);
	if (allocs->pair && allocs->place && allocs->op && allocs->holder &&
	    ss_allocs_pair(&allocs->pools, allocs->pair, &allocs->has_addresses) &&
	    find_alloc_owners(allocs))
		return SS_OK;
	ss_allocs_release(allocs);
	return ss_fail_memory(err, "the allocations");
}

void ss_allocs_release(struct ss_allocs *allocs)
{
	size_t bytes = ((size_t)allocs->event_count + 1) * sizeof(uint32_t);

	if (!allocs->memory)
		return;
	ss_memory_free(allocs->memory, allocs->pair, bytes);
	ss_memory_free(allocs->memory, allocs->place, bytes);
	ss_memory_free(allocs->memory, allocs->op, bytes);
	ss_memory_free(allocs->memory, allocs->holder, bytes);
	ss_pools_release(&allocs->pools);
	*allocs = (struct ss_allocs){ 0 };
}

static void allocs_release_fact(struct ss_allocs *allocs)
{
	struct ss_memory *memory = allocs->memory;

	ss_allocs_release(allocs);
	ss_memory_free(memory, allocs, sizeof(*allocs));
}

static enum ss_status allocs_make_fact(struct ss_facts *facts, struct ss_error *err)
{
	struct ss_allocs *allocs;
	enum ss_status status;

	allocs = ss_memory_resize(facts->memory, NULL, 0, sizeof(*allocs));
	if (!allocs)
		return ss_fail_memory(err, "the allocations");
	status = ss_allocs_init(allocs, facts->trace, facts->memory, err);
	if (status != SS_OK) {
		ss_memory_free(facts->memory, allocs, sizeof(*allocs));
		return status;
	}
	facts->allocs = allocs;
	facts->release_allocs = allocs_release_fact;
	return SS_OK;
}

enum ss_status ss_allocs_of_facts(struct ss_facts *facts, const struct ss_allocs **out,
				  struct ss_error *err)
{
	SS_TRY(ss_facts_find_allocs(facts, allocs_make_fact, err));
	*out = facts->allocs;
	return SS_OK;
}

int64_t ss_allocs_step_around(const struct ss_step *steps, uint32_t count, int64_t at_ns)
{
	uint32_t from = 0, to = count;

	SS_SEARCH(from, to, at, steps[at].host_start_ns <= at_ns);
	return from && at_ns < steps[from - 1].host_end_ns ? (int64_t)from - 1 : -1;
}

void ss_allocs_note(const struct ss_allocs *allocs, struct ss_table *out)
{
	bool made = false;

	for (uint32_t i = 0; !made && i < allocs->event_count; i++)
		made = ss_allocs_is_made(allocs, i);
	if (made && !allocs->has_addresses)
		ss_table_note(out, "Addresses are not recorded, so it is unknown what was freed "
				   "when (newer versions of PyTorch record them).");
}
