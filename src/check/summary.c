/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary.c - a run in one row.
 */
#include "check/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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
	(void)ss_noise_median(steps, run->steps.count);
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
	ss_row_int(table, (int64_t)ss_noise_median(steps, count));
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
	} else {
		ss_row_nulls(table, 2);
	}
	summary_add_gpu(&check->diagnosis->gpu, table);
	summary_add_findings(check, table);
	ss_row_end(table);
}
