/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot.c - the columns of a memory snapshot: allocation, and values that are stored
 * once.
 */
#include "memory/load/snapshot.h"

#include <string.h>

#include "base/hash/hash.h"

static const char *const action_names[] = {
	[SS_ACTION_ALLOC] = "alloc",
	[SS_ACTION_FREE_REQUESTED] = "free_requested",
	[SS_ACTION_FREE_COMPLETED] = "free_completed",
	[SS_ACTION_SEGMENT_ALLOC] = "segment_alloc",
	[SS_ACTION_SEGMENT_FREE] = "segment_free",
	[SS_ACTION_SEGMENT_MAP] = "segment_map",
	[SS_ACTION_SEGMENT_UNMAP] = "segment_unmap",
	[SS_ACTION_SNAPSHOT] = "snapshot",
	[SS_ACTION_OOM] = "oom",
	[SS_ACTION_OTHER] = "other",
	[SS_ACTION_GAIN] = "gain",
	[SS_ACTION_LOSS] = "loss",
};

const char *ss_action_name(enum ss_action action)
{
	return action_names[action];
}

/* --- stacks ------------------------------------------------------------------------ */

#define SLOTS_FIRST 256

static uint32_t hash_frames(const uint32_t *frames, uint32_t count)
{
	uint64_t hash = SS_HASH_SEED ^ count;
	uint32_t i = 0;

	for (; i + 2 <= count; i += 2) /* two at once: each mix waits for the one before */
		hash = ss_hash_mix(hash, frames[i] | (uint64_t)frames[i + 1] << 32);
	if (i < count)
		hash = ss_hash_mix(hash, frames[i]);
	hash *= SS_HASH_FACTOR;
	return (uint32_t)(hash >> 32);
}

static void stacks_put_slot(struct ss_stacks *stacks, uint32_t id)
{
	const struct ss_frame_list *stack = &stacks->items[id];
	uint32_t mask = stacks->slot_count - 1;
	uint32_t slot = hash_frames(stacks->frames + stack->first, stack->count) & mask;

	while (stacks->slots[slot])
		slot = (slot + 1) & mask;
	stacks->slots[slot] = id + 1;
}

/* At most half of the slots are taken. */
static bool stacks_grow_slots(struct ss_stacks *stacks)
{
	uint32_t wanted = stacks->slot_count ? stacks->slot_count * 2 : SLOTS_FIRST;
	uint32_t *slots;

	if (stacks->count < stacks->slot_count / 2)
		return true;
	if (wanted < stacks->slot_count)
		return false;
	if (!SS_MEMORY_NEW(stacks->memory, slots, wanted))
		return false;
	memset(slots, 0, (size_t)wanted * sizeof(*slots));
	SS_FREE(stacks->memory, stacks->slots, stacks->slot_count);
	stacks->slots = slots;
	stacks->slot_count = wanted;
	for (uint32_t id = 0; id < stacks->count; id++)
		stacks_put_slot(stacks, id);
	return true;
}

uint32_t ss_stacks_add(struct ss_stacks *stacks, const uint32_t *frames, uint32_t count)
{
	void *items, *pool;
	uint32_t mask, slot;

	if (!stacks_grow_slots(stacks))
		return SS_NO_ID;
	mask = stacks->slot_count - 1;
	for (slot = hash_frames(frames, count) & mask; stacks->slots[slot];
	     slot = (slot + 1) & mask) {
		const struct ss_frame_list *stack = &stacks->items[stacks->slots[slot] - 1];

		if (stack->count == count &&
		    (!count ||
		     memcmp(stacks->frames + stack->first, frames, count * sizeof(*frames)) == 0))
			return stacks->slots[slot] - 1;
	}
	items = stacks->items;
	pool = stacks->frames;
	if (!ss_memory_reserve(stacks->memory, &items, &stacks->capacity, (size_t)stacks->count + 1,
			       sizeof(*stacks->items)))
		return SS_NO_ID;
	stacks->items = items;
	if (!ss_memory_reserve(stacks->memory, &pool, &stacks->frame_capacity,
			       (size_t)stacks->frame_count + count, sizeof(*stacks->frames)))
		return SS_NO_ID;
	stacks->frames = pool;
	if (count)
		memcpy(stacks->frames + stacks->frame_count, frames, count * sizeof(*frames));
	stacks->items[stacks->count] = (struct ss_frame_list){ stacks->frame_count, count };
	stacks->frame_count += count;
	stacks->slots[slot] = ++stacks->count;
	return stacks->count - 1;
}

