/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_ops.c - view: who allocates, and who holds the memory at the peak: by operator,
 * source line or module.
 *
 * Totals of an operator include the operators inside it; `self` is what it allocated
 * itself. Memory that is alive at the peak counts once: for the innermost operator that
 * does more than allocate. Devices only, or the CPU if there are none.
 */

#include "analyze/facts.h"
#include "analyze/host/ops.h"
#include "analyze/host/places.h"
#include "base/sort.h"
#include "memory/events/alloc.h"
#include "view/view.h"

enum memory_ops_group { BY_OP, BY_LINE, BY_MODULE };

/* Programs nest operators a few dozen deep; beyond this, outer operators are not charged. */
#define NEST_MAX 1000

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "device", SS_COLUMN_TEXT, "device: CUDA:0, HIP:0 ...; CPU if there is no device",
	  SS_COLUMN_CONTEXT },
	{ "op", SS_COLUMN_TEXT, "operator that allocated", SS_COLUMN_SLICES },
	{ "line", SS_COLUMN_TEXT, "source line that allocated", SS_COLUMN_WRAP },
	{ "module", SS_COLUMN_TEXT, "nn.Module that allocated", SS_COLUMN_SLICES },
	{ "at_peak_bytes", SS_COLUMN_BYTES,
	  "memory from its allocations at the device's peak; the rows add up to the peak", 0 },
	{ "at_peak_percent", SS_COLUMN_PERCENT, "share of the device's peak", SS_COLUMN_BAR },
	{ "allocated_bytes", SS_COLUMN_BYTES,
	  "total size of its allocations, including operators inside it", 0 },
	{ "allocations", SS_COLUMN_COUNT, "number of these allocations", 0 },
	{ "size_increase_bytes", SS_COLUMN_BYTES, "their total size minus what was freed of them",
	  0 },
	{ "calls", SS_COLUMN_COUNT, "calls that allocated memory", SS_COLUMN_DETAIL },
	{ "self_allocated_bytes", SS_COLUMN_BYTES, "total size of the allocations it made itself",
	  SS_COLUMN_DETAIL },
	{ "self_allocations", SS_COLUMN_COUNT, "number of these allocations", SS_COLUMN_DETAIL },
	{ "self_increase_bytes", SS_COLUMN_BYTES, "their total size minus what was freed of them",
	  SS_COLUMN_DETAIL },
};

enum what { NAMED, UNOWNED, BEFORE };

struct memory_op_key {
	uint32_t pool, what, id;
};

struct memory_op_tally {
	uint32_t pool, what, id; /* as in its key */
	uint32_t row;            /* a host row of it */
	int64_t calls, increase_bytes, allocations, allocated_bytes, at_peak_bytes;
	int64_t self_increase_bytes, self_allocations, self_allocated_bytes;
};

struct memory_op_counting {
	const struct ss_trace *trace;
	enum memory_ops_group group;
	const struct ss_allocs *allocs;
	const struct ss_ops *ops;
	const struct ss_places *places;
	struct ss_records keys;
	struct memory_op_tally *tallies;
	uint32_t capacity;
	uint32_t *seen; /* per host row: pool + 1 that it was counted for */
	bool failed;
};

static struct memory_op_tally *memory_op_tally_of(struct memory_op_counting *work,
						  struct memory_op_key key, uint32_t row)
{
	uint32_t before = work->keys.count, at = ss_records_add(&work->keys, &key);

	if (at == SS_NO_ID ||
	    !SS_RESERVE(work->allocs->memory, work->tallies, work->capacity, work->keys.count)) {
		work->failed = true;
		return NULL;
	}
	if (work->keys.count != before)
		work->tallies[at] = (struct memory_op_tally){ key.pool, key.what, key.id,
							      .row = row };
	return &work->tallies[at];
}

