/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_breaks.c - rule: graph breaks split a compiled model into regions with Python between
 * them.
 *
 * Between two compiled regions of one pass the interpreter is back: it checks guards, runs Python
 * and launches operators one by one. In a single graph only the launches themselves remain.
 */
#include "diagnose/evidence/code_places.h"
#include "diagnose/rules/graph_breaks.h"

struct graph_break_search {
	struct ss_look *context;
	const struct ss_regions *regions;
	struct ss_code_places sites;
	int64_t total_ns;
	uint32_t count;
	uint32_t inside, outside; /* launches in regions, and between two of them */
	bool has_resume;
};

/* What runs between two regions: tasks of the main thread in order of time. */
struct region_gap {
	uint32_t from; /* task; SS_NO_TASK: no region yet */
	uint32_t launches;
	uint16_t step;
};

/* The row of the compiled region that a task leads to or is part of, or SS_NO_ROW. */
static uint32_t graph_break_region(const struct graph_break_search *breaks,
				   const struct ss_task *task)
{
	uint32_t call;

	if (task->row >= breaks->context->trace->device_from || task->kind == SS_TASK_COMPILE)
		return SS_NO_ROW;
	call = breaks->regions->call[task->row];
	return call == SS_NO_ROW ? SS_NO_ROW : breaks->regions->calls[call].row;
}

/* How much of the task lies within its region: work that leads to it begins earlier. */
static int64_t graph_break_inside_ns(const struct graph_break_search *breaks,
				     const struct ss_task *task)
{
	uint32_t region = graph_break_region(breaks, task);
	int64_t from_ns, end_ns = ss_task_end(task);

	if (region == SS_NO_ROW)
		return 0;
	from_ns = breaks->context->trace->slices.start_ns[region];
	return from_ns <= task->start_ns ? task->own_ns : from_ns < end_ns ? end_ns - from_ns : 0;
}

/* Without the break, Python and guards between two regions disappear; launches remain. */
static int64_t graph_break_claim(struct graph_break_search *breaks, uint32_t from, uint32_t to,
				 uint32_t *heaviest)
{
	struct ss_look *context = breaks->context;
	int64_t gone_ns = 0, most_ns = 0;

	for (uint32_t i = from; i < to; i++) {
		const struct ss_task *task = &context->graph->tasks[i];
		int64_t kept_ns = graph_break_inside_ns(breaks, task),
			own_ns = task->own_ns - kept_ns;

		if ((task->kind != SS_TASK_WORK && task->kind != SS_TASK_COMPILE) || own_ns <= 0 ||
		    !ss_look_claim(context, (struct ss_claim){ .task = i,
							       .own_ns = kept_ns,
							       .low_ns = kept_ns + own_ns / 2,
							       .high_ns = kept_ns }))
			continue;
		gone_ns = ss_ns_sum(gone_ns, own_ns);
		if (own_ns > most_ns && task->row != SS_NO_ROW) {
			most_ns = own_ns;
			*heaviest = task->row;
		}
	}
	return gone_ns;
}

static void graph_break_end(struct graph_break_search *breaks, const struct region_gap *between,
			    uint32_t to, bool claims)
{
	const struct ss_trace *trace = breaks->context->trace;
	uint32_t heaviest = SS_NO_ROW;
	int64_t gone_ns;

	breaks->count++;
	breaks->outside += between->launches;
	if (!claims)
		return;
	gone_ns = graph_break_claim(breaks, between->from, to, &heaviest);
	if (heaviest == SS_NO_ROW)
		return;
	breaks->total_ns = ss_ns_sum(breaks->total_ns, gone_ns);
	ss_code_places_add(&breaks->sites, trace->slices.name[heaviest], heaviest, gone_ns);
}

