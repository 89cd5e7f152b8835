/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_headroom.c - rule: device memory is nearly full.
 *
 * It compares the peak of tensors with the memory of the device. The driver's context and
 * communication buffers take memory that no trace shows: from 90 % on a slightly longer batch
 * fails. Memory that is only reserved can be released, so that is information. A half-empty
 * device is not a fault: whether to use a larger batch is a question of training, and the view
 * memory shows the peak. A memory snapshot has the peak as well; the size of the device comes
 * from the trace of the same run. If an allocation failed, the rule out-of-memory reports it.
 */
#include "diagnose/snapshot_findings.h"
#include "memory/events/growth.h"
#include "memory/holders/held_blocks.h"

/* As in the TensorBoard plugin. */
#define FULL_SHARE 0.9

struct headroom {
	struct ss_rule_context *context;
	const struct ss_allocs *allocs;
	uint8_t *is_fragmented; /* per pool */
};

/* Reports a share of the device's memory and what is left; {count} is per step. */
static void headroom_report_share(struct ss_rule_context *context, const char *what, int64_t bytes,
				  int64_t memory_bytes)
{
	struct ss_fact fact = { .row = SS_NO_ROW };
	const char *unit;

	fact.count = 100 * (double)bytes / (double)memory_bytes * context->steps->count;
	ss_rule_add_evidence(context, fact, "%s takes {count} %% of the GPU's memory", what);
	if (bytes >= memory_bytes)
		return;
	fact.count = ss_amount_scale(ss_amount_subtract(memory_bytes, bytes), 10000, &unit) *
		     context->steps->count;
	ss_rule_add_evidence(context, fact, "left for everything else: {count} %s", unit);
}

/* Reports a device pool that is nearly full, by tensors or only by reserved memory. */
static void headroom_check_pool(const struct headroom *headroom, const struct ss_pool *pool)
{
	struct ss_rule_context *context = headroom->context;
	const struct ss_device *device = ss_pool_device(context->trace, pool);
	size_t number = (size_t)(pool - headroom->allocs->pools.items);

	if (!pool->type)
		return;
	/* sums from the beginning of the file lack what was allocated before it */
	if (!device || device->memory_bytes <= 0 || !pool->has_totals)
		return;
	if ((double)pool->peak_bytes >= FULL_SHARE * (double)device->memory_bytes) {
		headroom_report_share(context, "The peak of tensors", pool->peak_bytes,
				      device->memory_bytes);
		ss_rule_add_figure(context, 0, 1);
		ss_rule_set_confidence(context, SS_CONFIDENCE_HIGH,
				       "the trace has allocations and the GPU's memory size");
	} else if ((double)pool->reserved_bytes >= FULL_SHARE * (double)device->memory_bytes &&
		   !headroom->is_fragmented[number]) {
		headroom_report_share(context, "The allocator's cache", pool->reserved_bytes,
				      device->memory_bytes);
		ss_rule_set_confidence(context, SS_CONFIDENCE_MEDIUM,
				       "tensors need less: the allocator can release memory");
	}
}

/* Finds pools whose reserved memory grows without need: the rule fragmentation reports those. */
static enum ss_status headroom_find_fragments(struct headroom *headroom, struct ss_error *err)
{
	struct ss_growth steps;
	struct ss_fragmentation found;
	uint32_t next;

	SS_TRY(ss_growth_init(&steps, headroom->allocs, err));
	for (uint32_t from = 0; from < steps.count; from = next)
		if (ss_fragmentation_find(&steps, from, &next, &found))
			headroom->is_fragmented[found.pool] = true;
	ss_growth_release(&steps);
	return SS_OK;
}

static enum ss_status memory_headroom_look(struct ss_rule_context *context, struct ss_error *err)
{
	struct headroom headroom = { .context = context };

	if (!context->trace->allocations.count)
		return SS_OK;
	SS_TRY(ss_allocs_of_facts(context->subject->facts, &headroom.allocs, err));
	if (!SS_ALLOC(context->scratch, headroom.is_fragmented,
		      (size_t)headroom.allocs->pools.count + 1))
		return ss_fail_memory(err, "the memory of devices");
	SS_TRY(headroom_find_fragments(&headroom, err));
	for (uint32_t i = 0; i < headroom.allocs->pools.count; i++)
		headroom_check_pool(&headroom, &headroom.allocs->pools.items[i]);
	return SS_OK;
}

/* --- snapshots ----------------------------------------------------------------------- */

