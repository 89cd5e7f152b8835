/* SPDX-License-Identifier: Apache-2.0 */
/*
 * imbalance.c - view: load imbalance across ranks: time per phase, module or kernel, the
 * median rank against the one with the most.
 */
#include <string.h>

#include "analyze/kernel/short_name.h"
#include "base/sort.h"
#include "ranks/join.h"

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "name", SS_COLUMN_TEXT, "phase, nn.Module or kernel", SS_COLUMN_SLICES },
	{ "excess_ns", SS_COLUMN_NS,
	  "time per step of the rank with the most, beyond the median rank", 0 },
	{ "excess_percent", SS_COLUMN_PERCENT, "excess_ns as a share of the median rank's time",
	  SS_COLUMN_BAR },
	{ "median_ns", SS_COLUMN_NS, "time per step on the median rank", 0 },
	{ "max_ns", SS_COLUMN_NS, "time per step on the rank with the most", 0 },
	{ "min_ns", SS_COLUMN_NS, "time per step on the rank with the least", 0 },
	{ "worst", SS_COLUMN_ID, "rank with the most time", SS_COLUMN_EVIDENCE },
	{ "calls_percent", SS_COLUMN_PERCENT,
	  "calls of that rank relative to the median rank: above 100 it does more work",
	  SS_COLUMN_DETAIL },
	{ "ranks", SS_COLUMN_COUNT, "number of ranks that have it", SS_COLUMN_CONTEXT },
};

enum { GROUP_PHASE, GROUP_MODULE, GROUP_KERNEL };

/* A phase, module or kernel on one rank. */
struct imbalance_load {
	uint32_t name, rank;
	int64_t time_ns, calls; /* per step; calls in thousandths */
};

/* A phase, module or kernel on all ranks. */
struct imbalance_spread {
	uint32_t name, ranks, worst;
	int64_t min_ns, median_ns, max_ns, excess_ns;
	int64_t calls, median_calls; /* of the rank with the most, of the median rank */
};

struct imbalance {
	const struct ss_joined *joined;
	struct ss_memory *memory;
	uint32_t group;
	struct ss_strings names;
	struct imbalance_load *loads;
	uint32_t count, capacity;
};

static bool imbalance_add_load(struct imbalance *view, uint32_t r, const char *name, int64_t calls,
			       int64_t total_ns)
{
	uint32_t steps = view->joined->ranks[r].step_count;
	uint32_t id = ss_strings_add(&view->names, name, strlen(name));

	if (id == SS_NO_ID || !SS_GROW(view->memory, view->loads, view->capacity, view->count))
		return false;
	view->loads[view->count++] = (struct imbalance_load){ id, r, total_ns / steps,
							      calls * 1000 / steps };
	return true;
}

static bool imbalance_add_list(struct imbalance *view, uint32_t r,
			       const struct ss_rank_kernel *items, uint32_t count)
{
	const struct ss_strings *texts = &view->joined->ranks[r].texts;

	/* how long communication takes depends on the other ranks */
	for (uint32_t i = 0; i < count; i++)
		if (!items[i].comm &&
		    !imbalance_add_load(view, r, ss_strings_text(texts, items[i].name),
					items[i].calls, items[i].total_ns))
			return false;
	return true;
}

static bool imbalance_collect(struct imbalance *view, uint32_t group)
{
	for (uint32_t r = 0; r < view->joined->rank_count; r++) {
		const struct ss_digest *rank = &view->joined->ranks[r];
		bool whole = true;

		if (!rank->step_count)
			continue;
		if (group == GROUP_MODULE)
			whole = imbalance_add_list(view, r, rank->modules, rank->module_count);
		else if (group == GROUP_KERNEL)
			whole = imbalance_add_list(view, r, rank->kernels, rank->kernel_count);
		for (int i = 0; group == GROUP_PHASE && whole && i < SS_PHASE_COUNT; i++)
			if (rank->phases[i].calls)
				whole = imbalance_add_load(view, r, ss_phase_name((enum ss_phase)i),
							   rank->phases[i].calls,
							   rank->phases[i].total_ns);
		if (!whole)
			return false;
	}
	return true;
}

