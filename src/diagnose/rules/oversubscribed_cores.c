/* SPDX-License-Identifier: Apache-2.0 */
/*
 * oversubscribed_cores.c - rule: there are more threads than CPU cores.
 *
 * A large operator is split over all threads of its process and ends when the last of them ends.
 * With more threads than cores one of them always waits for its time slice of some milliseconds,
 * so the same operator on the same shapes takes many times as long as in its fast runs. Short
 * operators run on one thread and do not wait for others. On a host that is merely busy both slow
 * down alike.
 */
#include "diagnose/rule.h"

/*
 * Operators that take 20 us on one core are split over threads: PyTorch gives each thread 32,768
 * elements (10 to 20 us), OpenBLAS splits from 262,144 multiplications on (5 to 20 us).
 */
#define SPLIT_NS 20000

/* Operators that take 5 us are never split. */
#define WHOLE_NS 5000

/* With fewer runs of a group none can be called its fast one. */
#define RUNS_MIN 3

/*
 * A busy host slows split operators down 0.1 to 1.5 times as much as short ones (70 ranks of jobs
 * with one thread, 1 to 8 processes and load 10 to 22 on two cores). With more threads than cores
 * the factor is 1.5 to 18 per rank in transformers and perceptrons, but 0.2 to 0.4 in a CNN with 4
 * and 8 threads, whose fast runs were slow, too: the rule misses these. Whether a pause hits a
 * short operator is chance, so one more pause is counted there.
 */
#define TIMES_MIN 2.0

/* At least one run in five is slow (seen: 0.27 to 0.51). Fewer are pauses of the process. */
#define SLOW_SHARE 0.2

/* All split operators slow down; the time of a single one may depend on its input. */
#define GROUPS_MIN 3

struct op_run_sums {
	double count, slow;
	double fast_ns, excess_ns;
};

/* Slots of the figures: of operators that are split, and of those that one thread runs. */
enum oversubscription_figure {
	SPLIT_COUNT,
	SPLIT_SLOW,
	SPLIT_FAST,
	SPLIT_EXCESS,
	SHORT_FAST,
	SHORT_EXCESS
};

struct oversubscription {
	struct ss_rule_context *context;
	const struct ss_op_runs *runs;
	struct op_run_sums split, one;
	uint32_t groups; /* of split operators that have slow runs */
	double most_ns;  /* what the heaviest of these takes beyond its fast time */
};

/* Operators that compute and can be split. Reads, copies and allocations vary by themselves. */
static bool op_group_is_split(const struct oversubscription *over, const struct ss_op_group *group)
{
	switch (over->runs->category[group->name]) {
	case SS_OP_MATMUL:
	case SS_OP_CONVOLUTION:
	case SS_OP_ATTENTION:
	case SS_OP_RECURRENT:
	case SS_OP_NORMALIZATION:
	case SS_OP_ACTIVATION:
	case SS_OP_ELEMENTWISE:
	case SS_OP_REDUCTION:
	case SS_OP_SOFTMAX:
	case SS_OP_LOSS:
	case SS_OP_OPTIMIZER:
		return group->fast_ns >= SPLIT_NS;
	default:
		return false;
	}
}

/* Sums the runs of operators, apart for those that are split and those that are not. */
static void oversubscription_sum_groups(struct oversubscription *over)
{
	for (uint32_t i = 0; i < over->runs->count; i++) {
		const struct ss_op_group *group = &over->runs->groups[i];
		bool split = op_group_is_split(over, group);
		struct op_run_sums *part = split ? &over->split : &over->one;

		/* one or two runs measure nothing */
		if (group->count < RUNS_MIN || (!split && group->fast_ns >= WHOLE_NS))
			continue;
		part->count += group->count;
		part->slow += group->slow;
		part->fast_ns += (double)group->fast_ns * group->count;
		part->excess_ns += (double)group->excess_ns;
		if (!split || !group->slow)
			continue;
		over->groups++;
		if ((double)group->excess_ns > over->most_ns)
			over->most_ns = (double)group->excess_ns;
	}
}

