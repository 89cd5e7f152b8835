/* SPDX-License-Identifier: Apache-2.0 */
/*
 * github.c - annotations of GitHub Actions: workflow commands, one per line.
 */
#include "render/check/shown.h"

/* GitHub shows ten of a kind per step. */
#define ANNOTATIONS_MAX 10

/* A line break would end the command; properties end at a comma or a colon. */
static void github_add_escaped(struct ss_text *out, const char *text, size_t length,
			       bool is_property)
{
	for (size_t i = 0; i < length; i++) {
		unsigned char byte = (unsigned char)text[i];

		if (byte == '%' || byte < ' ' || (is_property && (byte == ',' || byte == ':')))
			ss_text_addf(out, "%%%02X", byte);
		else
			ss_text_add(out, &text[i], 1);
	}
}

static void github_add_message(struct ss_text *out, const char *text)
{
	ss_text_add_string(out, "::");
	github_add_escaped(out, text, strlen(text), false);
	ss_text_add_string(out, "\n");
}

static const char *github_level(enum ss_check_verdict verdict)
{
	switch (verdict) {
	case SS_VERDICT_REGRESSION:
	case SS_VERDICT_FAIL:
		return "error";
	case SS_VERDICT_INCONCLUSIVE:
		return "warning";
	case SS_VERDICT_PASS:
	case SS_VERDICT_IMPROVEMENT:
		break;
	}
	return "notice";
}

/* The finding that is the cause, to say where in the code it is. */
static const struct ss_finding *github_find_cause(const struct ss_check *check)
{
	const struct ss_diagnosis *diagnosis = check->diagnosis;

	for (uint32_t i = 0; check->has_cause && i < diagnosis->finding_count; i++)
		if (strcmp(diagnosis->findings[i]->rule->name, check->changes[0].name) == 0)
			return diagnosis->findings[i];
	return NULL;
}

static void github_begin(struct ss_text *out, const char *level, const struct ss_finding *finding)
{
	struct ss_render_check_location place;

	ss_text_addf(out, "::%s ", level);
	if (finding && ss_render_check_location(finding, &place)) {
		ss_text_add_string(out, "file=");
		github_add_escaped(out, place.file, place.file_length, true);
		ss_text_addf(out, ",line=%u,", place.line);
	}
	ss_text_add_string(out, "title=stepscope check");
}

static void github_add_verdict(const struct ss_check *check, struct ss_text *out)
{
	struct ss_text text = { 0 };

	ss_render_check_headline(check, &text);
	ss_text_add_string(&text, "\n");
	ss_render_check_cause(check, &text);
	if (text.length && text.data[text.length - 1] == '\n')
		text.data[--text.length] = '\0';
	github_begin(out, github_level(check->verdict), github_find_cause(check));
	github_add_message(out, text.data ? text.data : "");
	ss_text_end(&text, out);
}

static void github_add_condition(const struct ss_condition *condition, struct ss_text *out)
{
	struct ss_text text = { 0 };

	ss_text_addf(&text, "%s ", condition->text);
	ss_render_check_condition(condition, &text);
	github_begin(out, "error", NULL);
	github_add_message(out, text.data ? text.data : "");
	ss_text_end(&text, out);
}

void ss_render_check_github(const struct ss_rendered_check *shown, struct ss_text *out)
{
	const struct ss_check *check = shown->check;
	const struct ss_finding *cause = github_find_cause(check);
	struct ss_render_check_location place;
	uint32_t count = 1;

	github_add_verdict(check, out);
	for (uint32_t i = 0; i < check->condition_count && count < ANNOTATIONS_MAX; i++)
		if (check->conditions[i].is_met) {
			github_add_condition(&check->conditions[i], out);
			count++;
		}
	count = 0;
	for (uint32_t i = 0; i < check->diagnosis->warning_count && count < ANNOTATIONS_MAX; i++) {
		const struct ss_finding *finding = check->diagnosis->findings[i];

		if (finding == cause || !ss_render_check_location(finding, &place))
			continue;
		github_begin(out, "warning", finding);
		github_add_message(out, finding->title);
		count++;
	}
}