SS_COMPARATOR(imbalance_load_compare, struct imbalance_load,
	      SS_ASCENDING(name) SS_ASCENDING(time_ns) SS_ASCENDING(rank))

SS_COMPARATOR(imbalance_spread_compare, struct imbalance_spread,
	      SS_DESCENDING(excess_ns) SS_ASCENDING(name))

/* The loads of one name, by time: the median rank is the lower of the two in the middle. */
static struct imbalance_spread imbalance_spread_of(const struct imbalance_load *loads,
						   uint32_t count)
{
	const struct imbalance_load *middle = &loads[(count - 1) / 2], *last = &loads[count - 1];

	return (struct imbalance_spread){
		.name = loads->name,
		.ranks = count,
		.worst = last->rank,
		.min_ns = loads->time_ns,
		.median_ns = middle->time_ns,
		.max_ns = last->time_ns,
		.excess_ns = last->time_ns - middle->time_ns,
		.calls = last->calls,
		.median_calls = middle->calls,
	};
}

static void imbalance_add_row(const struct imbalance *view, const struct imbalance_spread *spread,
			      struct ss_table *out)
{
	const struct ss_string *name = &view->names.items[spread->name];
	char text[SS_SHORT_NAME_BYTES];

	out->rank = -1;
	ss_row_begin(out);
	ss_short_name(name->text, name->length, text, sizeof(text));
	ss_row_text(out, view->group == GROUP_KERNEL ? text : name->text);
	ss_row_int(out, spread->excess_ns);
	ss_row_share(out, (double)spread->excess_ns, (double)spread->median_ns);
	ss_row_int(out, spread->median_ns);
	ss_row_int(out, spread->max_ns);
	ss_row_int(out, spread->min_ns);
	ss_row_int_known(out, view->joined->ranks[spread->worst].rank);
	ss_row_share(out, (double)spread->calls, (double)spread->median_calls);
	ss_row_int(out, spread->ranks);
	ss_row_end(out);
}

/* One row per name that several ranks have, the largest excess first. False: no memory. */
static bool imbalance_fill(struct imbalance *view, uint32_t group, struct ss_table *out)
{
	struct imbalance_spread *spreads;
	uint32_t count = 0;

	if (!ss_strings_init(&view->names, view->memory) || !imbalance_collect(view, group))
		return false;
	if (!view->count)
		return true;
	SS_SORT(view->loads, view->count, imbalance_load_compare);
	if (!SS_ALLOC(out->arena, spreads, view->names.count))
		return false;
	for (uint32_t from = 0, to; from < view->count; from = to) {
		for (to = from + 1;
		     to < view->count && view->loads[to].name == view->loads[from].name;)
			to++;
		/* what one rank has alone cannot be compared */
		if (to - from > 1)
			spreads[count++] = imbalance_spread_of(view->loads + from, to - from);
	}
	SS_SORT(spreads, count, imbalance_spread_compare);
	for (uint32_t i = 0; i < count; i++)
		imbalance_add_row(view, &spreads[i], out);
	return true;
}

static enum ss_status imbalance_run(const struct ss_joined *joined, uint32_t group,
				    struct ss_table *out, struct ss_error *err)
{
	struct imbalance view = { .joined = joined, .memory = out->arena->memory, .group = group };
	bool whole = imbalance_fill(&view, group, out);

	SS_FREE(view.memory, view.loads, view.capacity);
	ss_strings_release(&view.names);
	return whole ? SS_OK : ss_fail_memory(err, "the loads of ranks");
}

const struct ss_view ss_view_imbalance = {
	.name = "imbalance",
	.summary = "Load imbalance across ranks: phases, modules, kernels",
	.empty = "No work that several ranks share; modules need profile(with_stack=True).",
	SS_TABLE_COLUMNS(columns),
	.basis = SS_BASIS_MEAN,
	.groups = { "phase", "module", "kernel" },
	.order = { "excess_ns" },
	.run_job = imbalance_run,
};
