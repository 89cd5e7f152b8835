/* SPDX-License-Identifier: Apache-2.0 */
/*
 * straggler.c - rule: one rank holds up all others.
 *
 * stragglers/verdict.h decides who is late, how regularly and why, from the times at which ranks
 * reach their collectives. The fix makes that rank like its peers: its kernels, copies, host or
 * link take as long as theirs. The replay of all ranks predicts the gain: the second latest rank
 * limits it.
 */
#include <stdio.h>
#include <string.h>

#include "diagnose/diagnose.h"
#include "diagnose/rank_findings.h"
#include "diagnose/stragglers/link_speedup.h"
#include "diagnose/stragglers/own_work.h"
#include "diagnose/stragglers/compared.h"

/* Fewer steps cannot separate a habit from chance. */
#define STEPS_SURE 3

/* From this ratio on the rank calls more operators than the median rank, not larger ones. */
#define MORE_CALLS 1.05

/* A network that is slower than others of its kind may be all there is: worth it from here on. */
#define NETWORK_WARN_SHARE 0.1

/* Ranks named in a title, at most. */
#define LISTED 4

struct straggler_judging {
	struct ss_judgement *judgement;
	struct ss_rank_loads shares;
	struct ss_prevalence common;
	struct ss_straggler_verdict verdict;
};

static long long straggler_rank_number(const struct straggler_judging *stragglers, uint32_t rank)
{
	return (long long)stragglers->judgement->joined->ranks[rank].rank;
}

/* --- titles ---------------------------------------------------------------------------------- */

static const char *straggler_host_phrase(enum ss_idle_cause cause, bool on_host)
{
	static const char *const phrases[SS_IDLE_CAUSES] = {
		[SS_IDLE_INPUT] = "waits for input",
		[SS_IDLE_SYNC] = "waits for its GPU",
		[SS_IDLE_GC] = "runs the garbage collector",
		[SS_IDLE_ALLOCATOR] = "allocates memory",
		[SS_IDLE_COMPILE] = "compiles",
		[SS_IDLE_DEPENDENCY] = "launches in time, but its GPU waits for another one",
	};

	if (phrases[cause])
		return phrases[cause];
	return on_host ? "runs code outside of operators" : "launches late";
}

/* With a single group any of its members may have the slow link. */
static struct ss_finding *straggler_add_group_finding(struct straggler_judging *stragglers)
{
	const struct ss_joined *joined = stragglers->judgement->joined;
	const struct ss_group *group = &joined->groups[stragglers->verdict.link.of_group - 1];
	uint32_t first = joined->group_members[group->first];
	uint32_t last = joined->group_members[group->first + group->count - 1];

	return ss_judgement_add(stragglers->judgement, SS_NO_ROW,
				"Among the %u ranks from %lld to %lld one link is slow, or all are",
				group->count, straggler_rank_number(stragglers, first),
				straggler_rank_number(stragglers, last));
}

static struct ss_finding *straggler_add_finding(struct straggler_judging *stragglers,
						const struct ss_straggler *item)
{
	static const char *const phrases[] = {
		[SS_LATE_KERNELS] = "computes more slowly than the others",
		[SS_LATE_WORK] = "has more work than the others",
		[SS_LATE_COPIES] = "spends more time on copies than the others",
	};
	struct ss_judgement *judgement = stragglers->judgement;
	long long rank = straggler_rank_number(stragglers, item->rank);
	const struct ss_slow_link *link = &stragglers->verdict.link;
	char place[40]; /* the title fits on a line */

	switch (item->cause) {
	case SS_LATE_KERNELS:
	case SS_LATE_WORK:
	case SS_LATE_COPIES:
		return ss_judgement_add(judgement, item->rank, "Rank %lld %s, and all wait for it",
					rank,
					ss_straggler_is_throttled(item) ? "is throttled"
									: phrases[item->cause]);
	case SS_LATE_HOST:
		if (ss_straggler_place_words(judgement, item, place, sizeof(place)))
			return ss_judgement_add(judgement, item->rank,
						"All wait for rank %lld: its host is in %s", rank,
						place);
		return ss_judgement_add(
			judgement, item->rank, "The host of rank %lld %s, and all wait for it",
			rank,
			straggler_host_phrase(item->idle_cause,
					      judgement->joined->ranks[item->rank].device < 0));
	case SS_LATE_SHARED:
		return ss_judgement_add(judgement, item->rank,
					"Another process uses the GPU of rank %lld, and all ranks "
					"wait for it",
					rank);
	case SS_LATE_LINK:
		if (link->of_group)
			return straggler_add_group_finding(stragglers);
		if (link->count == 2)
			return ss_judgement_add(judgement, item->rank,
						"The link of rank %lld or %lld is slow", rank,
						straggler_rank_number(stragglers, link->ranks[1]));
		return ss_judgement_add(judgement, item->rank, "The link of rank %lld is slow",
					rank);
	default:
		return ss_judgement_add(judgement, item->rank, "All wait for rank %lld", rank);
	}
}

