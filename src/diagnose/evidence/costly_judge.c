/* SPDX-License-Identifier: Apache-2.0 */
/*
 * costly_judge.c - what exceeds the normal on all ranks as one finding, and its words.
 */
#include "diagnose/diagnose.h"
#include "diagnose/evidence/costly.h"

/* Only the author knows whether other work can go: from a fifth of the step on it is a warning. */
#define WANTED_WARN_SHARE 0.2

static const struct {
	const char *title, *fix;
} costly_words[SS_EXCESS_KINDS] = {
	[SS_EXCESS_BESIDE] = { "Each step does other work than training",
			       "# it runs on the training thread in every step: do it every N\n"
			       "# steps, on another thread, or once before the loop" },
	[SS_EXCESS_UNTRAINED] = { "Each step runs a model that is not trained",
				  "# a teacher, a target network, validation: keep results where\n"
				  "# inputs repeat, run it every N steps, or in a smaller type" },
	[SS_EXCESS_OUTSIDE] = { "Each step does other work than the model",
				"# it runs on the thread that runs the model: do less of it, or\n"
				"# do it on another thread while the next step runs" },
	[SS_EXCESS_INPUT] = { "The training thread makes its own input",
			      "# samplers run in the training process, whatever num_workers is:\n"
			      "# draw the indices of many steps at once, or before the loop" },
	[SS_EXCESS_UNANSWERED] = { "Forward does work that needs no gradient",
				   "# no backward uses it: compute it once before the loop, on\n"
				   "# fewer elements, or not at all" },
	[SS_EXCESS_ENGINE] = { "Backward runs more than gradients",
			       "# hooks or anomaly mode run operators for each gradient:\n"
			       "torch.autograd.set_detect_anomaly(False)" },
	[SS_EXCESS_AGAIN] = { "Backward runs several times over the same operators",
			      "# sum the losses, and call backward once per step; of two models,\n"
			      "# detach() what the loss of one must not train in the other" },
	[SS_EXCESS_RECOMPUTED] = { "Backward computes activations a second time",
				   "# checkpoint() trades time for memory: where memory is left,\n"
				   "# wrap fewer layers, those with the largest activations" },
	[SS_EXCESS_LOOP] = { "The same operators run in a loop",
			     "# stack the data of all turns and call each operator once" },
	[SS_EXCESS_GROWING] = { "A tensor that grows is copied as a whole each time",
				"parts.append(x)   # in the loop\n"
				"y = torch.cat(parts)   # once, behind it" },
	[SS_EXCESS_CHAIN] = { "Many element-wise operators run in a row",
			      "model = torch.compile(model)   # fuses them into one pass" },
	[SS_EXCESS_COPIES] = { "Forward and backward copy and convert tensors",
			       "# create tensors with the type and layout that the next operator\n"
			       "# needs; .to(), .clone() and .contiguous() copy" },
	[SS_EXCESS_DOUBLE] = { "The model computes in float64",
			       "model = model.float()   # and inputs: x.float()" },
	[SS_EXCESS_HOOK] = { "Something runs at every operator",
			     "# anomaly mode, a TorchDispatchMode or hooks: switch them off\n"
			     "torch.autograd.set_detect_anomaly(False)" },
	[SS_EXCESS_SLOW] = { "Operators are slower than the CPU allows",
			     "torch.backends.mkldnn.is_available()   # False: no oneDNN\n"
			     "# threads: torch.get_num_threads(); layout: x.is_contiguous()" },
	[SS_EXCESS_SORT] = { "Whole dimensions are sorted",
			     "torch.topk(x, k)   # where only the first k are used\n"
			     "# top-p sampling: topk of some hundred first, then the sum" },
	[SS_EXCESS_TABLE] = { "Rows of an embedding that no batch uses are trained",
			      "torch.nn.Embedding(..., sparse=True)   # gradients of used rows\n"
			      "torch.optim.SparseAdam(tables)   # SGD and Adagrad take them, too;\n"
			      "# momentum and weight decay then reach the used rows only" },
	[SS_EXCESS_UNUSED] = { "Backward makes gradients that no optimizer uses",
			       "with torch.no_grad():   # around a model that is not trained\n"
			       "    ...\n"
			       "p.requires_grad_(False)   # for parameters that no optimizer has" },
	[SS_EXCESS_PREFIX] = { "Each new token computes all earlier ones again",
			       "model.generate(..., use_cache=True)   # or, in a loop of its own:\n"
			       "model(tokens[:, -1:], past_key_values=cache, use_cache=True)" },
	[SS_EXCESS_FIRST] = { "First calls take much of the recorded time: start-up",
			      "# record later: the job goes on without it\n"
			      "schedule = torch.profiler.schedule(wait=1, warmup=3, active=3)" },
	[SS_EXCESS_TRAIN_MODE] = { "The model runs in train mode, and nothing trains",
				   "model.eval()   # dropout does nothing then" },
	[SS_EXCESS_COLLECTIVE] = { "Ranks exchange more than gradients in each step",
				   "# DDP(..., broadcast_buffers=False) if buffers are constant;\n"
				   "# gather metrics every N steps, as one tensor" },
	[SS_EXCESS_GAP] = { "Time passes outside of everything that is recorded",
			    "# with_stack=True names the functions; or name parts of the loop:\n"
			    "with torch.profiler.record_function(\"part of the loop\"):\n"
			    "    ..." },
	[SS_EXCESS_IDLE] = { "The GPU is idle while the host runs other code",
			     "# move it off the thread that launches: workers, a thread,\n"
			     "# once before the loop; what must stay: vectorized, on the GPU" },
};

