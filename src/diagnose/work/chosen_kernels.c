/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chosen_kernels.c - most files have no such kernels: names and calls are asked before any task.
 */
#include "diagnose/work/chosen_kernels.h"

#include "analyze/kernel/category.h"
#include "diagnose/evidence/code_places.h"

struct kernel_search {
	struct ss_rule_context *context;
	const struct ss_kernel_choice *choice;
	const struct ss_works *works; /* NULL: by names */
	struct ss_kernel_rest *rests; /* per name, or per distinct call */
	struct ss_code_places *sites;
};

/* Asks the rule; false: it wants nothing of the file, or there is no memory. */
static bool kernels_choose(struct kernel_search *search)
{
	const struct ss_trace *trace = search->context->trace;
	uint32_t count = search->works ? search->works->keys.count : trace->names.count;
	bool any = false;

	search->rests = SS_ARENA_NEW(search->context->scratch, struct ss_kernel_rest,
				     (size_t)count + 1);
	if (!search->rests) {
		search->context->failed = true;
		return false;
	}
	for (uint32_t i = 0; i < count; i++) {
		search->rests[i] = search->works ? search->choice->by_work(&search->works->items[i])
						 : search->choice->by_name(
							   ss_strings_text(&trace->names, i));
		any |= search->rests[i].low > 0;
	}
	return any;
}

static const struct ss_worker *kernel_worker(const struct kernel_search *search, uint32_t row)
{
	uint32_t op = ss_ops_launcher(search->works->ops, row);

	return op == SS_NO_ROW ? NULL : ss_works_worker(search->works, op);
}

static void kernel_claim(struct kernel_search *search, uint32_t number)
{
	const struct ss_task *task = &search->context->graph->tasks[number];
	const struct ss_slices *slices = &search->context->trace->slices;
	uint32_t at = slices->name[task->row], name = at, site = slices->link[task->row];
	const struct ss_kernel_rest *rest;
	double own_ns = (double)task->own_ns;

	if (search->works) {
		const struct ss_worker *worker = kernel_worker(search, task->row);

		if (!worker || worker->item == SS_NO_ROW || worker->across)
			return;
		at = worker->item;
		name = slices->name[worker->row];
		site = worker->row;
	}
	rest = &search->rests[at];
	if (rest->low > 0 &&
	    (search->context->rule->is_timeless ||
	     ss_rule_claim(search->context,
			   (struct ss_claim){ .task = number,
					      .own_ns = (int64_t)(rest->own * own_ns),
					      .low_ns = (int64_t)(rest->low * own_ns),
					      .high_ns = (int64_t)(rest->high * own_ns) })))
		(void)ss_code_places_add(search->sites, name, site, task->own_ns);
}

/* The names of kernels are short ones. */
SS_MUST_USE
static enum ss_status kernels_report(struct kernel_search *search, struct ss_error *err)
{
	struct ss_rule_context *context = search->context;
	const struct ss_kernel_name *names;

	SS_TRY(ss_facts_kernel_names(context->subject->facts, &names, err));
	ss_code_places_sort(search->sites);
	for (uint32_t i = 0; i < search->sites->count; i++) {
		const struct ss_code_place *site = &search->sites->items[i];
		const char *kernel = names[site->name].text;

		ss_rule_add_evidence(context, ss_code_place_fact(site),
				     "%s %s: {time} per step ({count} times)",
				     kernel ? kernel
					    : ss_strings_text(&context->trace->names, site->name),
				     search->choice->evidence);
	}
	return SS_OK;
}

enum ss_status ss_chosen_kernels_look(struct ss_rule_context *context,
				      const struct ss_kernel_choice *choice, bool *claimed,
				      struct ss_error *err)
{
	struct kernel_search search = { .context = context, .choice = choice };
	const struct ss_graph *graph = context->graph;
	struct ss_task_range kernels = graph->of_kind[SS_TASK_KERNEL];

	*claimed = false;
	if (choice->by_work)
		SS_TRY(ss_facts_works(context->subject->facts, &search.works, err));
	if (!kernels_choose(&search))
		return SS_OK;
	SS_TRY(ss_code_places_make(&search.sites, context, err));
	for (uint32_t i = kernels.from; i < kernels.to; i++)
		if (graph->tasks[i].kind == SS_TASK_KERNEL && graph->tasks[i].step != SS_NO_STEP)
			kernel_claim(&search, i);
	*claimed = search.sites->count > 0;
	return kernels_report(&search, err);
}
