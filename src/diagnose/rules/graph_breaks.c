/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_breaks.c - rule: graph breaks split a compiled model into regions with Python between
 * them.
 *
 * Between two compiled regions of one pass the interpreter is back: it checks guards, runs Python
 * and launches operators one by one. In a single graph only the launches themselves remain.
 *
 * Without a device there are no launches to count. Compiled code then means the graphs of Inductor
 * (or the regions themselves, with other backends). Between two of them in one pass run the
 * wrappers of both, guards, Python, and single operators. In one graph only what these operators
 * compute remains.
 */
#include <string.h>

#include "analyze/host/op_category.h"
#include "analyze/host/regions.h"
#include "analyze/time/moment.h"
#include "diagnose/evidence/code_places.h"
#include "diagnose/evidence/cpu_rows.h"

/* Two regions can be the two halves of a program; several breaks in a pass are a pattern. */
#define BREAKS_MIN 2

/* Whether this is the name of a function that resumes after a graph break. */
static bool name_resumes_break(const char *name)
{
	return strstr(name, "torch_dynamo_resume_in") != NULL;
}

/* --- with a device -------------------------------------------------------------------- */

struct graph_break_search {
	struct ss_rule_context *context;
	const struct ss_regions *regions;
	struct ss_code_places *sites;
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
	struct ss_rule_context *context = breaks->context;
	int64_t gone_ns = 0, most_ns = 0;

