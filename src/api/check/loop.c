/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop.c - compares the findings of two runs, and what their fixes were predicted to save with what
 * they saved.
 */
#include "api/check/loop.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table/table.h"

/* Changes below this share of the step are noise of equal runs, as in 'check'. */
#define CHANGE_SHARE 0.02

/* A prediction is right if it is off by no more than this: the replay is tested against that. */
#define RIGHT_SHARE 0.1

/* What explains less of the difference is not named. */
#define NAMED_SHARE 0.25

#define FIX_BYTES 64

static const struct ss_column change_columns[] = {
	{ "change", SS_COLUMN_TEXT, "gone, less, more or new", 0 },
	{ "rule", SS_COLUMN_TEXT, "rule that found it", 0 },
	{ "cost_a_ns", SS_COLUMN_NS, "what it costs per step in the first run", 0 },
	{ "cost_b_ns", SS_COLUMN_NS, "the same in the second run", 0 },
	{ "cost_change_ns", SS_COLUMN_NS, "second minus first", 0 },
	{ "finding", SS_COLUMN_TEXT, "what is wrong", SS_COLUMN_WRAP },
};

static const struct ss_view change_view = {
	.name = "changes",
	.summary = "Findings that changed: what they cost per step",
	.empty = "No finding changed.",
	SS_TABLE_COLUMNS(change_columns),
	.rankless = true,
};

static double finding_change(const struct ss_check_change *finding)
{
	return finding->after_ns - finding->before_ns;
}

/* More than equal runs differ; a warning without a time came or went. */
static bool finding_has_changed(const struct ss_loop *loop, const struct ss_check_change *finding)
{
	if (finding->is_timeless)
		return finding->is_warning && finding->is_before != finding->is_after;
	return fabs(finding_change(finding)) >= loop->least_ns;
}

/* Of its cost less than half is left: the second run has the fix. */
static bool finding_is_fixed(const struct ss_loop *loop, const struct ss_check_change *finding)
{
	return finding_has_changed(loop, finding) && !finding->is_rest && !finding->is_timeless &&
	       finding->after_ns < finding->before_ns / 2;
}

static void loop_list_findings(struct ss_loop *loop)
{
	const struct ss_check *check = &loop->checking.check;
	struct ss_table *table = loop->findings;

	for (uint32_t i = 0; i < check->finding_count; i++) {
		const struct ss_check_change *finding = &check->findings[i];

		if (!finding_has_changed(loop, finding))
			continue;
		ss_row_begin(table);
		ss_row_text(table, !finding->is_after            ? "gone"
				   : !finding->is_before         ? "new"
				   : finding_change(finding) > 0 ? "more"
								 : "less");
		ss_row_text(table, finding->name);
		if (finding->is_timeless) {
			ss_row_nulls(table, 3);
		} else {
			ss_row_int(table, (int64_t)finding->before_ns);
			ss_row_int(table, (int64_t)finding->after_ns);
			ss_row_int(table, (int64_t)finding_change(finding));
		}
		ss_row_text(table, finding->title);
		ss_row_end(table);
	}
}

/* --- the prediction ----------------------------------------------------------------------- */

/* Replays the first run with the fixes that the second one has. */
static enum ss_status loop_predict(struct ss_loop *loop, struct ss_session *before,
				   struct ss_error *err)
{
	const struct ss_check *check = &loop->checking.check;
	struct ss_diagnose_options options = { .rank = SS_EVERY_RANK,
					       .is_what_if = true,
					       .fixes = loop->fixes };
	const struct ss_diagnosis *verdict;
	char word[FIX_BYTES];

	loop->saved_ns = (int64_t)(check->noise.mean.before_ns - check->noise.mean.after_ns);
	for (uint32_t i = 0; i < check->finding_count; i++) {
		const struct ss_check_change *finding = &check->findings[i];

		snprintf(word, sizeof(word), finding->rank ? "%s=%" PRId64 : "%s", finding->name,
			 finding->rank - 1);
		if (finding_is_fixed(loop, finding))
			ss_text_list(loop->fixes, sizeof(loop->fixes), word);
	}
	if (!*loop->fixes)
		return SS_OK;
	SS_TRY(ss_session_verdict(before, &options, &verdict, err));
	loop->predicted_ns = verdict->step_ns - verdict->fixed_ns;
	loop->low_ns = verdict->step_ns - verdict->fixed_low_ns;
	loop->high_ns = verdict->step_ns - verdict->fixed_high_ns;
	return SS_OK;
}

/* --- sentences ---------------------------------------------------------------------------- */