/* What an event that happened in `row` belongs to. */
static struct memory_op_tally *memory_op_owner(struct memory_op_counting *work, uint32_t pool,
					       uint32_t row)
{
	const struct ss_slices *slices = &work->trace->slices;
	struct memory_op_key key = { pool, NAMED, 0 };

	if (row == SS_NO_ROW) {
		key.what = UNOWNED;
	} else if (work->group == BY_OP) {
		key.id = slices->name[row];
	} else if (work->group == BY_LINE) {
		key.id = work->places->line[row];
		key.what = key.id ? NAMED : UNOWNED;
	} else if (ss_places_module(work->places, row) == SS_NO_ROW) {
		key.what = UNOWNED;
	} else {
		row = ss_places_module(work->places, row);
		key.id = slices->name[row];
	}
	return memory_op_tally_of(work, key, row);
}

static void memory_op_count_total(struct memory_op_tally *tally, int64_t bytes)
{
	tally->increase_bytes = ss_amount_add(tally->increase_bytes, bytes);
	if (bytes <= 0)
		return;
	tally->allocations++;
	tally->allocated_bytes = ss_amount_add(tally->allocated_bytes, bytes);
}

static void memory_op_count_self(struct memory_op_tally *tally, int64_t bytes)
{
	tally->self_increase_bytes = ss_amount_add(tally->self_increase_bytes, bytes);
	if (bytes <= 0)
		return;
	tally->self_allocations++;
	tally->self_allocated_bytes = ss_amount_add(tally->self_allocated_bytes, bytes);
}

/* The operator itself, then those around it. */
static void memory_op_count_nest(struct memory_op_counting *work, uint32_t pool, uint32_t op,
				 int64_t bytes)
{
	if (op != SS_NO_ROW && ss_ops_is_merged(work->ops, op))
		op = work->ops->owner[op];
	for (uint32_t depth = 0; depth < NEST_MAX; depth++) {
		struct memory_op_tally *tally = memory_op_owner(work, pool, op);

		if (!tally)
			return;
		memory_op_count_total(tally, bytes);
		if (!depth)
			memory_op_count_self(tally, bytes);
		if (op == SS_NO_ROW)
			return;
		if (bytes > 0 && work->seen[op] != pool + 1) {
			work->seen[op] = pool + 1;
			tally->calls++;
		}
		op = work->ops->owner[op];
		if (op == SS_NO_ROW)
			return;
	}
}

/* Charges an event to its owners; what is alive at the peak, to its holder. */
static void memory_ops_count_event(struct memory_op_counting *work, uint32_t event)
{
	const struct ss_allocs *allocs = work->allocs;
	const struct ss_allocations *events = &work->trace->allocations;
	uint32_t pool = allocs->pools.pool[event];
	int64_t bytes = events->bytes[event];
	struct memory_op_tally *tally;

	if (bytes < 0 && allocs->pair[event] == SS_NO_ROW) {
		tally = memory_op_tally_of(work, (struct memory_op_key){ pool, BEFORE, 0 },
					   SS_NO_ROW);
		if (tally)
			memory_op_count_total(tally, bytes);
	} else if (work->group == BY_OP) {
		memory_op_count_nest(work, pool, allocs->op[event], bytes);
	} else {
		tally = memory_op_owner(work, pool, allocs->place[event]);
		if (tally)
			memory_op_count_total(tally, bytes);
	}
	if (!ss_allocs_is_alive(allocs, event, allocs->pools.items[pool].peak))
		return;
	tally = memory_op_owner(work, pool,
				work->group == BY_OP ? allocs->holder[event]
						     : allocs->place[event]);
	if (tally)
		tally->at_peak_bytes = ss_amount_add(tally->at_peak_bytes, bytes);
}

/* Device by device, so that a call is counted once for each. */
static void memory_ops_count_events(struct memory_op_counting *work)
{
	const struct ss_pools *pools = &work->allocs->pools;

	for (uint32_t i = 0; i < pools->count; i++) {
		const struct ss_pool *pool = &pools->items[i];

		for (uint32_t k = 0; ss_pool_is_shown(pools, pool) && k < pool->events; k++)
			memory_ops_count_event(work, pools->order[pool->first + k]);
	}
}