/* One pass over the main thread: from the end of a region to the start of the next one. */
static void graph_breaks_walk(struct graph_break_search *breaks, bool claims)
{
	const struct ss_graph *graph = breaks->context->graph;
	struct region_gap between = { .from = SS_NO_TASK };
	uint32_t now = SS_NO_ROW;

	breaks->count = breaks->inside = breaks->outside = 0;
	for (uint32_t i = 0; i < graph->task_count; i++) {
		const struct ss_task *task = &graph->tasks[i];
		uint32_t region;

		if (task->track != graph->main || ss_task_on_device(task->kind))
			continue;
		/* waiting for the device, for input or for backward is no graph break */
		if (task->kind == SS_TASK_JOIN || task->kind == SS_TASK_INPUT ||
		    task->kind == SS_TASK_WAIT || task->step == SS_NO_STEP ||
		    task->phase == SS_PHASE_OPTIMIZER || task->phase == SS_PHASE_BACKWARD ||
		    (between.from != SS_NO_TASK && task->step != between.step)) {
			between.from = SS_NO_TASK;
			now = SS_NO_ROW;
			continue;
		}
		region = graph_break_inside_ns(breaks, task) == task->own_ns
				 ? graph_break_region(breaks, task)
				 : SS_NO_ROW;
		if (region != SS_NO_ROW && region != now && between.from != SS_NO_TASK)
			graph_break_end(breaks, &between, i, claims);
		if (region != SS_NO_ROW) {
			between = (struct region_gap){ .from = i + 1, .step = task->step };
			now = region;
		}
		if (task->kind == SS_TASK_LAUNCH)
			*(region != SS_NO_ROW ? &breaks->inside : &between.launches) += 1;
	}
}

static void graph_breaks_report(struct graph_break_search *breaks)
{
	struct ss_look *context = breaks->context;
	struct ss_fact all = { breaks->total_ns, breaks->count, SS_NO_ROW };

	ss_look_evidence(context, all,
			 "Python and guards run between two compiled regions {count} times "
			 "per step: {time}");
	ss_code_places_sort(&breaks->sites);
	for (uint32_t i = 0; i < breaks->sites.count && i < 3; i++)
		ss_look_evidence(context, ss_code_place_fact(&breaks->sites.items[i]),
				 "before %s: {time}",
				 ss_strings_text(&context->trace->names,
						 breaks->sites.items[i].name));
	if (breaks->has_resume)
		ss_look_confidence(context, SS_CONFIDENCE_HIGH,
				   "the trace shows functions that resume after a break");
	else
		ss_look_confidence(context, SS_CONFIDENCE_MEDIUM,
				   "the regions may have been compiled separately");
}

static enum ss_status graph_breaks_find(struct graph_break_search *breaks, struct ss_error *err)
{
	struct ss_look *context = breaks->context;

	SS_TRY(ss_facts_regions(context->subject->facts, &breaks->regions, err));
	SS_TRY(ss_code_places_init(&breaks->sites, context, err));
	if (breaks->regions->call_count < 2 || context->graph->main == SS_NO_ROW)
		return SS_OK;
	if (context->digest->device < 0)
		return ss_rule_graph_breaks_on_cpu(context, breaks->regions, err);
	for (uint32_t i = 0; i < context->trace->names.count && !breaks->has_resume; i++)
		breaks->has_resume = ss_rule_graph_break_resumes(
			ss_strings_text(&context->trace->names, i));
	graph_breaks_walk(breaks, false);
	/* if most launches are outside, only a few functions were compiled, not the model */
	if (breaks->count < SS_GRAPH_BREAKS_MIN * context->steps->count ||
	    breaks->outside > breaks->inside)
		return SS_OK;
	graph_breaks_walk(breaks, true);
	if (breaks->sites.failed)
		return ss_fail_memory(err, "graph breaks");
	if (breaks->total_ns)
		graph_breaks_report(breaks);
	return SS_OK;
}

static enum ss_status graph_breaks_look(struct ss_look *context, struct ss_error *err)
{
	struct graph_break_search breaks = { .context = context };
	enum ss_status status = SS_OK;

	if (context->steps->count)
		status = graph_breaks_find(&breaks, err);
	ss_code_places_release(&breaks.sites);
	return status;
}

const struct ss_rule ss_rule_graph_breaks = {
	.name = "graph-breaks",
	.title = "Graph breaks split the compiled model",
	.summary = "Python and guards between the regions of a compiled model",
	.fix = "model = torch.compile(model, fullgraph=True)   # names the first break\n"
	       "# move print(), .item() and data-dependent ifs out of forward\n"
	       "# list all breaks: TORCH_LOGS=graph_breaks python train.py",
	.surer = "with_stack=True names the lines; TORCH_LOGS=graph_breaks lists the reasons",
	.views = "compile gaps",
	.warn_share = 0.03,
	.silent_share = 0.01,
	.why = "each break needs a change of the model, so it warns from 3 % on; below 1 % are the "
	       "guards that any compiled model has",
	.facts = SS_FACT_REGIONS,
	.look = graph_breaks_look,
};
