/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline_bubble.c - rule: too few micro-batches for the stages of a pipeline.
 *
 * While the first micro-batch passes through the stages, and while the last one does, most stages
 * are idle: with p stages and m micro-batches for (p - 1) / m of the work. More and smaller
 * micro-batches of the same batch shorten that. The rule measures the idle time of the stages.
 *
 * No task contains the waiting. So the fix is replayed as if all stages but the busiest computed
 * less, in proportion to the smaller micro-batch: the busiest stage waits for one micro-batch of
 * theirs.
 */
#include "diagnose/diagnose.h"
#include "diagnose/rank_findings.h"
#include "replay/pipelines.h"

/* Usual idle share of 1F1B schedules: more micro-batches gain little beyond it. */
#define BUBBLE_SHARE 0.1

/*
 * Each kernel of an additional micro-batch costs a gap of 1 us, and about 2 us to fill the device
 * and to drain from it.
 */
#define KERNEL_NS 3000

/* Nobody uses more micro-batches. */
#define MICRO_MAX 1024

/* How many micro-batches bring the idle time down to the usual share. */
static double bubble_enough_micro(const struct ss_pipeline *own)
{
	double behind = own->stages - 1, more = own->micro;

	while (more >= 1 && more < MICRO_MAX && behind / (more + behind) > BUBBLE_SHARE)
		more *= 2;
	return more;
}

/* How much longer a stage's kernels take when they are more and smaller. */
static double bubble_cost_of_more(const struct ss_pipeline *own, double more)
{
	return own->kernels * (more / own->micro - 1) * KERNEL_NS;
}

/* Whether the busiest stage waits less with more micro-batches than they cost. */
static bool bubble_is_worth_fixing(const struct ss_pipeline *own, double more)
{
	return (double)(own->span_ns - own->work_ns) * (1 - own->micro / more) >
	       bubble_cost_of_more(own, more);
}

/*
 * The factor for the time of a stage. The busiest stage computes all the time, except while the
 * first micro-batch is on its way to it and the last one has left it: as long as the other stages
 * take for one micro-batch. Its own work remains, plus the cost of more kernels. The work of the
 * others shrinks with the size of a micro-batch.
 */
static double bubble_rank_scale(const struct ss_pipeline *own, double more, uint32_t rank)
{
	double scale;

	if (rank != own->busiest)
		return own->micro / more;
	if (own->busy_ns <= 0)
		return 1;
	scale = 1 + bubble_cost_of_more(own, more) / (double)own->busy_ns;
	/* nothing is saved either way */
	return scale < SS_EDIT_SCALE_MAX ? scale : SS_EDIT_SCALE_MAX;
}

static void bubble_claim(struct ss_judgement *judgement, struct ss_finding *finding, uint32_t rank,
			 double scale)
{
	const struct ss_packed *graph = &judgement->graphs[rank];

	for (uint32_t i = 0; i < graph->task_count && !judgement->failed; i++) {
		if (!ss_pipeline_passes(graph, i))
			continue;
		/* it is this rule's if no other has it */
		(void)!ss_rank_findings_claim(judgement->rank_findings[rank], judgement->number, i);
		ss_judgement_scale(judgement, finding, rank, i, scale, scale);
	}
}

static void bubble_report(struct ss_judgement *judgement, struct ss_finding *finding,
			  const struct ss_pipeline *own, double more)
{
	uint32_t behind = own->stages - 1;

	ss_judgement_add_evidence(
		judgement, finding, (own->span_ns - own->work_ns) / own->steps,
		"%u stages pass %.0f micro-batches per step, and the busiest stage is "
		"idle for {time}",
		own->stages, own->micro);
	ss_judgement_add_evidence(
		judgement, finding, 0,
		"%.0f micro-batches would leave %.0f %% of the time idle; %.0f leave %.0f %%", more,
		100 * behind / (more + behind), own->micro, 100 * behind / (own->micro + behind));
	finding->confidence = SS_CONFIDENCE_MEDIUM;
	finding->reason = "the saving follows from the schedule";
}

/* One finding for all pipelines that more micro-batches would speed up. */
static void bubble_judge_pipelines(struct ss_judgement *judgement, const struct ss_pipelines *all)
{
	struct ss_finding *finding = NULL;

	for (uint32_t i = 0; i < all->count && !judgement->failed; i++) {
		const struct ss_pipeline *own = &all->items[i];
		double more = bubble_enough_micro(own);
		bool is_first = !finding;

		if (own->micro < 1 || more <= own->micro || !bubble_is_worth_fixing(own, more))
			continue;
		if (!finding)
			finding = ss_judgement_add(judgement, SS_NO_ROW, NULL);
		if (!finding)
			break;
		for (uint32_t k = 0; k < own->stages; k++) {
			uint32_t rank = all->ranks[own->first + k];

			bubble_claim(judgement, finding, rank, bubble_rank_scale(own, more, rank));
		}
		if (is_first)
			bubble_report(judgement, finding, own, more);
	}
}

static enum ss_status pipeline_bubble_judge(struct ss_judgement *judgement, struct ss_error *err)
{
	struct ss_pipelines all;

	if (!judgement->joined)
		return SS_OK;
	if (!ss_pipelines_find(&all, judgement->replay, judgement->diagnosis->memory))
		return ss_fail_memory(err, "the stages of the pipeline");
	bubble_judge_pipelines(judgement, &all);
	ss_pipelines_release(&all);
	return SS_OK;
}

/* This rule only compares ranks. */
static enum ss_status pipeline_bubble_look(struct ss_rule_context *context, struct ss_error *err)
{
	(void)context;
	(void)err;
	return SS_OK;
}

const struct ss_rule ss_rule_pipeline_bubble = {
	.name = "pipeline-bubble",
	.title = "Pipeline stages are idle while the pipeline fills and drains",
	.summary = "Too few micro-batches for the number of pipeline stages",
	.fix = "# ten times as many micro-batches as stages, or several stages per rank\n"
	       "schedule = Schedule1F1B(stage, n_microbatches=32, loss_fn=loss_fn)\n"
	       "# torch: ScheduleInterleaved1F1B; Megatron: --micro-batch-size 1,\n"
	       "# --num-layers-per-virtual-pipeline-stage",
	.to_record = NULL,
	.views = "ranks gaps",
	.warn_share = 0.05,
	.silent_share = 0.02,
	.why = "1F1B schedules run with 5 to 10 % idle time; a gain below 2 % is lost again "
	       "to smaller kernels",
	.is_stand_in = true,
	.look = pipeline_bubble_look,
	.judge = pipeline_bubble_judge,
};
