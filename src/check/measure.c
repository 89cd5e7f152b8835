/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure.c - takes the figures of a run from the digests of its ranks, and from its verdict; a run
 * in one row.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/sort.h"
#include "check/check.h"
#include "load/identity.h"

static const char *measure_copy_text(struct ss_arena *arena, const char *text)
{
	return text ? ss_arena_copy(arena, text, strlen(text)) : NULL;
}

/* --- steps ------------------------------------------------------------------------------ */

/* The rank with most steps first: its steps are those that count. */
static uint32_t *measure_list_ranks(const struct ss_job *job, struct ss_arena *arena)
{
	uint32_t *ranks = SS_ARENA_NEW(arena, uint32_t, job->digest_count + 1);
	uint32_t most = 0;

	for (uint32_t i = 0; ranks && i < job->digest_count; i++) {
		ranks[i] = i;
		if (job->digests[i].step_count > job->digests[ranks[most]].step_count)
			most = i;
	}
	if (ranks && most) {
		ranks[0] = most;
		ranks[most] = 0;
	}
	return ranks;
}

/* The lengths and parts of the steps, as means over ranks. */
static bool check_measure_steps(struct ss_check_run *out, const struct ss_job *job,
				struct ss_arena *arena)
{
	uint32_t *ranks = measure_list_ranks(job, arena);
	struct ss_step_means means;
	double *steps;

	if (!ranks || !ss_job_step_means_make(&means, job, ranks, job->digest_count, arena))
		return false;
	if (!SS_ALLOC(arena, steps, means.count + 1))
		return false;
	for (uint32_t i = 0; i < means.count; i++) {
		steps[i] = (double)means.items[i].dur_ns;
		out->step_ns += steps[i] / means.count;
		for (int part = 0; part < SS_STEP_PARTS; part++)
			out->part_ns[part] += (double)means.items[i].part_ns[part] / means.count;
	}
	out->steps = (struct ss_noise_run){ .steps = steps, .count = means.count };
	return true;
}

/* --- what ran --------------------------------------------------------------------------- */

SS_COMPARATOR(check_item_compare_name, struct ss_check_item, SS_ORDERED(strcmp, name))

static void check_item_add(struct ss_check_item *item, const struct ss_check_item *other)
{
	item->ns += other->ns;
	item->calls += other->calls;
}

/* Sorts the items, adds up those of one name, divides by the steps and copies the names. */
static bool check_items_finish(struct ss_check_items *list, double steps, struct ss_arena *arena)
{
	uint32_t used = 0;

	SS_SORT(list->items, list->count, check_item_compare_name);
	for (uint32_t i = 0; i < list->count; i++) {
		struct ss_check_item *last = used ? &list->items[used - 1] : NULL;

		if (last && strcmp(last->name, list->items[i].name) == 0)
			check_item_add(last, &list->items[i]);
		else
			list->items[used++] = list->items[i];
	}
	list->count = used;
	for (uint32_t i = 0; i < used; i++) {
		list->items[i].ns /= steps > 0 ? steps : 1;
		list->items[i].calls /= steps > 0 ? steps : 1;
		list->items[i].name = measure_copy_text(arena, list->items[i].name);
		if (!list->items[i].name)
			return false;
	}
	return true;
}

/* Times of kernels and phases per step. */
static bool check_measure_kernels(struct ss_check_run *out, const struct ss_job *job, double steps,
				  struct ss_arena *arena)
{
	struct ss_check_items *list = &out->kernels;
	size_t capacity = 0;

	for (uint32_t i = 0; i < job->digest_count; i++)
		capacity += job->digests[i].kernel_count;
	if (!SS_ALLOC(arena, list->items, capacity + 1))
		return false;
	for (uint32_t i = 0; i < job->digest_count; i++) {
		const struct ss_digest *rank = &job->digests[i];

		for (uint32_t k = 0; k < rank->kernel_count; k++)
			list->items[list->count++] = (struct ss_check_item){
				ss_strings_text(&rank->texts, rank->kernels[k].name),
				(double)rank->kernels[k].total_ns, (double)rank->kernels[k].calls
			};
		for (uint32_t k = 0; k < rank->kernel_count; k++)
			out->calls += (double)rank->kernels[k].calls / steps;
		for (int phase = 0; phase < SS_PHASE_COUNT; phase++)
			out->phase_ns[phase] += (double)rank->phases[phase].total_ns / steps;
	}
	return check_items_finish(list, steps, arena);
}

