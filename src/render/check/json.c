/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.c - a check for programs; documents.c declares its members.
 */
#include <inttypes.h>

#include "render/check/shown.h"

static void check_json_add_sentence(struct ss_text *out, const char *key,
				    const struct ss_check *check,
				    void (*write)(const struct ss_check *check,
						  struct ss_text *out))
{
	struct ss_text text = { 0 };

	write(check, &text);
	ss_render_text_member(out, key, text.length ? text.data : NULL);
	ss_text_end(&text, out);
}

static void check_json_add_percent(struct ss_text *out, const char *key, double share,
				   bool is_known)
{
	ss_text_addf(out, "\"%s\":", key);
	if (is_known)
		ss_text_add_number(out, 100 * share);
	else
		ss_text_add_string(out, "null");
}

static void check_json_add_figure(struct ss_text *out, const char *key,
				  const struct ss_noise_figure *figure)
{
	bool is_known = figure->before_ns > 0;

	ss_text_addf(out, "\"%s\":{", key);
	ss_render_ns_member(out, "baseline_ns", is_known ? (int64_t)figure->before_ns : 0,
			    is_known);
	ss_text_add_string(out, ",");
	ss_render_ns_member(out, "run_ns", is_known ? (int64_t)figure->after_ns : 0, is_known);
	ss_text_add_string(out, ",");
	check_json_add_percent(out, "change_percent", figure->change, is_known);
	ss_text_add_string(out, ",");
	check_json_add_percent(out, "noise_percent", figure->half, is_known);
	ss_text_add_string(out, ",");
	check_json_add_percent(out, "visible_percent", figure->visible, is_known);
	ss_text_add_string(out, ",");
	ss_render_text_member(out, "verdict",
			      is_known ? ss_check_verdict_name(figure->verdict) : NULL);
	ss_text_add_string(out, "}");
}

/* The noise of the baseline, and what it says about mean and median. */
static void check_json_add_noise(const struct ss_check *check, struct ss_text *out)
{
	const struct ss_noise *noise = &check->noise;
	bool is_known = noise->mean.before_ns > 0;

	ss_text_addf(out,
		     "\"noise\":{\"confidence_percent\":%d,\"baseline_runs\":%" PRIu32
		     ",\"baseline_steps\":%" PRIu32 ",\"run_steps\":%" PRIu32 ",",
		     SS_NOISE_LEVEL, check->before_count, noise->steps_before,
		     check->after.steps.count);
	check_json_add_percent(out, "threshold_percent", noise->threshold, true);
	ss_text_add_string(out, ",");
	check_json_add_percent(out, "step_deviation_percent", noise->step_share, is_known);
	ss_text_add_string(out, ",");
	check_json_add_percent(out, "run_deviation_percent", noise->run_share, is_known);
	ss_text_add_string(out, ",\"autocorrelation\":");
	ss_text_add_number(out, noise->correlation);
	ss_text_addf(out, ",\"runs_needed\":%" PRIu32 ",\"decided_by\":\"%s\",\n ",
		     noise->runs_needed,
		     check->decided_by   ? check->decided_by
		     : noise->is_typical ? "median"
					 : "mean");
	check_json_add_figure(out, "mean", &noise->mean);
	ss_text_add_string(out, ",\n ");
	check_json_add_figure(out, "median", &noise->typical);
	ss_text_add_string(out, "}");
}

static void check_json_add_changes(const struct ss_check *check, struct ss_text *out)
{
	ss_text_add_string(out, "\"changes\":[");
	for (uint32_t i = 0; i < check->change_count; i++) {
		const struct ss_check_change *change = &check->changes[i];

		ss_text_addf(out, "%s\n  {", i ? "," : "");
		ss_render_text_member(out, "kind", ss_check_kind_name(change->kind));
		ss_text_add_string(out, ",");
		ss_render_text_member(out, "name", change->name);
		ss_text_add_string(out, ",");
		ss_render_text_member(out, "title", change->title);
		ss_text_add_string(out, ",");
		ss_render_ns_member(out, "baseline_ns", (int64_t)change->before_ns, true);
		ss_text_add_string(out, ",");
		ss_render_ns_member(out, "run_ns", (int64_t)change->after_ns, true);
		ss_text_add_string(out, "}");
	}
	ss_text_add_string(out, "]");
}