/* --- evidence -------------------------------------------------------------------------------- */

static void straggler_report_computing(struct straggler_judging *stragglers,
				       struct ss_finding *finding, const struct ss_straggler *item,
				       bool is_named, const char *who)
{
	struct ss_judgement *judgement = stragglers->judgement;
	bool on_host = judgement->joined->ranks[item->rank].device < 0;

	if (item->cause == SS_LATE_KERNELS && on_host)
		ss_judgement_add_evidence(
			judgement, finding, item->excess_ns,
			"%sits operators take %.2f times as long as on the median rank, "
			"which runs as many: {time} more per step",
			who, item->kernel_ratio);
	else if (item->cause == SS_LATE_KERNELS)
		ss_judgement_add_evidence(
			judgement, finding, item->excess_ns,
			"%sall of its kernels take %.2f times as long as on the median "
			"rank: {time} more per step",
			who, item->kernel_ratio);
	else if (item->phase == SS_PHASE_OTHER || is_named)
		ss_judgement_add_evidence(
			judgement, finding, item->excess_ns,
			"%sit computes {time} per step longer than the median rank", who);
	else
		ss_judgement_add_evidence(
			judgement, finding, item->excess_ns,
			"%sit computes {time} per step longer: in %s %.2f times the time "
			"and %.2f times the %s of the median rank",
			who, ss_phase_name(item->phase), item->work_ratio, item->call_ratio,
			on_host ? "operators" : "kernels");
}

static void straggler_report_link(struct straggler_judging *stragglers, struct ss_finding *finding,
				  const struct ss_straggler *item)
{
	const struct ss_slow_link *link = &stragglers->verdict.link;

	if (link->of_group)
		ss_judgement_add_evidence(
			stragglers->judgement, finding, item->excess_ns,
			"large collectives move %.0f GB/s over each link; such GPUs "
			"reach %.0f at these sizes %s: {time} more per step",
			link->reached, link->usual,
			link->hosts > 1 ? "with an adapter each" : "on one host");
	else
		ss_judgement_add_evidence(
			stragglers->judgement, finding, item->excess_ns,
			"transfers of its %u group%s take %.2f times as long as in other "
			"groups of the same size: {time} more per step",
			link->groups, link->groups == 1 ? "" : "s", link->ratio);
}

/* Returns whether it calls a function that the others do not, and that takes most of the time. */
static bool straggler_report_cause(struct straggler_judging *stragglers, struct ss_finding *finding,
				   const struct ss_straggler *item, const char *who)
{
	struct ss_judgement *judgement = stragglers->judgement;
	bool on_host = judgement->joined->ranks[item->rank].device < 0, own = false;

	switch (item->cause) {
	case SS_LATE_WORK:
		own = on_host && ss_straggler_report_functions(judgement, finding, item->rank,
							       item->excess_ns, true);
		straggler_report_computing(stragglers, finding, item, own, who);
		break;
	case SS_LATE_KERNELS:
		straggler_report_computing(stragglers, finding, item, false, who);
		ss_straggler_report_clock(judgement, finding, item);
		break;
	case SS_LATE_COPIES:
		ss_judgement_add_evidence(
			judgement, finding, item->excess_ns,
			"%sit spends {time} per step more on copies than the median rank", who);
		break;
	case SS_LATE_HOST:
		ss_judgement_add_evidence(
			judgement, finding, item->excess_ns,
			on_host ? "%sit takes {time} per step longer than the median "
				  "rank: its host %s"
				: "%sits GPU is idle {time} per step longer than that of "
				  "the median rank: its host %s",
			who, straggler_host_phrase(item->idle_cause, on_host));
		(void)ss_straggler_report_functions(judgement, finding, item->rank, item->excess_ns,
						    false);
		if (!on_host)
			ss_straggler_report_gaps(judgement, finding, item, who);
		break;
	case SS_LATE_SHARED:
		ss_judgement_add_evidence(
			judgement, finding,
			item->slices.sum_ns / (item->of_steps ? item->of_steps : 1),
			"%swork is queued but nothing runs, %u times for %.2f ms: {time} "
			"per step, in time slices of another process",
			who, item->slices.count, (double)item->slices.slice_ns / 1e6);
		break;
	case SS_LATE_LINK:
		straggler_report_link(stragglers, finding, item);
		break;
	default:
		break;
	}
	return own;
}

