/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sentences.c - what a check says, whatever the format.
 */
#include <inttypes.h>
#include <math.h>

#include "render/check/shown.h"

static const char *check_verdict_word(enum ss_check_verdict verdict)
{
	static const char *const words[] = {
		[SS_VERDICT_PASS] = "Pass",
		[SS_VERDICT_REGRESSION] = "Regression",
		[SS_VERDICT_IMPROVEMENT] = "Improvement",
		[SS_VERDICT_INCONCLUSIVE] = "Inconclusive",
		[SS_VERDICT_FAIL] = "Failed",
	};

	return words[verdict];
}

static uint32_t check_count_met(const struct ss_check *check)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < check->condition_count; i++)
		count += check->conditions[i].is_met;
	return count;
}

/* "127 ms, 49.3 % longer than in the baseline (85.0 ms)", of the figure that decided. */
static void check_add_change(const struct ss_check *check, struct ss_text *out)
{
	const struct ss_noise *noise = &check->noise;
	const struct ss_noise_figure *figure = noise->is_typical ? &noise->typical : &noise->mean;

	ss_text_addf(out, "the %s step takes ", noise->is_typical ? "median" : "mean");
	ss_render_ns((int64_t)figure->after_ns, out);
	if (fabs(figure->change) < 0.0005)
		ss_text_add_string(out, ", as in the baseline");
	else
		ss_text_addf(out, ", %.1f %% %s than in the baseline (", 100 * fabs(figure->change),
			     figure->change > 0 ? "longer" : "shorter");
	if (fabs(figure->change) >= 0.0005) {
		ss_render_ns((int64_t)figure->before_ns, out);
		ss_text_add_string(out, ")");
	}
}

static void check_add_conditions(const struct ss_check *check, struct ss_text *out)
{
	uint32_t holding = check_count_met(check);

	if (check->condition_count == 1)
		ss_text_addf(out, "the condition %s", holding ? "holds" : "does not hold");
	else if (!holding)
		ss_text_addf(out, "no condition of %" PRIu32 " holds", check->condition_count);
	else
		ss_text_addf(out, "%" PRIu32 " of %" PRIu32 " condition%s %s", holding,
			     check->condition_count, check->condition_count == 1 ? "" : "s",
			     holding == 1 ? "holds" : "hold");
}

void ss_render_check_headline(const struct ss_check *check, struct ss_text *out)
{
	ss_text_addf(out, "%s: ", check_verdict_word(check->verdict));
	if (check->has_baseline && check->noise.mean.before_ns > 0) {
		check_add_change(check, out);
		ss_text_add_string(out, check->condition_count ? "; " : "");
	} else if (check->reason) {
		ss_text_add_string(out, check->reason);
		ss_text_add_string(out, check->condition_count ? "; " : "");
	}
	if (check->condition_count)
		check_add_conditions(check, out);
	ss_text_add_string(out, ".");
}

void ss_render_check_cause(const struct ss_check *check, struct ss_text *out)
{
	const struct ss_check_change *first = check->changes;

	if (!check->change_count ||
	    (check->compared != SS_VERDICT_REGRESSION && check->compared != SS_VERDICT_IMPROVEMENT))
		return;
	if (first->title)
		ss_text_addf(out, "%s (%s): ", first->title, first->name);
	else
		ss_text_addf(out, "%s \"%s\": ", ss_check_kind_name(first->kind), first->name);
	if (first->before_ns < 1) {
		ss_render_ns((int64_t)first->after_ns, out);
		ss_text_add_string(out, " per step, not in the baseline");
		return;
	}
	ss_render_ns((int64_t)first->before_ns, out);
	ss_text_add_string(out, " -> ");
	ss_render_ns((int64_t)first->after_ns, out);
	ss_text_add_string(out, " per step");
}

void ss_render_check_noise(const struct ss_check *check, struct ss_text *out)
{
	const struct ss_noise *noise = &check->noise;
	const struct ss_noise_figure *figure = noise->is_typical ? &noise->typical : &noise->mean;

	if (!(noise->mean.before_ns > 0))
		return;
	ss_text_addf(out,
		     "±%.1f %% of the step at %d %% confidence, from %" PRIu32 " steps of %" PRIu32
		     " baseline run%s (steps vary by %.1f %%",
		     100 * figure->half, SS_NOISE_LEVEL, noise->steps_before, noise->runs,
		     noise->runs == 1 ? "" : "s", 100 * noise->step_share);
	ss_text_addf(out, ", runs by %.1f %%%s); this check can see changes of %.2g %% or more",
		     100 * noise->run_share, noise->freedom ? "" : ", assumed",
		     100 * figure->visible);
	if (noise->runs < SS_NOISE_RUNS_FEW && noise->visible_more < figure->visible)
		ss_text_addf(out, ", with %d baseline runs of %.2g %%", SS_NOISE_RUNS_GOOD,
			     100 * noise->visible_more);
	ss_text_addf(out, " (threshold %.3g %%)", 100 * noise->threshold);
}

void ss_render_check_condition(const struct ss_condition *condition, struct ss_text *out)
{
	struct ss_cell cell = { 0 };

	ss_text_add_string(out, condition->is_met     ? "is true"
				: condition->is_known ? "is false"
						      : "not known");
	if (!condition->of_rows) {
		ss_text_add_string(out, condition->is_known ? ": there are no rows"
							    : ": the traces do not show it");
		return;
	}
	if (ss_column_has_fraction(condition->declared))
		cell.value.number = condition->found;
	else
		cell.value.integer = (int64_t)condition->found;
	ss_text_add_string(out, ": ");
	ss_render_cell(condition->declared, &cell, out);
	if (condition->where && *condition->where)
		ss_text_addf(out, " (%s", condition->where);
	if (condition->where && *condition->where)
		ss_text_addf(out,
			     condition->of_rows > 1 ? "; %" PRIu32 " of %" PRIu32 " rows)" : ")",
			     condition->rows, condition->of_rows);
}

bool ss_render_check_location(const struct ss_finding *finding,
			      struct ss_render_check_location *out)
{
	for (uint32_t i = 0; i < finding->evidence_count; i++) {
		const char *line = finding->evidence[i].line;
		const char *at = line ? strchr(line, '(') : NULL;

		if (!at || at == line || at[1] < '0' || at[1] > '9')
			continue;
		*out = (struct ss_render_check_location){ .file = line,
							  .file_length = (size_t)(at - line) };
		for (at++; *at >= '0' && *at <= '9' && out->line < 100000000; at++)
			out->line = out->line * 10 + (uint32_t)(*at - '0');
		if (*at == ')' && out->line)
			return true;
	}
	return false;
}

bool ss_render_check_figure(const struct ss_rendered_check *shown, const char *column, double *out)
{
	const struct ss_table *table = shown->summary;

	for (uint32_t i = 0; i < table->view->column_count && table->row_count; i++) {
		const struct ss_column *own = &table->view->columns[i];

		if (strcmp(own->name, column) != 0 || ss_table_is_null(table, 0, i))
			continue;
		*out = ss_column_has_fraction(own) ? ss_table_number(table, 0, i)
						   : (double)ss_table_int(table, 0, i);
		return true;
	}
	return false;
}