static void check_json_add_conditions(const struct ss_check *check, struct ss_text *out)
{
	ss_text_add_string(out, "\"conditions\":[");
	for (uint32_t i = 0; i < check->condition_count; i++) {
		const struct ss_condition *condition = &check->conditions[i];

		ss_text_addf(out, "%s\n  {", i ? "," : "");
		ss_render_text_member(out, "condition", condition->text);
		ss_text_add_string(out, ",");
		ss_render_text_member(out, "view", condition->view);
		ss_text_add_string(out, ",");
		ss_render_text_member(out, "column", condition->column);
		ss_text_addf(out, ",\"known\":%s,\"holds\":%s,\"found\":",
			     condition->is_known ? "true" : "false",
			     condition->is_met ? "true" : "false");
		if (condition->of_rows)
			ss_text_add_number(out, condition->found);
		else
			ss_text_add_string(out, "null");
		ss_text_addf(out, ",\"rows\":%" PRIu32 ",\"of_rows\":%" PRIu32 ",", condition->rows,
			     condition->of_rows);
		ss_render_text_member(out, "where", condition->where);
		ss_text_add_string(out, "}");
	}
	ss_text_add_string(out, "]");
}

/* The row by the names of its columns: what conditions can name. */
static void check_json_add_summary(const struct ss_table *table, struct ss_text *out)
{
	ss_text_add_string(out, "\"summary\":[");
	for (uint32_t i = 0; i < table->view->column_count && table->row_count; i++) {
		struct ss_cell cell = ss_table_cell(table, 0, i);

		ss_text_addf(out, "%s{\"column\":\"%s\",\"value\":", i ? ",\n  " : "\n  ",
			     table->view->columns[i].name);
		ss_render_json_cell(&table->view->columns[i], &cell, out);
		ss_text_add_string(out, "}");
	}
	ss_text_add_string(out, "]");
}

void ss_render_check_json(const struct ss_rendered_check *shown, struct ss_text *out)
{
	const struct ss_check *check = shown->check;

	ss_text_add_string(out, "{\"schema\":\"stepscope.check/1\",\n");
	ss_render_text_member(out, "verdict", ss_check_verdict_name(check->verdict));
	ss_text_add_string(out, ",\n");
	ss_render_text_member(out, "compared",
			      check->has_baseline ? ss_check_verdict_name(check->compared) : NULL);
	ss_text_add_string(out, ",\n");
	check_json_add_sentence(out, "text", check, ss_render_check_headline);
	ss_text_add_string(out, ",\n");
	check_json_add_sentence(out, "cause_text", check, ss_render_check_cause);
	ss_text_add_string(out, ",\n");
	check_json_add_sentence(out, "noise_text", check, ss_render_check_noise);
	ss_text_add_string(out, ",\n");
	ss_render_text_member(out, "reason", check->reason);
	ss_text_add_string(out, ",\n");
	ss_render_text_member(out, "level_text", check->series_note);
	ss_text_add_string(out, ",\n");
	ss_render_text_member(out, "path", check->path);
	ss_text_add_string(out, ",\n");
	ss_render_text_member(out, "against", check->against);
	ss_text_add_string(out, ",\n");
	check_json_add_noise(check, out);
	ss_text_add_string(out, ",\n");
	check_json_add_changes(check, out);
	ss_text_add_string(out, ",\n");
	check_json_add_conditions(check, out);
	ss_text_add_string(out, ",\n");
	check_json_add_summary(shown->summary, out);
	ss_text_add_string(out, ",\n\"run\":");
	ss_render_identity(&shown->run, out);
	ss_text_add_string(out, ",\n\"quality\":");
	ss_render_quality(&shown->trust, out);
	ss_text_add_string(out, "}\n");
}
