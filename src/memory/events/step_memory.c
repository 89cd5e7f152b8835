/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_memory.c - memory of each step: one pass over the events alongside the steps.
 */
#include "memory/events/step_memory.h"

#include <stdlib.h>

struct step_memory_counting {
	const struct ss_allocs *allocs;
	struct ss_step_memories *out;
	uint32_t *open;         /* per pool: its newest item + 1, 0: none */
	int64_t *current_bytes; /* per pool: allocated now */
};

static struct ss_step_memory *step_memory_open(struct step_memory_counting *work, uint32_t pool,
					       uint32_t step)
{
	struct ss_step_memories *out = work->out;
	struct ss_step_memory *item = work->open[pool] ? &out->items[work->open[pool] - 1] : NULL;

	if (item && item->step == step)
		return item;
	if (!ss_memory_reserve(out->memory, (void **)&out->items, &out->capacity,
			       (size_t)out->count + 1, sizeof(*out->items)))
		return NULL;
	item = &out->items[out->count++];
	*item = (struct ss_step_memory){ .pool = pool,
					 .step = step,
					 .is_host = !work->allocs->pools.items[pool].type,
					 .start_bytes = work->current_bytes[pool],
					 .min_bytes = work->current_bytes[pool],
					 .peak_bytes = work->current_bytes[pool],
					 .reserved_bytes = -1 };
	work->open[pool] = out->count;
	return item;
}

static void step_memory_count(const struct ss_allocs *allocs, struct ss_step_memory *item,
			      uint32_t event)
{
	const struct ss_allocations *events = &allocs->trace->allocations;
	int64_t bytes = events->bytes[event], total_bytes = allocs->pools.total_bytes[event];

	if (total_bytes < item->min_bytes)
		item->min_bytes = total_bytes;
	if (total_bytes > item->peak_bytes)
		item->peak_bytes = total_bytes;
	if (events->reserved_bytes[event] > item->reserved_bytes)
		item->reserved_bytes = events->reserved_bytes[event];
	item->end_bytes = total_bytes;
	item->net_bytes = ss_bytes_add(item->net_bytes, bytes);
	if (bytes <= 0)
		return;
	item->allocations++;
	item->allocated_bytes = ss_bytes_add(item->allocated_bytes, bytes);
	if (events->address[event] && allocs->pair[event] == SS_NO_ROW)
		item->kept_bytes = ss_bytes_add(item->kept_bytes, bytes);
}

uint32_t ss_step_memory_step(const struct ss_steps *steps, uint32_t *at, int64_t now_ns)
{
	while (*at < steps->count &&
	       (steps->items[*at].dropped || steps->items[*at].host_end_ns <= now_ns))
		++*at;
	return *at < steps->count && steps->items[*at].host_start_ns <= now_ns ? *at : SS_NO_ROW;
}

static bool step_memories_count(struct step_memory_counting *work)
{
	const struct ss_trace *trace = work->allocs->trace;
	const struct ss_allocations *events = &trace->allocations;
	const struct ss_pools *pools = &work->allocs->pools;
	uint32_t at = 0;

	for (uint32_t i = 0; i < pools->count; i++)
		work->current_bytes[i] = pools->items[i].first_bytes;
	for (uint32_t i = 0; i < events->count; i++) {
		uint32_t step = ss_step_memory_step(&trace->steps, &at, events->start_ns[i]);
		uint32_t pool = pools->pool[i];

		if (events->out_of_memory[i])
			continue;
		if (step != SS_NO_ROW) {
			struct ss_step_memory *item = step_memory_open(work, pool, step);

			if (!item)
				return false;
			step_memory_count(work->allocs, item, i);
		}
		work->current_bytes[pool] = pools->total_bytes[i];
	}
	return true;
}

static int step_memory_compare(const void *a, const void *b)
{
	const struct ss_step_memory *x = a, *y = b;

	if (x->is_host != y->is_host)
		return x->is_host ? 1 : -1;
	if (x->pool != y->pool)
		return x->pool < y->pool ? -1 : 1;
	return x->step < y->step ? -1 : x->step > y->step;
}

enum ss_status ss_step_memories_init(struct ss_step_memories *memories,
				     const struct ss_allocs *allocs, struct ss_error *err)
{
	struct step_memory_counting work = { .allocs = allocs, .out = memories };
	size_t count = (size_t)allocs->pools.count + 1;
	struct ss_arena scratch;
	bool whole;

	*memories = (struct ss_step_memories){ .memory = allocs->memory };
	ss_arena_init(&scratch, allocs->memory);
	work.open = SS_ARENA_NEW(&scratch, uint32_t, count);
	work.current_bytes = SS_ARENA_NEW(&scratch, int64_t, count);
	whole = work.open && work.current_bytes && step_memories_count(&work);
	ss_arena_release(&scratch);
	if (!whole) {
		ss_step_memories_release(memories);
		return ss_fail_memory(err, "the memory of steps");
	}
	if (memories->count)
		qsort(memories->items, memories->count, sizeof(*memories->items),
		      step_memory_compare);
	return SS_OK;
}

void ss_step_memories_release(struct ss_step_memories *memories)
{
	if (!memories->memory)
		return;
	ss_memory_free(memories->memory, memories->items,
		       memories->capacity * sizeof(*memories->items));
	*memories = (struct ss_step_memories){ 0 };
}