/* How many times as long the operators take as on a core of their own. */
static double op_runs_slowdown(const struct op_run_sums *part)
{
	return (part->fast_ns + part->excess_ns) / part->fast_ns;
}

/* The same with one more pause: that none hit the short operators may be chance. */
static double op_runs_slowdown_most(const struct op_run_sums *one, const struct op_run_sums *split)
{
	return op_runs_slowdown(one) + split->excess_ns / split->slow / one->fast_ns;
}

/* Whether this rank alone suggests it; all ranks together decide. */
static bool oversubscription_is_likely(const struct oversubscription *over)
{
	const struct op_run_sums *split = &over->split, *one = &over->one;

	return over->groups >= GROUPS_MIN && one->fast_ns > 0 &&
	       split->slow >= SLOW_SHARE * split->count && over->most_ns <= split->excess_ns / 2 &&
	       op_runs_slowdown(split) >= op_runs_slowdown(one);
}

/*
 * The fast time remains. If the host is also busy with something else, operators stay as much
 * slower as the short ones are: the lower bound of the saving.
 */
static void oversubscription_claim(struct oversubscription *over)
{
	struct ss_rule_context *context = over->context;
	const struct ss_slices *slices = &context->trace->slices;
	double low_times = op_runs_slowdown_most(&over->one, &over->split);

	for (uint32_t row = 0; row < context->trace->device_from; row++) {
		uint32_t number = over->runs->group_of[row];
		const struct ss_op_group *group = number == SS_NO_ROW ? NULL
								      : &over->runs->groups[number];
		int64_t own_ns = over->runs->ops->self_ns[row], rest_ns, kept_ns, low_ns;

		if (!group || group->count < RUNS_MIN || !op_group_is_split(over, group))
			continue;
		kept_ns = group->fast_ns;
		low_ns = (int64_t)((double)group->fast_ns * low_times);
		if (kept_ns >= own_ns)
			continue;
		/* operators within it are claimed separately */
		rest_ns = slices->dur_ns[row] - own_ns;
		ss_rule_claim_time(context, (struct ss_stretch){ .track = slices->track[row],
								 .from_ns = slices->start_ns[row],
								 .to_ns = ss_slice_end(slices, row),
								 .keep_ns = rest_ns + kept_ns,
								 .low_keep_ns = rest_ns + low_ns });
	}
}

/* Names the split operators that lose most, over all shapes; false: no memory. */
static bool oversubscription_report_ops(struct oversubscription *over)
{
	struct ss_rule_context *context = over->context;
	uint32_t names = context->trace->names.count, best;
	struct ss_fact *facts = SS_ARENA_NEW(context->scratch, struct ss_fact, (size_t)names + 1);

	if (!facts)
		return false;
	for (uint32_t i = 0; i < over->runs->count; i++) {
		const struct ss_op_group *group = &over->runs->groups[i];
		struct ss_fact *fact = &facts[group->name];

		if (!group->slow || group->count < RUNS_MIN || !op_group_is_split(over, group))
			continue;
		if (fact->count <= 0)
			fact->row = group->row;
		fact->weight_ns = ss_ns_sum(fact->weight_ns, group->excess_ns);
		fact->count += group->slow;
	}
	for (int reported = 0; reported < 3; reported++) {
		best = 0;
		for (uint32_t i = 1; i < names; i++)
			if (facts[i].weight_ns > facts[best].weight_ns)
				best = i;
		if (!facts[best].weight_ns)
			break;
		ss_rule_add_evidence(
			context, facts[best],
			"%s takes several times as long as its fastest run {count} times "
			"per step: {time} lost",
			ss_strings_text(&context->trace->names, best));
		facts[best].weight_ns = 0;
	}
	return true;
}

