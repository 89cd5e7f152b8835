/* SPDX-License-Identifier: Apache-2.0 */
/*
 * imbalance.c - rule: in each step a different rank has the most work.
 *
 * No rank is to blame, the data is: in every step all ranks wait for the one with the longest
 * sequences, and in the next step that is another rank. stragglers/verdict.h decides whether that
 * is so. The fix gives each rank with more work as much as the median rank has in that step, and
 * as much memory to allocate; at worst the total stays the same and each rank gets the mean.
 * Without devices ranks share their cores, so we expect the mean.
 */
#include "diagnose/diagnose.h"
#include "diagnose/stragglers/compared.h"

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

struct imbalance_judging {
	struct ss_judgement *judgement;
	struct ss_rank_loads shares;
	struct ss_straggler_verdict verdict;
	struct ss_arena arena;
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

static void imbalance_report_work(struct imbalance_judging *balance, struct ss_finding *finding)
{
	struct ss_judgement *judgement = balance->judgement;
	double more = 0, usual = 0;

	for (uint32_t step = 0; step < balance->shares.step_count; step++) {
		struct rank_work work = imbalance_busiest_rank(balance, step);

		more += work.own_ns - work.usual_ns;
		usual += work.usual_ns;
	}
	if (balance->shares.step_count && usual > 0)
		ss_judgement_add_evidence(
			judgement, finding, (int64_t)(more / balance->shares.step_count),
			"in each step one rank computes {time} longer than the median "
			"rank (%.2f times as long)",
			(usual + more) / usual);
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

/* Reports ranks that take turns in being late, or in having the most work. */
static enum ss_status imbalance_judge_steps(struct imbalance_judging *balance, struct ss_error *err)
{
	struct ss_judgement *judgement = balance->judgement;
	bool on_host = judgement->joined->ranks[0].device < 0, is_seen = false;
	const struct ss_straggler_comparison *compared = ss_straggler_compare(judgement);
	struct ss_finding *finding;
	uint32_t *busy_steps;

	busy_steps = SS_ARENA_NEW(&balance->arena, uint32_t, (size_t)judgement->rank_count + 1);
	if (!busy_steps || !compared)
		return ss_fail_memory(err, "the work of ranks");
	balance->verdict = compared->verdict;
	balance->shares = compared->loads;
	balance->shares.least_more = LEAST_MORE;
	balance->shares.spreads = true;
	balance->shares.balances = on_host;
	balance->kind = on_host ? SS_LOAD_HOST : SS_LOAD_DEVICE;
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
	enum ss_status status;

	if (!judgement->joined || judgement->rank_count < 2 ||
	    judgement->rank_count != judgement->joined->rank_count)
		return SS_OK;
	ss_arena_init(&balance.arena, judgement->diagnosis->memory);
	status = imbalance_judge_steps(&balance, err);
	ss_arena_release(&balance.arena);
	return status;
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