/* The rest of each peak was allocated before the file began. */
static void memory_ops_add_rests(struct memory_op_counting *work)
{
	const struct ss_pools *pools = &work->allocs->pools;
	uint32_t count = work->keys.count;
	SS_SCRATCH(scratch, work->allocs->memory);
	int64_t *known_bytes;

	work->failed |= !SS_ALLOC(&scratch, known_bytes, (size_t)pools->count + 1);
	for (uint32_t i = 0; !work->failed && i < count; i++) {
		const struct memory_op_tally *tally = &work->tallies[i];

		known_bytes[tally->pool] = ss_amount_add(known_bytes[tally->pool],
							 tally->at_peak_bytes);
	}
	for (uint32_t i = 0; !work->failed && i < pools->count; i++) {
		const struct ss_pool *pool = &pools->items[i];
		int64_t rest_bytes = ss_amount_subtract(pool->peak_bytes, known_bytes[i]);
		struct memory_op_tally *tally;

		if (!pool->has_totals || rest_bytes <= 0 || !work->allocs->has_addresses ||
		    !ss_pool_is_shown(pools, pool))
			continue;
		tally = memory_op_tally_of(work, (struct memory_op_key){ i, BEFORE, 0 }, SS_NO_ROW);
		if (tally)
			tally->at_peak_bytes = rest_bytes;
	}
}

/* By device, then what held most at the peak, then what allocated most. */
SS_COMPARATOR(memory_op_compare, struct memory_op_tally,
	      SS_ASCENDING(pool) SS_DESCENDING(at_peak_bytes) SS_DESCENDING(allocated_bytes)
		      SS_ASCENDING(what) SS_ASCENDING(id))

static const char *memory_op_name(const struct memory_op_counting *work,
				  const struct memory_op_tally *tally)
{
	static const char *const unowned[] = { "(no operator)", "(no line)", "(no module)" };
	static const char prefix[] = "nn.Module: ";
	const char *name;

	if (tally->what == BEFORE)
		return "(before the recording)";
	if (tally->what == UNOWNED)
		return unowned[work->group];
	if (work->group == BY_LINE)
		return ss_places_line(work->places, tally->row);
	name = ss_strings_text(&work->trace->names, tally->id);
	return work->group == BY_MODULE ? name + sizeof(prefix) - 1 : name;
}

static void memory_ops_add_row(const struct memory_op_counting *work, struct ss_table *out,
			       const struct memory_op_tally *tally, const char *device,
			       int64_t peak_bytes)
{
	const char *name = memory_op_name(work, tally);
	bool paired = work->allocs->has_addresses;
	bool by_op = work->group == BY_OP && tally->what != BEFORE;

	ss_row_begin(out);
	ss_row_text(out, device);
	for (enum memory_ops_group group = BY_OP; group <= BY_MODULE; group++)
		ss_row_text(out, group == work->group ? name : NULL);
	ss_row_int_known(out, paired ? tally->at_peak_bytes : -1);
	ss_row_share(out, (double)tally->at_peak_bytes, paired ? (double)peak_bytes : 0);
	ss_row_int(out, tally->allocated_bytes);
	ss_row_int(out, tally->allocations);
	if (paired)
		ss_row_int(out, tally->increase_bytes);
	else
		ss_row_null(out);
	ss_row_int_known(out, by_op && tally->what == NAMED ? tally->calls : -1);
	ss_row_int_known(out, by_op ? tally->self_allocated_bytes : -1);
	ss_row_int_known(out, by_op ? tally->self_allocations : -1);
	if (by_op && paired)
		ss_row_int(out, tally->self_increase_bytes);
	else
		ss_row_null(out);
	ss_row_end(out);
}