/* The part of the step that changed most in the direction of `lost`; -1: none by enough. */
static int loop_find_part(const struct ss_check *check, double lost)
{
	double most = NAMED_SHARE * fabs(lost);
	int found = -1;

	for (int i = 0; i < (int)SS_STEP_PARTS; i++) {
		double change = check->after.part_ns[i] - check->before[0].part_ns[i];

		if (change * (lost > 0 ? 1 : -1) < most)
			continue;
		most = fabs(change);
		found = i;
	}
	return found;
}

/* ": 12.0 ms of input-stall is left", what came or grew; else the part of the step that did. */
static void loop_add_difference(struct ss_loop *loop, double lost)
{
	const struct ss_check *check = &loop->checking.check;
	struct ss_text *out = &loop->lines;
	const char *between = ": ";
	int part;

	for (uint32_t i = 0; i < check->finding_count && lost > 0; i++) {
		const struct ss_check_change *finding = &check->findings[i];
		bool is_left = finding_is_fixed(loop, finding);
		double ns = is_left ? finding->after_ns : finding_change(finding);

		if (ns < NAMED_SHARE * lost)
			continue;
		ss_text_add_string(out, between);
		ss_render_ns((int64_t)ns, out);
		ss_text_addf(out,
			     is_left              ? " of %s is left"
			     : finding->is_before ? " more for %s"
						  : " for %s, which is new",
			     finding->name);
		between = ", ";
	}
	part = *between == ',' ? -1 : loop_find_part(check, lost);
	if (part < 0 && *between == ':')
		ss_text_add_string(out, "; no finding and no part of the step shows why");
	if (part < 0)
		return;
	ss_text_addf(out, ": '%s' went from ", ss_job_step_part_name(part));
	ss_render_ns((int64_t)check->before[0].part_ns[part], out);
	ss_text_add_string(out, " to ");
	ss_render_ns((int64_t)check->after.part_ns[part], out);
}

/* "Fixed input-stall: predicted to save 88.0 ms per step, saved 71.0 ms: 12.0 ms of it is left." */
static void loop_add_prediction(struct ss_loop *loop)
{
	double lost = (double)(loop->predicted_ns - loop->saved_ns);
	bool is_range = ss_finding_range_is_wide(loop->low_ns, loop->high_ns);
	bool is_right = fabs(lost) <= RIGHT_SHARE * (double)loop->predicted_ns ||
			(loop->saved_ns >= loop->low_ns && loop->saved_ns <= loop->high_ns);
	struct ss_text *out = &loop->lines;

	ss_text_addf(out, "Fixed %s: predicted to save ", loop->fixes);
	ss_render_ns(is_range ? loop->low_ns : loop->predicted_ns, out);
	if (is_range) {
		ss_text_add_string(out, " to ");
		ss_render_ns(loop->high_ns, out);
	}
	ss_text_add_string(out, loop->saved_ns < 0 ? " per step, but the step is longer by "
						   : " per step, saved ");
	ss_render_ns(llabs(loop->saved_ns), out);
	if (!is_right)
		loop_add_difference(loop, lost);
	ss_text_add_string(out, ".\n");
}

static void loop_add_change(struct ss_loop *loop)
{
	const struct ss_check *check = &loop->checking.check;
	double noise = loop->least_ns / check->noise.mean.before_ns;
	struct ss_text *out = &loop->lines;

	if (check->compared == SS_VERDICT_INCONCLUSIVE)
		noise = fmax(noise, check->noise.mean.half);
	if (loop->predicted_ns >= 0) {
		loop_add_prediction(loop);
	} else if (check->compared == SS_VERDICT_PASS ||
		   (check->reason && !loop->findings->row_count)) {
		ss_text_addf(out, "No change beyond the noise (±%.1f %%)%s%s.\n", 100 * noise,
			     check->reason ? ": " : "", check->reason ? check->reason : "");
	} else {
		ss_text_add_string(out, loop->saved_ns < 0 ? "The step is longer by "
							   : "The step is shorter by ");
		ss_render_ns(llabs(loop->saved_ns), out);
		loop_add_difference(loop, -(double)loop->saved_ns);
		ss_text_add_string(out, ".\n");
	}
}

/* Single long steps make the mean: the steps that both runs have are compared by the median. */
static void loop_add_typical(const struct ss_noise_figure *typical, struct ss_text *out)
{
	ss_text_add_string(out, "Median step: ");
	ss_render_ns((int64_t)typical->before_ns, out);
	ss_text_add_string(out, " -> ");
	ss_render_ns((int64_t)typical->after_ns, out);
	ss_text_addf(out, " (%+.1f %%)\n", 100 * typical->change);
}

/* --- both runs ---------------------------------------------------------------------------- */

static bool loop_verdict_is_certain(enum ss_check_verdict verdict)
{
	return verdict == SS_VERDICT_REGRESSION || verdict == SS_VERDICT_IMPROVEMENT;
}