/* Exposed communication: without the part that overlaps compute. */
static bool check_measure_collectives(struct ss_check_run *out, const struct ss_job *job,
				      double steps, struct ss_arena *arena)
{
	struct ss_check_items *list = &out->collectives;
	double sums[SS_COLLECTIVE_KINDS] = { 0 };

	for (uint32_t i = 0; i < job->digest_count; i++)
		for (uint32_t k = 0; k < job->digests[i].arrival_count; k++) {
			const struct ss_arrival *arrival = &job->digests[i].arrivals[k];

			if (arrival->step != UINT32_MAX)
				sums[arrival->kind] += (double)(arrival->end_ns -
								arrival->start_ns -
								arrival->hidden_ns);
		}
	if (!SS_ALLOC(arena, list->items, SS_COLLECTIVE_KINDS))
		return false;
	for (int kind = 0; kind < SS_COLLECTIVE_KINDS; kind++)
		if (sums[kind] > 0)
			list->items[list->count++] = (struct ss_check_item){
				.name = ss_collective_kind_name((enum ss_collective_kind)kind),
				.ns = sums[kind]
			};
	return check_items_finish(list, steps, arena);
}

/* The modules of the first rank: they show whether two runs have the same model. */
static bool check_measure_modules(struct ss_check_run *out, const struct ss_job *job,
				  struct ss_arena *arena)
{
	const struct ss_digest *rank = job->digest_count ? &job->digests[0] : NULL;
	struct ss_check_items *list = &out->modules;

	if (!SS_ALLOC(arena, list->items, rank ? rank->module_count + 1 : 1))
		return false;
	for (uint32_t i = 0; rank && i < rank->module_count; i++)
		list->items[list->count++] = (struct ss_check_item){
			.name = ss_strings_text(&rank->texts, rank->modules[i].name),
			.ns = (double)rank->modules[i].total_ns
		};
	return check_items_finish(list, 1, arena);
}

/* --- findings --------------------------------------------------------------------------- */

/* Time that nothing explains has no fix, but it is a cost. */
static double measure_finding_cost(const struct ss_diagnosis *diagnosis,
				   const struct ss_finding *finding)
{
	if (finding->is_rest)
		return (double)diagnosis->account.unexplained_ns;
	return ss_finding_has_cost(finding) ? (double)finding->cost_ns : 0;
}

static bool check_measure_findings(struct ss_check_run *out, const struct ss_diagnosis *diagnosis,
				   struct ss_arena *arena)
{
	if (!SS_ALLOC(arena, out->findings, diagnosis->finding_count + 1))
		return false;
	for (uint32_t i = 0; i < diagnosis->finding_count; i++) {
		const struct ss_finding *finding = diagnosis->findings[i];
		const char *title = measure_copy_text(arena, finding->title);

		if (!title)
			return false;
		out->findings[out->finding_count++] = (struct ss_check_finding){
			.rule = finding->rule,
			.title = title,
			.cost_ns = measure_finding_cost(diagnosis, finding),
			.is_warning = finding->is_warning,
			.is_timeless = !ss_finding_has_cost(finding) && !finding->is_rest,
			.rank = finding->rank < diagnosis->rank_count
					? diagnosis->ranks[finding->rank] + 1
					: 0,
		};
	}
	return true;
}

static bool check_measure_identity(struct ss_check_run *out, const struct ss_job *job,
				   const struct ss_diagnosis *diagnosis, struct ss_arena *arena)
{
	const char *path = job->file_count ? job->files[0].subject.path : "";
	struct ss_identity identity;

	ss_identity_of_job(job, SS_EVERY_RANK, &identity);
	out->ranks = diagnosis->rank_count;
	out->on_device = diagnosis->on_device;
	out->path = measure_copy_text(arena, path);
	out->device = measure_copy_text(arena, diagnosis->device);
	out->commit = measure_copy_text(arena, identity.facts[SS_RUN_COMMIT]);
	return out->path && (out->device || !diagnosis->device) &&
	       (out->commit || !identity.facts[SS_RUN_COMMIT]);
}

