/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unfused_chain.c - rule: elementwise operators, norms and reductions one after the other on
 * tensors of one size, each of which reads what the one before wrote.
 *
 * As one kernel they read the inputs once and write the last result. The file does not say which
 * tensor an operator reads; of neighbours on a stream with tensors of the same size we assume that
 * the second reads the result of the first. Halves of a tensor count, too: rotary embeddings. So
 * do lists of tensors: an optimizer whose loops are one kernel each (foreach) still moves the state
 * several times.
 */
#include "diagnose/evidence/code_places.h"
#include "diagnose/evidence/cpu_rows.h"

/* Shorter kernels are bound by latency: other rules look at their number. They end no chain. */
#define KERNEL_NS 10000

/* Operators that one kernel can replace: max_fusion_size of TorchInductor. */
#define CHAIN_MAX 64
/* Their kernels: an operation on a list takes one per 320 blocks of 65,536 numbers. */
#define LINKS_MAX 1024

/* One kernel reads the inputs of the first and writes the last result: a pass of as many. */
#define LEAST_PART (1.0 / CHAIN_MAX)

struct chain_link {
	uint32_t task;
	const struct ss_worker *worker;
	const struct ss_work *work;
};

enum chain_step { CHAIN_ENDS, CHAIN_SKIPS, CHAIN_LINKS };

struct unfused_chains {
	struct ss_rule_context *context;
	const struct ss_works *works;
	struct ss_code_places *sites;
	struct chain_link links[LINKS_MAX];
	uint32_t count, op_count;
	int64_t claimed_ns, lists_ns; /* of all chains; of lists of tensors */
};

/* What a kernel is for a chain; only work that compilers make one kernel of goes on with it. */
static enum chain_step chain_read_link(const struct unfused_chains *chains, uint32_t number,
				       struct chain_link *out)
{
	const struct ss_task *task = &chains->context->graph->tasks[number];
	const struct ss_works *works = chains->works;
	uint32_t op = ss_ops_launcher(works->ops, task->row);

	out->task = number;
	out->worker = op == SS_NO_ROW ? NULL : ss_works_worker(works, op);
	out->work = out->worker ? ss_works_item(works, out->worker) : NULL;
	if (!out->work || out->worker->across || out->work->kind < SS_WORK_COPY ||
	    out->work->kind > SS_WORK_NORM)
		return CHAIN_ENDS;
	if (task->own_ns < KERNEL_NS)
		return CHAIN_SKIPS;
	return out->work->elements > 0 && out->work->has_bytes ? CHAIN_LINKS : CHAIN_ENDS;
}

/* Rows of the same length, or parts of them; 0: unknown. */
static bool columns_match(double a, double b)
{
	return a <= 0 || b <= 0 || a == b || a == 2 * b || b == 2 * a;
}

/* Whether one follows the other in a kernel for both: tensors have the same size, or half of it. */
static bool chain_goes_on(const struct unfused_chains *chains, const struct chain_link *next)
{
	const struct ss_task *tasks = chains->context->graph->tasks;
	const struct chain_link *last;
	double before, after;

	if (!chains->count || chains->count == LINKS_MAX)
		return false;
	last = &chains->links[chains->count - 1];
	if (last->worker != next->worker && chains->op_count == CHAIN_MAX)
		return false;
	before = last->work->elements;
	after = next->work->elements;
	return tasks[last->task].track == tasks[next->task].track &&
	       tasks[last->task].step == tasks[next->task].step &&
	       columns_match(last->work->columns, next->work->columns) && before <= 2 * after &&
	       after <= 2 * before;
}

/* The outermost operator around a row that contains none of the chain's rows beside it. */
static uint32_t chain_outer_row(const struct unfused_chains *chains, uint32_t row, uint32_t before,
				uint32_t after)
{
	const struct ss_trace *trace = chains->context->trace;
	const uint32_t *track = trace->slices.track;
	uint32_t owner = chains->works->ops->owner[row];

	for (; owner != SS_NO_ROW && track[before] == track[row] && track[after] == track[row] &&
	       owner > before && ss_cpu_row_end(trace, owner) <= after;
	     owner = chains->works->ops->owner[owner])
		row = owner;
	return row;
}

/*
 * One kernel is launched once: the host's time of all operators but the first goes, as far as their
 * kernels take time. A host that takes longer than these is another matter: launch_bound.c.
 */
static void chain_claim_host(struct unfused_chains *chains, double part)
{
	const struct ss_slices *slices = &chains->context->trace->slices;
	uint32_t before = SS_NO_ROW;
	int64_t gone_ns, host_ns;

	for (uint32_t i = 0; i < chains->count; i++) {
		uint32_t at = chains->links[i].worker->row, row = at, next = i + 1;

		while (next < chains->count && chains->links[next].worker->row == at)
			next++;
		if (before != SS_NO_ROW && next < chains->count)
			row = chain_outer_row(chains, at, before, chains->links[next].worker->row);
		host_ns = slices->dur_ns[row];
		gone_ns = (int64_t)((1 - part) * (double)chains->links[i].worker->device_ns);
		gone_ns = gone_ns < host_ns ? gone_ns : host_ns;
		if (before != SS_NO_ROW)
			(void)ss_rule_claim_time(chains->context,
						 (struct ss_stretch){
							 .track = slices->track[row],
							 .from_ns = slices->start_ns[row],
							 .to_ns = ss_slice_end(slices, row),
							 .keep_ns = host_ns - gone_ns,
							 .low_keep_ns = host_ns - gone_ns / 4 });
		before = at;
		i = next - 1;
	}
}