static void memory_ops_add_rows(const struct memory_op_counting *work, struct ss_table *out)
{
	const struct ss_pools *pools = &work->allocs->pools;
	const char *device = NULL;
	int64_t peak_bytes = 0;

	for (uint32_t i = 0; i < work->keys.count; i++) {
		const struct memory_op_tally *tally = &work->tallies[i];

		if (!i || tally->pool != tally[-1].pool) {
			int64_t known_bytes = 0;

			device = ss_pool_name(&pools->items[tally->pool], out);
			for (uint32_t k = i;
			     k < work->keys.count && work->tallies[k].pool == tally->pool; k++)
				known_bytes = ss_amount_add(known_bytes,
							    work->tallies[k].at_peak_bytes);
			/* sums that begin too low do not reach the peak */
			peak_bytes = pools->items[tally->pool].peak_bytes;
			if (known_bytes > peak_bytes)
				peak_bytes = known_bytes;
		}
		/* without addresses a free belongs to nobody */
		if (tally->what != BEFORE || work->allocs->has_addresses)
			memory_ops_add_row(work, out, tally, device, peak_bytes);
	}
}

static bool memory_ops_prepare(struct memory_op_counting *work, struct ss_memory *memory)
{
	size_t bytes = ((size_t)work->trace->device_from + 1) * sizeof(*work->seen);

	work->seen = ss_memory_resize(memory, NULL, 0, bytes);
	for (size_t i = 0; work->seen && i <= work->trace->device_from; i++)
		work->seen[i] = 0;
	return work->seen && ss_records_init(&work->keys, memory, sizeof(struct memory_op_key));
}

static void memory_ops_release(struct memory_op_counting *work, struct ss_memory *memory)
{
	SS_FREE(memory, work->seen, (size_t)work->trace->device_from + 1);
	SS_FREE(memory, work->tallies, work->capacity);
	ss_records_release(&work->keys);
}

static void memory_ops_note(const struct memory_op_counting *work, struct ss_table *out)
{
	if (!out->row_count)
		return;
	if (work->group == BY_LINE && !work->places->has_lines)
		ss_note_missing(out, SS_MISSING_LINES);
	if (work->group == BY_MODULE && !work->places->has_modules)
		ss_note_missing(out, ss_places_missing_modules(work->places));
	if (work->group == BY_OP && !work->trace->device_from)
		ss_note_missing(out, SS_MISSING_OPERATORS);
	ss_allocs_note(work->allocs, out);
	ss_pools_note(&work->allocs->pools, true, out);
}

static enum ss_status memory_ops_run(const struct ss_subject *subject, struct ss_table *out,
				     struct ss_error *err)
{
	struct ss_memory *memory = out->arena->memory;
	struct memory_op_counting work = { .trace = subject->trace, .group = subject->group };

	SS_TRY(ss_allocs_of_facts(subject->facts, &work.allocs, err));
	if (work.group == BY_OP)
		SS_TRY(ss_facts_ops(subject->facts, &work.ops, err));
	else
		SS_TRY(ss_facts_places(subject->facts, &work.places, err));
	if (memory_ops_prepare(&work, memory)) {
		memory_ops_count_events(&work);
		memory_ops_add_rests(&work);
	} else {
		work.failed = true;
	}
	if (!work.failed) {
		SS_SORT(work.tallies, work.keys.count, memory_op_compare);
		memory_ops_add_rows(&work, out);
		memory_ops_note(&work, out);
	}
	memory_ops_release(&work, memory);
	return work.failed ? ss_fail_memory(err, "the memory of operators") : SS_OK;
}

const struct ss_view ss_view_memory_ops = {
	.name = "memory-ops",
	.summary = "Memory by operator, line or module: who allocates and holds it",
	.empty = "Allocations are not recorded: use profile(profile_memory=True).",
	SS_TABLE_COLUMNS(columns),
	.sums = "self_allocated_bytes self_allocations self_increase_bytes",
	.basis = SS_BASIS_FILE,
	.groups = { "op", "line", "module" },
	.order = { "at_peak_bytes", "allocated_bytes" },
	.run = memory_ops_run,
};
