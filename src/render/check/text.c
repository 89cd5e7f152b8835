/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.c - a check for a terminal or the log of a CI system.
 */
#include <stdio.h>

#include "analyze/kernel/short_name.h"
#include "render/check/shown.h"

#define NAME_COLUMNS 43

static const char *check_verdict_color(const struct ss_check *check)
{
	switch (check->verdict) {
	case SS_VERDICT_REGRESSION:
	case SS_VERDICT_FAIL:
		return "\033[31m";
	case SS_VERDICT_INCONCLUSIVE:
		return "\033[33m";
	case SS_VERDICT_PASS:
	case SS_VERDICT_IMPROVEMENT:
		break;
	}
	return "\033[32m";
}

void ss_render_check_line(uint32_t width, const char *label, const char *text, struct ss_text *out)
{
	size_t indent = strlen(label), column = indent;

	if (!text || !*text)
		return;
	ss_text_add_string(out, label);
	for (const char *word = text; *word;) {
		size_t length = strcspn(word, " \n"), columns = ss_text_columns(word, length);

		if (word != text &&
		    (word[-1] == '\n' || column + 1 + columns > (width > 40 ? width : 80))) {
			ss_text_add_string(out, "\n");
			ss_text_fill(out, ' ', indent);
			column = indent;
		} else if (word != text) {
			ss_text_add_string(out, " ");
			column++;
		}
		ss_text_add(out, word, length);
		column += columns;
		word += length;
		word += strspn(word, " \n");
	}
	ss_text_add_string(out, "\n");
}

static void check_text_sentence(const struct ss_rendered_check *shown, const char *label,
				void (*write)(const struct ss_check *check, struct ss_text *out),
				struct ss_text *out)
{
	struct ss_text text = { 0 };

	write(shown->check, &text);
	ss_render_check_line(shown->width, label, text.data, out);
	ss_text_end(&text, out);
}

static void check_text_headline(const struct ss_rendered_check *shown, struct ss_text *out)
{
	if (shown->color)
		ss_text_add_string(out, check_verdict_color(shown->check));
	check_text_sentence(shown, "", ss_render_check_headline, out);
	if (shown->color)
		ss_text_add_string(out, "\033[0m");
}

static void check_text_time(double ns, struct ss_text *out)
{
	struct ss_text text = { 0 };

	ss_render_ns((int64_t)ns, &text);
	ss_text_fill(out, ' ', text.length < 9 ? 9 - text.length : 0);
	ss_text_add(out, text.data ? text.data : "", text.length);
	ss_text_end(&text, out);
}

/* Names of kernels are long: the short form, cut where that is too long. */
static void check_text_change_name(const struct ss_check_change *change, struct ss_text *out)
{
	char name[SS_SHORT_NAME_BYTES];
	size_t length, kept;

	if (change->kind == SS_CHECK_KERNEL)
		(void)ss_short_name(change->name, strlen(change->name), name, sizeof(name));
	else
		snprintf(name, sizeof(name), "%s", change->name);
	length = strlen(name);
	kept = ss_text_columns(name, length) > NAME_COLUMNS
		       ? ss_text_prefix(name, length, NAME_COLUMNS - 1)
		       : length;
	ss_text_add(out, name, kept);
	ss_text_add_string(out, kept < length ? "…" : "");
	kept = ss_text_columns(name, kept) + (kept < length);
	ss_text_fill(out, ' ', NAME_COLUMNS > kept ? NAME_COLUMNS - kept : 0);
}

static void check_text_changes(const struct ss_rendered_check *shown, struct ss_text *out)
{
	const struct ss_check *check = shown->check;

	if (!check->change_count || check->compared == SS_VERDICT_PASS)
		return;
	ss_text_add_string(out, "\nWhat changed most, per step and rank\n");
	for (uint32_t i = 0; i < check->change_count; i++) {
		const struct ss_check_change *change = &check->changes[i];

		ss_text_addf(out, "  %-10s  ", ss_check_kind_name(change->kind));
		check_text_change_name(change, out);
		check_text_time(change->before_ns, out);
		ss_text_add_string(out, " -> ");
		check_text_time(change->after_ns, out);
		ss_text_add_string(out, "\n");
	}
}

static void check_text_conditions(const struct ss_rendered_check *shown, struct ss_text *out)
{
	const struct ss_check *check = shown->check;

	if (check->condition_count)
		ss_text_add_string(out, "\nConditions that fail the check\n");
	for (uint32_t i = 0; i < check->condition_count; i++) {
		struct ss_text text = { 0 };

		ss_text_addf(&text, "%s ", check->conditions[i].text);
		ss_render_check_condition(&check->conditions[i], &text);
		ss_render_check_line(shown->width, "  ", text.data, out);
		ss_text_end(&text, out);
	}
}

void ss_render_check_text(const struct ss_rendered_check *shown, struct ss_text *out)
{
	const struct ss_check *check = shown->check;

	check_text_headline(shown, out);
	check_text_sentence(shown, "Cause: ", ss_render_check_cause, out);
	if (check->has_baseline && check->reason && check->noise.mean.before_ns > 0)
		ss_render_check_line(shown->width, "Why:   ", check->reason, out);
	check_text_sentence(shown, "Noise: ", ss_render_check_noise, out);
	ss_render_check_line(shown->width, "Level: ", check->series_note, out);
	check_text_changes(shown, out);
	check_text_conditions(shown, out);
}
