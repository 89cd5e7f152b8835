/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recompilation.c - rule: torch.compile compiles again in the middle of training.
 *
 * The first compilation is start-up. A compilation in a later step means that sizes, types or
 * Python values changed that the compiled code depends on. Checking guards is not compiling.
 */
#include "analyze/host/regions.h"
#include "diagnose/evidence/code_places.h"

struct compiling {
	struct ss_look *look;
	const struct ss_regions *regions;
	struct ss_code_places sites;
	uint32_t first_step, last_step; /* with compiling in them */
};

/* A task of the main program that compiles in a step. */
static bool compiles(const struct compiling *compiling, uint32_t index)
{
	const struct ss_task *task = &compiling->look->graph->tasks[index];

	return task->kind == SS_TASK_COMPILE && task->step != SS_NO_STEP && task->own_ns &&
	       ss_region_kind(compiling->regions, task->row) == SS_COMPILED_COMPILE;
}

/* The outermost range of compiling around a row: one compilation. */
static uint32_t whole_of(const struct compiling *compiling, uint32_t row)
{
	const struct ss_slices *slices = &compiling->look->trace->slices;
	uint32_t whole = row, at = row;

	for (uint32_t tries = 0; tries < 64 && at != SS_NO_ROW; tries++) {
		if (ss_region_kind(compiling->regions, at) == SS_COMPILED_COMPILE)
			whole = at;
		at = slices->parent[at];
	}
	return whole;
}

static void claim(struct compiling *compiling)
{
	struct ss_look *look = compiling->look;
	uint32_t before = SS_NO_ROW;

	for (uint32_t i = 0; i < look->graph->task_count; i++) {
		const struct ss_task *task = &look->graph->tasks[i];
		uint32_t whole;

		if (!compiles(compiling, i) ||
		    !ss_look_claim(look, (struct ss_claim){ .task = i, .own_ns = 0 }))
			continue;
		whole = whole_of(compiling, task->row);
		if (whole != before)
			ss_code_places_add(&compiling->sites, look->trace->slices.name[whole],
					   whole, look->trace->slices.dur_ns[whole]);
		before = whole;
	}
}

/*
 * In one step only it is the first compilation, unless steps without it came before: the
 * code had been there.
 */
static bool is_again(struct compiling *compiling)
{
	const struct ss_graph *graph = compiling->look->graph;
	bool any = false;

	for (uint32_t i = 0; i < graph->task_count; i++) {
		uint32_t step = graph->tasks[i].step;

		if (!compiles(compiling, i))
			continue;
		if (!any || step < compiling->first_step)
			compiling->first_step = step;
		if (!any || step > compiling->last_step)
			compiling->last_step = step;
		any = true;
	}
	return any && (compiling->first_step != compiling->last_step || compiling->first_step > 0);
}

static enum ss_status find(struct compiling *compiling, struct ss_error *err)
{
	struct ss_look *look = compiling->look;

	SS_TRY(ss_facts_regions(look->subject->facts, &compiling->regions, err));
	SS_TRY(ss_code_places_init(&compiling->sites, look, err));
	if (!compiling->regions->has_compile || !is_again(compiling))
		return SS_OK;
	claim(compiling);
	if (compiling->sites.failed)
		return ss_fail_memory(err, "what compiles again");
	ss_code_places_sort(&compiling->sites);
	for (uint32_t i = 0; i < compiling->sites.count && i < 4; i++)
		ss_look_evidence(look, ss_code_place_fact(&compiling->sites.items[i]),
				 "%s runs {count} times per step: {time}",
				 ss_strings_text(&look->trace->names,
						 compiling->sites.items[i].name));
	if (compiling->first_step != compiling->last_step)
		ss_look_confidence(look, SS_CONFIDENCE_HIGH,
				   "several steps compile before they run");
	else
		ss_look_confidence(look, SS_CONFIDENCE_MEDIUM,
				   "only one step compiles; it may not happen again");
	return SS_OK;
}

static enum ss_status look_for_compiling(struct ss_look *look, struct ss_error *err)
{
	struct compiling compiling = { .look = look };
	enum ss_status status = SS_OK;

	if (look->steps->count)
		status = find(&compiling, err);
	ss_code_places_release(&compiling.sites);
	return status;
}

const struct ss_rule ss_rule_recompilation = {
	.name = "recompilation",
	.title = "torch.compile compiles again during training",
	.summary = "Compilation in the middle of training, because sizes or values change",
	.fix = "model = torch.compile(model, dynamic=True)   # sizes may differ\n"
	       "torch._dynamo.mark_dynamic(batch, 0)         # or only this dimension\n"
	       "# or pad batches to a few sizes\n"
	       "# to see why: TORCH_LOGS=recompiles python train.py",
	.surer = "TORCH_LOGS=recompiles names the guard that failed",
	.views = "compile steps",
	.warn_share = 0.02,
	.silent_share = 0.005,
	.why = "one argument fixes it, so 2 % is worth it; below 0.5 % steps differ by more",
	.facts = SS_FACT_REGIONS,
	.look = look_for_compiling,
};