const char *ss_costly_fix(enum ss_excess_kind kind)
{
	return costly_words[kind].fix;
}

/* Whether a rank has what the finding is named after: its kind, or its place. */
static bool costly_is_same(struct ss_judgement *judgement, uint32_t rank, uint32_t other)
{
	double place = ss_judgement_figure(judgement, other, COSTLY_PLACE);

	if (!(ss_judgement_figure(judgement, rank, COSTLY_EXCESS_NS) > 0))
		return false;
	return ss_judgement_figure(judgement, rank, COSTLY_KIND) ==
		       ss_judgement_figure(judgement, other, COSTLY_KIND) ||
	       (place > 0 && ss_judgement_figure(judgement, rank, COSTLY_PLACE) == place);
}

/*
 * The rank that has clearly more unrecorded time than all others; SS_NO_ROW: none. Its low steps
 * must exceed the high steps of the others, and the usual step by what healthy programs do not
 * reach: a busy machine interrupts one rank or another.
 */
static uint32_t costly_outlier(struct ss_judgement *judgement, double *more_ns)
{
	double most = 0, others = 0, high = 0;
	uint32_t rank = SS_NO_ROW;

	for (uint32_t i = 0; i < judgement->rank_count; i++) {
		double usual = ss_judgement_figure(judgement, i, COSTLY_USUAL_NS);

		if (!(usual > 0))
			return SS_NO_ROW;
		if (usual > most) {
			most = usual;
			rank = i;
		}
	}
	for (uint32_t i = 0; i < judgement->rank_count; i++) {
		double own = ss_judgement_figure(judgement, i, COSTLY_HIGH_NS);

		if (i == rank)
			continue;
		others += ss_judgement_figure(judgement, i, COSTLY_USUAL_NS);
		high = own > high ? own : high;
	}
	if (judgement->rank_count < 2)
		return SS_NO_ROW;
	*more_ns = most - others / (judgement->rank_count - 1);
	return ss_judgement_figure(judgement, rank, COSTLY_LOW_NS) > high &&
			       *more_ns >= COSTLY_GAP_SHARE * (double)judgement->diagnosis->step_ns
		       ? rank
		       : SS_NO_ROW;
}

/* A finding of the kind; unrecorded time names the rank that has clearly more of it. */
static struct ss_finding *costly_add_finding(struct ss_judgement *judgement, uint32_t kind)
{
	double more_ns = 0;
	uint32_t rank = kind == SS_EXCESS_GAP ? costly_outlier(judgement, &more_ns) : SS_NO_ROW;
	long long number = rank == SS_NO_ROW ? -1 : judgement->diagnosis->ranks[rank];
	struct ss_finding *finding;

	if (number < 0)
		return ss_judgement_add(judgement, SS_NO_ROW, "%s", costly_words[kind].title);
	finding = ss_judgement_add(judgement, SS_NO_ROW, "%s, above all on rank %lld",
				   costly_words[kind].title, number);
	if (!finding)
		return NULL;
	finding->most_on = rank + 1;
	ss_judgement_add_evidence(judgement, finding, (int64_t)more_ns,
				  "the usual step of rank %lld has {time} more of it than those of "
				  "the others",
				  number);
	return finding;
}

/* Ranks with the same kind or place are one finding: the rank with the most excess names it. */
enum ss_status ss_costly_judge(struct ss_judgement *judgement, struct ss_error *err)
{
	struct ss_finding *finding;
	double most = 0;
	uint32_t kind = SS_EXCESS_NONE, named = 0;

	(void)err;
	for (uint32_t i = 0; i < judgement->rank_count; i++)
		if (ss_judgement_figure(judgement, i, COSTLY_EXCESS_NS) > most) {
			most = ss_judgement_figure(judgement, i, COSTLY_EXCESS_NS);
			kind = (uint32_t)ss_judgement_figure(judgement, i, COSTLY_KIND);
			named = i;
		}
	if (!(most > 0) || kind >= SS_EXCESS_KINDS || !costly_words[kind].title)
		return SS_OK;
	finding = costly_add_finding(judgement, kind);
	if (!finding)
		return SS_OK;
	finding->is_start_up = kind == SS_EXCESS_FIRST;
	if (kind == SS_EXCESS_UNTRAINED || kind == SS_EXCESS_RECOMPUTED)
		finding->warn_share = SS_NEVER_WARN;
	else if (kind == SS_EXCESS_BESIDE || kind == SS_EXCESS_OUTSIDE ||
		 kind == SS_EXCESS_UNANSWERED)
		finding->warn_share = WANTED_WARN_SHARE;
	if (!finding->is_start_up)
		finding->more_ns = (int64_t)(COSTLY_RANGE_SHARE *
					     (double)judgement->diagnosis->step_ns);
	for (uint32_t i = 0; i < judgement->rank_count; i++)
		if (costly_is_same(judgement, i, named))
			ss_judgement_take_rank(judgement, finding, i);
	return SS_OK;
}
