/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claimed_time.c - collects the time that rules claimed.
 */
#include "diagnose/evidence/claimed_time.h"

#include "base/sort.h"
#include "diagnose/evidence/cpu_rows.h"
#include "diagnose/rank_findings.h"

SS_COMPARATOR(taken_compare_start, struct ss_found_taken,
	      SS_ASCENDING(start_ns) SS_ASCENDING(end_ns) SS_ASCENDING(track))

/* The host sync that a gap mostly is; SS_NO_ROW: it is something else. */
static uint32_t claimed_gap_sync(const struct ss_idle *idle, const struct ss_idle_gap *gap)
{
	const struct ss_idle_piece *longest = NULL;

	for (uint32_t i = gap->piece_from; i < gap->piece_to; i++)
		if (!longest || idle->pieces[i].ns > longest->ns)
			longest = &idle->pieces[i];
	return longest && longest->cause == SS_IDLE_SYNC ? longest->guilty : SS_NO_ROW;
}

/* Marks the rows of host syncs that rules remove; false: there are none, or no memory. */
static bool claimed_find_released(const struct ss_rule_context *context, struct ss_bitmap *out)
{
	const struct ss_rank_findings *findings = context->findings;
	uint32_t count = 0;

	if (!ss_bitmap_init(out, context->trace->device_from, context->memory))
		return false;
	for (uint32_t i = 0; i < findings->claim_count; i++) {
		uint32_t row = context->graph->tasks[findings->claims[i].task].row;

		if (!findings->claims[i].releases || row >= context->trace->device_from)
			continue;
		ss_bitmap_add(out, ss_cpu_outer_call(context->trace, row));
		count++;
	}
	ss_bitmap_finish(out);
	return count > 0;
}

/* Adds the gaps of the device that a removed host sync ends. */
static void claimed_add_released(const struct ss_rule_context *context, const struct ss_idle *idle,
				 struct ss_cover *out)
{
	SS_OWNED(ss_bitmap_release) struct ss_bitmap released = { 0 };
	SS_COVER(gaps, context->memory);

	for (uint32_t i = 0;
	     i < idle->device_count && (i || claimed_find_released(context, &released)); i++) {
		if (idle->devices[i].device != context->digest->device)
			continue;
		for (uint32_t k = idle->devices[i].gap_from; k < idle->devices[i].gap_to; k++) {
			uint32_t sync = claimed_gap_sync(idle, &idle->gaps[k]);

			if (sync < context->trace->device_from &&
			    ss_bitmap_find(&released, ss_cpu_outer_call(context->trace, sync)) !=
				    SS_NO_ROW)
				ss_cover_add(&gaps, idle->gaps[k].start_ns, idle->gaps[k].end_ns);
		}
	}
	ss_cover_unite(out, &gaps);
	out->failed |= gaps.failed;
}

bool ss_rule_claimed_time(struct ss_rule_context *context, uint32_t track,
			  const struct ss_idle *idle, struct ss_cover *out)
{
	struct ss_rank_findings *findings = context->findings;

	if (!context->has_turn)
		ss_rule_await_turn(context);
	ss_cover_init(out, context->memory);
	findings->block_count = 0; /* they were those of another order */
	if (!ss_sort_runs(findings->taken, findings->taken_count, sizeof(*findings->taken),
			  taken_compare_start, findings->memory))
		return false;
	for (uint32_t i = 0; i < findings->taken_count; i++)
		if (track == SS_NO_ROW || findings->taken[i].track == track)
			ss_cover_add(out, findings->taken[i].start_ns, findings->taken[i].end_ns);
	if (idle)
		claimed_add_released(context, idle, out);
	return !out->failed;
}

/* --- places --------------------------------------------------------------------------------- */

/* Idle time of the rank's device that nobody claims; -1: no memory. */
static int64_t unclaimed_idle_ns(const struct ss_rule_context *context,
				 const struct ss_unclaimed *unclaimed)
{
	const struct ss_idle *idle = unclaimed->options.idle;
	SS_COVER(gaps, context->memory);

	for (uint32_t i = 0; i < idle->device_count; i++) {
		if (idle->devices[i].device != context->digest->device)
			continue;
		for (uint32_t k = idle->devices[i].gap_from; k < idle->devices[i].gap_to; k++)
			ss_cover_add(&gaps, idle->gaps[k].start_ns, idle->gaps[k].end_ns);
	}
	return gaps.failed ? -1
			   : ss_cover_length(&gaps) - ss_cover_common(&gaps, &unclaimed->taken);
}

