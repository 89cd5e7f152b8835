/* SPDX-License-Identifier: Apache-2.0 */
/*
 * growth.c - memory of each step in one pass over the events alongside the steps; the rules
 * for leaks and fragmentation; a pass over the events that finds the operators responsible.
 */
#include "memory/events/growth.h"

#include "base/sort.h"

struct step_memory_counting {
	const struct ss_allocs *allocs;
	struct ss_growth *out;
	uint32_t *open;         /* per pool: its newest item + 1, 0: none */
	int64_t *current_bytes; /* per pool: allocated now */
};

/* The item of the device and step, made when it is new; NULL at the limit. */
static struct ss_growth_step *step_memory_open(struct step_memory_counting *work, uint32_t pool,
					       uint32_t step)
{
	struct ss_growth *out = work->out;
	struct ss_growth_step *item = work->open[pool] ? &out->items[work->open[pool] - 1] : NULL;

	if (item && item->step == step)
		return item;
	if (!SS_GROW(out->memory, out->items, out->capacity, out->count))
		return NULL;
	item = &out->items[out->count++];
	*item = (struct ss_growth_step){ .pool = pool,
					 .step = step,
					 .is_host = !work->allocs->pools.items[pool].type,
					 .start_bytes = work->current_bytes[pool],
					 .min_bytes = work->current_bytes[pool],
					 .peak_bytes = work->current_bytes[pool],
					 .reserved_bytes = -1 };
	work->open[pool] = out->count;
	return item;
}

static void step_memory_count(const struct ss_allocs *allocs, struct ss_growth_step *item,
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
	item->net_bytes = ss_amount_add(item->net_bytes, bytes);
	if (bytes <= 0)
		return;
	item->allocations++;
	item->allocated_bytes = ss_amount_add(item->allocated_bytes, bytes);
	if (events->address[event] && allocs->pair[event] == SS_NO_ROW)
		item->kept_bytes = ss_amount_add(item->kept_bytes, bytes);
}

/* The measured step at that moment, or SS_NO_ROW; `at` begins with 0, moments come in order. */
static uint32_t measured_step_at(const struct ss_steps *steps, uint32_t *at, int64_t now_ns)
{
	while (*at < steps->count &&
	       (steps->items[*at].dropped || steps->items[*at].host_end_ns <= now_ns))
		++*at;
	return *at < steps->count && steps->items[*at].host_start_ns <= now_ns ? *at : SS_NO_ROW;
}

/* Charges each event to the step that runs on the host then. */
static bool step_memories_count(struct step_memory_counting *work)
{
	const struct ss_trace *trace = work->allocs->trace;
	const struct ss_allocations *events = &trace->allocations;
	const struct ss_pools *pools = &work->allocs->pools;
	uint32_t at = 0;

	for (uint32_t i = 0; i < pools->count; i++)
		work->current_bytes[i] = pools->items[i].first_bytes;
	for (uint32_t i = 0; i < events->count; i++) {
		uint32_t step = measured_step_at(&trace->steps, &at, events->start_ns[i]);
		uint32_t pool = pools->pool[i];

		if (events->out_of_memory[i])
			continue;
		if (step != SS_NO_ROW) {
			struct ss_growth_step *item = step_memory_open(work, pool, step);

			if (!item)
				return false;
			step_memory_count(work->allocs, item, i);
		}
		work->current_bytes[pool] = pools->total_bytes[i];
	}
	return true;
}

SS_COMPARATOR(step_memory_compare, struct ss_growth_step,
	      SS_ASCENDING(is_host) SS_ASCENDING(pool) SS_ASCENDING(step))

enum ss_status ss_growth_init(struct ss_growth *memories, const struct ss_allocs *allocs,
			      struct ss_error *err)
{
	struct step_memory_counting work = { .allocs = allocs, .out = memories };
	size_t count = (size_t)allocs->pools.count + 1;
	SS_SCRATCH(scratch, allocs->memory);

	*memories = (struct ss_growth){ .memory = allocs->memory };
	if (!SS_ALLOC(&scratch, work.open, count) ||
	    !SS_ALLOC(&scratch, work.current_bytes, count) || !step_memories_count(&work)) {
		ss_growth_release(memories);
		return ss_fail_memory(err, "the memory of steps");
	}
	SS_SORT(memories->items, memories->count, step_memory_compare);
	return SS_OK;
}

void ss_growth_release(struct ss_growth *memories)
{
	if (!memories->memory)
		return;
	SS_FREE(memories->memory, memories->items, memories->capacity);
	*memories = (struct ss_growth){ 0 };
}