	for (uint32_t i = from; i < to; i++) {
		const struct ss_task *task = &context->graph->tasks[i];
		int64_t kept_ns = graph_break_inside_ns(breaks, task),
			own_ns = task->own_ns - kept_ns;

		if ((task->kind != SS_TASK_WORK && task->kind != SS_TASK_COMPILE) || own_ns <= 0 ||
		    !ss_rule_claim(context, (struct ss_claim){ .task = i,
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
	ss_code_places_add(breaks->sites, trace->slices.name[heaviest], heaviest, gone_ns);
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
	struct ss_rule_context *context = breaks->context;
	struct ss_fact all = { breaks->total_ns, breaks->count, SS_NO_ROW };

	ss_rule_add_evidence(context, all,
			     "Python and guards run between two compiled regions {count} times "
			     "per step: {time}");
	ss_code_places_report(breaks->sites, 3, "before %s: {time}");
	if (breaks->has_resume)
		ss_rule_set_confidence(context, SS_CONFIDENCE_HIGH,
				       "the trace shows functions that resume after a break");
	else
		ss_rule_set_confidence(context, SS_CONFIDENCE_MEDIUM,
				       "the regions may have been compiled separately");
}

/* --- without a device ----------------------------------------------------------------- */

/* Compiled code that runs. */
struct compiled_run {
	int64_t start_ns, end_ns;
	uint32_t row, step;
	bool is_backward;
};

/* What is between two of them. */
struct cpu_break_gap {
	uint32_t from, to;    /* rows */
	uint32_t culprit;     /* reads a value back, which causes the break; or SS_NO_ROW */
	uint32_t first;       /* of the operators; or SS_NO_ROW */
	int64_t operators_ns; /* what they take */
	bool resumes;         /* a function resumes after a break */
};

struct cpu_breaks {
	struct ss_rule_context *context;
	const struct ss_regions *regions;
	const struct ss_phases *phases;
	struct ss_code_places *sites;
	uint8_t *computes;  /* per name */
	uint8_t *is_reason; /* per name: nothing can be compiled across it */
	bool by_graphs;     /* graphs are recorded */
	int64_t count, sure, inside_ns, outside_ns, claimed_ns;
};

static bool cpu_breaks_classify_names(struct cpu_breaks *breaks)
{
	const struct ss_trace *trace = breaks->context->trace;

	if (!SS_ALLOC(breaks->context->scratch, breaks->computes, (size_t)trace->names.count + 1) ||
	    !SS_ALLOC(breaks->context->scratch, breaks->is_reason, (size_t)trace->names.count + 1))
		return false;
	for (uint32_t i = 0; i < trace->names.count; i++) {
		const char *name = ss_strings_text(&trace->names, i);
		enum ss_op_category category = ss_op_category(name);

		breaks->is_reason[i] = ss_op_reads_value(name);
		breaks->computes[i] = category != SS_OP_MEMORY && category != SS_OP_COPY &&
				      category != SS_OP_OTHER && category != SS_OP_COMMUNICATION &&
				      !ss_op_reads_value(name);
	}
	for (uint32_t row = 0; row < trace->device_from && !breaks->by_graphs; row++)
		breaks->by_graphs = ss_region_kind(breaks->regions, row) == SS_COMPILED_GRAPH;
	return true;
}

/* False: the row is no compiled code of a step on the main thread. */
static bool cpu_break_read_graph(const struct cpu_breaks *breaks, uint32_t row,
				 struct compiled_run *graph)
{
	const struct ss_trace *trace = breaks->context->trace;
	enum ss_compiled kind = ss_region_kind(breaks->regions, row);

	if (trace->slices.track[row] != breaks->context->graph->main ||
	    !(breaks->by_graphs ? kind == SS_COMPILED_GRAPH
				: kind == SS_COMPILED_REGION || kind == SS_COMPILED_FUNCTION))
		return false;
	*graph = (struct compiled_run){
		.start_ns = trace->slices.start_ns[row],
		.end_ns = ss_slice_end(&trace->slices, row),
		.row = row,
		.step = ss_step_at(trace, trace->slices.start_ns[row]),
		.is_backward = breaks->phases->phase[row] == SS_PHASE_BACKWARD,
	};
	return graph->step != SS_NO_ROW;
}

/* Finds what runs between two graphs: operators, and what caused the break. */
static void cpu_break_read_gap(const struct cpu_breaks *breaks, struct cpu_break_gap *between,
			       int64_t to_ns)
{
	const struct ss_trace *trace = breaks->context->trace;
	const struct ss_slices *slices = &trace->slices;

	for (uint32_t row = between->from; row < between->to; row++) {
		uint32_t name = slices->name[row];

		if (slices->kind[row] == SS_KIND_PYTHON)
			between->resumes |= name_resumes_break(
				ss_strings_text(&trace->names, name));
		if (slices->kind[row] != SS_KIND_OP)
			continue;
		if (breaks->is_reason[name] && between->culprit == SS_NO_ROW)
			between->culprit = row;
		/* an operator that contains the next graph is not between them */
		if (!breaks->computes[name] || ss_slice_end(slices, row) > to_ns)
			continue;
		if (between->first == SS_NO_ROW)
			between->first = row;
		between->operators_ns = ss_ns_sum(between->operators_ns, slices->dur_ns[row]);
		row = ss_cpu_row_last(trace, row);
	}
}

/* Counts a break, or claims everything in it except what its operators compute. */
static void cpu_break_add(struct cpu_breaks *breaks, const struct compiled_run *before,
			  const struct compiled_run *graph, bool claims)
{
	const struct ss_trace *trace = breaks->context->trace;
	uint32_t track = trace->slices.track[graph->row];
	struct cpu_break_gap between = { .culprit = SS_NO_ROW, .first = SS_NO_ROW };
	uint32_t shown;
	int64_t gone_ns;

	between.from = ss_cpu_row_after(trace, track, before->end_ns);
	between.to = ss_cpu_row_after(trace, track, graph->start_ns);
	cpu_break_read_gap(breaks, &between, graph->start_ns);
	shown = between.culprit != SS_NO_ROW ? between.culprit : between.first;
	if (!claims) {
		if (!graph->is_backward && (shown != SS_NO_ROW || between.resumes)) {
			breaks->count++;
			breaks->sure += between.culprit != SS_NO_ROW || between.resumes;
			breaks->outside_ns = ss_ns_sum(breaks->outside_ns, between.operators_ns);
		}
		return;
	}
	gone_ns = ss_rule_claim_time(breaks->context,
				     (struct ss_stretch){ .track = track,
							  .from_ns = before->end_ns,
							  .to_ns = graph->start_ns,
							  .keep_ns = between.operators_ns,
							  .low_keep_ns = (graph->start_ns -
									  before->end_ns +
									  between.operators_ns) /
									 2 });
	breaks->claimed_ns = ss_ns_sum(breaks->claimed_ns, gone_ns);
	if (!graph->is_backward && shown != SS_NO_ROW && gone_ns)
		ss_code_places_add(breaks->sites, trace->slices.name[shown], shown, gone_ns);
}

/* Visits the gaps from the end of compiled code to the next in the same pass. */
static void cpu_breaks_walk(struct cpu_breaks *breaks, bool claims)
{
	const struct ss_trace *trace = breaks->context->trace;
	struct compiled_run before = { .row = SS_NO_ROW }, graph;

	for (uint32_t row = 0; row < trace->device_from; row++) {
		if (!cpu_break_read_graph(breaks, row, &graph) ||
		    (before.row != SS_NO_ROW && graph.start_ns < before.end_ns))
			continue;
		if (!claims)
			breaks->inside_ns = ss_ns_sum(breaks->inside_ns,
						      graph.end_ns - graph.start_ns);
		if (before.row != SS_NO_ROW && before.step == graph.step &&
		    before.is_backward == graph.is_backward)
			cpu_break_add(breaks, &before, &graph, claims);
		before = graph;
	}
}

static void cpu_breaks_report(struct cpu_breaks *breaks)
{
	struct ss_rule_context *context = breaks->context;
	struct ss_fact all = { breaks->claimed_ns, (double)breaks->count, SS_NO_ROW };

	ss_rule_add_evidence(context, all,
			     "Python, guards and wrappers run between two compiled graphs {count} "
			     "times per step: {time}, backward included");
	ss_code_places_sort(breaks->sites);
	for (uint32_t i = 0; i < breaks->sites->count && i < 3; i++) {
		uint32_t name = breaks->sites->items[i].name;

		ss_rule_add_evidence(context, ss_code_place_fact(&breaks->sites->items[i]),
				     breaks->is_reason[name]
					     ? "%s breaks the graph {count} times per step: {time}"
					     : "%s runs between two graphs {count} times per step: "
					       "{time}",
				     ss_strings_text(&context->trace->names, name));
	}
	if (breaks->sure)
		ss_rule_set_confidence(context, SS_CONFIDENCE_HIGH,
				       "the breaks are recorded; what fusing saves is not counted");
	else
		ss_rule_set_confidence(context, SS_CONFIDENCE_MEDIUM,
				       "the regions may have been compiled separately");
}

static enum ss_status graph_breaks_find_on_cpu(struct ss_rule_context *context,
					       const struct ss_regions *regions,
					       struct ss_error *err)
{
	struct cpu_breaks breaks = { .context = context, .regions = regions };
	int64_t steps = context->steps->count;

	SS_TRY(ss_facts_phases(context->subject->facts, &breaks.phases, err));
	SS_TRY(ss_code_places_make(&breaks.sites, context, err));
	if (!cpu_breaks_classify_names(&breaks))
		return ss_fail_memory(err, "graph breaks");
	cpu_breaks_walk(&breaks, false);
	/* one break with a recorded cause is enough */
	if (breaks.count < (breaks.sure >= steps ? 1 : BREAKS_MIN) * steps ||
	    breaks.outside_ns > breaks.inside_ns)
		return SS_OK;
	cpu_breaks_walk(&breaks, true);
	if (breaks.claimed_ns)
		cpu_breaks_report(&breaks);
	return SS_OK;
}

/* --- the rule ------------------------------------------------------------------------- */

static enum ss_status graph_breaks_look(struct ss_rule_context *context, struct ss_error *err)
{
	struct graph_break_search breaks = { .context = context };

	SS_TRY(ss_facts_regions(context->subject->facts, &breaks.regions, err));
	SS_TRY(ss_code_places_make(&breaks.sites, context, err));
	if (breaks.regions->call_count < 2 || context->graph->main == SS_NO_ROW)
		return SS_OK;
	if (context->digest->device < 0)
		return graph_breaks_find_on_cpu(context, breaks.regions, err);
	for (uint32_t i = 0; i < context->trace->names.count && !breaks.has_resume; i++)
		breaks.has_resume = name_resumes_break(ss_strings_text(&context->trace->names, i));
	graph_breaks_walk(&breaks, false);
	/* if most launches are outside, only a few functions were compiled, not the model */
	if (breaks.count < BREAKS_MIN * context->steps->count || breaks.outside > breaks.inside)
		return SS_OK;
	graph_breaks_walk(&breaks, true);
	if (breaks.total_ns)
		graph_breaks_report(&breaks);
	return SS_OK;
}

const struct ss_rule ss_rule_graph_breaks = {
	.name = "graph-breaks",
	.title = "Graph breaks split the compiled model",
	.summary = "Python and guards between the regions of a compiled model",
	.fix = "model = torch.compile(model, fullgraph=True)   # names the first break\n"
	       "# move print(), .item() and data-dependent ifs out of forward\n"
	       "# list all breaks: TORCH_LOGS=graph_breaks python train.py",
	.to_record = "with_stack=True names the lines; TORCH_LOGS=graph_breaks lists the reasons",
	.views = "compile gaps",
	.warn_share = 0.03,
	.silent_share = 0.01,
	.why = "each break needs a change of the model, so it warns from 3 % on; below 1 % are the "
	       "guards that any compiled model has",
	.facts = SS_FACT_REGIONS,
	.look = graph_breaks_look,
};
