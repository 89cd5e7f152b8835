/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exposed_communication.c - rule: the devices are idle while data moves between them.
 *
 * If all ranks of the job are recorded, only the transfer counts, from the moment when the last
 * member has arrived; another rule covers the wait for late ranks. Compute that does not need the
 * data could hide a transfer: parameters could have been gathered while the previous layer
 * computed; gradients could have been sent in buckets while backward computed, all but the last
 * one. For a rank whose partners are not recorded, transfer and waiting look alike: the rule
 * reports all exposed time.
 *
 * Small collectives that come one after another could be one (small_collectives.h): they are a
 * finding of their own.
 */
#include "diagnose/diagnose.h"
#include "diagnose/evidence/possible_overlap.h"
#include "diagnose/evidence/small_collectives.h"

/*
 * The transfers of a single rank include waiting for others, and tensor parallel ranks normally
 * spend 10 % on them. nsys-ai calls a step communication-bound from 20 % on.
 */
#define LONE_WARN_SHARE 0.15

enum exposure_setting { SETTING_PREFETCH, SETTING_BUCKETS, SETTING_LONE, SETTINGS };

static const char *const fixes[SETTINGS] = {
	[SETTING_PREFETCH] = "# FSDP2: gather the next layers while this one computes\n"
			     "for i, layer in enumerate(layers[:-1]):\n"
			     "    layer.set_modules_to_forward_prefetch([layers[i + 1]])\n"
			     "for i, layer in enumerate(layers[1:], 1):\n"
			     "    layer.set_modules_to_backward_prefetch([layers[i - 1]])\n"
			     "# FSDP1: FSDP(..., forward_prefetch=True,\n"
			     "#             backward_prefetch=BackwardPrefetch.BACKWARD_PRE)",
	[SETTING_BUCKETS] =
		"model = DDP(model, bucket_cap_mb=25, gradient_as_bucket_view=True)\n"
		"# sends gradients while backward computes; no own all_reduce() after\n"
		"# backward, or in param.register_post_accumulate_grad_hook, async_op=True",
	[SETTING_LONE] = "stepscope FOLDER_OF_ALL_RANKS   # separates waiting from transfer\n"
			 "# hide transfers: DDP(bucket_cap_mb=25), FSDP(forward_prefetch=True),\n"
			 "# async_op=True with wait() where the data is needed",
};

static const char *const sentences[SETTINGS] = {
	[SETTING_PREFETCH] =
		"all-gathers start only when their layer needs them; the layer before could hide "
		"{time} per step ({count} of them)",
	[SETTING_BUCKETS] =
		"gradients wait for the end of backward; backward could hide {time} per "
		"step ({count} transfer{?|s})",
	[SETTING_LONE] = "nothing computes during {time} of communication per step ({count} "
			 "collective{?|s})",
};

static const char small_fix[] =
	"flat = torch.stack(values)        # torch.cat([v.flatten() for v in values])\n"
	"dist.all_reduce(flat)             # one collective instead of one per value\n"
	"values = flat.unbind()            # metrics: only in the steps that log them";

struct exposure_tally {
	int64_t ns;
	double count;
};

struct exposure {
	struct ss_judgement *judgement;
	struct ss_finding *finding;
	struct exposure_tally tallies[SETTINGS];
	uint32_t steps;
};

static enum exposure_setting exposure_setting_of(const struct ss_hidden *hidden)
{
	switch (hidden->how) {
	case SS_HIDDEN_PREFETCH:
		return SETTING_PREFETCH;
	case SS_HIDDEN_BUCKETS:
		return SETTING_BUCKETS;
	default:
		return SETTING_LONE;
	}
}

static void exposure_claim(struct exposure *exposure, uint32_t rank, const struct ss_hidden *hidden)
{
	struct ss_judgement *judgement = exposure->judgement;
	int64_t recorded_ns = ss_packed_own(&judgement->graphs[rank], hidden->task);
	struct exposure_tally *tally = &exposure->tallies[exposure_setting_of(hidden)];
	struct ss_claim claim = { .task = hidden->task,
				  .own_ns = hidden->own_ns,
				  .low_ns = hidden->low_ns,
				  .high_ns = hidden->high_ns };

	if (!exposure->finding)
		exposure->finding =
			ss_judgement_add(judgement, SS_NO_ROW, "%s",
					 judgement->joined->ranks[rank].device < 0
						 ? "Exposed communication: ranks wait for transfers"
						 : judgement->rule->title);
	if (!exposure->finding || !ss_judgement_claim(judgement, exposure->finding, rank, claim))
		return;
	tally->ns = ss_ns_sum(tally->ns, recorded_ns - hidden->own_ns);
	tally->count++;
}

