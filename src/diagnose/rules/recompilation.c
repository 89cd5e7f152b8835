/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recompilation.c - rule: torch.compile compiles again in the middle of training.
 *
 * The first compilation is start-up. A compilation in a later step means that sizes, types or
 * Python values changed that the compiled code depends on. Checking guards is not compiling.
 */
#include "analyze/host/regions.h"
#include "diagnose/evidence/code_places.h"

struct compilations {
	struct ss_rule_context *context;
	const struct ss_regions *regions;
	struct ss_code_places *sites;
	uint32_t first_step, last_step; /* that compile */
};

/* Whether the task compiles within a step. */
static bool compilation_is_task(const struct compilations *compiling, uint32_t index)
{
	const struct ss_task *task = &compiling->context->graph->tasks[index];

	return task->kind == SS_TASK_COMPILE && task->step != SS_NO_STEP && task->own_ns &&
	       ss_region_kind(compiling->regions, task->row) == SS_COMPILED_COMPILE;
}

/* The outermost range of compiling around a row: one compilation. */
static uint32_t compilation_outermost(const struct compilations *compiling, uint32_t row)
{
	const struct ss_slices *slices = &compiling->context->trace->slices;
	uint32_t whole = row, at = row;

	for (uint32_t tries = 0; tries < 64 && at != SS_NO_ROW; tries++) {
		if (ss_region_kind(compiling->regions, at) == SS_COMPILED_COMPILE)
			whole = at;
		at = slices->parent[at];
	}
	return whole;
}

/* Claims all compilation in steps; each compilation counts once. */
static void compilation_claim(struct compilations *compiling)
{
	struct ss_rule_context *context = compiling->context;
	struct ss_task_range tasks = context->graph->of_kind[SS_TASK_COMPILE];
	uint32_t before = SS_NO_ROW;

	for (uint32_t i = tasks.from; i < tasks.to; i++) {
		const struct ss_task *task = &context->graph->tasks[i];
		uint32_t whole;

		if (!compilation_is_task(compiling, i) ||
		    !ss_rule_claim(context, (struct ss_claim){ .task = i, .own_ns = 0 }))
			continue;
		whole = compilation_outermost(compiling, task->row);
		if (whole != before)
			ss_code_places_add(compiling->sites, context->trace->slices.name[whole],
					   whole, context->trace->slices.dur_ns[whole]);
		before = whole;
	}
}

/*
 * Whether compilation recurs. If only one step compiles, that is the first compilation, unless
 * earlier steps ran without: then the code was compiled before.
 */
static bool compilation_recurs(struct compilations *compiling)
{
	const struct ss_graph *graph = compiling->context->graph;
	struct ss_task_range tasks = graph->of_kind[SS_TASK_COMPILE];
	bool any = false;

	for (uint32_t i = tasks.from; i < tasks.to; i++) {
		uint32_t step = graph->tasks[i].step;

		if (!compilation_is_task(compiling, i))
			continue;
		if (!any || step < compiling->first_step)
			compiling->first_step = step;
		if (!any || step > compiling->last_step)
			compiling->last_step = step;
		any = true;
	}
	return any && (compiling->first_step != compiling->last_step || compiling->first_step > 0);
}

static enum ss_status recompilation_look(struct ss_rule_context *context, struct ss_error *err)
{
	struct compilations compiling = { .context = context };

	SS_TRY(ss_facts_regions(context->subject->facts, &compiling.regions, err));
	SS_TRY(ss_code_places_make(&compiling.sites, context, err));
	if (!compiling.regions->has_compile || !compilation_recurs(&compiling))
		return SS_OK;
	compilation_claim(&compiling);
	ss_code_places_report(compiling.sites, 4, "%s runs {count} times per step: {time}");
	if (compiling.first_step != compiling.last_step)
		ss_rule_set_confidence(context, SS_CONFIDENCE_HIGH,
				       "several steps compile before they run");
	else
		ss_rule_set_confidence(context, SS_CONFIDENCE_MEDIUM,
				       "only one step compiles; it may not happen again");
	return SS_OK;
}

const struct ss_rule ss_rule_recompilation = {
	.name = "recompilation",
	.title = "torch.compile compiles again in later steps",
	.summary = "Compilation in later steps, because sizes or values change",
	.fix = "model = torch.compile(model, dynamic=True)   # sizes may differ\n"
	       "torch._dynamo.mark_dynamic(batch, 0)         # or only this dimension\n"
	       "# or pad batches to a few sizes\n"
	       "# to see why: TORCH_LOGS=recompiles python train.py",
	.to_record = "TORCH_LOGS=recompiles names the guard that failed",
	.views = "compile steps",
	.warn_share = 0.02,
	.silent_share = 0.005,
	.why = "one argument fixes it, so 2 % is worth it; below 0.5 % steps differ by more",
	.facts = SS_FACT_REGIONS,
	.look = recompilation_look,
};
