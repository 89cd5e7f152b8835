/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fragmentation.c - rule: more and more memory is reserved for the same tensors.
 *
 * The allocator keeps the memory that tensors free, in blocks of the requested sizes. If sizes
 * change from step to step the blocks do not fit, and it reserves more: reserved memory grows,
 * the peak of tensors does not. A cache that is larger than the peaks but stays constant is not
 * fragmentation: some earlier step needed it. A memory snapshot shows how much memory was
 * reserved but never in use at once while it was recorded.
 */
#include <string.h>

#include "analyze/time/moment.h"
#include "diagnose/snapshot_findings.h"
#include "memory/events/growth.h"
#include "memory/holders/out_of_memory.h"

/* As for a leak: the device is full within a day at one step per second. */
#define WORRY_STEPS 100000

/* c10::DeviceType of devices with expandable segments. */
#define CUDA 1

/* If segments are expandable already, or cannot be on this device. */
static const char sizes_fix[] = "# make sizes repeat: pad to a few fixed lengths, e.g.\n"
				"length = -(-longest // 128) * 128\n"
				"DataLoader(..., drop_last=True)";

struct fragmentation_search {
	struct ss_rule_context *context;
	const struct ss_allocs *allocs;
	struct ss_growth steps;
	uint32_t call;  /* first row in a step that reserved device memory */
	int64_t calls;  /* how many */
	bool is_mapped; /* pieces of expandable segments are mapped */
};

/* Counts the calls in the measured steps that reserve device memory. */
static void fragmentation_count_calls(struct fragmentation_search *fragments)
{
	const struct ss_trace *trace = fragments->context->trace;

	fragments->call = SS_NO_ROW;
	for (uint32_t row = 0; row < trace->device_from; row++) {
		const char *name;
		bool maps;

		if (!(ss_slice_flags(trace, row) & SS_NAME_MALLOC_CALL) ||
		    !ss_kind_is_call(trace->slices.kind[row]))
			continue;
		name = ss_strings_text(&trace->names, trace->slices.name[row]);
		maps = strstr(name, "MemCreate") || strstr(name, "MemMap");
		if ((!maps && (!strstr(name, "Malloc") || strstr(name, "Host"))) ||
		    ss_step_at(trace, trace->slices.start_ns[row]) == SS_NO_ROW)
			continue;
		fragments->is_mapped |= maps;
		fragments->calls++;
		if (fragments->call == SS_NO_ROW)
			fragments->call = row;
	}
}

/* {count} is per step: the value that shows `amount`. */
static double fragmentation_count_of(const struct ss_rule_context *context, double amount)
{
	return amount * context->steps->count;
}

/* Whether the device is full soon; true if its size is not recorded. */
static bool fragmentation_is_urgent(struct fragmentation_search *fragments,
				    const struct ss_fragmentation *found)
{
	struct ss_rule_context *context = fragments->context;
	const struct ss_pool *pool = &fragments->allocs->pools.items[found->pool];
	const struct ss_device *device = ss_pool_device(context->trace, pool);
	int64_t rate_bytes = ss_amount_subtract(found->last_bytes, found->first_bytes) /
			     (found->steps - 1);
	double left;

	if (!device || device->memory_bytes <= 0 || rate_bytes <= 0)
		return true;
	left = found->last_bytes < device->memory_bytes
		       ? (double)((device->memory_bytes - found->last_bytes) / rate_bytes)
		       : 0;
	ss_rule_add_evidence(context,
			     (struct ss_fact){ .row = SS_NO_ROW,
					       .count = fragmentation_count_of(context, left) },
			     "at this rate the GPU is full after {count} step{?|s}");
	return left <= WORRY_STEPS;
}

/* A sentence with an amount in the middle. */
static void fragmentation_report_bytes(struct ss_rule_context *context, const char *before,
				       int64_t bytes, const char *after)
{
	const char *unit;
	double amount = ss_amount_scale(bytes, 10000, &unit);

	ss_rule_add_evidence(context,
			     (struct ss_fact){ .row = SS_NO_ROW,
					       .count = fragmentation_count_of(context, amount) },
			     "%s {count} %s%s", before, unit, after);
}

static void fragmentation_report(struct fragmentation_search *fragments,
				 const struct ss_fragmentation *found)
{
	struct ss_rule_context *context = fragments->context;
	const struct ss_trace *trace = context->trace;
	struct ss_fact fact = { .row = fragments->call, .count = (double)fragments->calls };

	fragmentation_report_bytes(context, "Reserved memory grows by",
				   ss_amount_subtract(found->last_bytes, found->first_bytes) /
					   (found->steps - 1),
				   " per step");
	fragmentation_report_bytes(context, "Tensors never hold more than", found->peak_bytes, "");
	if (fragmentation_is_urgent(fragments, found))
		ss_rule_add_figure(context, 0, 1);
	if (fragments->calls)
		ss_rule_add_evidence(context, fact,
				     "%s is called {count} times per step: no free block of "
				     "the cache fits",
				     ss_strings_text(&trace->names,
						     trace->slices.name[fragments->call]));
	fragmentation_report_bytes(context, "in the last step", found->last_bytes, " are reserved");
	if (fragments->is_mapped || fragments->allocs->pools.items[found->pool].type != CUDA)
		ss_rule_set_fix(context, sizes_fix);
	ss_rule_set_confidence(context,
			       fragments->calls ? SS_CONFIDENCE_HIGH : SS_CONFIDENCE_MEDIUM,
			       fragments->calls
				       ? "the trace records reserved and allocated memory"
				       : "the trace does not record the calls that reserve memory");
}