static void exposure_report(struct exposure *exposure)
{
	struct ss_finding *finding = exposure->finding;
	enum exposure_setting best = SETTING_PREFETCH;

	for (int i = 0; i < SETTINGS; i++) {
		const struct exposure_tally *tally = &exposure->tallies[i];

		if (tally->ns > exposure->tallies[best].ns)
			best = (enum exposure_setting)i;
		if (tally->ns)
			ss_judgement_add_counted(exposure->judgement, finding,
						 tally->ns / exposure->steps,
						 tally->count / exposure->steps, "%s",
						 sentences[i]);
	}
	finding->fix = fixes[best];
	finding->confidence = SS_CONFIDENCE_MEDIUM;
	finding->reason = "the overlap is estimated from the compute near it";
	if (best == SETTING_LONE) {
		finding->warn_share = LONE_WARN_SHARE;
		finding->confidence = SS_CONFIDENCE_LOW;
		finding->reason = "one rank alone: waiting looks like transfer";
	}
}

static enum ss_status exposure_judge_ranks(struct exposure *exposure, struct ss_error *err)
{
	struct ss_judgement *judgement = exposure->judgement;

	for (uint32_t r = 0; r < judgement->rank_count && !judgement->failed; r++) {
		struct ss_possible_overlap hiding;
		SS_SCRATCH(scratch, judgement->diagnosis->memory);

		if (!judgement->graphs[r].step_count)
			continue;
		if (!ss_possible_overlap_find(&hiding, judgement, r, &scratch))
			return ss_fail_memory(err, "exposed communication");
		exposure->steps += judgement->graphs[r].step_count;
		for (uint32_t i = 0; i < hiding.count; i++)
			exposure_claim(exposure, r, &hiding.items[i]);
	}
	if (exposure->finding && exposure->finding->edits.count)
		exposure_report(exposure);
	return SS_OK;
}

/* What `look` claimed: collectives that could be part of others. */
static void exposure_judge_small(struct ss_judgement *judgement)
{
	struct ss_finding *finding = NULL;

	for (uint32_t r = 0; r < judgement->rank_count && !judgement->failed; r++) {
		if (!ss_judgement_count_claims(judgement, r))
			continue;
		if (!finding)
			finding = ss_judgement_add(judgement, SS_NO_ROW,
						   "Many small collectives, one after another");
		if (!finding)
			return;
		finding->fix = small_fix;
		finding->to_record = NULL;
		ss_judgement_take_rank(judgement, finding, r);
	}
}

static enum ss_status exposed_communication_judge(struct ss_judgement *judgement,
						  struct ss_error *err)
{
	struct exposure exposure = { .judgement = judgement };

	if (!judgement->joined || judgement->rank_count != judgement->joined->rank_count)
		return SS_OK;
	exposure_judge_small(judgement);
	return exposure_judge_ranks(&exposure, err);
}

/* All ranks together show what is waiting and what is transfer; one alone what is small. */
static enum ss_status exposed_communication_look(struct ss_rule_context *context,
						 struct ss_error *err)
{
	return ss_small_collectives_claim(context, err);
}

const struct ss_rule ss_rule_exposed_communication = {
	.name = "exposed-communication",
	.title = "Exposed communication: the GPUs wait for transfers",
	.summary = "Transfers that compute could hide: late all-gathers, late gradients",
	.fix = "# overlap communication with compute",
	.to_record = "record all ranks in the same steps: that separates waiting from transfer",
	.views = "communication collectives",
	.warn_share = 0.03,
	.silent_share = 0.01,
	.why = "only what can be hidden counts, and a setting does it: 3 % is worth that; below "
	       "1 % steps differ by more",
	.look = exposed_communication_look,
	.judge = exposed_communication_judge,
};
