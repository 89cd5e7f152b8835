/*
 * straggler.c - rule: one rank holds all others up.
 *
 * Who is late, how regularly and why is judged by job/verdict.h, from when ranks come to
 * their collectives. The fix makes that rank like its peers: its kernels, copies, host or
 * link take as long as theirs. What the job gains is what the replay of all ranks says:
 * the second latest bounds it.
 */
#include <stdio.h>
#include <string.h>

#include "diagnose/diagnose.h"
#include "diagnose/links.h"
#include "diagnose/shares.h"
#include "job/verdict.h"

/* Of fewer steps one cannot tell always from by chance. */
#define STEPS_SURE 3

static const char device_fix[] =
	"nvidia-smi -q -d CLOCK,PERFORMANCE,TEMPERATURE,POWER   # or rocm-smi -a\n"
	"# throttled by heat or power, or another process on it: compare its clocks with others;\n"
	"# take the device out of the job until it is mended";
static const char work_fix[] =
	"# give all ranks as much to do: sequences sorted by length and dealt out in turn, or\n"
	"# packed to the same number of tokens; shards of embeddings by their lookups, not rows";
static const char host_fix[] =
	"numactl --cpunodebind=N --membind=N python train.py   # N: node of the rank's device\n"
	"# look for other processes on its cores (top, mpstat -P ALL) and for a lower cpufreq;\n"
	"# work that only this rank does (logging, checkpoints) belongs into a thread";
static const char link_fix[] =
	"nvidia-smi nvlink -e; nvidia-smi topo -m; ibstat\n"
	"dmesg | grep -i -E 'xid|pcie'\n"
	"NCCL_DEBUG=INFO python train.py   # which links the rank's channels use\n"
	"# errors, a lane or port that is down, a NIC far from the device";
static const char copies_fix[] =
	"nvidia-smi -q | grep -A 14 'PCI$'   # compare width and speed of the link";

struct stragglers {
	struct ss_judgement *judgement;
	struct ss_shares shares;
	struct ss_verdict verdict;
	struct ss_arena arena;
};

static long long number_of(const struct stragglers *stragglers, uint32_t rank)
{
	return (long long)stragglers->judgement->many->ranks[rank].rank;
}

/* --- what it is called --------------------------------------------------------------------- */

static const char *host_words(enum ss_idle_cause cause)
{
	switch (cause) {
	case SS_IDLE_INPUT:
		return "waits for input";
	case SS_IDLE_SYNC:
		return "waits for its device";
	case SS_IDLE_GC:
		return "collects garbage";
	case SS_IDLE_ALLOCATOR:
		return "allocates memory";
	case SS_IDLE_COMPILE:
		return "compiles";
	default:
		return "launches late";
	}
}

static struct ss_finding *add_finding(struct stragglers *stragglers,
				      const struct ss_straggler *item)
{
	struct ss_judgement *judgement = stragglers->judgement;
	long long rank = number_of(stragglers, item->rank);
	const struct ss_slow_link *link = &stragglers->verdict.link;

	switch (item->cause) {
	case SS_LATE_KERNELS:
		return ss_judge_add(
			judgement, item->rank,
			"Rank %lld computes slower than the others, and all wait for it", rank);
	case SS_LATE_WORK:
		return ss_judge_add(judgement, item->rank,
				    "Rank %lld has more to compute than the others, and all wait "
				    "for it",
				    rank);
	case SS_LATE_COPIES:
		return ss_judge_add(judgement, item->rank,
				    "Rank %lld copies longer than the others, and all wait for it",
				    rank);
	case SS_LATE_HOST:
		return ss_judge_add(judgement, item->rank,
				    "The host of rank %lld %s, and all wait for it", rank,
				    host_words(item->idle_cause));
	case SS_LATE_LINK:
		if (link->count == 2)
			return ss_judge_add(judgement, item->rank,
					    "The link of rank %lld or %lld is slow", rank,
					    number_of(stragglers, link->ranks[1]));
		return ss_judge_add(judgement, item->rank, "The link of rank %lld is slow", rank);
	default:
		return ss_judge_add(judgement, item->rank, "All wait for rank %lld", rank);
	}
}

