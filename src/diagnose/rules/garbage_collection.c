/* SPDX-License-Identifier: Apache-2.0 */
/*
 * garbage_collection.c - rule: Python's garbage collector stops the main thread.
 *
 * A collection of the oldest generation visits all objects of the process. It can start at any
 * time, also in the middle of a step, and then the other ranks wait for this one. The program can
 * exclude objects that live forever and collect the rest when nobody waits.
 */
#include "diagnose/evidence/code_places.h"

static enum ss_status garbage_collection_look(struct ss_rule_context *context, struct ss_error *err)
{
	const struct ss_graph *graph = context->graph;
	struct ss_task_range tasks = graph->of_kind[SS_TASK_GC];
	struct ss_code_places *sites;

	SS_TRY(ss_code_places_make(&sites, context, err));
	for (uint32_t i = tasks.from; i < tasks.to; i++) {
		const struct ss_task *task = &graph->tasks[i];

		if (task->kind != SS_TASK_GC || task->step == SS_NO_STEP || !task->own_ns)
			continue;
		/* collections of young objects remain */
		if (ss_rule_claim(context,
				  (struct ss_claim){ .task = i, .low_ns = task->own_ns / 4 }))
			ss_code_places_add(sites, context->trace->slices.name[task->row], task->row,
					   task->own_ns);
	}
	ss_code_places_report(sites, UINT32_MAX,
			      "the garbage collector stops the thread {count} times per step: "
			      "{time}");
	if (sites->count)
		ss_rule_set_confidence(context, SS_CONFIDENCE_HIGH,
				       "the trace records each run of the collector");
	return SS_OK;
}

static const struct ss_rule_fix by_kind[] = {
	{ SS_JOB_INFERS,
	  "import gc\n"
	  "gc.collect(); gc.freeze(); gc.disable()   # once, when the model is loaded\n"
	  "# and gc.collect() between requests, when nothing waits" },
	{ 0 },
};

const struct ss_rule ss_rule_garbage_collection = {
	.name = "garbage-collection",
	.title = "Python's garbage collector stops the main thread",
	.summary = "Runs of the garbage collector within steps",
	.fix = "import gc\n"
	       "gc.collect(); gc.freeze(); gc.disable()   # once, before the loop\n"
	       "for step, batch in enumerate(loader):\n"
	       "    ...\n"
	       "    if step % 1000 == 0: gc.collect()   # on all ranks in the same step",
	.fixes = by_kind,
	.to_record = "with_stack=True and record_python_gc_info=True record the collector "
		     "(PyTorch 2.8 or newer)",
	.views = "gaps stacks",
	.warn_share = 0.02,
	.silent_share = 0.005,
	.why = "three lines fix it, so 2 % is worth it; below 0.5 % steps differ by more",
	.look = garbage_collection_look,
};
