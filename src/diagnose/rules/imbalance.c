/* SPDX-License-Identifier: Apache-2.0 */
/*
 * imbalance.c - rule: in each step a different rank has the most work, or one stage of a pipeline
 * has much more than the others.
 *
 * No rank is to blame, the data is: in every step all ranks wait for the one with the longest
 * sequences, and in the next step that is another rank. stragglers/verdict.h decides whether that
 * is so. The fix gives each rank with more work as much as the median rank has in that step, and
 * as much memory to allocate; at worst the total stays the same and each rank gets the mean.
 * Without devices ranks share their cores, so we expect the mean.
 */
#include <stdio.h>

#include "diagnose/diagnose.h"
#include "diagnose/stragglers/compared.h"
#include "diagnose/stragglers/uneven_stages.h"
#include "replay/pipelines.h"

/* A rank must have this much more work in a step than the median rank: less is noise. */
#define LEAST_MORE 0.02

/*
 * If other waits hide who is late, the amount of work shows it: in this share of the steps, and in
 * at least this number of them, one rank computes this much more than the median rank. Kernels of
 * a healthy job differ by a few percent.
 */
#define HIDDEN_PERCENT 80
#define HIDDEN_STEPS_MIN 3
#define HIDDEN_MORE 1.1

/*
 * The first stage has the embedding, the last one the head and the loss, as long as a few layers:
 * small models have two times the work there. A stage with more is split badly.
 */
#define STAGE_MORE 3.0

/* Another split means another checkpoint layout: less is not worth it. */
#define STAGE_WARN_SHARE 0.05

static const char stage_fix[] =
	"# fewer layers for this stage, more for the others, and compare again\n"
	"# Megatron: --decoder-last-pipeline-num-layers N (or -first-)\n"
	"# torch: pipeline(..., split_spec={\"layers.N\": SplitPoint.BEGINNING})\n"
	"# a large head: shard the vocabulary (tensor parallel), fuse head and loss";

struct imbalance_judging {
	struct ss_judgement *judgement;
	struct ss_rank_loads shares;
	struct ss_straggler_verdict verdict;
	enum ss_load_kind kind;
};

/* A rank's work in a step, and what its peers have. */
struct rank_work {
	uint32_t rank; /* SS_NO_ROW: none */
	double own_ns, usual_ns;
};

static struct rank_work imbalance_rank_work(const struct imbalance_judging *balance, uint32_t rank,
					    uint32_t step)
{
	const struct ss_rank_loads *shares = &balance->shares;
	struct rank_work work = { .rank = rank };

	for (uint32_t phase = 0; phase < SS_PHASE_COUNT; phase++) {
		work.own_ns += ss_rank_loads_at(shares, rank, step, phase, balance->kind)->ns;
		work.usual_ns += ss_rank_loads_usual(shares, rank, step, phase, balance->kind).ns;
	}
	return work;
}

/* The rank that exceeds its peers most in a step. */
static struct rank_work imbalance_busiest_rank(const struct imbalance_judging *balance,
					       uint32_t step)
{
	struct rank_work most = { .rank = SS_NO_ROW };

	for (uint32_t i = 0; i < balance->shares.rank_count; i++) {
		struct rank_work work;

		if (step >= balance->shares.graphs[i].step_count)
			continue;
		work = imbalance_rank_work(balance, i, step);
		if (work.own_ns - work.usual_ns > most.own_ns - most.usual_ns)
			most = work;
	}
	return most;
}

/* Kernels or host work of a rank in a step, by phase. */
static void imbalance_add_phases(const struct imbalance_judging *balance, uint32_t rank,
				 uint32_t step, double sign, double phase_ns[SS_PHASE_COUNT])
{
	const struct ss_packed *graph = &balance->shares.graphs[rank];

	for (uint32_t i = 0; i < graph->task_count; i++) {
		enum ss_task_kind kind = ss_packed_kind(graph, i);

		if (ss_packed_run(graph, i)->step == step &&
		    (balance->kind == SS_LOAD_DEVICE ? kind == SS_TASK_KERNEL
						     : kind == SS_TASK_WORK))
			phase_ns[graph->kinds[i] >> 4U] += sign * (double)ss_packed_own(graph, i);
	}
}

/* Adds how much more the busiest rank of a step does in each phase than one of its peers. */
static void imbalance_compare_phases(const struct imbalance_judging *balance, uint32_t busiest,
				     uint32_t step, double phase_ns[SS_PHASE_COUNT])
{
	const struct ss_rank_loads *shares = &balance->shares;

	for (uint32_t r = 0; r < shares->rank_count; r++) {
		if (r == busiest || step >= shares->graphs[r].step_count ||
		    !ss_joined_are_peers(shares->joined, busiest, r))
			continue;
		imbalance_add_phases(balance, busiest, step, 1, phase_ns);
		imbalance_add_phases(balance, r, step, -1, phase_ns);
		return;
	}
}

