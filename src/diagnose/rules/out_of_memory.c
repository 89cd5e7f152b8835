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

static enum ss_status look_for_failures(struct ss_look *look, struct ss_error *err)
{
	const struct ss_allocs *allocs;

	if (!look->trace->allocations.count || !look->steps->count)
		return SS_OK;
	SS_TRY(ss_facts_allocs(look->subject->facts, &allocs, err));
	for (uint32_t i = 0; i < allocs->pools.count; i++) {
		const struct ss_pool *pool = &allocs->pools.items[i];
		struct ss_fact fact = { .row = SS_NO_ROW, .count = pool->failed };

		if (!pool->type || !pool->failed)
			continue;
		ss_look_evidence(look, fact,
				 "Allocations failed: out of memory, {count} times per step");
		ss_look_figure(look, 0, 1);
		ss_look_confidence(look, SS_CONFIDENCE_HIGH, "the trace records the failure");
	}
	return SS_OK;
}

/* --- snapshots ----------------------------------------------------------------------- */

/*
 * Of the device, what neither this process nor the driver can have lost: the driver's context
 * and the buffers of communication take a few hundred MB, never a tenth of a device.
 */
#define OTHERS_SHARE 10

static void tell_request(struct ss_memory_look *look, const struct ss_out_of_memory *shortage)
{
	const struct ss_oom *oom = shortage->oom;
	const char *line = ss_stack_places_line(look->subject->spots,
						look->subject->snapshot->events.stack[oom->row]);

	ss_memory_evidence(look, line, "%s was requested with %s in use",
			   ss_memory_amount(look, shortage->asked_bytes),
			   ss_memory_amount(look, oom->active_bytes));
	if (shortage->cause != SS_OOM_UNKNOWN)
		ss_memory_evidence(look, NULL, "cause: %s",
				   ss_out_of_memory_cause_text(shortage->cause));
	if (oom->has_free && shortage->device_free_bytes >= 0)
		ss_memory_evidence(look, NULL,
				   "free: %s on the GPU, %s in the allocator's cache, the largest "
				   "block there %s",
				   ss_memory_amount(look, shortage->device_free_bytes),
				   ss_memory_amount(look, oom->free_bytes),
				   ss_memory_amount(look, oom->largest_bytes));
	else if (shortage->device_free_bytes >= 0)
		ss_memory_evidence(look, NULL, "free: %s on the GPU",
				   ss_memory_amount(look, shortage->device_free_bytes));
}

/* Who else has the device, and how often it failed. */
static void tell_more(struct ss_memory_look *look, const struct ss_out_of_memory *shortage)
{
	uint64_t count = look->device->action_counts[SS_ACTION_OOM];
	int64_t others = ss_bytes_less(look->size_bytes, ss_bytes_add(shortage->oom->reserved_bytes,
								      shortage->device_free_bytes));

	if (look->size_bytes > 0 && !look->size_is_least && shortage->device_free_bytes >= 0 &&
	    others > look->size_bytes / OTHERS_SHARE)
		ss_memory_evidence(look, NULL,
				   "%s of the GPU's %s is held outside of PyTorch's allocator: by "
				   "another process or another library",
				   ss_memory_amount(look, others),
				   ss_memory_amount(look, look->size_bytes));
	if (count > 1)
		ss_memory_evidence(look, NULL, "%" PRIu64 " allocations failed; %s is explained",
				   count,
				   count == look->device->oom_count ? "the last one"
								    : "one of them");
}

/* Segments that are wholly free were given back before it failed: emptying the cache is no help. */
static const char *fix_of_pieces(const struct ss_out_of_memory *shortage)
{
	if (shortage->helps_expandable)
		return "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True python train.py\n"
		       "# if that is not available: max_split_size_mb";
	if (shortage->helps_split_size)
		return "# make sizes repeat: pad to a few lengths; or keep large blocks whole:\n"
		       "PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:128 python train.py";
	return "# make sizes repeat: pad sequences to a few lengths; or a smaller batch";
}

static void choose_fix(struct ss_memory_look *look, const struct ss_out_of_memory *shortage)
{
	const struct ss_retained *kept = look->kept;
	bool has_line = kept->count && kept->lines[0].leak_steps && kept->lines[0].line;

	switch (shortage->cause) {
	case SS_OOM_FRAGMENTS:
		ss_memory_fix(look, "%s", fix_of_pieces(shortage));
		break;
	case SS_OOM_LEAK:
		ss_memory_fix(look, "# free what earlier steps kept, %s%s%s%s",
			      shortage->leaked_at_least ? "at least " : "",
			      ss_memory_amount(look, shortage->leaked_bytes),
			      has_line ? ": most of it is allocated at " : "",
			      has_line ? ss_strings_text(&look->subject->spots->texts,
							 kept->lines[0].line)
				       : "");
		break;
	case SS_OOM_TOO_MUCH:
		if (shortage->helps_checkpoint)
			ss_memory_fix(look,
				      "# activations hold %s, %s was missing; use a smaller batch, "
				      "or\n"
				      "torch.utils.checkpoint.checkpoint(block, x, "
				      "use_reentrant=False)",
				      ss_memory_amount(
					      look, shortage->purpose_bytes[SS_PURPOSE_ACTIVATION]),
				      ss_memory_amount(look, shortage->missing_bytes));
		else
			ss_memory_fix(
				look,
				"# use a smaller batch or model\n"
				"fully_shard(model)    # shards parameters and optimizer state");
		break;
	case SS_OOM_UNKNOWN:
		break;
	}
}

static enum ss_status look_at_failure(struct ss_memory_look *look, struct ss_error *err)
{
	const struct ss_device_memory *device = look->device;
	struct ss_out_of_memory shortage;

	if (!device->oom_count)
		return SS_OK;
	SS_TRY(ss_out_of_memory_find(look->subject, device, &device->ooms[device->oom_count - 1],
				     &shortage, err));
	ss_memory_find(look, SS_MEMORY_WARNING, shortage.asked_bytes);
	look->finding->comes_first = true;
	tell_request(look, &shortage);
	if (shortage.cause == SS_OOM_TOO_MUCH && shortage.helps_checkpoint)
		SS_TRY(ss_memory_tell_checkpoint(look, err));
	tell_more(look, &shortage);
	choose_fix(look, &shortage);
	if (shortage.oom->has_free)
		ss_memory_confidence(look, SS_CONFIDENCE_HIGH,
				     "the snapshot records the failure and what was free then");
	else
		ss_memory_confidence(look, SS_CONFIDENCE_MEDIUM,
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
	.surer = "call torch.cuda.memory._record_memory_history() before the run, and "
		 "torch.cuda.memory._dump_snapshot() when it fails",
	.views = "memory memory-ops",
	.memory_views = "oom holders",
	.why = "no time is claimed; a failed allocation is a warning",
	.is_timeless = true,
	.bytes_are = "requested",
	.facts = SS_FACT_ALLOCS,
	.look = look_for_failures,
	.look_memory = look_at_failure,
};
