/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recomputed_activations.c - rule: backward runs layers of forward a second time (checkpoint()).
 *
 * It drops what forward made, and makes it again when backward needs it. Formulas of gradients call
 * no layers, and run after it: until the last layer in a node of the engine, everything is made
 * again. Whether the memory would hold it follows from the recorded allocations: the peak, and what
 * these stretches leave behind. Without them the finding is information.
 */
#include "attribute/rows.h"
#include "base/search.h"
#include "diagnose/evidence/code_places.h"
#include "memory/events/alloc.h"
#include "trace/outward.h"

/* Memory above it is for the driver, and for what the allocator cannot use. */
#define FULL_SHARE 0.9

/* With room for less of it, a program that checkpoints needs to. */
#define PART_MIN 0.25

/* Rows of a thread, from the first in a node of the engine to the end of its last layer. */
struct again_stretch {
	uint32_t first, node;
	int64_t to_ns;
	int64_t kept_bytes; /* allocated there and freed later */
};

struct made_again {
	struct ss_rule_context *context;
	const struct ss_phases *phases;
	const struct ss_ops *ops;
	uint8_t *is_layer; /* per name */
	struct again_stretch *stretches;
	uint32_t count, capacity;
	struct ss_code_places *sites;
	double part; /* of it that the memory would hold */
	bool knows_memory;
};

/* False: no layer, or no memory. */
static bool again_mark_layers(struct made_again *again)
{
	const struct ss_trace *trace = again->context->trace;
	bool any = false;

	if (!SS_ALLOC(again->context->scratch, again->is_layer, (size_t)trace->names.count + 1)) {
		again->context->failed = true;
		return false;
	}
	for (uint32_t i = 0; i < trace->names.count; i++) {
		const struct ss_string *name = &trace->names.items[i];

		again->is_layer[i] = (trace->name_flags[i] & SS_NAME_MODULE) ||
				     (ss_string_begins_with(name->text, "aten::") &&
				      (ss_attribution_name_traits(name, trace->name_flags[i]) &
				       SS_TRAIT_LAYER));
		any |= again->is_layer[i];
	}
	return any;
}

/* Rows are sorted by thread and start. */
static void again_find_stretches(struct made_again *again)
{
	const struct ss_trace *trace = again->context->trace;
	const struct ss_slices *slices = &trace->slices;

	for (uint32_t row = 0; row < trace->device_from; row++) {
		struct again_stretch *last = again->count ? &again->stretches[again->count - 1]
							  : NULL;
		uint32_t node;

		if (!again->is_layer[slices->name[row]] ||
		    again->phases->phase[row] != SS_PHASE_BACKWARD)
			continue;
		node = ss_outward_find(trace, row, SS_NAME_BACKWARD);
		if (node == SS_NO_ROW)
			continue;
		if (last && last->node == node) {
			if (last->to_ns < ss_slice_end(slices, row))
				last->to_ns = ss_slice_end(slices, row);
			continue;
		}
		if (!SS_ARENA_GROW(again->context->scratch, again->stretches, again->capacity,
				   again->count)) {
			again->context->failed = true;
			return;
		}
		again->stretches[again->count++] = (struct again_stretch){
			.first = node + 1, .node = node, .to_ns = ss_slice_end(slices, row)
		};
	}
}

/* The stretch that a host row is in, or NULL. */
static struct again_stretch *again_stretch_of(const struct made_again *again, uint32_t row)
{
	const struct ss_trace *trace = again->context->trace;
	uint32_t low = 0, high = again->count;
	struct again_stretch *stretch;

	if (row >= trace->device_from)
		return NULL;
	SS_SEARCH(low, high, at, again->stretches[at].first <= row);
	if (!low)
		return NULL;
	stretch = &again->stretches[low - 1];
	return trace->slices.track[row] == trace->slices.track[stretch->first] &&
			       trace->slices.start_ns[row] < stretch->to_ns &&
			       ss_outward_find(trace, row, SS_NAME_BACKWARD) == stretch->node
		       ? stretch
		       : NULL;
}

/* What stays of the stretches, of all and of the largest. */
static int64_t again_sum_kept(struct made_again *again, const struct ss_allocs *allocs,
			      int64_t *largest)
{
	const struct ss_allocations *events = &again->context->trace->allocations;
	int64_t sum = 0;

	for (uint32_t i = 0; i < events->count; i++) {
		struct again_stretch *stretch = ss_allocs_is_made(allocs, i) &&
								events->device_type[i]
							? again_stretch_of(again, allocs->place[i])
							: NULL;
		uint32_t freed = stretch ? ss_allocs_freed(allocs, i) : SS_NO_ROW;

		if (!stretch || (freed != SS_NO_ROW && events->start_ns[freed] < stretch->to_ns))
			continue;
		stretch->kept_bytes = ss_amount_add(stretch->kept_bytes, events->bytes[i]);
	}
	*largest = 0;
	for (uint32_t i = 0; i < again->count; i++) {
		sum = ss_amount_add(sum, again->stretches[i].kept_bytes);
		if (*largest < again->stretches[i].kept_bytes)
			*largest = again->stretches[i].kept_bytes;
	}
	return sum;
}