static const char *straggler_fix(const struct straggler_judging *stragglers,
				 const struct ss_straggler *item)
{
	bool on_host = stragglers->judgement->joined->ranks[item->rank].device < 0;
	const char *fix = ss_straggler_advice(item, on_host);

	return fix ? fix : stragglers->judgement->rule->fix;
}

/*
 * No other link of the job is faster: only the GPU's usual bandwidth can be compared with. Networks
 * differ more than links within a host: hosts may have one adapter for all GPUs.
 */
static void straggler_report_no_peer(struct ss_finding *finding, const struct ss_slow_link *link)
{
	finding->confidence = SS_CONFIDENCE_LOW;
	finding->reason = "with one group the trace does not show which link is slow";
	finding->to_record =
		"run all_reduce_perf of nccl-tests on pairs of GPUs: the slow pair has "
		"the slow link";
	if (link->hosts < 2)
		return;
	finding->warn_share = NETWORK_WARN_SHARE;
	finding->reason = "one link or all: the trace does not show how fast the network is";
	finding->to_record = "run all_reduce_perf of nccl-tests on pairs of hosts: if all pairs "
			     "are as slow, it is the network";
}

static void straggler_report_confidence(struct ss_finding *finding, const struct ss_straggler *item)
{
	enum ss_confidence confidence = SS_CONFIDENCE_HIGH;
	const char *reason = "late in nearly all steps; the trace shows the extra work";

	if (item->cause == SS_LATE_UNKNOWN || item->pattern != SS_PATTERN_PERSISTENT) {
		confidence = SS_CONFIDENCE_MEDIUM;
		reason = item->cause == SS_LATE_UNKNOWN
				 ? "nothing that the rank did explains most of the delay"
				 : "the rank is late in some steps only";
	}
	if (item->of_steps < STEPS_SURE) {
		confidence = SS_CONFIDENCE_LOW;
		reason = "there are too few steps to rule out chance";
	}
	if (finding->reason && finding->confidence <= confidence)
		return;
	finding->confidence = confidence;
	finding->reason = reason;
}

/* Adds the evidence of one late rank, and the fix and confidence. */
static void straggler_report(struct straggler_judging *stragglers, struct ss_finding *finding,
			     const struct ss_straggler *item)
{
	struct ss_judgement *judgement = stragglers->judgement;
	const struct ss_digest *rank = &judgement->joined->ranks[item->rank];
	const char *host = ss_strings_text(&rank->texts, rank->host);
	/* what only this rank does is no larger share of the work of all */
	static const struct ss_straggler own_work = { .cause = SS_LATE_HOST };
	char who[40] = "";
	bool own;

	if (finding->is_joint)
		snprintf(who, sizeof(who),
			 "rank %lld: ", straggler_rank_number(stragglers, item->rank));
	own = straggler_report_cause(stragglers, finding, item, who);
	if (item == &stragglers->verdict.stage)
		ss_judgement_add_evidence(
			judgement, finding, item->late_ns,
			"%sthe other stages wait {time} per step longer than it does, in "
			"%u of %u steps",
			who, item->steps, item->of_steps);
	else if (item->cause != SS_LATE_LINK)
		ss_judgement_add_evidence(
			judgement, finding, item->late_ns,
			"%sit reaches its collectives {time} per step after the first "
			"rank, in %u of %u steps",
			who, item->steps, item->of_steps);
	if (item->lost_ns)
		ss_straggler_report_waits(judgement, finding, who, item->lost_ns);
	if (*host && finding->rank != SS_NO_ROW)
		ss_judgement_add_evidence(judgement, finding, 0, "%sit runs on %s", who, host);
	if (!finding->reason)
		finding->fix = own ? ss_straggler_advice(&own_work, true)
				   : straggler_fix(stragglers, item);
	if (item->cause == SS_LATE_LINK && stragglers->verdict.link.of_group)
		straggler_report_no_peer(finding, &stragglers->verdict.link);
	else
		straggler_report_confidence(finding, item);
}

