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

/* The same measure as for a leak: full within a day at a step a second. */
#define WORRY_STEPS 100000

/* c10::DeviceType of what has expandable segments. */
#define CUDA 1

/* Where segments are expandable already, or the device has none that are. */
static const char sizes_fix[] = "# make sizes repeat: pad to a few fixed lengths, e.g.\n"
				"length = -(-longest // 128) * 128\n"
				"DataLoader(..., drop_last=True)";

struct fragments {
	struct ss_look *look;
	const struct ss_allocs *allocs;
	struct ss_step_memories steps;
	uint32_t call;  /* first row that took memory from the device in a step */
	int64_t calls;  /* how many */
	bool is_mapped; /* pieces of expandable segments are mapped */
};

/* Calls that take memory from the device, in the measured steps. */
static void count_calls(struct fragments *fragments)
{
	const struct ss_trace *trace = fragments->look->trace;

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

/* For {count}: an amount that stands for each step. */
static double always(const struct ss_look *look, double amount)
{
	return amount * look->steps->count;
}

/* Whether the device is full soon; where its size is not recorded it may be. */
static bool is_urgent(struct fragments *fragments, const struct ss_fragmentation *found)
{
	struct ss_look *look = fragments->look;
	const struct ss_pool *pool = &fragments->allocs->pools.items[found->pool];
	const struct ss_device *device = ss_pool_device(look->trace, pool);
	int64_t rate_bytes = ss_bytes_less(found->last_bytes, found->first_bytes) /
			     (found->steps - 1);
	double left;

	if (!device || device->memory_bytes <= 0 || rate_bytes <= 0)
		return true;
	left = found->last_bytes < device->memory_bytes
		       ? (double)((device->memory_bytes - found->last_bytes) / rate_bytes)
		       : 0;
	ss_look_evidence(look, (struct ss_fact){ .row = SS_NO_ROW, .count = always(look, left) },
			 "at this rate the GPU is full after {count} step{?|s}");
	return left <= WORRY_STEPS;
}

/* An amount between two pieces of a sentence. */
static void tell_bytes(struct ss_look *look, const char *before, int64_t bytes, const char *after)
{
	const char *unit;
	double amount = ss_bytes_scaled(bytes, 10000, &unit);

	ss_look_evidence(look, (struct ss_fact){ .row = SS_NO_ROW, .count = always(look, amount) },
			 "%s {count} %s%s", before, unit, after);
}

static void tell(struct fragments *fragments, const struct ss_fragmentation *found)
{
	struct ss_look *look = fragments->look;
	const struct ss_trace *trace = look->trace;
	struct ss_fact fact = { .row = fragments->call, .count = (double)fragments->calls };

	tell_bytes(look, "Reserved memory grows by",
		   ss_bytes_less(found->last_bytes, found->first_bytes) / (found->steps - 1),
		   " per step");
	tell_bytes(look, "Tensors never hold more than", found->peak_bytes, "");
	if (is_urgent(fragments, found))
		ss_look_figure(look, 0, 1);
	if (fragments->calls)
		ss_look_evidence(look, fact,
				 "%s is called {count} times per step: no free block of "
				 "the cache fits",
				 ss_strings_text(&trace->names,
						 trace->slices.name[fragments->call]));
	tell_bytes(look, "in the last step", found->last_bytes, " are reserved");
	if (fragments->is_mapped || fragments->allocs->pools.items[found->pool].type != CUDA)
		ss_look_fix(look, sizes_fix);
	ss_look_confidence(look, fragments->calls ? SS_CONFIDENCE_HIGH : SS_CONFIDENCE_MEDIUM,
			   fragments->calls
				   ? "the trace records reserved and allocated memory"
				   : "the trace does not record the calls that reserve memory");
}

static enum ss_status look_for_fragments(struct ss_look *look, struct ss_error *err)
{
	struct fragments fragments = { .look = look };
	struct ss_fragmentation found;
	bool counted = false;
	uint32_t next;

	if (!look->trace->allocations.count || !look->steps->count)
		return SS_OK;
	SS_TRY(ss_facts_allocs(look->subject->facts, &fragments.allocs, err));
	SS_TRY(ss_step_memories_init(&fragments.steps, fragments.allocs, err));
	for (uint32_t from = 0; from < fragments.steps.count; from = next) {
		if (!ss_fragmentation_find(&fragments.steps, from, &next, &found))
			continue;
		if (!counted)
			count_calls(&fragments);
		counted = true;
		tell(&fragments, &found);
	}
	ss_step_memories_release(&fragments.steps);
	return SS_OK;
}

/* --- snapshots ----------------------------------------------------------------------- */

/* Expandable segments, and reserved memory that stays with the peak: it helped. */
static void note_expandable(struct ss_memory_look *look)
{
	const struct ss_device_memory *device = look->device;

	if (!device->is_exact || !device->action_counts[SS_ACTION_SEGMENT_MAP] || device->oom_count)
		return;
	ss_memory_find(look, SS_MEMORY_NOTE, ss_memory_excess(device));
	ss_memory_evidence(look, NULL,
			   "expandable segments prevent fragmentation: %s was reserved for a peak "
			   "of %s",
			   ss_memory_amount(look, device->peak_reserved_bytes),
			   ss_memory_amount(look, device->peak_active_bytes));
	look->finding->fix = NULL;
	ss_memory_confidence(look, SS_CONFIDENCE_HIGH,
			     "the snapshot records every segment and block");
}

static enum ss_status look_for_excess(struct ss_memory_look *look, struct ss_error *err)
{
	const struct ss_device_memory *device = look->device;
	bool expandable = ss_out_of_memory_has_expandable(look->subject->snapshot);

	(void)err;
	if (!ss_memory_is_fragmented(device)) {
		if (expandable)
			note_expandable(look);
		return SS_OK;
	}
	ss_memory_find(look, SS_MEMORY_WARNING, ss_memory_excess(device));
	ss_memory_evidence(look, NULL, "%s is reserved, but never more than %s was in use at once",
			   ss_memory_amount(look, device->peak_reserved_bytes),
			   ss_memory_amount(look, device->peak_active_bytes));
	ss_memory_evidence(look, NULL, "at the end %s of it is free, the largest block is %s",
			   ss_memory_amount(look, device->end.inactive_bytes),
			   ss_memory_amount(look, device->end.largest_free_bytes));
	if (expandable)
		ss_memory_fix(look,
			      "%s\n"
			      "# streams and private pools do not share their free memory",
			      sizes_fix);
	ss_memory_confidence(look, SS_CONFIDENCE_HIGH,
			     "the snapshot records every segment and block");
	return SS_OK;
}

const struct ss_rule ss_rule_fragmentation = {
	.name = "fragmentation",
	.title = "GPU memory is fragmented",
	.summary = "The allocator reserves more and more because its free blocks never fit",
	.fix = "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True python train.py\n"
	       "# or make sizes repeat: pad sequences and batches to a few fixed lengths",
	.surer = "record profile(profile_memory=True, with_stack=True) over five or more steps; "
		 "torch.cuda.memory._dump_snapshot() shows the blocks",
	.views = "memory memory-curve",
	.memory_views = "segments holders",
	.why = "no time is claimed; a warning where the GPU is full within 100,000 steps, or its "
	       "size is not recorded; in a snapshot where a fifth of the reserved memory, and "
	       "128 MiB, was never in use at once",
	.is_timeless = true,
	.bytes_are = "reserved and never in use",
	.facts = SS_FACT_ALLOCS,
	.look = look_for_fragments,
	.look_memory = look_for_excess,
};