static bool oversubscription_report(struct oversubscription *over)
{
	struct ss_fact all = { (int64_t)over->split.excess_ns, over->split.slow, SS_NO_ROW };

	ss_rule_add_evidence(
		over->context, all,
		"multi-threaded operators lose {time} per step compared with their own "
		"fastest runs on the same shapes; short operators lose far less");
	ss_rule_set_confidence(over->context, SS_CONFIDENCE_MEDIUM,
			       "the trace does not record threads and cores");
	return oversubscription_report_ops(over);
}

static void oversubscription_add_figures(struct oversubscription *over)
{
	struct ss_rule_context *context = over->context;

	ss_rule_add_figure(context, SPLIT_COUNT, over->split.count);
	ss_rule_add_figure(context, SPLIT_SLOW, over->split.slow);
	ss_rule_add_figure(context, SPLIT_FAST, over->split.fast_ns);
	ss_rule_add_figure(context, SPLIT_EXCESS, over->split.excess_ns);
	ss_rule_add_figure(context, SHORT_FAST, over->one.fast_ns);
	ss_rule_add_figure(context, SHORT_EXCESS, over->one.excess_ns);
}

static enum ss_status oversubscribed_cores_look(struct ss_rule_context *context,
						struct ss_error *err)
{
	struct oversubscription over = { .context = context };

	if (context->digest->device >= 0)
		return SS_OK;
	SS_TRY(ss_facts_op_runs(context->subject->facts, &over.runs, err));
	oversubscription_sum_groups(&over);
	if (!oversubscription_is_likely(&over))
		return SS_OK;
	oversubscription_claim(&over);
	oversubscription_add_figures(&over);
	return oversubscription_report(&over) ? SS_OK : ss_fail_memory(err, "runs of operators");
}

/* The ranks of a job share hosts, so all of them together decide. */
static enum ss_status oversubscribed_cores_judge(struct ss_judgement *judgement,
						 struct ss_error *err)
{
	struct op_run_sums split = { 0 }, one = { 0 };
	struct ss_finding *finding;

	(void)err;
	for (uint32_t i = 0; i < judgement->rank_count; i++) {
		split.count += ss_judgement_figure(judgement, i, SPLIT_COUNT);
		split.slow += ss_judgement_figure(judgement, i, SPLIT_SLOW);
		split.fast_ns += ss_judgement_figure(judgement, i, SPLIT_FAST);
		split.excess_ns += ss_judgement_figure(judgement, i, SPLIT_EXCESS);
		one.fast_ns += ss_judgement_figure(judgement, i, SHORT_FAST);
		one.excess_ns += ss_judgement_figure(judgement, i, SHORT_EXCESS);
	}
	if (split.count <= 0 ||
	    op_runs_slowdown(&split) < TIMES_MIN * op_runs_slowdown_most(&one, &split))
		return SS_OK;
	finding = ss_judgement_add(judgement, SS_NO_ROW, NULL);
	for (uint32_t i = 0; finding && i < judgement->rank_count; i++)
		if (ss_judgement_figure(judgement, i, SPLIT_COUNT) > 0)
			ss_judgement_take_rank(judgement, finding, i);
	return SS_OK;
}

const struct ss_rule ss_rule_oversubscribed_cores = {
	.name = "oversubscribed-cores",
	.title = "There are more threads than CPU cores",
	.summary = "Multi-threaded operators take many times as long as their fastest runs",
	.fix = "torch.set_num_threads(max(1, os.cpu_count() // processes_per_host))\n"
	       "# or in the environment: OMP_NUM_THREADS=1 with one process per core\n"
	       "# and pin each process to its cores: taskset -c 0-7 python train.py",
	.to_record = "compare with a run under OMP_NUM_THREADS=1; htop shows threads and cores",
	.views = "operators tracks",
	.warn_share = 0.10,
	.silent_share = 0.02,
	.why = "on a busy host steps differ by a few percent anyway; from 10 % on the number of "
	       "threads is the cause",
	.host_facts = SS_FACT_OP_RUNS,
	.look = oversubscribed_cores_look,
	.judge = oversubscribed_cores_judge,
};
