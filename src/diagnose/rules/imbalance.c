/*
 * imbalance.c - rule: in each step another rank has more to compute than the others.
 *
 * No rank is to blame: data is. In every step all wait for the one that has the longest
 * sequences, and next time it is somebody else. Whether that is so is judged by
 * job/verdict.h. The fix gives each rank that has more as much to do as the median one of
 * that step has, and as much memory to get; at worst all together have as much as before, and
 * each its mean. Without
 * devices ranks share their cores, and the mean is what is expected.
 */
#include "diagnose/diagnose.h"
#include "diagnose/shares.h"
#include "job/verdict.h"

/* Ranks that have so much more to do in a step than the median one: less is noise. */
#define LEAST_MORE 0.02

struct balance {
	struct ss_judgement *judgement;
	struct ss_shares shares;
	struct ss_verdict verdict;
	struct ss_arena arena;
	enum ss_share_of kind;
};

/* What a rank has to do in a step more than the others: the most of all ranks, and whose. */
static double most_of(const struct balance *balance, uint32_t step, double *usual_ns)
{
	double most = 0;

	*usual_ns = 0;
	for (uint32_t i = 0; i < balance->shares.rank_count; i++) {
		double own = 0, usual = 0;

		if (step >= balance->shares.graphs[i].step_count)
			continue;
		for (uint32_t phase = 0; phase < SS_PHASE_COUNT; phase++) {
			own += ss_share_of(&balance->shares, i, step, phase, balance->kind)->ns;
			usual +=
				ss_shares_usual(&balance->shares, i, step, phase, balance->kind).ns;
		}
		if (own - usual > most) {
			most = own - usual;
			*usual_ns = usual;
		}
	}
	return most;
}

static void tell(struct balance *balance, struct ss_finding *finding,
		 const struct ss_straggler *item)
{
	struct ss_judgement *judgement = balance->judgement;
	double more = 0, usual = 0;

	for (uint32_t step = 0; step < balance->shares.step_count; step++) {
		double own_usual;

		more += most_of(balance, step, &own_usual);
		usual += own_usual;
	}
	if (balance->shares.step_count && usual > 0)
		ss_judge_evidence(judgement, finding, (int64_t)(more / balance->shares.step_count),
				  "in each step one rank computes {time} more than the median one, "
				  "%.2f times as long",
				  (usual + more) / usual);
	ss_judge_evidence(judgement, finding, item->late_ns,
			  "it is another one each time: late by {time} in %u of %u steps",
			  item->steps, item->of_steps);
	ss_judge_evidence(judgement, finding, item->lost_ns,
			  "the others wait {time} a step for it, all together");
	finding->confidence = SS_CONFIDENCE_HIGH;
	finding->reason = "in nearly all steps the rank that all wait for is the one that has more "
			  "to compute";
}

static enum ss_status judge(struct balance *balance, struct ss_error *err)
{
	struct ss_judgement *judgement = balance->judgement;
	struct ss_finding *finding;

	if (!ss_verdict_find(&balance->verdict, judgement->many, &balance->arena))
		return ss_fail_memory(err, "the lateness of ranks");
	for (uint32_t i = 0; i < balance->verdict.count && !judgement->failed; i++) {
		const struct ss_straggler *item = &balance->verdict.items[i];

		if (item->pattern != SS_PATTERN_ROTATING)
			continue;
		if (!ss_shares_find(&balance->shares, judgement, &balance->arena))
			return ss_fail_memory(err, "the work of ranks");
		balance->shares.least_more = LEAST_MORE;
		balance->shares.spreads = true;
		balance->shares.balances = judgement->many->ranks[0].device < 0;
		balance->kind = judgement->many->ranks[0].device < 0 ? SS_SHARE_HOST
								     : SS_SHARE_DEVICE;
		finding = ss_judge_add(judgement, SS_NO_ROW, NULL);
		for (uint32_t r = 0; finding && r < judgement->rank_count; r++) {
			ss_shares_claim(&balance->shares, judgement, finding, r, balance->kind, 0);
			ss_shares_claim(&balance->shares, judgement, finding, r, SS_SHARE_MEMORY,
					0);
		}
		if (finding)
			tell(balance, finding, item);
	}
	return SS_OK;
}

static enum ss_status judge_ranks(struct ss_judgement *judgement, struct ss_error *err)
{
	struct balance balance = { .judgement = judgement };
	enum ss_status status;

	if (!judgement->many || judgement->rank_count < 2 ||
	    judgement->rank_count != judgement->many->rank_count)
		return SS_OK;
	ss_arena_init(&balance.arena, judgement->diagnosis->memory);
	status = judge(&balance, err);
	ss_arena_release(&balance.arena);
	return status;
}

/* Ranks are only compared. */
static enum ss_status look_at_rank(struct ss_look *look, struct ss_error *err)
{
	(void)look;
	(void)err;
	return SS_OK;
}

const struct ss_rule ss_rule_imbalance = {
	.name = "imbalance",
	.title = "In each step another rank has the most work, and all wait for it",
	.summary = "Work of different size on the ranks, another one is late in each step",
	.fix = "# give all ranks as many tokens in each step, not as many samples: a sampler\n"
	       "# that sorts by length and deals out in turn, or sequences packed to one length\n"
	       "order = sorted(indices, key=lengths.__getitem__)\n"
	       "mine = order[rank::world_size]   # then shuffle batches, alike on all ranks",
	.surer = "record all ranks in the same steps, five or more of them",
	.warn_share = 0.03,
	.silent_share = 0.01,
	.why = "ByteDance looks into jobs that uneven ranks make 3 % slower; below 1 % ranks of a "
	       "healthy job differ as much",
	.look = look_at_rank,
	.judge = judge_ranks,
};
