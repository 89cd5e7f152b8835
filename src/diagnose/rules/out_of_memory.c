/* SPDX-License-Identifier: Apache-2.0 */
/*
 * out_of_memory.c - rule: an allocation failed.
 *
 * A trace shows that it happened. A memory snapshot shows why: the free memory was fragmented,
 * earlier steps kept more than was missing, or there was not enough
 * (memory/holders/out_of_memory.h); the remedies differ.
 */
#include <inttypes.h>

#include "analyze/facts.h"
#include "diagnose/snapshot_findings.h"
#include "memory/events/alloc.h"
#include "memory/holders/out_of_memory.h"

/* --- traces -------------------------------------------------------------------------- */

static enum ss_status out_of_memory_look(struct ss_rule_context *context, struct ss_error *err)
{
	const struct ss_allocs *allocs;

	if (!context->trace->allocations.count)
		return SS_OK;
	SS_TRY(ss_allocs_of_facts(context->subject->facts, &allocs, err));
	for (uint32_t i = 0; i < allocs->pools.count; i++) {
		const struct ss_pool *pool = &allocs->pools.items[i];
		struct ss_fact fact = { .row = SS_NO_ROW, .count = pool->failed };

		if (!pool->type || !pool->failed)
			continue;
		ss_rule_add_evidence(context, fact,
				     "Allocations failed: out of memory, {count} times per step");
		ss_rule_add_figure(context, 0, 1);
		ss_rule_set_confidence(context, SS_CONFIDENCE_HIGH,
				       "the trace records the failure");
	}
	return SS_OK;
}

/* --- snapshots ----------------------------------------------------------------------- */

/*
 * Share of the device that is not accounted for: the driver's context and communication buffers
 * take a few hundred MB, never a tenth of a device. More than that belongs to somebody else.
 */
#define OTHERS_SHARE 10

static void oom_report_request(struct ss_rule_memory_context *context,
			       const struct ss_out_of_memory *shortage)
{
	const struct ss_oom *oom = shortage->oom;
	const char *line =
		ss_snapshot_places_line(context->subject->spots,
					context->subject->snapshot->events.stack[oom->row]);

	ss_rule_memory_add_evidence(context, line, "%s was requested with %s in use",
				    ss_rule_memory_format_bytes(context, shortage->asked_bytes),
				    ss_rule_memory_format_bytes(context, oom->active_bytes));
	if (shortage->cause != SS_OOM_UNKNOWN)
		ss_rule_memory_add_evidence(context, NULL, "cause: %s",
					    ss_out_of_memory_cause_text(shortage->cause));
	if (oom->has_free && shortage->device_free_bytes >= 0)
		ss_rule_memory_add_evidence(
			context, NULL,
			"free: %s on the GPU, %s in the allocator's cache, the largest "
			"block there %s",
			ss_rule_memory_format_bytes(context, shortage->device_free_bytes),
			ss_rule_memory_format_bytes(context, oom->free_bytes),
			ss_rule_memory_format_bytes(context, oom->largest_bytes));
	else if (shortage->device_free_bytes >= 0)
		ss_rule_memory_add_evidence(
			context, NULL, "free: %s on the GPU",
			ss_rule_memory_format_bytes(context, shortage->device_free_bytes));
}

/* Memory held outside of the allocator, and how many allocations failed. */
static void oom_report_others(struct ss_rule_memory_context *context,
			      const struct ss_out_of_memory *shortage)
{
	uint64_t count = context->device->action_counts[SS_ACTION_OOM];
	int64_t others = ss_amount_subtract(context->size_bytes,
					    ss_amount_add(shortage->oom->reserved_bytes,
							  shortage->device_free_bytes));

	if (context->size_bytes > 0 && !context->size_is_least &&
	    shortage->device_free_bytes >= 0 && others > context->size_bytes / OTHERS_SHARE)
		ss_rule_memory_add_evidence(
			context, NULL,
			"%s of the GPU's %s is held outside of PyTorch's allocator: by "
			"another process or another library",
			ss_rule_memory_format_bytes(context, others),
			ss_rule_memory_format_bytes(context, context->size_bytes));
	if (count > 1)
		ss_rule_memory_add_evidence(context, NULL,
					    "%" PRIu64 " allocations failed; %s is explained",
					    count,
					    count == context->device->oom_count ? "the last one"
										: "one of them");
}