void ss_stacks_release(struct ss_stacks *stacks)
{
	struct ss_memory *memory = stacks->memory;

	SS_FREE(memory, stacks->frames, stacks->frame_capacity);
	SS_FREE(memory, stacks->items, stacks->capacity);
	SS_FREE(memory, stacks->slots, stacks->slot_count);
}

/* --- events ------------------------------------------------------------------------ */

static const struct {
	size_t offset, item_bytes;
} columns[] = {
	{ offsetof(struct ss_snapshot_events, address), sizeof(uint64_t) },
	{ offsetof(struct ss_snapshot_events, bytes), sizeof(int64_t) },
	{ offsetof(struct ss_snapshot_events, time_ns), sizeof(int64_t) },
	{ offsetof(struct ss_snapshot_events, stack), sizeof(uint32_t) },
	{ offsetof(struct ss_snapshot_events, about), sizeof(uint32_t) },
	{ offsetof(struct ss_snapshot_events, action), sizeof(uint8_t) },
};

/* Makes one column another length; false at the limit. */
static bool resize_column(struct ss_snapshot_events *events, size_t column,
			  struct ss_memory *memory, size_t from, size_t to)
{
	char *place = (char *)events + columns[column].offset;
	void *items;

	memcpy(&items, place, sizeof(items));
	items = ss_memory_resize(memory, items, items ? from * columns[column].item_bytes : 0,
				 to * columns[column].item_bytes);
	if (!items && to)
		return false;
	memcpy(place, &items, sizeof(items));
	return true;
}

static bool grow_events(struct ss_snapshot_events *events, struct ss_memory *memory)
{
	size_t wanted = events->capacity ? (size_t)events->capacity + events->capacity / 2 : 1024;
	size_t grown = 0;

	if (wanted >= UINT32_MAX)
		return false;
	while (grown < SS_COUNT(columns) &&
	       resize_column(events, grown, memory, events->capacity, wanted))
		grown++;
	if (grown == SS_COUNT(columns)) {
		events->capacity = (uint32_t)wanted;
		return true;
	}
	while (grown--) /* all have one capacity */
		(void)resize_column(events, grown, memory, wanted, events->capacity);
	return false;
}

uint32_t ss_snapshot_events_add(struct ss_snapshot_events *events, struct ss_memory *memory)
{
	uint32_t row = events->count;

	if (row == events->capacity && !grow_events(events, memory))
		return SS_NO_ID;
	events->address[row] = 0;
	events->bytes[row] = 0;
	events->time_ns[row] = SS_NO_TIME;
	events->stack[row] = 0;
	events->about[row] = 0;
	events->action[row] = SS_ACTION_OTHER;
	events->count++;
	return row;
}

/* --- the whole --------------------------------------------------------------------- */

bool ss_snapshot_init(struct ss_snapshot *snapshot, struct ss_memory *memory)
{
	*snapshot = (struct ss_snapshot){ .memory = memory, .stacks = { .memory = memory } };
	return ss_strings_init(&snapshot->texts, memory) &&
	       ss_records_init(&snapshot->frames, memory, sizeof(struct ss_code_frame)) &&
	       ss_records_init(&snapshot->abouts, memory, sizeof(struct ss_event_about)) &&
	       ss_records_init(&snapshot->pools, memory, sizeof(struct ss_pool_id)) &&
	       ss_stacks_add(&snapshot->stacks, NULL, 0) != SS_NO_ID;
}

void ss_snapshot_release(struct ss_snapshot *snapshot)
{
	struct ss_memory *memory = snapshot->memory;

	if (!memory)
		return;
	for (size_t i = 0; i < SS_COUNT(columns); i++)
		(void)resize_column(&snapshot->events, i, memory, snapshot->events.capacity, 0);
	SS_FREE(memory, snapshot->blocks, snapshot->block_capacity);
	SS_FREE(memory, snapshot->segments, snapshot->segment_capacity);
	SS_FREE(memory, snapshot->traces, snapshot->trace_capacity);
	SS_FREE(memory, snapshot->traced, snapshot->trace_capacity);
	SS_FREE(memory, snapshot->traced_rows, snapshot->traced_row_capacity);
	SS_FREE(memory, snapshot->steps, snapshot->step_count);
	SS_FREE(memory, snapshot->annotations, snapshot->annotation_capacity);
	SS_FREE(memory, snapshot->settings, snapshot->setting_capacity);
	SS_FREE(memory, snapshot->curve.points, snapshot->curve.capacity);
	ss_stacks_release(&snapshot->stacks);
	ss_records_release(&snapshot->pools);
	ss_records_release(&snapshot->abouts);
	ss_records_release(&snapshot->frames);
	ss_strings_release(&snapshot->texts);
	*snapshot = (struct ss_snapshot){ 0 };
}