/* --- what grows ---------------------------------------------------------------------- */

/* Growth over three steps: over two it could be the state that optimizers make in the first. */
#define LEAK_STEPS 3
/* Leaks grow evenly; growth that falls to a tenth is warm-up. */
#define LEAK_EVENNESS 10
/* A fifth of what is reserved, as others say (metrics of others 2.19), beyond the peaks. */
#define FRAGMENT_SHARE 5
/* Even growth has half of itself in the later half of the steps. */
#define LATER_SHARE 4

static uint32_t step_memories_device_end(const struct ss_growth *memories, uint32_t from)
{
	uint32_t to = from;

	while (to < memories->count && memories->items[to].pool == memories->items[from].pool)
		to++;
	return to;
}

/*
 * The lowest points must rise from each step to the next, evenly (the first rise may
 * be larger), and at least half of the rise must be allocations that were made in
 * these steps and never freed. Those of the last step may be freed after the file.
 */
bool ss_leak_find(const struct ss_growth *memories, uint32_t from, uint32_t *next,
		  struct ss_leak *out)
{
	const struct ss_growth_step *items = memories->items + from;
	int64_t least_bytes = INT64_MAX, most_bytes = 0;
	uint32_t count, first;

	*next = step_memories_device_end(memories, from);
	count = *next - from;
	*out = (struct ss_leak){
		.pool = items->pool, .steps = count, .op = SS_NO_ROW, .place = SS_NO_ROW
	};
	if (count < LEAK_STEPS || ss_amount_subtract(items[1].min_bytes, items[0].min_bytes) <= 0)
		return false;
	/* the first rise may be state that is made once, or what each step hands to the next */
	first = count > LEAK_STEPS ? 2 : 1;
	out->rises = count - first;
	for (uint32_t i = first; i < count; i++) {
		int64_t rise_bytes = ss_amount_subtract(items[i].min_bytes, items[i - 1].min_bytes);

		if (rise_bytes <= 0)
			return false;
		if (rise_bytes < least_bytes)
			least_bytes = rise_bytes;
		if (rise_bytes > most_bytes)
			most_bytes = rise_bytes;
		out->growth_bytes = ss_amount_add(out->growth_bytes, rise_bytes);
		out->kept_bytes = ss_amount_add(out->kept_bytes, items[i - 1].kept_bytes);
	}
	return least_bytes >= most_bytes / LEAK_EVENNESS &&
	       out->kept_bytes >= out->growth_bytes / 2;
}

/*
 * More is reserved than ever before in at least every second step, in the last one too, and
 * the peaks do not explain it: blocks that are free and too small. Caches that fill up when a
 * job begins grow less and less: a quarter of the growth must lie in the later half.
 */
bool ss_fragmentation_find(const struct ss_growth *memories, uint32_t from, uint32_t *next,
			   struct ss_fragmentation *out)
{
	const struct ss_growth_step *items = memories->items + from;
	int64_t most_bytes = items->reserved_bytes, middle_bytes = 0, growth_bytes, grown_bytes;
	uint32_t count, rises = 0;

	*next = step_memories_device_end(memories, from);
	count = *next - from;
	*out = (struct ss_fragmentation){ .pool = items->pool,
					  .steps = count,
					  .first_bytes = items->reserved_bytes,
					  .last_bytes = items[count - 1].reserved_bytes,
					  .peak_bytes = items->peak_bytes };
	if (count < LEAK_STEPS || items->reserved_bytes <= 0)
		return false;
	for (uint32_t i = 1; i < count; i++) {
		rises += items[i].reserved_bytes > most_bytes;
		if (i == count - 1 && items[i].reserved_bytes <= most_bytes)
			return false;
		if (items[i].reserved_bytes > most_bytes)
			most_bytes = items[i].reserved_bytes;
		if (i == count / 2)
			middle_bytes = most_bytes;
		if (items[i].peak_bytes > out->peak_bytes)
			out->peak_bytes = items[i].peak_bytes;
	}
	/* what tensors need more than in the first step is no fragment */
	growth_bytes = ss_amount_subtract(out->last_bytes, out->first_bytes);
	grown_bytes = ss_amount_subtract(growth_bytes,
					 ss_amount_subtract(out->peak_bytes, items->peak_bytes));
	return 2 * rises >= count && grown_bytes > out->first_bytes / FRAGMENT_SHARE &&
	       ss_amount_subtract(out->last_bytes, middle_bytes) >= growth_bytes / LATER_SHARE;
}

struct leak_holder_key {
	uint32_t pool, name, line;
};