/* --- what the fix removes --------------------------------------------------------------------- */

/* Claims the delay of work that started late for no recorded reason, by about a time slice. */
static void straggler_claim_slices(struct ss_judgement *judgement, struct ss_finding *finding,
				   const struct ss_straggler *item)
{
	const struct ss_packed *graph = &judgement->graphs[item->rank];

	for (uint32_t i = 0; i < graph->task_count; i++) {
		int64_t own_ns = ss_packed_own(graph, i);

		if (ss_packed_kind(graph, i) <= SS_TASK_JOIN ||
		    ss_packed_run(graph, i)->step == SS_NO_STEP ||
		    ss_packed_delay(graph, i) < item->slices.slice_ns / 2)
			continue;
		ss_judgement_overrule(judgement, finding, item->rank,
				      (struct ss_claim){ .task = i,
							 .own_ns = own_ns,
							 .low_ns = own_ns,
							 .high_ns = own_ns,
							 .unlocks = true },
				      false);
	}
}

/* Claims what makes the rank slower than its peers, by the cause. */
static void straggler_claim(struct straggler_judging *stragglers, struct ss_finding *finding,
			    const struct ss_straggler *item)
{
	struct ss_judgement *judgement = stragglers->judgement;
	struct ss_rank_loads *shares = &stragglers->shares;
	bool on_host = judgement->joined->ranks[item->rank].device < 0;

	if (item->cause == SS_LATE_LINK) {
		ss_slow_link_claim(judgement, finding, &stragglers->verdict.link,
				   stragglers->judgement->scratch);
		return;
	}
	if (item->cause == SS_LATE_KERNELS && !on_host) {
		ss_rank_loads_claim(shares, judgement, finding, item->rank, SS_LOAD_DEVICE,
				    item->kernel_ratio > 1 ? 1 / item->kernel_ratio : 1);
		/* if its copies also take longer, the device is the cause */
		ss_rank_loads_claim(shares, judgement, finding, item->rank, SS_LOAD_COPIES, 0);
		return;
	}
	if (item->cause == SS_LATE_SHARED) {
		straggler_claim_slices(judgement, finding, item);
		return;
	}
	if (item->cause == SS_LATE_COPIES || item->cause == SS_LATE_UNKNOWN)
		ss_rank_loads_claim(shares, judgement, finding, item->rank, SS_LOAD_COPIES, 0);
	/*
	 * All ranks may share the extra work: at worst the mean remains. Without devices we expect
	 * that if the rank runs as many operators, only larger ones; additional operators are
	 * something that the others do not do at all.
	 */
	shares->spreads = item->cause == SS_LATE_WORK;
	shares->balances = shares->spreads && on_host && item->call_ratio < MORE_CALLS;
	if (item->cause == SS_LATE_WORK || item->cause == SS_LATE_UNKNOWN)
		ss_rank_loads_claim(shares, judgement, finding, item->rank, SS_LOAD_DEVICE, 0);
	if (item->cause == SS_LATE_WORK && !on_host)
		ss_rank_loads_claim(shares, judgement, finding, item->rank, SS_LOAD_MEMORY, 0);
	if (item->cause == SS_LATE_HOST || item->cause == SS_LATE_UNKNOWN || on_host) {
		shares->common = &stragglers->common;
		ss_rank_loads_claim(shares, judgement, finding, item->rank, SS_LOAD_HOST, 0);
		ss_rank_loads_claim(shares, judgement, finding, item->rank, SS_LOAD_OVERHEAD, 0);
		ss_rank_loads_claim(shares, judgement, finding, item->rank, SS_LOAD_MEMORY, 0);
		shares->common = NULL;
	}
	shares->spreads = shares->balances = false;
}