/* Claims what the kernels of a chain save as one. */
static void chain_end(struct unfused_chains *chains)
{
	struct ss_rule_context *context = chains->context;
	double moved = 0, saved = 0, part;
	const struct ss_worker *last = chains->links[chains->count ? chains->count - 1 : 0].worker;

	for (uint32_t i = 0; i < chains->count; i++) {
		const struct chain_link *link = &chains->links[i];

		/* an operator with several kernels counts once */
		if (i && link[-1].worker == link->worker)
			continue;
		moved += link->work->moved_bytes;
		if (link->worker != last)
			saved += 2 * link->work->out_bytes;
	}
	part = moved > 0 ? 1 - saved / moved : 1;
	part = part > LEAST_PART ? part : LEAST_PART;
	for (uint32_t i = 0; saved > 0 && i < chains->count; i++) {
		const struct chain_link *link = &chains->links[i];
		const struct ss_task *task = &context->graph->tasks[link->task];
		int64_t own_ns = (int64_t)(part * (double)task->own_ns);

		/* at worst a quarter: results that backward needs are written all the same */
		if (ss_rule_claim(context,
				  (struct ss_claim){ .task = link->task,
						     .own_ns = own_ns,
						     .low_ns = own_ns +
							       3 * (task->own_ns - own_ns) / 4,
						     .high_ns = own_ns })) {
			(void)ss_code_places_add(chains->sites,
						 context->trace->slices.name[link->worker->row],
						 link->worker->row, task->own_ns);
			ss_ns_add(&chains->claimed_ns, task->own_ns);
			if (link->work->list_passes > 0 && link->work->kind == SS_WORK_ELEMENTWISE)
				ss_ns_add(&chains->lists_ns, task->own_ns);
		}
	}
	if (saved > 0)
		chain_claim_host(chains, part);
	chains->count = chains->op_count = 0;
}

static void chain_add(struct unfused_chains *chains, const struct chain_link *link)
{
	chains->op_count += !chains->count ||
			    chains->links[chains->count - 1].worker != link->worker;
	chains->links[chains->count++] = *link;
}

static enum ss_status unfused_chain_look(struct ss_rule_context *context, struct ss_error *err)
{
	struct unfused_chains chains = { .context = context };
	const struct ss_graph *graph = context->graph;
	struct ss_task_range tasks = ss_replay_device_tasks(graph);
	struct chain_link next;
	enum chain_step step;

	SS_TRY(ss_facts_works(context->subject->facts, &chains.works, err));
	SS_TRY(ss_code_places_make(&chains.sites, context, err));
	for (uint32_t i = tasks.from; i < tasks.to; i++) {
		if (!ss_task_on_device(graph->tasks[i].kind))
			continue;
		step = graph->tasks[i].step == SS_NO_STEP ? CHAIN_ENDS
							  : chain_read_link(&chains, i, &next);
		if (step == CHAIN_ENDS || (step == CHAIN_LINKS && !chain_goes_on(&chains, &next)))
			chain_end(&chains);
		if (step == CHAIN_LINKS)
			chain_add(&chains, &next);
	}
	chain_end(&chains);
	if (!chains.sites->count)
		return SS_OK;
	ss_code_places_report(chains.sites, UINT32_MAX,
			      "%s beside others of its size: {time} per step ({count} times)");
	ss_rule_set_confidence(context, SS_CONFIDENCE_LOW,
			       "we assume that each reads what the one before wrote");
	if (chains.lists_ns > chains.claimed_ns / 2)
		ss_rule_set_fix(context, "optimizer = torch.optim.AdamW(params, fused=True)\n"
					 "# or torch.compile(optimizer.step): one pass over all "
					 "tensors");
	return SS_OK;
}

static const struct ss_rule_fix by_kind[] = {
	{ SS_JOB_COMPILED,
	  "# these operators run outside of the compiled regions:\n"
	  "# TORCH_LOGS=\"graph_breaks\" says where one ends; or decorate the function\n"
	  "@torch.compile" },
	{ 0 },
};

const struct ss_rule ss_rule_unfused_chain = {
	.name = "unfused-chain",
	.title = "Elementwise operators one after the other move the same data again",
	.summary = "Chains of elementwise operators that one kernel could do",
	.fix = "model = torch.compile(model)   # makes one kernel of a chain",
	.fixes = by_kind,
	.to_record = "record_shapes=True records the sizes",
	.views = "roofline kernels",
	.warn_share = 0.25,
	.silent_share = 0.02,
	.why = "networks without a compiler spend up to a fifth of a step on it, and compilers "
	       "bring their own trouble",
	.facts = SS_FACT_WORKS,
	.needs_device = true,
	.look = unfused_chain_look,
};