static void imbalance_report_work(struct imbalance_judging *balance, struct ss_finding *finding)
{
	struct ss_judgement *judgement = balance->judgement;
	double more = 0, usual = 0, phase_ns[SS_PHASE_COUNT] = { 0 };
	uint32_t phase = 0;
	char where[48] = "";

	for (uint32_t step = 0; step < balance->shares.step_count; step++) {
		struct rank_work work = imbalance_busiest_rank(balance, step);

		more += work.own_ns - work.usual_ns;
		usual += work.usual_ns;
		if (work.rank != SS_NO_ROW)
			imbalance_compare_phases(balance, work.rank, step, phase_ns);
	}
	for (uint32_t i = 0; i < SS_PHASE_COUNT; i++)
		phase = phase_ns[i] > phase_ns[phase] ? i : phase;
	if (phase != SS_PHASE_OTHER)
		snprintf(where, sizeof(where), ", most of it in %s",
			 ss_phase_name((enum ss_phase)phase));
	if (balance->shares.step_count && usual > 0)
		ss_judgement_add_evidence(
			judgement, finding, (int64_t)(more / balance->shares.step_count),
			"in each step one rank computes {time} longer than the median "
			"rank (%.2f times as long)%s",
			(usual + more) / usual, where);
}

static void imbalance_report(struct imbalance_judging *balance, struct ss_finding *finding,
			     const struct ss_straggler *item)
{
	struct ss_judgement *judgement = balance->judgement;

	imbalance_report_work(balance, finding);
	ss_judgement_add_evidence(
		judgement, finding, item->late_ns,
		"it is a different rank each time: late by {time} in %u of %u steps", item->steps,
		item->of_steps);
	ss_straggler_report_waits(judgement, finding, "", item->lost_ns);
	finding->confidence = SS_CONFIDENCE_HIGH;
	finding->reason = "in nearly all steps the busiest rank is the last";
}

/* Whether in nearly all steps some rank has clearly more work, and not always the same one. */
static bool imbalance_is_hidden(const struct imbalance_judging *balance, uint32_t *busy_steps)
{
	uint32_t steps = balance->shares.step_count, uneven = 0, most = 0;

	for (uint32_t step = 0; step < steps; step++) {
		struct rank_work busiest = imbalance_busiest_rank(balance, step);

		if (busiest.usual_ns <= 0 || busiest.own_ns < busiest.usual_ns * HIDDEN_MORE)
			continue;
		uneven++;
		if (++busy_steps[busiest.rank] > most)
			most = busy_steps[busiest.rank];
	}
	/* no rank is the busiest in more than half of the steps, rounded up */
	return steps >= HIDDEN_STEPS_MIN && most * 2 <= steps + 1 &&
	       uneven * 100 >= steps * HIDDEN_PERCENT;
}

static struct ss_finding *imbalance_add_finding(struct imbalance_judging *balance)
{
	struct ss_judgement *judgement = balance->judgement;
	struct ss_finding *finding = ss_judgement_add(judgement, SS_NO_ROW, NULL);

	for (uint32_t r = 0; finding && r < judgement->rank_count; r++) {
		ss_rank_loads_claim(&balance->shares, judgement, finding, r, balance->kind, 0);
		ss_rank_loads_claim(&balance->shares, judgement, finding, r, SS_LOAD_MEMORY, 0);
	}
	return finding;
}

/* Gives all stages what they would have: the busiest less, the others more. */
static void imbalance_claim_stages(struct imbalance_judging *balance, struct ss_finding *finding,
				   const struct ss_uneven_stages *stages)
{
	struct ss_judgement *judgement = balance->judgement;

	for (uint32_t r = 0; r < judgement->rank_count && !judgement->failed; r++) {
		const struct ss_packed *graph = &judgement->graphs[r];
		const struct ss_stage_work *work = &stages->items[judgement->joined->stages[r]];
		double scale = work->own_ns > 0 ? work->even_ns / work->own_ns : 1;

		scale = scale < SS_EDIT_SCALE_MAX ? scale : SS_EDIT_SCALE_MAX;
		for (uint32_t i = 0; i < graph->task_count; i++)
			/* layers are whole: at worst half of it moves */
			if (ss_pipeline_passes(graph, i) &&
			    !ss_judgement_scale(judgement, finding, r, i, scale, (1 + scale) / 2))
				return;
	}
}