struct leak_holder {
	int64_t bytes;
	uint32_t op, place;
};

struct leak_holders {
	struct ss_records keys;
	struct leak_holder *items;
	uint32_t capacity;
	const struct ss_leak *leaks;
	uint32_t *leak; /* per pool: number + 1 of its leak, 0: none */
	uint32_t *left; /* per pool: steps of a leak that are not over */
	uint32_t *step; /* per pool: the step that the last event was in */
};

/* Adds an allocation to what its operator and line keep. */
static bool leak_holders_add(const struct ss_allocs *allocs, const uint32_t *lines,
			     struct leak_holders *holders, uint32_t event)
{
	uint32_t op = allocs->holder[event], place = allocs->place[event], at;
	uint32_t before = holders->keys.count;
	struct leak_holder_key key = { allocs->pools.pool[event], 0, 0 };

	if (op != SS_NO_ROW)
		key.name = allocs->trace->slices.name[op];
	if (place != SS_NO_ROW)
		key.line = lines[place];
	at = ss_records_add(&holders->keys, &key);
	if (at == SS_NO_ID ||
	    !SS_RESERVE(allocs->memory, holders->items, holders->capacity, holders->keys.count))
		return false;
	if (holders->keys.count != before)
		holders->items[at] = (struct leak_holder){ 0, op, place };
	holders->items[at].bytes = ss_amount_add(holders->items[at].bytes,
						 allocs->trace->allocations.bytes[event]);
	return true;
}

/* Whether what a step makes is in the rises that are judged. */
static bool leak_holders_is_judged(const struct leak_holders *holders, uint32_t pool)
{
	return holders->left[pool] &&
	       holders->left[pool] <= holders->leaks[holders->leak[pool] - 1].rises;
}

/* What was made in the steps before the last and never freed, by operator and line. */
static bool find_leak_holders(const struct ss_allocs *allocs, const uint32_t *lines,
			      struct leak_holders *holders)
{
	const struct ss_allocations *events = &allocs->trace->allocations;
	uint32_t at = 0;

	for (uint32_t i = 0; i < events->count; i++) {
		uint32_t step = measured_step_at(&allocs->trace->steps, &at, events->start_ns[i]);
		uint32_t pool = allocs->pools.pool[i];

		if (step == SS_NO_ROW || !holders->leak[pool] || events->out_of_memory[i])
			continue;
		if (holders->step[pool] != step + 1) {
			holders->step[pool] = step + 1;
			holders->left[pool]--;
		}
		if (leak_holders_is_judged(holders, pool) && ss_allocs_is_made(allocs, i) &&
		    events->address[i] && allocs->pair[i] == SS_NO_ROW &&
		    !leak_holders_add(allocs, lines, holders, i))
			return false;
	}
	return true;
}

static void leak_holders_choose(const struct leak_holders *holders, struct ss_leak *leaks)
{
	for (uint32_t i = 0; i < holders->keys.count; i++) {
		const struct leak_holder_key *key = ss_records_at(&holders->keys, i);
		struct ss_leak *leak = &leaks[holders->leak[key->pool] - 1];

		if (holders->items[i].bytes <= leak->most_bytes)
			continue;
		leak->most_bytes = holders->items[i].bytes;
		leak->op = holders->items[i].op;
		leak->place = holders->items[i].place;
	}
}

enum ss_status ss_leaks_blame(const struct ss_allocs *allocs, const uint32_t *lines,
			      struct ss_leak *leaks, uint32_t count, struct ss_error *err)
{
	size_t pools = (size_t)allocs->pools.count + 1;
	struct leak_holders holders = { .leaks = leaks };
	SS_SCRATCH(scratch, allocs->memory);
	bool whole;

	whole = SS_ALLOC(&scratch, holders.leak, pools) &&
		SS_ALLOC(&scratch, holders.left, pools) &&
		SS_ALLOC(&scratch, holders.step, pools) &&
		ss_records_init(&holders.keys, allocs->memory, sizeof(struct leak_holder_key));
	for (uint32_t i = 0; whole && i < count; i++) {
		holders.leak[leaks[i].pool] = i + 1;
		holders.left[leaks[i].pool] = leaks[i].steps;
	}
	whole = whole && find_leak_holders(allocs, lines, &holders);
	if (whole)
		leak_holders_choose(&holders, leaks);
	SS_FREE(allocs->memory, holders.items, holders.capacity);
	ss_records_release(&holders.keys);
	return whole ? SS_OK : ss_fail_memory(err, "what leaks");
}