/* The memory that is left at the peak; below 0: not recorded. */
static int64_t again_left_bytes(const struct made_again *again, const struct ss_allocs *allocs)
{
	const struct ss_trace *trace = again->context->trace;

	for (uint32_t i = 0; i < allocs->pools.count; i++) {
		const struct ss_pool *pool = &allocs->pools.items[i];
		const struct ss_device *device = ss_pool_device(trace, pool);
		int64_t most;

		if (!pool->type || pool->id != again->context->digest->device || !device ||
		    device->memory_bytes <= 0 || !pool->has_totals)
			continue;
		most = (int64_t)(FULL_SHARE * (double)device->memory_bytes);
		return pool->peak_bytes < most ? most - pool->peak_bytes : 0;
	}
	return -1;
}

/* How much of it the memory would hold. One stretch is in memory at the peak already. */
static enum ss_status again_measure_memory(struct made_again *again, struct ss_error *err)
{
	const struct ss_allocs *allocs;
	int64_t left, more, largest;

	again->part = 1;
	if (!again->context->trace->allocations.count)
		return SS_OK;
	SS_TRY(ss_allocs_of_facts(again->context->subject->facts, &allocs, err));
	left = again_left_bytes(again, allocs);
	more = again_sum_kept(again, allocs, &largest);
	if (left < 0 || more <= 0)
		return SS_OK;
	more = more / again->context->steps->count - largest;
	again->part = more > left ? (double)left / (double)more : 1;
	again->knows_memory = true;
	return SS_OK;
}

static void again_claim(struct made_again *again)
{
	struct ss_rule_context *context = again->context;
	const struct ss_slices *slices = &context->trace->slices;
	struct ss_task_range tasks = ss_replay_device_tasks(context->graph);

	for (uint32_t i = tasks.from; i < tasks.to; i++) {
		const struct ss_task *task = &context->graph->tasks[i];
		uint32_t call, op;
		int64_t own_ns;

		if (!ss_task_on_device(task->kind) || task->phase != SS_PHASE_BACKWARD ||
		    task->step == SS_NO_STEP)
			continue;
		call = slices->link[task->row];
		if (!again_stretch_of(again, call))
			continue;
		op = again->ops->owner[call];
		own_ns = (int64_t)((1 - again->part) * (double)task->own_ns);
		if (ss_rule_claim(context,
				  (struct ss_claim){ .task = i,
						     .own_ns = own_ns,
						     .low_ns = again->knows_memory ? own_ns
										   : task->own_ns,
						     .high_ns = own_ns,
						     .scales = true }) &&
		    op != SS_NO_ROW)
			ss_code_places_add(again->sites, slices->name[op], op, task->own_ns);
	}
	if (!again->sites->count)
		return;
	for (uint32_t i = 0; i < again->count; i++) {
		const struct again_stretch *stretch = &again->stretches[i];
		int64_t from_ns = slices->start_ns[stretch->first];
		int64_t keep_ns = (int64_t)((1 - again->part) * (double)(stretch->to_ns - from_ns));

		(void)ss_rule_claim_time(
			context,
			(struct ss_stretch){ .track = slices->track[stretch->first],
					     .from_ns = from_ns,
					     .to_ns = stretch->to_ns,
					     .keep_ns = keep_ns,
					     .low_keep_ns = again->knows_memory
								    ? keep_ns
								    : stretch->to_ns - from_ns });
	}
}

static void again_report(struct made_again *again)
{
	struct ss_rule_context *context = again->context;

	ss_code_places_report(again->sites, UINT32_MAX,
			      "%s runs a second time in backward: {time} per step ({count} times)");
	if (!again->knows_memory) {
		ss_rule_set_shares(context, SS_NEVER_WARN, 0);
		ss_rule_set_confidence(context, SS_CONFIDENCE_LOW,
				       "whether the memory would hold the activations is not "
				       "recorded");
	} else if (again->part < 1)
		ss_rule_set_confidence(context, SS_CONFIDENCE_MEDIUM,
				       "the memory would hold a part of the activations");
	else
		ss_rule_set_confidence(context, SS_CONFIDENCE_HIGH,
				       "the memory would hold all activations");
}

static enum ss_status recomputed_activations_look(struct ss_rule_context *context,
						  struct ss_error *err)
{
	struct made_again again = { .context = context };

	SS_TRY(ss_facts_phases(context->subject->facts, &again.phases, err));
	if (!again.phases->has[SS_PHASE_BACKWARD] || !again_mark_layers(&again))
		return SS_OK;
	again_find_stretches(&again);
	if (!again.count || context->failed)
		return SS_OK;
	SS_TRY(again_measure_memory(&again, err));
	if (again.part < PART_MIN)
		return SS_OK;
	SS_TRY(ss_facts_ops(context->subject->facts, &again.ops, err));
	SS_TRY(ss_code_places_make(&again.sites, context, err));
	again_claim(&again);
	if (again.sites->count)
		again_report(&again);
	return SS_OK;
}

const struct ss_rule ss_rule_recomputed_activations = {
	.name = "recomputed-activations",
	.title = "Backward computes activations a second time",
	.summary = "Layers that run again in backward (checkpoint()), where memory is left",
	.fix = "# checkpoint() trades time for memory: where memory is left, wrap\n"
	       "# fewer layers, those with the largest activations\n"
	       "# or keep the products: create_selective_checkpoint_contexts",
	.to_record = "profile_memory=True shows whether memory is left",
	.views = "operators memory",
	.warn_share = 0.05,
	.silent_share = 0.02,
	.why = "one line, if the memory is there; without a record of it only information",
	.facts = SS_FACT_OPS | SS_FACT_ALLOCS,
	.needs_device = true,
	.look = recomputed_activations_look,
};