/*
 * How much the cost of a finding may differ in equal runs. A cause that comes now and then makes
 * the steps of its run uneven: the noise is that of the run with the calmer steps. It counts twice,
 * since two rules can each get the time that belongs to both. Runs whose steps certainly differ are
 * not equal.
 */
static enum ss_status loop_measure_noise(struct ss_loop *loop, struct ss_error *err)
{
	const struct ss_check *check = &loop->checking.check;
	struct ss_noise back;

	if (!ss_noise_judge(&back, &check->after.steps, 1, &check->before[0].steps, CHANGE_SHARE,
			    NULL, &loop->checking.memory))
		return ss_fail_memory(err, "the comparison");
	loop->least_ns = CHANGE_SHARE * check->noise.mean.before_ns;
	if (!loop_verdict_is_certain(check->noise.by_steps) &&
	    !loop_verdict_is_certain(back.by_steps))
		loop->least_ns = fmax(loop->least_ns,
				      2 * fmin(check->noise.mean.steps_half *
						       check->noise.mean.before_ns,
					       back.mean.steps_half * back.mean.before_ns));
	return SS_OK;
}

/* Compares them as 'check' does, with the first as the baseline. */
static enum ss_status loop_check(struct ss_loop *loop, const struct ss_runs *runs,
				 struct ss_error *err)
{
	struct ss_checking *checking = &loop->checking;

	SS_TRY(ss_checking_begin(checking, NULL, err));
	SS_TRY(ss_checking_add(checking, runs->sessions[0], err));
	return ss_checking_end(checking, runs->sessions[1], CHANGE_SHARE, err);
}

enum ss_status ss_loop_close(struct ss_loop *loop, const struct ss_runs *runs,
			     struct ss_table *findings, struct ss_error *err)
{
	const struct ss_check *check = &loop->checking.check;

	*loop = (struct ss_loop){ .predicted_ns = -1, .findings = findings };
	SS_TRY(loop_check(loop, runs, err));
	ss_table_init(findings, &change_view, &loop->checking.arena);
	if (check->is_other_job)
		ss_text_addf(&loop->lines,
			     "These runs cannot be compared: %s. The tables show both, not what a "
			     "change did.\n",
			     check->reason);
	if (!(check->noise.mean.before_ns > 0)) {
		findings->empty = check->is_other_job ? "Not compared." : "There are no steps.";
		return SS_OK;
	}
	SS_TRY(loop_measure_noise(loop, err));
	SS_TRY(loop_predict(loop, runs->sessions[0], err));
	loop_list_findings(loop);
	if (fabs(check->noise.typical.change - check->noise.mean.change) >= CHANGE_SHARE)
		loop_add_typical(&check->noise.typical, &loop->lines);
	ss_text_addf(&loop->lines, "%s per step: %.0f -> %.0f\n",
		     check->after.on_device ? "Kernels" : "Calls of operators",
		     check->before[0].calls, check->after.calls);
	loop_add_change(loop);
	return SS_OK;
}

void ss_loop_release(struct ss_loop *loop)
{
	ss_text_release(&loop->lines);
	ss_checking_release(&loop->checking);
}

void ss_loop_add_json(const struct ss_loop *loop, struct ss_text *out)
{
	const struct ss_check *check = &loop->checking.check;
	bool is_predicted = loop->predicted_ns >= 0, is_known = check->noise.mean.before_ns > 0;

	ss_text_add_string(out, "{");
	ss_render_text_member(out, "verdict", ss_check_verdict_name(check->compared));
	ss_text_addf(out, ",\"comparable\":%s,", check->is_other_job ? "false" : "true");
	ss_render_text_member(out, "reason", check->reason);
	ss_text_add_string(out, ",\n ");
	ss_render_text_member(out, "text", loop->lines.data);
	ss_text_add_string(out, ",\n ");
	ss_render_text_member(out, "fixed", is_predicted ? loop->fixes : NULL);
	ss_text_add_string(out, ",");
	ss_render_ns_member(out, "predicted_ns", loop->predicted_ns, is_predicted);
	ss_text_add_string(out, ",");
	ss_render_ns_member(out, "predicted_low_ns", loop->low_ns, is_predicted);
	ss_text_add_string(out, ",");
	ss_render_ns_member(out, "predicted_high_ns", loop->high_ns, is_predicted);
	ss_text_add_string(out, ",");
	ss_render_ns_member(out, "saved_ns", loop->saved_ns, is_known);
	ss_text_add_string(out, ",\"noise_percent\":");
	ss_text_add_number(out, is_known ? 100 * loop->least_ns / check->noise.mean.before_ns : 0);
	ss_text_add_string(out, ",\"kernels_a\":");
	ss_text_add_number(out, is_known ? check->before[0].calls : 0);
	ss_text_add_string(out, ",\"kernels_b\":");
	ss_text_add_number(out, check->after.calls);
}