static enum ss_status fragmentation_look(struct ss_rule_context *context, struct ss_error *err)
{
	struct fragmentation_search fragments = { .context = context };
	struct ss_fragmentation found;
	bool counted = false;
	uint32_t next;

	if (!context->trace->allocations.count)
		return SS_OK;
	SS_TRY(ss_allocs_of_facts(context->subject->facts, &fragments.allocs, err));
	SS_TRY(ss_growth_init(&fragments.steps, fragments.allocs, err));
	for (uint32_t from = 0; from < fragments.steps.count; from = next) {
		if (!ss_fragmentation_find(&fragments.steps, from, &next, &found))
			continue;
		if (!counted)
			fragmentation_count_calls(&fragments);
		counted = true;
		fragmentation_report(&fragments, &found);
	}
	ss_growth_release(&fragments.steps);
	return SS_OK;
}

/* --- snapshots ----------------------------------------------------------------------- */

/* Notes that expandable segments helped: reserved memory stays near the peak. */
static void fragmentation_note_expandable(struct ss_rule_memory_context *context)
{
	const struct ss_device_memory *device = context->device;

	if (!device->is_exact || !device->action_counts[SS_ACTION_SEGMENT_MAP] || device->oom_count)
		return;
	ss_rule_memory_report(context, SS_RULE_MEMORY_NOTE, ss_rule_memory_excess(device));
	ss_rule_memory_add_evidence(
		context, NULL,
		"expandable segments prevent fragmentation: %s was reserved for a peak "
		"of %s",
		ss_rule_memory_format_bytes(context, device->peak_reserved_bytes),
		ss_rule_memory_format_bytes(context, device->peak_active_bytes));
	context->finding->fix = NULL;
	ss_rule_memory_set_confidence(context, SS_CONFIDENCE_HIGH,
				      "the snapshot records every segment and block");
}

static enum ss_status fragmentation_look_memory(struct ss_rule_memory_context *context,
						struct ss_error *err)
{
	const struct ss_device_memory *device = context->device;
	bool expandable = ss_out_of_memory_has_expandable(context->subject->snapshot);

	(void)err;
	if (!ss_rule_memory_is_fragmented(device)) {
		if (expandable)
			fragmentation_note_expandable(context);
		return SS_OK;
	}
	ss_rule_memory_report(context, SS_RULE_MEMORY_WARNING, ss_rule_memory_excess(device));
	ss_rule_memory_add_evidence(
		context, NULL, "%s is reserved, but never more than %s was in use at once",
		ss_rule_memory_format_bytes(context, device->peak_reserved_bytes),
		ss_rule_memory_format_bytes(context, device->peak_active_bytes));
	ss_rule_memory_add_evidence(
		context, NULL, "at the end %s of it is free, the largest block is %s",
		ss_rule_memory_format_bytes(context, device->end.inactive_bytes),
		ss_rule_memory_format_bytes(context, device->end.largest_free_bytes));
	if (expandable)
		ss_rule_memory_set_fix(context,
				       "%s\n"
				       "# streams and private pools do not share their free memory",
				       sizes_fix);
	ss_rule_memory_set_confidence(context, SS_CONFIDENCE_HIGH,
				      "the snapshot records every segment and block");
	return SS_OK;
}

const struct ss_rule ss_rule_fragmentation = {
	.name = "fragmentation",
	.title = "GPU memory is fragmented",
	.summary = "The allocator reserves more and more because its free blocks never fit",
	.fix = "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True python train.py\n"
	       "# or make sizes repeat: pad sequences and batches to a few fixed lengths",
	.to_record = "record five or more steps; "
		     "torch.cuda.memory._dump_snapshot() shows the blocks",
	.views = "memory memory-curve",
	.memory_views = "segments holders",
	.why = "no time is claimed; a warning where the GPU is full within 100,000 steps, or its "
	       "size is not recorded; in a snapshot where a fifth of the reserved memory, and "
	       "128 MiB, was never in use at once",
	.is_timeless = true,
	.bytes_are = "reserved and never in use",
	.facts = SS_FACT_ALLOCS,
	.look = fragmentation_look,
	.look_memory = fragmentation_look_memory,
};