/* --- what shows it ------------------------------------------------------------------------- */

static void tell_cause(struct stragglers *stragglers, struct ss_finding *finding,
		       const struct ss_straggler *item)
{
	struct ss_judgement *judgement = stragglers->judgement;
	bool on_host = judgement->many->ranks[item->rank].device < 0;

	switch (item->cause) {
	case SS_LATE_KERNELS:
		finding->fix = device_fix;
		ss_judge_evidence(judgement, finding, item->excess_ns,
				  "its kernels take %.2f times as long as those of the median "
				  "rank, all alike: {time} more a step",
				  item->kernel_ratio);
		break;
	case SS_LATE_WORK:
		finding->fix = work_fix;
		if (item->phase == SS_PHASE_OTHER)
			ss_judge_evidence(judgement, finding, item->excess_ns,
					  "it computes {time} more a step than the median rank");
		else
			ss_judge_evidence(judgement, finding, item->excess_ns,
					  "it computes {time} more a step: in %s %.2f times the "
					  "time and %.2f times the %s of the median rank",
					  ss_phase_name(item->phase), item->work_ratio,
					  item->call_ratio, on_host ? "operators" : "kernels");
		break;
	case SS_LATE_COPIES:
		finding->fix = copies_fix;
		ss_judge_evidence(judgement, finding, item->excess_ns,
				  "it copies {time} more a step than the median rank");
		break;
	case SS_LATE_HOST:
		finding->fix = host_fix;
		ss_judge_evidence(judgement, finding, item->excess_ns,
				  "its device stands idle {time} more a step than that of the "
				  "median rank: its host %s",
				  host_words(item->idle_cause));
		break;
	case SS_LATE_LINK:
		finding->fix = link_fix;
		ss_judge_evidence(judgement, finding, item->excess_ns,
				  "transfers of its %u group%s take %.2f times as long as those "
				  "of other groups of the same size: {time} more a step",
				  stragglers->verdict.link.groups,
				  stragglers->verdict.link.groups == 1 ? "" : "s",
				  stragglers->verdict.link.ratio);
		break;
	default:
		break;
	}
}

static void tell(struct stragglers *stragglers, struct ss_finding *finding,
		 const struct ss_straggler *item)
{
	struct ss_judgement *judgement = stragglers->judgement;
	const struct ss_digest *rank = &judgement->many->ranks[item->rank];
	const char *host = ss_strings_text(&rank->texts, rank->host);

	tell_cause(stragglers, finding, item);
	if (item == &stragglers->verdict.stage)
		ss_judge_evidence(judgement, finding, item->late_ns,
				  "the other stages wait {time} a step longer than it does, in %u "
				  "of %u steps",
				  item->steps, item->of_steps);
	else if (item->cause != SS_LATE_LINK)
		ss_judge_evidence(judgement, finding, item->late_ns,
				  "it comes to its collectives {time} a step later than the "
				  "first, in %u of %u steps",
				  item->steps, item->of_steps);
	if (item->lost_ns)
		ss_judge_evidence(judgement, finding, item->lost_ns,
				  "the others wait {time} a step for it, all together");
	if (*host)
		ss_judge_evidence(judgement, finding, 0, "it runs on %s", host);
	finding->confidence = SS_CONFIDENCE_HIGH;
	finding->reason = "the same rank is late again and again, and what it did longer is "
			  "recorded";
	if (item->cause == SS_LATE_UNKNOWN || item->pattern != SS_PATTERN_PERSISTENT) {
		finding->confidence = SS_CONFIDENCE_MEDIUM;
		finding->reason =
			item->cause == SS_LATE_UNKNOWN
				? "it is late, but nothing that it did explains most of it"
				: "it is late in some steps only";
	}
	if (item->of_steps < STEPS_SURE) {
		finding->confidence = SS_CONFIDENCE_LOW;
		finding->reason = "there are too few steps to tell always from by chance";
	}
}

