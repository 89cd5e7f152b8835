/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reserved.c - segments that come and go, and pages of expandable ones, which come in ranges.
 */
#include "memory/history/reserved.h"

#include <stdlib.h>

/* Where pages begin or end, and by how much what is reserved there changes. */
struct reserved_edge {
	uint64_t address;
	int32_t change;
};

struct reserved_search {
	const struct ss_history *history;
	const struct ss_device_memory *device;
	struct ss_reserved *out;
	struct reserved_edge *edges;
	uint32_t edge_count, edge_capacity;
};

static bool reserved_add_range(struct reserved_search *search, uint64_t address, int64_t bytes,
			       bool is_pages)
{
	void *items = search->out->ranges;

	if (bytes <= 0 || address + (uint64_t)bytes < address)
		return true;
	if (!ss_memory_reserve(search->out->memory, &items, &search->out->capacity,
			       (size_t)search->out->count + 1, sizeof(*search->out->ranges)))
		return false;
	search->out->ranges = items;
	search->out->ranges[search->out->count++] =
		(struct ss_reserved_range){ address, address + (uint64_t)bytes, is_pages };
	return true;
}

static bool reserved_add_edges(struct reserved_search *search, uint64_t address, int64_t bytes,
			       int32_t change)
{
	void *items = search->edges;

	if (bytes <= 0 || address + (uint64_t)bytes < address)
		return true;
	if (!ss_memory_reserve(search->out->memory, &items, &search->edge_capacity,
			       (size_t)search->edge_count + 2, sizeof(*search->edges)))
		return false;
	search->edges = items;
	search->edges[search->edge_count++] = (struct reserved_edge){ address, change };
	search->edges[search->edge_count++] = (struct reserved_edge){ address + (uint64_t)bytes,
								      -change };
	return true;
}

/* Segments and pages that the events add and remove. */
static bool reserved_collect_events(struct reserved_search *search, struct ss_address_map *seen)
{
	const struct ss_memory_events *events = &search->history->snapshot->events;
	const struct ss_device_memory *device = search->device;

	for (uint32_t row = device->first; row < device->first + device->count; row++) {
		uint64_t address = events->address[row];
		uint8_t action = events->action[row];
		bool is_new;

		if (action == SS_ACTION_SEGMENT_MAP || action == SS_ACTION_SEGMENT_UNMAP) {
			if (!reserved_add_edges(search, address, events->bytes[row],
						action == SS_ACTION_SEGMENT_MAP ? -1 : 1))
				return false;
			continue;
		}
		if (action != SS_ACTION_SEGMENT_ALLOC && action != SS_ACTION_SEGMENT_FREE)
			continue;
		is_new = ss_address_map_find(seen, address, SS_NO_ROW) == SS_NO_ROW;
		if (!is_new)
			continue;
		if (!ss_address_map_put(seen, address, row) ||
		    (action == SS_ACTION_SEGMENT_FREE &&
		     !reserved_add_range(search, address, events->bytes[row], false)))
			return false;
	}
	return true;
}

static bool collect_segments(struct reserved_search *search, const struct ss_address_map *seen)
{
	const struct ss_snapshot *snapshot = search->history->snapshot;
	const struct ss_device_memory *device = search->device;

	for (uint32_t i = 0; i < device->segment_count; i++) {
		const struct ss_segment *segment = &snapshot->segments[device->segments[i]];

		if (segment->is_expandable) {
			if (!reserved_add_edges(search, segment->address, segment->total_bytes, 1))
				return false;
		} else if (ss_address_map_find(seen, segment->address, SS_NO_ROW) == SS_NO_ROW &&
			   !reserved_add_range(search, segment->address, segment->total_bytes,
					       false)) {
			return false;
		}
	}
	return true;
}

static int reserved_edge_compare(const void *left, const void *right)
{
	const struct reserved_edge *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return a->change < b->change ? -1 : a->change > b->change;
}

static int reserved_range_compare(const void *left, const void *right)
{
	const struct ss_reserved_range *a = left, *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

/* Pages that are reserved at the beginning, as ranges. */
static bool reserved_sweep_edges(struct reserved_search *search)
{
	int64_t depth = 0;
	uint64_t from = 0;

	if (search->edge_count)
		qsort(search->edges, search->edge_count, sizeof(*search->edges),
		      reserved_edge_compare);
	for (uint32_t i = 0; i < search->edge_count;) {
		uint64_t at = search->edges[i].address;
		int64_t before = depth;

		for (; i < search->edge_count && search->edges[i].address == at; i++)
			depth += search->edges[i].change;
		if (before <= 0 && depth > 0)
			from = at;
		else if (before > 0 && depth <= 0 &&
			 !reserved_add_range(search, from, (int64_t)(at - from), true))
			return false;
	}
	return true;
}

bool ss_reserved_find(struct ss_reserved *out, const struct ss_history *history,
		      const struct ss_device_memory *device)
{
	struct reserved_search search = { .history = history, .device = device, .out = out };
	struct ss_address_map seen;
	bool whole;

	ss_address_map_init(&seen, out->memory);
	whole = reserved_collect_events(&search, &seen) && collect_segments(&search, &seen) &&
		reserved_sweep_edges(&search);
	ss_address_map_release(&seen);
	ss_memory_free(out->memory, search.edges, search.edge_capacity * sizeof(*search.edges));
	if (whole && out->count)
		qsort(out->ranges, out->count, sizeof(*out->ranges), reserved_range_compare);
	return whole;
}

void ss_reserved_release(struct ss_reserved *reserved)
{
	ss_memory_free(reserved->memory, reserved->ranges,
		       reserved->capacity * sizeof(*reserved->ranges));
	reserved->ranges = NULL;
	reserved->count = reserved->capacity = 0;
}