/* The allocator released all free segments before it failed: emptying the cache does not help. */
static const char *oom_fix_for_fragments(const struct ss_out_of_memory *shortage)
{
	if (shortage->helps_expandable)
		return "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True python train.py\n"
		       "# if that is not available: max_split_size_mb";
	if (shortage->helps_split_size)
		return "# make sizes repeat: pad to a few lengths; or keep large blocks whole:\n"
		       "PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:128 python train.py";
	return "# make sizes repeat: pad sequences to a few lengths; or a smaller batch";
}

/* Chooses the fix by the cause of the failure. */
static void oom_choose_fix(struct ss_rule_memory_context *context,
			   const struct ss_out_of_memory *shortage)
{
	const struct ss_retained *retained = context->retained;
	bool has_line = retained->count && retained->lines[0].leak_steps && retained->lines[0].line;

	switch (shortage->cause) {
	case SS_OOM_FRAGMENTS:
		ss_rule_memory_set_fix(context, "%s", oom_fix_for_fragments(shortage));
		break;
	case SS_OOM_LEAK:
		ss_rule_memory_set_fix(context, "# free what earlier steps kept, %s%s%s%s",
				       shortage->leaked_at_least ? "at least " : "",
				       ss_rule_memory_format_bytes(context, shortage->leaked_bytes),
				       has_line ? ": most of it is allocated at " : "",
				       has_line ? ss_strings_text(&context->subject->spots->texts,
								  retained->lines[0].line)
						: "");
		break;
	case SS_OOM_TOO_MUCH:
		if (shortage->helps_checkpoint)
			ss_rule_memory_set_fix(
				context,
				"# activations hold %s, %s was missing; use a smaller batch, "
				"or\n"
				"torch.utils.checkpoint.checkpoint(block, x, "
				"use_reentrant=False)",
				ss_rule_memory_format_bytes(
					context, shortage->purpose_bytes[SS_PURPOSE_ACTIVATION]),
				ss_rule_memory_format_bytes(context, shortage->missing_bytes));
		else
			ss_rule_memory_set_fix(
				context,
				"# use a smaller batch or model\n"
				"fully_shard(model)    # shards parameters and optimizer state");
		break;
	case SS_OOM_UNKNOWN:
		break;
	}
}

static enum ss_status out_of_memory_look_memory(struct ss_rule_memory_context *context,
						struct ss_error *err)
{
	const struct ss_device_memory *device = context->device;
	struct ss_out_of_memory shortage;

	if (!device->oom_count)
		return SS_OK;
	SS_TRY(ss_out_of_memory_find(context->subject, device, &device->ooms[device->oom_count - 1],
				     &shortage, err));
	ss_rule_memory_report(context, SS_RULE_MEMORY_WARNING, shortage.asked_bytes);
	context->finding->comes_first = true;
	oom_report_request(context, &shortage);
	if (shortage.cause == SS_OOM_TOO_MUCH && shortage.helps_checkpoint)
		SS_TRY(ss_rule_memory_add_checkpoint(context, err));
	oom_report_others(context, &shortage);
	oom_choose_fix(context, &shortage);
	if (shortage.oom->has_free)
		ss_rule_memory_set_confidence(
			context, SS_CONFIDENCE_HIGH,
			"the snapshot records the failure and what was free then");
	else
		ss_rule_memory_set_confidence(context, SS_CONFIDENCE_MEDIUM,
					      "the snapshot does not record what was free then");
	return SS_OK;
}

const struct ss_rule ss_rule_out_of_memory = {
	.name = "out-of-memory",
	.title = "An allocation failed: out of memory",
	.summary = "GPU memory ran out: fragmented, kept by earlier steps, or too small",
	.fix = "# a smaller batch, checkpointing, sharding; to see who holds memory:\n"
	       "torch.cuda.memory._record_memory_history()\n"
	       "torch.cuda.memory._dump_snapshot('memory.pickle')   # where it fails",
	.to_record = "call torch.cuda.memory._record_memory_history() before the run, and "
		     "torch.cuda.memory._dump_snapshot() when it fails",
	.views = "memory memory-ops",
	.memory_views = "oom holders",
	.why = "no time is claimed; a failed allocation is a warning",
	.is_timeless = true,
	.bytes_are = "requested",
	.facts = SS_FACT_ALLOCS,
	.look = out_of_memory_look,
	.look_memory = out_of_memory_look_memory,
};