enum ss_status ss_check_measure(struct ss_check_run *out, const struct ss_job *job,
				const struct ss_diagnosis *diagnosis, struct ss_arena *arena,
				struct ss_error *err)
{
	double steps = 0;

	*out = (struct ss_check_run){ 0 };
	for (uint32_t i = 0; i < job->digest_count; i++)
		steps += job->digests[i].step_count;
	return check_measure_identity(out, job, diagnosis, arena) &&
			       check_measure_steps(out, job, arena) &&
			       check_measure_kernels(out, job, steps > 0 ? steps : 1, arena) &&
			       check_measure_collectives(out, job, steps, arena) &&
			       check_measure_modules(out, job, arena) &&
			       check_measure_findings(out, diagnosis, arena)
		       ? SS_OK
		       : ss_fail_memory(err, "the figures of a run");
}

/* A run in one row. */

static const struct ss_column summary_columns[] = {
	{ "ranks", SS_COLUMN_COUNT, "ranks of the run", 0 },
	{ "steps", SS_COLUMN_COUNT, "measured steps of the rank with most", 0 },
	{ "step_ns", SS_COLUMN_NS, "mean step", 0 },
	{ "step_median_ns", SS_COLUMN_NS, "median of the steps", 0 },
	{ "step_p95_ns", SS_COLUMN_NS, "95th percentile of the steps", 0 },
	{ "step_max_ns", SS_COLUMN_NS, "longest step", 0 },
	{ "change_percent", SS_COLUMN_PERCENT,
	  "change of the mean step, in percent of the baseline's; needs --against", 0 },
	{ "noise_percent", SS_COLUMN_PERCENT,
	  "half width of the interval of equal runs, in percent of the mean step; needs --against",
	  0 },
	{ "visible_percent", SS_COLUMN_PERCENT,
	  "smallest change that 9 of 10 checks find, in percent of the mean step; needs --against",
	  0 },
	{ "gpu_busy_percent", SS_COLUMN_PERCENT, "time with work on the GPU, of the steps", 0 },
	{ "compute_percent", SS_COLUMN_PERCENT, "time with compute kernels, of the steps", 0 },
	{ "exposed_communication_percent", SS_COLUMN_PERCENT,
	  "time with communication and no compute, of the steps", 0 },
	{ "exposed_copies_percent", SS_COLUMN_PERCENT,
	  "time with copies alone on the GPU, of the steps", 0 },
	{ "idle_percent", SS_COLUMN_PERCENT, "time with nothing on the GPU, of the steps", 0 },
	{ "findings", SS_COLUMN_COUNT, "findings of diagnose", 0 },
	{ "warnings", SS_COLUMN_COUNT, "findings that are warnings", 0 },
	{ "saving_ns", SS_COLUMN_NS, "what the fixes of all findings save per step", 0 },
	{ "saving_percent", SS_COLUMN_PERCENT, "the same, of the mean step", 0 },
	{ "unexplained_percent", SS_COLUMN_PERCENT, "what nothing explains, of the mean step", 0 },
};

#define NAME_BYTES 64
#define ABOUT_BYTES 128

/* "input-stall" is "input_stall_cost_percent". */
static bool summary_name_rule(struct ss_column *out, const struct ss_rule *rule,
			      struct ss_arena *arena)
{
	char name[NAME_BYTES], about[ABOUT_BYTES];
	char *own;

	snprintf(name, sizeof(name), "%s_cost_percent", rule->name);
	snprintf(about, sizeof(about), "what the findings of %s cost, of the mean step",
		 rule->name);
	for (char *at = name; *at; at++)
		if (*at == '-')
			*at = '_';
	own = ss_arena_copy(arena, name, strlen(name));
	*out = (struct ss_column){ own, SS_COLUMN_PERCENT,
				   ss_arena_copy(arena, about, strlen(about)), 0 };
	return own && out->about;
}