/* Whether another rule explains why a job of one group communicates so much: that comes first. */
static bool straggler_is_explained(const struct ss_judgement *judgement)
{
	static const char *const names[] = { "gradient-sync", "small-buckets" };

	for (size_t i = 0; i < SS_COUNT(names); i++)
		for (uint32_t rule = 0; rule < ss_rule_count; rule++) {
			if (strcmp(ss_rules[rule]->name, names[i]) != 0)
				continue;
			for (uint32_t rank = 0; rank < judgement->rank_count; rank++)
				if (judgement->rank_findings[rank]->parts[rule].claim_to >
				    judgement->rank_findings[rank]->parts[rule].claim_from)
					return true;
		}
	return false;
}

static void straggler_report_one(struct straggler_judging *stragglers,
				 const struct ss_straggler *item)
{
	bool of_group = item->cause == SS_LATE_LINK && stragglers->verdict.link.of_group;
	struct ss_finding *finding = NULL;

	if (!of_group || !straggler_is_explained(stragglers->judgement))
		finding = straggler_add_finding(stragglers, item);
	if (!finding)
		return;
	straggler_claim(stragglers, finding, item);
	straggler_report(stragglers, finding, item);
}

/* Whether this rank itself is late: not a rotating one, nor a slow link. */
static bool straggler_is_late_rank(const struct ss_straggler *item)
{
	return item->pattern != SS_PATTERN_ROTATING && item->cause != SS_LATE_LINK;
}

/* "1, 2 and 5": the worst first, at most LISTED of them. */
static void straggler_list_ranks(const struct straggler_judging *stragglers, char *out,
				 size_t capacity)
{
	uint32_t count = 0, reported = 0;
	size_t length = 0;

	for (uint32_t i = 0; i < stragglers->verdict.count; i++)
		count += straggler_is_late_rank(&stragglers->verdict.items[i]);
	for (uint32_t i = 0; i < stragglers->verdict.count && reported < LISTED; i++) {
		const struct ss_straggler *item = &stragglers->verdict.items[i];

		if (!straggler_is_late_rank(item))
			continue;
		length += (size_t)snprintf(out + length, capacity - length, "%s%lld",
					   !reported               ? ""
					   : reported + 1 == count ? " and "
								   : ", ",
					   straggler_rank_number(stragglers, item->rank));
		reported++;
	}
	if (count > reported)
		snprintf(out + length, capacity - length, " and %u more", count - reported);
}

/* One finding for all late ranks: if only one is fixed, all wait for the next one. */
static void straggler_report_together(struct straggler_judging *stragglers)
{
	struct ss_finding *finding;
	char ranks[LISTED * 24 + 32];

	straggler_list_ranks(stragglers, ranks, sizeof(ranks));
	finding = ss_judgement_add(stragglers->judgement, SS_NO_ROW,
				   "Ranks %s are slower than the others, and all wait for them",
				   ranks);
	if (!finding)
		return;
	finding->is_joint = true;
	for (uint32_t i = 0; i < stragglers->verdict.count; i++) {
		const struct ss_straggler *item = &stragglers->verdict.items[i];

		if (!straggler_is_late_rank(item))
			continue;
		ss_finding_add_rank(finding, item->rank);
		straggler_claim(stragglers, finding, item);
		straggler_report(stragglers, finding, item);
	}
}

static bool straggler_is_reported(const struct straggler_judging *stragglers, uint32_t rank)
{
	const struct ss_straggler_verdict *verdict = &stragglers->verdict;

	for (uint32_t i = 0; i < verdict->count; i++)
		if (verdict->items[i].rank == rank && straggler_is_late_rank(&verdict->items[i]))
			return true;
	for (uint32_t i = 0; i < verdict->hidden_count; i++)
		if (verdict->hidden[i].rank == rank)
			return true;
	return verdict->stage.rank == rank;
}