/* --- what the fix takes away ------------------------------------------------------------------ */

static void claim(struct stragglers *stragglers, struct ss_finding *finding,
		  const struct ss_straggler *item)
{
	struct ss_judgement *judgement = stragglers->judgement;
	struct ss_shares *shares = &stragglers->shares;
	bool on_host = judgement->many->ranks[item->rank].device < 0;

	if (item->cause == SS_LATE_LINK) {
		ss_links_claim(judgement, finding, &stragglers->verdict.link, &stragglers->arena);
		return;
	}
	if (item->cause == SS_LATE_KERNELS && !on_host) {
		ss_shares_claim(shares, judgement, finding, item->rank, SS_SHARE_DEVICE,
				item->kernel_ratio > 1 ? 1 / item->kernel_ratio : 1, SS_SEIZE_BOTH);
		return;
	}
	if (item->cause == SS_LATE_COPIES || item->cause == SS_LATE_UNKNOWN)
		ss_shares_claim(shares, judgement, finding, item->rank, SS_SHARE_COPIES, 0,
				SS_SEIZE_BOTH);
	if (item->cause == SS_LATE_WORK || item->cause == SS_LATE_UNKNOWN)
		ss_shares_claim(shares, judgement, finding, item->rank, SS_SHARE_DEVICE, 0,
				SS_SEIZE_BOTH);
	if (item->cause == SS_LATE_HOST || item->cause == SS_LATE_UNKNOWN || on_host) {
		ss_shares_claim(shares, judgement, finding, item->rank, SS_SHARE_HOST, 0,
				SS_SEIZE_ALL);
		ss_shares_claim(shares, judgement, finding, item->rank, SS_SHARE_CHORES, 0,
				SS_SEIZE_ALL);
	}
}

static void report(struct stragglers *stragglers, const struct ss_straggler *item)
{
	struct ss_finding *finding = add_finding(stragglers, item);

	if (!finding)
		return;
	claim(stragglers, finding, item);
	tell(stragglers, finding, item);
}

static enum ss_status judge(struct stragglers *stragglers, struct ss_error *err)
{
	struct ss_judgement *judgement = stragglers->judgement;

	if (!ss_verdict_find(&stragglers->verdict, judgement->many, &stragglers->arena) ||
	    !ss_shares_find(&stragglers->shares, judgement, &stragglers->arena))
		return ss_fail_memory(err, "the lateness of ranks");
	for (uint32_t i = 0; i < stragglers->verdict.count && !judgement->failed; i++)
		if (stragglers->verdict.items[i].pattern != SS_PATTERN_ROTATING)
			report(stragglers, &stragglers->verdict.items[i]);
	if (stragglers->verdict.stage.rank != SS_NO_ROW && !judgement->failed)
		report(stragglers, &stragglers->verdict.stage);
	return SS_OK;
}

static enum ss_status judge_ranks(struct ss_judgement *judgement, struct ss_error *err)
{
	struct stragglers stragglers = { .judgement = judgement };
	enum ss_status status;

	if (!judgement->many || judgement->rank_count < 2 ||
	    judgement->rank_count != judgement->many->rank_count)
		return SS_OK;
	ss_arena_init(&stragglers.arena, judgement->diagnosis->memory);
	status = judge(&stragglers, err);
	ss_arena_release(&stragglers.arena);
	return status;
}

/* Ranks are only compared. */
static enum ss_status look_at_rank(struct ss_look *look, struct ss_error *err)
{
	(void)look;
	(void)err;
	return SS_OK;
}

const struct ss_rule ss_rule_straggler = {
	.name = "straggler",
	.title = "One rank holds all others up",
	.summary = "A rank that comes late to collectives again and again, and why",
	.fix = "# compare this rank's host, device and input with another's",
	.surer = "record all ranks in the same steps, five or more of them",
	.warn_share = 0.03,
	.silent_share = 0.01,
	.why = "ByteDance looks into jobs that a rank makes 3 % slower; below 1 % ranks of a "
	       "healthy job differ as much",
	.look = look_at_rank,
	.judge = judge_ranks,
};
