/* SPDX-License-Identifier: Apache-2.0 */
/*
 * address_map.c - open addressing; the slots after a deleted one are put in order again.
 */
#include "memory/history/address_map.h"

#include <string.h>

#include "base/hash/hash.h"

#define SLOTS_FIRST 64

void ss_pointer_map_init(struct ss_pointer_map *map, struct ss_memory *memory)
{
	*map = (struct ss_pointer_map){ .memory = memory };
}

void ss_pointer_map_release(struct ss_pointer_map *map)
{
	SS_FREE(map->memory, map->slots, map->slot_count);
	map->slots = NULL;
	map->slot_count = map->count = 0;
}

static uint32_t address_home(const struct ss_pointer_map *map, uint64_t address)
{
	uint64_t hash = (address ^ SS_HASH_SEED) * SS_HASH_FACTOR;

	return (uint32_t)(hash >> 32) & (map->slot_count - 1);
}

/* The slot of the address, or the free one where it would be. */
static struct ss_pointer_slot *address_slot_of(const struct ss_pointer_map *map, uint64_t address)
{
	uint32_t at = address_home(map, address);

	while (map->slots[at].is_used && map->slots[at].address != address)
		at = (at + 1) & (map->slot_count - 1);
	return &map->slots[at];
}

static bool address_map_grow(struct ss_pointer_map *map)
{
	struct ss_pointer_map larger = *map;

	larger.slot_count = map->slot_count ? map->slot_count * 2 : SLOTS_FIRST;
	if (larger.slot_count < map->slot_count)
		return false;
	if (!SS_MEMORY_NEW(map->memory, larger.slots, larger.slot_count))
		return false;
	memset(larger.slots, 0, (size_t)larger.slot_count * sizeof(*larger.slots));
	for (uint32_t i = 0; i < map->slot_count; i++)
		if (map->slots[i].is_used)
			*address_slot_of(&larger, map->slots[i].address) = map->slots[i];
	SS_FREE(map->memory, map->slots, map->slot_count);
	*map = larger;
	return true;
}

bool ss_pointer_map_put(struct ss_pointer_map *map, uint64_t address, uint32_t value)
{
	struct ss_pointer_slot *slot;

	/* at most half full: runs of used slots stay short */
	if (map->count >= map->slot_count / 2 && !address_map_grow(map))
		return false;
	slot = address_slot_of(map, address);
	map->count += !slot->is_used;
	*slot = (struct ss_pointer_slot){ address, value, 1 };
	return true;
}

uint32_t ss_pointer_map_find(const struct ss_pointer_map *map, uint64_t address, uint32_t none)
{
	const struct ss_pointer_slot *slot;

	if (!map->count)
		return none;
	slot = address_slot_of(map, address);
	return slot->is_used ? slot->value : none;
}

uint32_t ss_pointer_map_take(struct ss_pointer_map *map, uint64_t address, uint32_t none)
{
	struct ss_pointer_slot *slot;
	uint32_t mask = map->slot_count - 1, hole, at, value;

	if (!map->count)
		return none;
	slot = address_slot_of(map, address);
	if (!slot->is_used)
		return none;
	value = slot->value;
	hole = at = (uint32_t)(slot - map->slots);
	for (;;) {
		at = (at + 1) & mask;
		if (!map->slots[at].is_used)
			break;
		/* it may move up to the hole unless its home lies behind it */
		if (((at - address_home(map, map->slots[at].address)) & mask) >=
		    ((at - hole) & mask)) {
			map->slots[hole] = map->slots[at];
			hole = at;
		}
	}
	map->slots[hole].is_used = 0;
	map->count--;
	return value;
}