const struct ss_view *ss_check_summary_view(struct ss_arena *arena)
{
	struct ss_view *view = SS_ARENA_NEW(arena, struct ss_view, 1);
	struct ss_column *all = SS_ARENA_NEW(arena, struct ss_column,
					     SS_COUNT(summary_columns) + ss_rule_count);
	uint32_t count = SS_COUNT(summary_columns);

	if (!view || !all)
		return NULL;
	memcpy(all, summary_columns, sizeof(summary_columns));
	for (size_t i = 0; i < ss_rule_count; i++)
		if (!ss_rules[i]->is_timeless &&
		    !summary_name_rule(&all[count++], ss_rules[i], arena))
			return NULL;
	*view = (struct ss_view){ .name = "summary",
				  .summary = "A run in one row",
				  .empty = "There are no steps.",
				  .columns = all,
				  .column_count = count,
				  .rankless = true };
	return view;
}

/* --- the row ---------------------------------------------------------------------------- */

/* The steps in order of their length; NULL: no memory. */
static double *summary_sort_steps(const struct ss_check_run *run, struct ss_arena *arena)
{
	double *steps = SS_ARENA_NEW(arena, double, run->steps.count + 1);

	if (!steps)
		return NULL;
	memcpy(steps, run->steps.steps, run->steps.count * sizeof(*steps));
	(void)ss_median_double(steps, run->steps.count);
	return steps;
}

static void summary_add_steps(const struct ss_check_run *run, struct ss_table *table)
{
	uint32_t count = run->steps.count;
	double *steps = count ? summary_sort_steps(run, table->arena) : NULL;

	ss_row_int(table, run->ranks);
	ss_row_int(table, count);
	if (!steps) {
		table->failed = table->failed || count;
		ss_row_nulls(table, 4);
		return;
	}
	ss_row_int(table, (int64_t)run->step_ns);
	ss_row_int(table, (int64_t)ss_median_double(steps, count));
	ss_row_int(table, (int64_t)steps[(uint32_t)ceil(0.95 * count) - 1]);
	ss_row_int(table, (int64_t)steps[count - 1]);
}

static void summary_add_gpu(const struct ss_gpu_use *gpu, struct ss_table *table)
{
	if (!gpu->rank_count) {
		ss_row_nulls(table, 5);
		return;
	}
	ss_row_number(table, 100 * gpu->busy);
	ss_row_number(table, 100 * gpu->compute);
	ss_row_number(table, 100 * gpu->exposed_communication);
	ss_row_number(table, 100 * gpu->exposed_copies);
	ss_row_number(table, 100 * (1 - gpu->busy));
}

static double summary_rule_cost(const struct ss_check_run *run, const struct ss_rule *rule)
{
	double sum = 0;

	for (uint32_t i = 0; i < run->finding_count; i++)
		if (run->findings[i].rule == rule)
			sum += run->findings[i].cost_ns;
	return sum;
}

static void summary_add_findings(const struct ss_check *check, struct ss_table *table)
{
	const struct ss_account *account = &check->diagnosis->account;
	int64_t saving_ns = account->warnings_ns + account->smaller_ns;

	ss_row_int(table, check->diagnosis->finding_count);
	ss_row_int(table, check->diagnosis->warning_count);
	if (account->step_ns > 0)
		ss_row_int(table, saving_ns);
	else
		ss_row_nulls(table, 1);
	ss_row_share(table, (double)saving_ns, (double)account->step_ns);
	ss_row_share(table, (double)account->unexplained_ns, (double)account->step_ns);
	for (size_t i = 0; i < ss_rule_count; i++)
		if (!ss_rules[i]->is_timeless)
			ss_row_share(table, summary_rule_cost(&check->after, ss_rules[i]),
				     (double)check->diagnosis->step_ns);
}

void ss_check_summary_fill(const struct ss_check *check, struct ss_table *table)
{
	ss_row_begin(table);
	summary_add_steps(&check->after, table);
	if (check->has_baseline && check->noise.mean.before_ns > 0) {
		ss_row_number(table, 100 * check->noise.mean.change);
		ss_row_number(table, 100 * check->noise.mean.half);
		ss_row_number(table, 100 * check->noise.mean.visible);
	} else {
		ss_row_nulls(table, 3);
	}
	summary_add_gpu(&check->diagnosis->gpu, table);
	summary_add_findings(check, table);
	ss_row_end(table);
}