static void imbalance_report_stages(struct imbalance_judging *balance,
				    const struct ss_uneven_stages *stages)
{
	struct ss_judgement *judgement = balance->judgement;
	const struct ss_stage_work *busiest = &stages->items[stages->busiest];
	const struct ss_digest *ranks = judgement->joined->ranks;
	struct ss_finding *finding =
		ss_judgement_add(judgement, SS_NO_ROW,
				 "Stage %u of %u has much more work than the others, and all wait "
				 "for it",
				 stages->busiest + 1, stages->count);

	if (!finding)
		return;
	imbalance_claim_stages(balance, finding, stages);
	ss_judgement_add_evidence(
		judgement, finding, (int64_t)busiest->own_ns,
		"stage %u (%u rank%s from rank %lld on) computes {time} per step, the other "
		"stages %.3g to %.3g ms",
		stages->busiest + 1, busiest->ranks, busiest->ranks == 1 ? "" : "s",
		(long long)ranks[busiest->first].rank, stages->least / 1e6, stages->most / 1e6);
	if (busiest->fixed_ns > 0)
		ss_judgement_add_evidence(judgement, finding, (int64_t)busiest->fixed_ns,
					  "{time} of that no other stage does: it stays there");
	finding->fix = stage_fix;
	finding->warn_share = STAGE_WARN_SHARE;
	finding->confidence = SS_CONFIDENCE_MEDIUM;
	finding->reason = "the saving assumes that layers move until stages are even";
}

/* Reports a stage that computes much more than any other; not one whose device is slow. */
static enum ss_status imbalance_judge_stages(struct imbalance_judging *balance,
					     struct ss_error *err)
{
	struct ss_uneven_stages stages;

	if (!ss_uneven_stages_find(&stages, balance->judgement, balance->judgement->scratch))
		return ss_fail_memory(err, "the stages of the pipeline");
	if (stages.count > 1 && balance->verdict.stage.rank == SS_NO_ROW && stages.most > 0 &&
	    stages.items[stages.busiest].own_ns >= STAGE_MORE * stages.most)
		imbalance_report_stages(balance, &stages);
	return SS_OK;
}

/* Reports ranks that take turns in being late, or in having the most work. */
static enum ss_status imbalance_judge_steps(struct imbalance_judging *balance, struct ss_error *err)
{
	struct ss_judgement *judgement = balance->judgement;
	bool on_host = judgement->joined->ranks[0].device < 0, is_seen = false;
	const struct ss_straggler_comparison *compared = ss_straggler_compare(judgement);
	struct ss_finding *finding;
	uint32_t *busy_steps;

	if (!SS_ALLOC(balance->judgement->scratch, busy_steps, (size_t)judgement->rank_count + 1) ||
	    !compared)
		return ss_fail_memory(err, "the work of ranks");
	balance->verdict = compared->verdict;
	balance->shares = compared->loads;
	balance->shares.least_more = LEAST_MORE;
	balance->shares.spreads = true;
	balance->shares.balances = on_host;
	balance->kind = on_host ? SS_LOAD_HOST : SS_LOAD_DEVICE;
	if (!on_host)
		SS_TRY(imbalance_judge_stages(balance, err));
	for (uint32_t i = 0; i < balance->verdict.count && !judgement->failed; i++) {
		const struct ss_straggler *item = &balance->verdict.items[i];

		if (item->pattern != SS_PATTERN_ROTATING)
			continue;
		is_seen = true;
		finding = imbalance_add_finding(balance);
		if (finding)
			imbalance_report(balance, finding, item);
	}
	if (is_seen || on_host || judgement->failed || !imbalance_is_hidden(balance, busy_steps))
		return SS_OK;
	finding = imbalance_add_finding(balance);
	if (!finding)
		return SS_OK;
	imbalance_report_work(balance, finding);
	finding->confidence = SS_CONFIDENCE_MEDIUM;
	finding->reason = "the busiest rank changes; other waits hide its lateness";
	return SS_OK;
}

static enum ss_status imbalance_judge(struct ss_judgement *judgement, struct ss_error *err)
{
	struct imbalance_judging balance = { .judgement = judgement };

	if (!judgement->joined || judgement->rank_count < 2 ||
	    judgement->rank_count != judgement->joined->rank_count)
		return SS_OK;
	return imbalance_judge_steps(&balance, err);
}

/* This rule only compares ranks. */
static enum ss_status imbalance_look(struct ss_rule_context *context, struct ss_error *err)
{
	(void)context;
	(void)err;
	return SS_OK;
}

const struct ss_rule ss_rule_imbalance = {
	.name = "imbalance",
	.title = "In each step a different rank has the most work, and all wait for it",
	.summary = "Uneven work: in each step a different rank is late",
	.fix = "# the same number of tokens per rank and step, not of samples: sort by\n"
	       "# length and deal out in turn, or pack sequences to one length\n"
	       "order = sorted(indices, key=lengths.__getitem__)\n"
	       "mine = order[rank::world_size]   # shuffle batches alike on all ranks",
	.to_record = "record all ranks in the same five or more steps",
	.views = "imbalance ranks",
	.warn_share = 0.03,
	.silent_share = 0.01,
	.why = "ByteDance investigates jobs that uneven ranks slow by 3 %; below 1 % ranks of a "
	       "healthy job differ as much",
	.look = imbalance_look,
	.judge = imbalance_judge,
};