/* What is allocated at the peak, by purpose. */
static enum ss_status headroom_sum_peak(const struct ss_rule_memory_context *context,
					int64_t bytes[SS_PURPOSE_COUNT], struct ss_error *err)
{
	struct ss_held_blocks held;

	SS_TRY(ss_held_blocks_init(&held, context->subject, context->device,
				   context->device->peak_row, err));
	for (uint32_t i = 0; i < held.count; i++) {
		int64_t *sum = &bytes[held.items[i].purpose];

		*sum = ss_amount_add(*sum, held.items[i].bytes);
	}
	ss_held_blocks_release(&held);
	return SS_OK;
}

/* Activations can be recomputed; parameters and optimizer state can be sharded over ranks. */
static enum ss_status headroom_report_peak(struct ss_rule_memory_context *context,
					   struct ss_error *err)
{
	int64_t bytes[SS_PURPOSE_COUNT] = { 0 }, activations, state;

	SS_TRY(headroom_sum_peak(context, bytes, err));
	activations = bytes[SS_PURPOSE_ACTIVATION];
	state = ss_amount_add(ss_amount_add(bytes[SS_PURPOSE_PARAMETER],
					    bytes[SS_PURPOSE_GRADIENT]),
			      bytes[SS_PURPOSE_OPTIMIZER]);
	if (activations || state)
		ss_rule_memory_add_evidence(
			context, NULL,
			"of the peak %s are activations, %s are parameters, gradients "
			"and optimizer state",
			ss_rule_memory_format_bytes(context, activations),
			ss_rule_memory_format_bytes(context, state));
	SS_TRY(ss_rule_memory_add_checkpoint(context, err));
	if (state > activations)
		ss_rule_memory_set_fix(
			context,
			"fully_shard(model)   # parameters and optimizer state take most of it\n"
			"# or use an optimizer with less state, or a smaller batch");
	ss_rule_memory_set_confidence(context, SS_CONFIDENCE_HIGH,
				      "the recording has allocations and the GPU's memory size");
	return SS_OK;
}

/* If an allocation failed, the rule out-of-memory reports it, and this one stays silent. */
static enum ss_status memory_headroom_look_memory(struct ss_rule_memory_context *context,
						  struct ss_error *err)
{
	const struct ss_device_memory *device = context->device;
	double least = FULL_SHARE * (double)context->size_bytes;
	bool is_full = (double)device->peak_active_bytes >= least;
	int64_t bytes = is_full ? device->peak_active_bytes : device->peak_reserved_bytes;

	if (context->size_bytes <= 0 || device->oom_count || (double)bytes < least ||
	    (!is_full && ss_rule_memory_is_fragmented(device)))
		return SS_OK;
	ss_rule_memory_report(context, is_full ? SS_RULE_MEMORY_WARNING : SS_RULE_MEMORY_INFO,
			      bytes);
	ss_rule_memory_add_evidence(context, NULL,
				    "%s at the peak takes %s, %.0f %% of the GPU's %s",
				    is_full ? "allocated memory" : "the allocator's cache",
				    ss_rule_memory_format_bytes(context, bytes),
				    100 * (double)bytes / (double)context->size_bytes,
				    ss_rule_memory_format_bytes(context, context->size_bytes));
	if (is_full)
		return headroom_report_peak(context, err);
	ss_rule_memory_set_confidence(context, SS_CONFIDENCE_MEDIUM,
				      "tensors need less: the allocator can release memory");
	return SS_OK;
}

const struct ss_rule ss_rule_memory_headroom = {
	.name = "memory-headroom",
	.title = "GPU memory is nearly full",
	.summary = "Tensors take 90 % of GPU memory: the next longer batch may fail",
	.fix = "with torch.autocast('cuda', dtype=torch.bfloat16): ...   # half as much\n"
	       "torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)\n"
	       "# or a smaller batch with accumulation; sharded: fully_shard(model)",
	.to_record = "record profile(profile_memory=True) over the longest batches; "
		     "torch.cuda.memory_stats() counts num_alloc_retries and num_ooms",
	.views = "memory memory-ops",
	.memory_views = "holders phases",
	.why = "no time is claimed; a warning where tensors hold 90 %, as in the TensorBoard "
	       "plugin; information where memory is only reserved",
	.is_timeless = true,
	.bytes_are = "at the peak",
	.facts = SS_FACT_ALLOCS,
	.look = memory_headroom_look,
	.look_memory = memory_headroom_look_memory,
};
