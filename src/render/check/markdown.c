/* SPDX-License-Identifier: Apache-2.0 */
/*
 * markdown.c - a check for a pull request, and for the summary of a step of GitHub Actions.
 */
#include "render/check/shown.h"

static void check_markdown_sentence(void (*write)(const struct ss_check *check,
						  struct ss_text *out),
				    const struct ss_check *check, const char *label,
				    struct ss_text *out)
{
	struct ss_text text = { 0 };

	write(check, &text);
	if (text.length) {
		ss_text_addf(out, "%s", label);
		ss_render_escaped(out, text.data);
		ss_text_add_string(out, "\n");
	}
	ss_text_end(&text, out);
}

static void check_markdown_changes(const struct ss_check *check, struct ss_text *out)
{
	if (!check->change_count || check->compared == SS_VERDICT_PASS)
		return;
	ss_text_add_string(out,
			   "\n| what changed most | | baseline | run |\n|---|---|---:|---:|\n");
	for (uint32_t i = 0; i < check->change_count; i++) {
		const struct ss_check_change *change = &check->changes[i];

		ss_text_addf(out, "| %s | ", ss_check_kind_name(change->kind));
		ss_render_escaped(out, change->title ? change->title : change->name);
		ss_text_add_string(out, " | ");
		ss_render_ns((int64_t)change->before_ns, out);
		ss_text_add_string(out, " | ");
		ss_render_ns((int64_t)change->after_ns, out);
		ss_text_add_string(out, " |\n");
	}
}

static void check_markdown_conditions(const struct ss_check *check, struct ss_text *out)
{
	if (!check->condition_count)
		return;
	ss_text_add_string(out, "\n| fails if | |\n|---|---|\n");
	for (uint32_t i = 0; i < check->condition_count; i++) {
		struct ss_text text = { 0 };

		ss_render_check_condition(&check->conditions[i], &text);
		ss_text_add_string(out, "| ");
		ss_render_escaped(out, check->conditions[i].text);
		ss_text_add_string(out, " | ");
		ss_render_escaped(out, text.data ? text.data : "");
		ss_text_add_string(out, " |\n");
		ss_text_end(&text, out);
	}
}

/* The findings of the run with their line of code. */
static void check_markdown_findings(const struct ss_diagnosis *diagnosis, struct ss_text *out)
{
	if (!diagnosis->finding_count)
		return;
	ss_text_add_string(out,
			   "\n| finding of the run | saves per step | line |\n|---|---:|---|\n");
	for (uint32_t i = 0; i < diagnosis->finding_count; i++) {
		const struct ss_finding *finding = diagnosis->findings[i];
		struct ss_render_check_location place;

		ss_text_add_string(out, "| ");
		ss_render_escaped(out, finding->title);
		ss_text_add_string(out, " | ");
		if (ss_finding_has_cost(finding))
			ss_render_ns(finding->cost_ns, out);
		ss_text_add_string(out, " | ");
		if (ss_render_check_location(finding, &place)) {
			struct ss_text text = { 0 };

			ss_text_add(&text, place.file, place.file_length);
			ss_text_addf(&text, ":%u", place.line);
			ss_render_escaped(out, text.data ? text.data : "");
			ss_text_end(&text, out);
		}
		ss_text_add_string(out, " |\n");
	}
}

void ss_render_check_markdown(const struct ss_rendered_check *shown, struct ss_text *out)
{
	const struct ss_check *check = shown->check;

	check_markdown_sentence(ss_render_check_headline, check, "### ", out);
	check_markdown_sentence(ss_render_check_cause, check, "\n**Cause:** ", out);
	if (check->has_baseline && check->reason && check->noise.mean.before_ns > 0) {
		ss_text_add_string(out, "\n**Why:** ");
		ss_render_escaped(out, check->reason);
		ss_text_add_string(out, "\n");
	}
	check_markdown_sentence(ss_render_check_noise, check, "\n**Noise:** ", out);
	if (check->series_note) {
		ss_text_add_string(out, "\n**Level:** ");
		ss_render_escaped(out, check->series_note);
		ss_text_add_string(out, "\n");
	}
	if (shown->run.is_known)
		ss_text_add_string(out, "\n");
	ss_render_markdown_run(&shown->run, out);
	check_markdown_changes(check, out);
	check_markdown_conditions(check, out);
	check_markdown_findings(check->diagnosis, out);
}

void ss_render_check_step_summary(const struct ss_rendered_check *shown, struct ss_text *out)
{
	struct ss_text text = { 0 };
	size_t length;

	ss_render_check_markdown(shown, &text);
	length = text.length;
	if (length > SS_RENDER_CHECK_SUMMARY_BYTES) {
		/* whole lines only, and 100 bytes for the sentence at the end */
		for (length = SS_RENDER_CHECK_SUMMARY_BYTES - 100;
		     length && text.data[length - 1] != '\n';)
			length--;
		ss_text_add(out, text.data, length);
		ss_text_add_string(out, "\nThe rest does not fit into a summary.\n");
	} else if (length) {
		ss_text_add(out, text.data, length);
	}
	ss_text_end(&text, out);
}