static struct ss_found_taken last_taken_of(const struct ss_rank_findings *findings)
{
	return findings->taken_count ? findings->taken[findings->taken_count - 1]
				     : (struct ss_found_taken){ 0 };
}

/* Whether no rule has claimed more since: a claim extends the last stretch, or adds one. */
static bool unclaimed_is_current(const struct ss_unclaimed *unclaimed,
				 const struct ss_rank_findings *findings)
{
	struct ss_found_taken last = last_taken_of(findings);

	return unclaimed->options.steps && unclaimed->claim_count == findings->claim_count &&
	       unclaimed->taken_count == findings->taken_count &&
	       unclaimed->last_taken.start_ns == last.start_ns &&
	       unclaimed->last_taken.end_ns == last.end_ns;
}

/* Finds what is left of the steps when the claims are taken off. */
static enum ss_status unclaimed_update(struct ss_rule_context *context,
				       struct ss_unclaimed *unclaimed, struct ss_error *err)
{
	struct ss_attribution_options *options = &unclaimed->options;
	const struct ss_rank_findings *findings = context->findings;
	bool on_device = context->digest->device >= 0;

	if (unclaimed_is_current(unclaimed, findings))
		return SS_OK;
	ss_cover_release(&unclaimed->taken);
	options->steps = context->steps;
	options->taken = &unclaimed->taken;
	options->device = context->digest->device;
	if (on_device)
		SS_TRY(ss_facts_idle(context->subject->facts, &options->idle, err));
	if (!ss_rule_claimed_time(context, on_device ? SS_NO_ROW : context->graph->main,
				  options->idle, &unclaimed->taken))
		return ss_fail_memory(err, "places of the step");
	unclaimed->left_ns = on_device ? unclaimed_idle_ns(context, unclaimed)
				       : ss_cover_length(context->steps) -
						 ss_cover_common(context->steps, &unclaimed->taken);
	if (unclaimed->left_ns < 0)
		return ss_fail_memory(err, "places of the step");
	/* claimed_time has put the stretches in order */
	unclaimed->claim_count = findings->claim_count;
	unclaimed->taken_count = findings->taken_count;
	unclaimed->last_taken = last_taken_of(findings);
	unclaimed->is_measured = false;
	return SS_OK;
}

/* Brings the places up to date with the claims. */
static enum ss_status unclaimed_measure(struct ss_rule_context *context, int64_t least_ns,
					struct ss_unclaimed *unclaimed, bool *is_enough,
					struct ss_error *err)
{
	SS_TRY(unclaimed_update(context, unclaimed, err));
	*is_enough = unclaimed->left_ns >= least_ns;
	if (!*is_enough || unclaimed->is_measured)
		return SS_OK;
	if (!unclaimed->attribution.memory)
		SS_TRY(ss_attribution_make(&unclaimed->attribution, context->subject->facts,
					   &unclaimed->options, context->memory, err));
	else
		ss_attribution_measure(&unclaimed->attribution, unclaimed->options.taken);
	unclaimed->is_measured = true;
	return SS_OK;
}

static void unclaimed_release(struct ss_unclaimed *unclaimed)
{
	ss_attribution_release(&unclaimed->attribution);
	ss_cover_release(&unclaimed->taken);
}

enum ss_status ss_rule_unclaimed(struct ss_rule_context *context, int64_t least_ns,
				 struct ss_unclaimed **out, struct ss_error *err)
{
	struct ss_rule_shared *shared = context->shared;
	bool is_enough = false;

	*out = NULL;
	if (!context->steps->count || context->graph->main == SS_NO_ROW)
		return SS_OK;
	/* whose turn it is has it alone */
	if (!context->has_turn)
		ss_rule_await_turn(context);
	ss_rule_share(context);
	if (!shared->unclaimed)
		shared->unclaimed = SS_ARENA_NEW(&shared->arena, struct ss_unclaimed, 1);
	shared->release_unclaimed = unclaimed_release;
	ss_rule_unshare(context);
	if (!shared->unclaimed)
		return ss_fail_memory(err, "places of the step");
	SS_TRY(unclaimed_measure(context, least_ns, shared->unclaimed, &is_enough, err));
	if (is_enough && shared->unclaimed->attribution.rows)
		*out = shared->unclaimed;
	return SS_OK;
}
