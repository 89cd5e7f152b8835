/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow_work.c - compares each kernel with what good kernels take for the same work.
 */
#include "diagnose/work/slow_work.h"

#include <string.h>

#include "diagnose/evidence/code_places.h"

/* Of one place: times of its kernels now, and in good ones. */
struct slow_sum {
	double now_ns, reach_ns;
};

struct slow_search {
	struct ss_rule_context *context;
	const struct ss_slow_work_kind *kind;
	struct ss_reachable reachable;
	struct ss_code_places *sites;
	struct slow_sum *sums; /* by the numbers of the places */
	uint32_t capacity;
	int64_t worst_ns;
	uint32_t worst;
};

/* Kernels of AMD's libraries have the instruction set in their names. */
static const char *device_of_kernels(const struct ss_trace *trace)
{
	static const char *const sets[][2] = { { "ISA942", "gfx942" }, { "ISA950", "gfx950" } };

	for (uint32_t i = 0; i < trace->names.count; i++)
		for (size_t j = 0; j < SS_COUNT(sets); j++)
			if (strstr(ss_strings_text(&trace->names, i), sets[j][0]))
				return sets[j][1];
	return "";
}

const char *ss_slow_work_device(const struct ss_rule_context *context)
{
	const struct ss_trace_info *info = &context->trace->info;

	for (uint32_t i = info->device_count; i-- > 0;)
		if (i == 0 || info->devices[i].id == context->digest->device)
			return ss_strings_text(&context->trace->texts, info->devices[i].name);
	return device_of_kernels(context->trace);
}

static void slow_add_place(struct slow_search *search, const struct ss_worker *worker,
			   int64_t own_ns, double reach_ns)
{
	const struct ss_slices *slices = &search->context->trace->slices;
	uint32_t known = search->sites->count;
	uint32_t id = ss_code_places_add(search->sites, slices->name[worker->row], worker->row,
					 own_ns);

	if (id == SS_NO_ID ||
	    !SS_ARENA_GROW(search->context->scratch, search->sums, search->capacity, id)) {
		search->context->failed = true;
		return;
	}
	if (search->sites->count > known)
		search->sums[id] = (struct slow_sum){ 0 };
	search->sums[id].now_ns += (double)own_ns;
	search->sums[id].reach_ns += reach_ns;
}

static void slow_check_kernel(struct slow_search *search, uint32_t number)
{
	const struct ss_task *task = &search->context->graph->tasks[number];
	const struct ss_works *works = search->reachable.works;
	uint32_t op = ss_ops_launcher(works->ops, task->row);
	const struct ss_worker *worker = op == SS_NO_ROW ? NULL : ss_works_worker(works, op);
	const struct ss_work *work = worker ? ss_works_item(works, worker) : NULL;
	struct ss_reach reach;
	int64_t own_ns;

	if (!work || (task->own_ns < SS_SLOW_WORK_NS && !search->kind->is_all))
		return;
	reach = ss_reach_of(&search->reachable, worker);
	if (reach.limit == SS_LIMIT_UNKNOWN || !search->kind->wants(work, reach.limit) ||
	    reach.ns >
		    (search->kind->is_all ? 1 : SS_SLOW_WORK_GOOD_PART) * (double)worker->device_ns)
		return;
	own_ns = (int64_t)(reach.ns / (double)worker->device_ns * (double)task->own_ns);
	/* at worst half of it: what is reachable was measured on large and even sizes */
	if (!ss_rule_claim(search->context,
			   (struct ss_claim){ .task = number,
					      .own_ns = own_ns,
					      .low_ns = own_ns + (task->own_ns - own_ns) / 2,
					      .high_ns = own_ns }))
		return;
	slow_add_place(search, worker, task->own_ns, (double)own_ns);
	if (task->own_ns - own_ns > search->worst_ns) {
		search->worst_ns = task->own_ns - own_ns;
		search->worst = task->row;
	}
}

static void slow_report(struct slow_search *search)
{
	struct ss_rule_context *context = search->context;

	ss_code_places_sort(search->sites);
	for (uint32_t i = 0; i < search->sites->count; i++) {
		const struct ss_code_place *site = &search->sites->items[i];
		const struct slow_sum *sum = &search->sums[site->id];
		/* tens of percent: ranks differ a little */
		unsigned tenths = sum->now_ns > 0
					  ? (unsigned)(10 * sum->reach_ns / sum->now_ns + 0.5)
					  : 10;

		ss_rule_add_evidence(
			context, ss_code_place_fact(site),
			"%s: {time} per step ({count} times), where good kernels take about %u %% "
			"of it",
			ss_strings_text(&context->trace->names, site->name),
			tenths ? 10 * tenths : 5);
	}
	if (search->reachable.is_published)
		ss_rule_set_confidence(context, SS_CONFIDENCE_MEDIUM,
				       "compared with published rates of such GPUs");
	else
		ss_rule_set_confidence(context, SS_CONFIDENCE_LOW,
				       "compared with the fastest work in the file: no rates of "
				       "this GPU are published");
}

enum ss_status ss_slow_work_look(struct ss_rule_context *context,
				 const struct ss_slow_work_kind *kind, uint32_t *worst,
				 struct ss_error *err)
{
	struct slow_search search = { .context = context, .kind = kind, .worst = SS_NO_ROW };
	const struct ss_graph *graph = context->graph;
	struct ss_task_range kernels = graph->of_kind[SS_TASK_KERNEL];
	const struct ss_works *works;

	*worst = SS_NO_ROW;
	if (context->digest->device < 0)
		return SS_OK;
	SS_TRY(ss_facts_works(context->subject->facts, &works, err));
	ss_reachable_init(&search.reachable, works, ss_slow_work_device(context));
	/* the file's own rates are no ceiling */
	if (kind->is_all && !search.reachable.is_published)
		return SS_OK;
	SS_TRY(ss_code_places_make(&search.sites, context, err));
	for (uint32_t i = kernels.from; i < kernels.to; i++)
		if (graph->tasks[i].kind == SS_TASK_KERNEL && graph->tasks[i].step != SS_NO_STEP)
			slow_check_kernel(&search, i);
	if (search.sites->count)
		slow_report(&search);
	*worst = search.worst;
	return SS_OK;
}
