/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pools.c - one pass over the events, in order of time, and one that sorts them by device.
 */
#include "memory/events/pools.h"

#include <stdio.h>

struct pool_key {
	int32_t type, id;
};

/* The pool of an event, made when it is the first; SS_NO_ID at the limit. */
static uint32_t pools_find_or_add(struct ss_pools *pools, struct ss_records *places, uint32_t event)
{
	const struct ss_allocations *events = &pools->trace->allocations;
	struct pool_key place = { events->device_type[event], events->device_id[event] };
	uint32_t at;

	if (!place.type)
		place.id = 0;
	at = ss_records_add(places, &place);
	if (at == SS_NO_ID || at < pools->count)
		return at;
	if (!SS_GROW(pools->memory, pools->items, pools->capacity, at))
		return SS_NO_ID;
	pools->items[pools->count++] = (struct ss_pool){ .type = (uint8_t)place.type,
							 .id = (int16_t)place.id,
							 .peak = SS_NO_ROW };
	pools->has_accelerator |= place.type != 0;
	return at;
}

/* Updates totals and peaks; the first event of the highest total is the peak. */
static void pool_count_event(struct ss_pools *pools, struct ss_pool *pool, uint32_t event)
{
	const struct ss_allocations *events = &pools->trace->allocations;
	int64_t total_bytes = events->allocated_bytes[event];
	int64_t reserved_bytes = events->reserved_bytes[event];
	bool has_total = total_bytes >= 0;

	if (events->out_of_memory[event]) {
		pool->failed++;
		return;
	}
	pool->net_bytes = ss_amount_add(pool->net_bytes, events->bytes[event]);
	pool->has_totals |= has_total;
	pool->has_reserved |= reserved_bytes >= 0;
	if (!has_total)
		total_bytes = pool->net_bytes;
	if (!pool->events++)
		pool->first_bytes = has_total
					    ? ss_amount_subtract(total_bytes, events->bytes[event])
					    : 0;
	pools->total_bytes[event] = total_bytes;
	if (pool->peak == SS_NO_ROW || total_bytes > pool->peak_bytes) {
		pool->peak = event;
		pool->peak_bytes = total_bytes;
		pool->has_gap = reserved_bytes >= 0;
		pool->gap_bytes = ss_amount_subtract(reserved_bytes, total_bytes);
	}
	if (reserved_bytes > pool->reserved_bytes)
		pool->reserved_bytes = reserved_bytes;
}

static bool find_pools(struct ss_pools *pools, struct ss_records *places)
{
	for (uint32_t i = 0; i < pools->event_count; i++) {
		uint32_t at = pools_find_or_add(pools, places, i);

		if (at == SS_NO_ID)
			return false;
		pools->pool[i] = at;
		pools->total_bytes[i] = 0;
		pool_count_event(pools, &pools->items[at], i);
	}
	return true;
}

static void pools_order_events(struct ss_pools *pools)
{
	const struct ss_allocations *events = &pools->trace->allocations;
	uint32_t first = 0;

	for (uint32_t i = 0; i < pools->count; i++) {
		pools->items[i].first = first;
		first += pools->items[i].events;
		pools->items[i].events = 0;
	}
	for (uint32_t i = 0; i < pools->event_count; i++) {
		struct ss_pool *pool = &pools->items[pools->pool[i]];

		if (!events->out_of_memory[i])
			pools->order[pool->first + pool->events++] = i;
	}
}

enum ss_status ss_pools_init(struct ss_pools *pools, const struct ss_trace *trace,
			     struct ss_memory *memory, struct ss_error *err)
{
	size_t count = (size_t)trace->allocations.count + 1;
	SS_OWNED(ss_records_release) struct ss_records places = { 0 };

	*pools = (struct ss_pools){ .trace = trace,
				    .memory = memory,
				    .event_count = trace->allocations.count };
	if (ss_records_init(&places, memory, sizeof(struct pool_key)) &&
	    SS_MEMORY_NEW(memory, pools->pool, count) &&
	    SS_MEMORY_NEW(memory, pools->total_bytes, count) &&
	    SS_MEMORY_NEW(memory, pools->order, count) && find_pools(pools, &places)) {
		pools_order_events(pools);
		return SS_OK;
	}
	ss_pools_release(pools);
	return ss_fail_memory(err, "the memory of devices");
}

void ss_pools_release(struct ss_pools *pools)
{
	size_t count = (size_t)pools->event_count + 1;

	if (!pools->memory)
		return;
	SS_FREE(pools->memory, pools->items, pools->capacity);
	SS_FREE(pools->memory, pools->pool, count);
	SS_FREE(pools->memory, pools->total_bytes, count);
	SS_FREE(pools->memory, pools->order, count);
	*pools = (struct ss_pools){ 0 };
}

void ss_pool_print(uint8_t type, int16_t id, char out[SS_POOL_NAME_BYTES])
{
	const char *name = type == 1    ? "CUDA"
			   : type == 6  ? "HIP"
			   : type == 12 ? "XPU"
			   : type == 19 ? "MTIA"
			   : type == 20 ? "PrivateUse1"
					: NULL;

	if (!type)
		snprintf(out, SS_POOL_NAME_BYTES, "CPU");
	else if (!name)
		snprintf(out, SS_POOL_NAME_BYTES, "type %d:%d", type, id);
	else
		snprintf(out, SS_POOL_NAME_BYTES, "%s:%d", name, id);
}

const char *ss_pool_name(const struct ss_pool *pool, struct ss_table *out)
{
	char name[SS_POOL_NAME_BYTES];

	if (!pool->type)
		return "CPU";
	ss_pool_print(pool->type, pool->id, name);
	return ss_table_print(out, "%s", name);
}

/* ROCm files number the used device differently: a sole listed one is the one that is meant. */
const struct ss_device *ss_pool_device(const struct ss_trace *trace, const struct ss_pool *pool)
{
	const struct ss_trace_info *info = &trace->info;

	for (uint32_t i = 0; pool->type && i < info->device_count; i++)
		if (info->devices[i].id == pool->id)
			return &info->devices[i];
	return pool->type && info->device_count == 1 ? &info->devices[0] : NULL;
}

void ss_pools_note(const struct ss_pools *pools, bool shown_only, struct ss_table *out)
{
	bool summed = false;

	for (uint32_t i = 0; i < pools->count; i++)
		summed |= pools->items[i].events && !pools->items[i].has_totals &&
			  (!shown_only || ss_pool_is_shown(pools, &pools->items[i]));
	if (summed)
		ss_table_note(out, "Totals are not recorded: the figures are sums from the start "
				   "of the file, without earlier allocations.");
}

double ss_amount_scale(int64_t bytes, double most, const char **unit)
{
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB" };
	double amount = (double)bytes;
	size_t at = 0;

	for (; amount >= most && at + 1 < SS_COUNT(units); at++)
		amount /= 1000;
	*unit = units[at];
	return amount;
}

void ss_amount_write(int64_t bytes, char *out, size_t capacity)
{
	const char *unit;
	double amount = ss_amount_scale(bytes, 1000, &unit);

	if (bytes < 1000)
		snprintf(out, capacity, "%lld B", (long long)bytes);
	else
		snprintf(out, capacity,
			 amount < 10    ? "%.2f %s"
			 : amount < 100 ? "%.1f %s"
					: "%.0f %s",
			 amount, unit);
}

const char *ss_amount_text(int64_t bytes, struct ss_table *out)
{
	char text[32];

	ss_amount_write(bytes, text, sizeof(text));
	return ss_table_copy(out, text);
}
