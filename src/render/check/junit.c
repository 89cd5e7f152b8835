/* SPDX-License-Identifier: Apache-2.0 */
/*
 * junit.c - a check as JUnit XML, which CI systems show as tests.
 */
#include <inttypes.h>

#include "render/check/shown.h"

/* Attributes and texts; control characters do not exist in XML. */
static void junit_add_escaped(struct ss_text *out, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '&':
			ss_text_add_string(out, "&amp;");
			break;
		case '<':
			ss_text_add_string(out, "&lt;");
			break;
		case '>':
			ss_text_add_string(out, "&gt;");
			break;
		case '"':
			ss_text_add_string(out, "&quot;");
			break;
		case '\n':
			ss_text_add_string(out, "&#10;");
			break;
		default:
			if ((unsigned char)*text >= ' ' || *text == '\t')
				ss_text_add(out, text, 1);
		}
	}
}

/* Opens a case; `seconds` below 0: it has no time. */
static void junit_begin_case(const struct ss_rendered_check *shown, const char *name,
			     double seconds, struct ss_text *out)
{
	ss_text_add_string(out, "    <testcase classname=\"stepscope.");
	junit_add_escaped(out, shown->name);
	ss_text_add_string(out, "\" name=\"");
	junit_add_escaped(out, name);
	ss_text_add_string(out, "\"");
	if (seconds >= 0)
		ss_text_addf(out, " time=\"%.6f\"", seconds);
	ss_text_add_string(out, ">");
}

static void junit_add_result(const char *element, const char *message, const char *more,
			     struct ss_text *out)
{
	ss_text_addf(out, "\n      <%s message=\"", element);
	junit_add_escaped(out, message ? message : "");
	ss_text_add_string(out, "\">");
	junit_add_escaped(out, more ? more : "");
	ss_text_addf(out, "</%s>\n    ", element);
}

/* The test case of the step time; it fails if the run is slower. */
static void junit_add_step_time(const struct ss_rendered_check *shown, struct ss_text *out)
{
	const struct ss_check *check = shown->check;
	struct ss_rendered_check plain = *shown;
	struct ss_text headline = { 0 }, all = { 0 };

	plain.color = false;
	plain.width = 100;
	ss_render_check_headline(check, &headline);
	ss_render_check_text(&plain, &all);
	junit_begin_case(shown, "step time", check->after.step_ns / 1e9, out);
	if (check->compared == SS_VERDICT_REGRESSION)
		junit_add_result("failure", headline.data, all.data, out);
	else if (check->compared == SS_VERDICT_INCONCLUSIVE)
		junit_add_result("skipped", headline.data, all.data, out);
	ss_text_add_string(out, "</testcase>\n");
	ss_text_end(&headline, out);
	ss_text_end(&all, out);
}

static void junit_add_condition(const struct ss_rendered_check *shown,
				const struct ss_condition *condition, struct ss_text *out)
{
	struct ss_text text = { 0 };

	ss_render_check_condition(condition, &text);
	junit_begin_case(shown, condition->text, -1, out);
	if (condition->is_met)
		junit_add_result("failure", text.data, condition->text, out);
	else if (!condition->is_known)
		junit_add_result("skipped", text.data, condition->text, out);
	ss_text_add_string(out, "</testcase>\n");
	ss_text_end(&text, out);
}

void ss_render_check_junit(const struct ss_rendered_check *shown, struct ss_text *out)
{
	const struct ss_check *check = shown->check;
	uint32_t failures = check->has_baseline && check->compared == SS_VERDICT_REGRESSION;
	uint32_t skipped = check->has_baseline && check->compared == SS_VERDICT_INCONCLUSIVE;
	uint32_t tests = check->condition_count + check->has_baseline;
	struct ss_text counts = { 0 };

	for (uint32_t i = 0; i < check->condition_count; i++) {
		failures += check->conditions[i].is_met;
		skipped += !check->conditions[i].is_known;
	}
	ss_text_addf(&counts,
		     "tests=\"%" PRIu32 "\" failures=\"%" PRIu32
		     "\" errors=\"0\" skipped=\"%" PRIu32 "\"",
		     tests, failures, skipped);
	ss_text_addf(out,
		     "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		     "<testsuites name=\"stepscope check\" %s>\n"
		     "  <testsuite name=\"stepscope check\" %s>\n",
		     counts.data ? counts.data : "", counts.data ? counts.data : "");
	if (check->has_baseline)
		junit_add_step_time(shown, out);
	for (uint32_t i = 0; i < check->condition_count; i++)
		junit_add_condition(shown, &check->conditions[i], out);
	ss_text_add_string(out, "  </testsuite>\n</testsuites>\n");
	ss_text_end(&counts, out);
}
