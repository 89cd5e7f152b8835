/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_breaks_on_cpu.c - the rule graph-breaks in jobs without a device.
 *
 * There are no launches to count: compiled code means the graphs of Inductor (or the regions
 * themselves, with other backends). Between two of them in one pass run the wrappers of both,
 * guards, Python, and single operators. In one graph only what these operators compute remains.
 */
#include <string.h>

#include "analyze/host/op_category.h"
#include "analyze/time/moment.h"
#include "diagnose/evidence/code_places.h"
#include "diagnose/evidence/host_rows.h"
#include "diagnose/rules/graph_breaks.h"

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
	struct ss_look *context;
	const struct ss_regions *regions;
	const struct ss_phases *phases;
	struct ss_code_places sites;
	uint8_t *computes;  /* per name */
	uint8_t *is_reason; /* per name: nothing can be compiled across it */
	bool by_graphs;     /* graphs are recorded */
	int64_t count, sure, inside_ns, outside_ns, claimed_ns;
};

bool ss_rule_graph_break_resumes(const char *name)
{
	return strstr(name, "torch_dynamo_resume_in") != NULL;
}

/* Python reads a value: what follows depends on it. */
static bool name_breaks_graph(const char *name)
{
	return strcmp(name, "aten::item") == 0 || strcmp(name, "aten::_local_scalar_dense") == 0 ||
	       strcmp(name, "aten::is_nonzero") == 0 || strcmp(name, "aten::nonzero") == 0;
}

static bool cpu_breaks_classify_names(struct cpu_breaks *breaks, struct ss_arena *scratch)
{
	const struct ss_trace *trace = breaks->context->trace;

	breaks->computes = SS_ARENA_NEW(scratch, uint8_t, (size_t)trace->names.count + 1);
	breaks->is_reason = SS_ARENA_NEW(scratch, uint8_t, (size_t)trace->names.count + 1);
	if (!breaks->computes || !breaks->is_reason)
		return false;
	for (uint32_t i = 0; i < trace->names.count; i++) {
		const char *name = ss_strings_text(&trace->names, i);
		enum ss_op_category category = ss_op_category(name);

		breaks->is_reason[i] = name_breaks_graph(name);
		breaks->computes[i] = category != SS_OP_MEMORY && category != SS_OP_COPY &&
				      category != SS_OP_OTHER && category != SS_OP_COMMUNICATION &&
				      !name_breaks_graph(name);
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
			between->resumes |= ss_rule_graph_break_resumes(
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
	gone_ns = ss_look_claim_time(breaks->context,
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
		ss_code_places_add(&breaks->sites, trace->slices.name[shown], shown, gone_ns);
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
	struct ss_look *context = breaks->context;
	struct ss_fact all = { breaks->claimed_ns, (double)breaks->count, SS_NO_ROW };

	ss_look_evidence(context, all,
			 "Python, guards and wrappers run between two compiled graphs {count} "
			 "times per step: {time}, backward included");
	ss_code_places_sort(&breaks->sites);
	for (uint32_t i = 0; i < breaks->sites.count && i < 3; i++) {
		uint32_t name = breaks->sites.items[i].name;

		ss_look_evidence(context, ss_code_place_fact(&breaks->sites.items[i]),
				 breaks->is_reason[name]
					 ? "%s breaks the graph {count} times per step: {time}"
					 : "%s runs between two graphs {count} times per step: "
					   "{time}",
				 ss_strings_text(&context->trace->names, name));
	}
	if (breaks->sure)
		ss_look_confidence(context, SS_CONFIDENCE_HIGH,
				   "the breaks are recorded; what fusing saves is not counted");
	else
		ss_look_confidence(context, SS_CONFIDENCE_MEDIUM,
				   "the regions may have been compiled separately");
}

static enum ss_status cpu_breaks_find(struct cpu_breaks *breaks, struct ss_arena *scratch,
				      struct ss_error *err)
{
	struct ss_look *context = breaks->context;
	int64_t steps = context->steps->count;

	SS_TRY(ss_facts_phases(context->subject->facts, &breaks->phases, err));
	SS_TRY(ss_code_places_init(&breaks->sites, context, err));
	if (!cpu_breaks_classify_names(breaks, scratch))
		return ss_fail_memory(err, "graph breaks");
	cpu_breaks_walk(breaks, false);
	/* one break with a recorded cause is enough */
	if (breaks->count < (breaks->sure >= steps ? 1 : SS_GRAPH_BREAKS_MIN) * steps ||
	    breaks->outside_ns > breaks->inside_ns)
		return SS_OK;
	cpu_breaks_walk(breaks, true);
	if (breaks->sites.failed)
		return ss_fail_memory(err, "graph breaks");
	if (breaks->claimed_ns)
		cpu_breaks_report(breaks);
	return SS_OK;
}

enum ss_status ss_rule_graph_breaks_on_cpu(struct ss_look *context,
					   const struct ss_regions *regions, struct ss_error *err)
{
	struct cpu_breaks breaks = { .context = context, .regions = regions };
	struct ss_arena scratch;
	enum ss_status status;

	ss_arena_init(&scratch, context->memory);
	status = cpu_breaks_find(&breaks, &scratch, err);
	ss_code_places_release(&breaks.sites);
	ss_arena_release(&scratch);
	return status;
}
