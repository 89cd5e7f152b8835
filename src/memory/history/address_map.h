/* SPDX-License-Identifier: Apache-2.0 */
/*
 * address_map.h - maps an address to the row that it belongs to now.
 *
 * Millions of addresses come and go while a few thousand are in use, so entries are
 * deleted in place: what follows moves up, and no tombstones remain.
 */
#ifndef SS_MEMORY_HISTORY_ADDRESS_MAP_H
#define SS_MEMORY_HISTORY_ADDRESS_MAP_H

#include "base/memory.h"

struct ss_pointer_slot {
	uint64_t address;
	uint32_t value;
	uint32_t is_used;
};

struct ss_pointer_map {
	struct ss_memory *memory;
	struct ss_pointer_slot *slots;
	uint32_t slot_count; /* a power of 2; 0: nothing was put in yet */
	uint32_t count;
};

void ss_pointer_map_init(struct ss_pointer_map *map, struct ss_memory *memory);
void ss_pointer_map_release(struct ss_pointer_map *map);

/* Also replaces; false at the limit. */
SS_MUST_USE
bool ss_pointer_map_put(struct ss_pointer_map *map, uint64_t address, uint32_t value);

/* The value, or `none`. */
uint32_t ss_pointer_map_find(const struct ss_pointer_map *map, uint64_t address, uint32_t none);

/* The same, and the entry is gone. */
uint32_t ss_pointer_map_take(struct ss_pointer_map *map, uint64_t address, uint32_t none);

#endif