/* Reports slow devices whose lateness other waits hide: the replay shows what they cost. */
static void straggler_report_devices(struct straggler_judging *stragglers)
{
	const struct ss_straggler_verdict *verdict = &stragglers->verdict;

	for (uint32_t i = 0; i < verdict->hidden_count && !stragglers->judgement->failed; i++) {
		const struct ss_straggler *item = &verdict->hidden[i];
		struct ss_finding *finding = straggler_add_finding(stragglers, item);

		if (!finding)
			return;
		straggler_claim(stragglers, finding, item);
		(void)straggler_report_cause(stragglers, finding, item, "");
		finding->fix = straggler_fix(stragglers, item);
		finding->confidence = SS_CONFIDENCE_MEDIUM;
		finding->reason = "its kernels are slower; other waits hide its lateness";
	}
}

/* Reports slow hosts whose lateness other waits hide: the replay shows what they cost. */
static void straggler_report_hosts(struct straggler_judging *stragglers)
{
	struct ss_judgement *judgement = stragglers->judgement;

	for (uint32_t r = 0; r < judgement->rank_count && !judgement->failed; r++) {
		struct ss_straggler item = { .rank = r,
					     .pattern = SS_PATTERN_PERSISTENT,
					     .cause = SS_LATE_HOST,
					     .idle_cause = SS_IDLE_LAUNCH };
		struct ss_finding *finding;
		struct ss_straggler_host_excess excess;

		if (judgement->joined->ranks[r].device < 0 ||
		    straggler_is_reported(stragglers, r) ||
		    !ss_straggler_find_host_excess(&stragglers->shares, r, &excess))
			continue;
		finding = straggler_add_finding(stragglers, &item);
		if (!finding)
			return;
		straggler_claim(stragglers, finding, &item);
		ss_judgement_add_evidence(
			judgement, finding, excess.excess_ns,
			"its host takes %.2f times as long per launch as that of the "
			"median rank: {time} more per step, in %u of %u steps",
			excess.ratio, excess.steps, excess.of_steps);
		finding->fix = straggler_fix(stragglers, &item);
		finding->confidence = SS_CONFIDENCE_MEDIUM;
		finding->reason = "its host is slower; other waits hide its lateness";
	}
}

static enum ss_status straggler_judge_ranks(struct straggler_judging *stragglers,
					    struct ss_error *err)
{
	struct ss_judgement *judgement = stragglers->judgement;
	const struct ss_straggler_verdict *verdict = &stragglers->verdict;
	const struct ss_straggler_comparison *compared = ss_straggler_compare(judgement);
	uint32_t late = 0;

	if (!compared ||
	    !ss_prevalence_find(&stragglers->common, judgement, stragglers->judgement->scratch))
		return ss_fail_memory(err, "the lateness of ranks");
	stragglers->verdict = compared->verdict;
	stragglers->shares = compared->loads;
	for (uint32_t i = 0; i < verdict->count; i++)
		late += straggler_is_late_rank(&verdict->items[i]);
	if (late > 1)
		straggler_report_together(stragglers);
	for (uint32_t i = 0; i < verdict->count && !judgement->failed; i++)
		if (verdict->items[i].cause == SS_LATE_LINK ||
		    (late == 1 && straggler_is_late_rank(&verdict->items[i])))
			straggler_report_one(stragglers, &verdict->items[i]);
	if (verdict->stage.rank != SS_NO_ROW && !judgement->failed)
		straggler_report_one(stragglers, &verdict->stage);
	straggler_report_devices(stragglers);
	straggler_report_hosts(stragglers);
	return SS_OK;
}

static enum ss_status straggler_judge(struct ss_judgement *judgement, struct ss_error *err)
{
	struct straggler_judging stragglers = { .judgement = judgement };

	if (!judgement->joined || judgement->rank_count < 2 ||
	    judgement->rank_count != judgement->joined->rank_count)
		return SS_OK;
	return straggler_judge_ranks(&stragglers, err);
}

const struct ss_rule ss_rule_straggler = {
	.name = "straggler",
	.title = "One rank holds up all others",
	.summary = "A rank that is late for collectives in step after step, and why",
	.fix = "# compare this rank's host, GPU and input with those of another rank",
	.to_record = "record all ranks in the same five or more steps",
	.views = "stragglers ranks",
	.warn_share = 0.03,
	.silent_share = 0.01,
	.why = "ByteDance investigates jobs that one rank slows by 3 %; below 1 % ranks of a "
	       "healthy job differ as much",
	.is_waited_for = true,
	.look = ss_straggler_collect_functions,
	.judge = straggler_judge,
};
