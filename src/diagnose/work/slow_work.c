/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow_work.c - compares each kernel with what good kernels take for the same work.
 */
#include "diagnose/work/slow_work.h"

#include <stdio.h>
#include <string.h>

/* Of one place: times of the kernels whose reach is known, now and in good ones. */
struct ss_slow_sum {
	double now_ns, reach_ns;
};

struct slow_search {
	struct ss_rule_context *context;
	const struct ss_slow_work_kind *kind;
	struct ss_reachable reachable;
	struct ss_slow_places places;
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

struct ss_slow_kernel ss_slow_kernel_of(const struct ss_reachable *reachable,
					const struct ss_task *task)
{
	uint32_t op = ss_ops_launcher(reachable->works->ops, task->row);
	struct ss_slow_kernel out = { 0 };
	struct ss_reach reach;

	out.worker = op == SS_NO_ROW ? NULL : ss_works_worker(reachable->works, op);
	out.work = out.worker ? ss_works_item(reachable->works, out.worker) : NULL;
	if (!out.work)
		return out;
	reach = ss_reach_of(reachable, out.worker);
	out.limit = reach.limit;
	if (out.limit != SS_LIMIT_UNKNOWN)
		out.ns = reach.ns / (double)out.worker->device_ns * (double)task->own_ns;
	return out;
}

/* --- places --------------------------------------------------------------------------- */

void ss_slow_places_add(struct ss_slow_places *places, uint32_t name, uint32_t row, int64_t own_ns,
			const struct ss_slow_kernel *reach)
{
	struct ss_rule_context *context = places->sites->context;
	uint32_t known = places->sites->count;
	uint32_t id = ss_code_places_add(places->sites, name, row, own_ns);

	if (id == SS_NO_ID ||
	    !SS_ARENA_GROW(context->scratch, places->sums, places->capacity, id)) {
		context->failed = true;
		return;
	}
	if (places->sites->count > known)
		places->sums[id] = (struct ss_slow_sum){ 0 };
	if (reach->limit == SS_LIMIT_UNKNOWN)
		return;
	places->sums[id].now_ns += (double)own_ns;
	places->sums[id].reach_ns += reach->ns;
}

void ss_slow_places_report(struct ss_slow_places *places, const char *what,
			   const struct ss_kernel_name *names)
{
	struct ss_rule_context *context = places->sites->context;

	ss_code_places_sort(places->sites);
	for (uint32_t i = 0; i < places->sites->count; i++) {
		const struct ss_code_place *site = &places->sites->items[i];
		const struct ss_slow_sum *sum = &places->sums[site->id];
		const char *kernel = names ? names[site->name].text : NULL;
		char good[64] = "";
		/* tens of percent: ranks differ a little */
		unsigned tenths = sum->now_ns > 0
					  ? (unsigned)(10 * sum->reach_ns / sum->now_ns + 0.5)
					  : 10;

		if (sum->now_ns > 0)
			snprintf(good, sizeof(good), ", where good kernels take about %u %% of it",
				 tenths ? 10 * tenths : 5);
		ss_rule_add_evidence(context, ss_code_place_fact(site),
				     "%.60s%s: {time} per step ({count} times)%s",
				     kernel ? kernel
					    : ss_strings_text(&context->trace->names, site->name),
				     what, good);
	}
}

/* --- kernels -------------------------------------------------------------------------- */

static void slow_check_kernel(struct slow_search *search, uint32_t number)
{
	const struct ss_task *task = &search->context->graph->tasks[number];
	bool is_all = search->kind->is_all;
	struct ss_slow_kernel reach;
	int64_t own_ns;
	uint32_t row;

	if (task->own_ns < SS_SLOW_WORK_NS && !is_all)
		return;
	reach = ss_slow_kernel_of(&search->reachable, task);
	if (reach.limit == SS_LIMIT_UNKNOWN || !search->kind->wants(reach.work, reach.limit) ||
	    reach.ns > (is_all ? 1 : SS_SLOW_WORK_SLOW_PART) * (double)task->own_ns)
		return;
	own_ns = (int64_t)reach.ns;
	/* at worst half of it: what is reachable was measured on large and even sizes */
	if (!ss_rule_claim(search->context,
			   (struct ss_claim){ .task = number,
					      .own_ns = own_ns,
					      .low_ns = own_ns + (task->own_ns - own_ns) / 2,
					      .high_ns = own_ns }))
		return;
	row = reach.worker->row;
	ss_slow_places_add(&search->places, search->context->trace->slices.name[row], row,
			   task->own_ns, &reach);
	if (task->own_ns - own_ns > search->worst_ns) {
		search->worst_ns = task->own_ns - own_ns;
		search->worst = task->row;
	}
}

static void slow_report(struct slow_search *search)
{
	struct ss_rule_context *context = search->context;

	ss_slow_places_report(&search->places, "", NULL);
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
	SS_TRY(ss_code_places_make(&search.places.sites, context, err));
	for (uint32_t i = kernels.from; i < kernels.to; i++)
		if (graph->tasks[i].kind == SS_TASK_KERNEL && graph->tasks[i].step != SS_NO_STEP)
			slow_check_kernel(&search, i);
	if (search.places.sites->count)
		slow_report(&search);
	*worst = search.worst;
	return SS_OK;
}
