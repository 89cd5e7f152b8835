/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verdict as text: which findings, which evidence and which commands it has.
 */
#include "support/support.h"

#include "render/verdict/diagnosis.h"

#define MS 1000000
#define FINDINGS 8

static const struct ss_rule rule = { .name = "input-stall",
				     .views = "dataloader steps",
				     .memory_views = "holders" };

/* A warning that saves 10 ms of 200. */
static struct ss_finding warning(const char *title, struct ss_evidence *evidence, uint32_t count)
{
	return (struct ss_finding){ .rule = &rule,
				    .title = title,
				    .fix = "do it",
				    .rank = SS_NO_ROW,
				    .confidence = SS_CONFIDENCE_HIGH,
				    .bytes = -1,
				    .is_warning = true,
				    .cost_ns = 10 * MS,
				    .low_ns = 10 * MS,
				    .high_ns = 10 * MS,
				    .evidence = evidence,
				    .evidence_count = count };
}

static void render(struct ss_finding *list, uint32_t count, const struct ss_render_options *options,
		   struct ss_text *out)
{
	struct ss_finding *findings[FINDINGS];
	struct ss_diagnosis diagnosis = { .rank_count = 1,
					  .step_ns = 200 * MS,
					  .fixed_ns = 190 * MS,
					  .fixed_low_ns = 190 * MS,
					  .fixed_high_ns = 190 * MS,
					  .on_device = true,
					  .findings = findings,
					  .finding_count = count };

	for (uint32_t i = 0; i < count; i++) {
		findings[i] = &list[i];
		diagnosis.warning_count += list[i].is_warning;
	}
	ss_render_verdict_text(&diagnosis, options, out);
}

static void check_shown(const struct ss_text *out, const char *words, bool is_shown)
{
	support_check(!strstr(out->data, words) == !is_shown, words, "%s", out->data);
}

/* Three lines, the heaviest first; light evidence does not stand in for heavy that is too long. */
static void test_evidence(void **state)
{
	const struct ss_render_options narrow = { .width = 40 },
				       all = { .width = 40, .verbose = true };
	struct ss_evidence evidence[] = {
		{ .text = "first of all", .weight_ns = 100 * MS },
		{ .text = "a very long sentence that takes more than the two lines that are left "
			  "for it in a terminal of forty columns",
		  .weight_ns = 80 * MS },
		{ .text = "one fifth as heavy", .weight_ns = 16 * MS },
		{ .text = "nearly as heavy", .weight_ns = 60 * MS },
		{ .text = "without weight" },
		{ .text = "one too many" },
	};
	struct ss_finding finding = warning("Stall", evidence, SS_COUNT(evidence));
	struct ss_text out = { 0 };

	(void)state;
	render(&finding, 1, &narrow, &out);
	check_shown(&out, "first of all", true);
	check_shown(&out, "a very long", false);
	check_shown(&out, "one fifth", false);
	check_shown(&out, "nearly as heavy", true);
	check_shown(&out, "without weight", true);
	check_shown(&out, "one too many", false);
	out.length = 0;
	render(&finding, 1, &all, &out);
	check_shown(&out, "a very long", true);
	check_shown(&out, "one fifth", true);
	check_shown(&out, "one too many", true);
	ss_text_release(&out);
}

/* Behind heavy evidence that is shown there is room for light one. */
static void test_light(void **state)
{
	const struct ss_render_options options = { .width = 80 };
	struct ss_evidence evidence[] = { { .text = "heavy", .weight_ns = 100 * MS },
					  { .text = "light", .weight_ns = 10 * MS } };
	struct ss_finding finding = warning("Stall", evidence, SS_COUNT(evidence));
	struct ss_text out = { 0 };

	(void)state;
	render(&finding, 1, &options, &out);
	check_shown(&out, "heavy", true);
	check_shown(&out, "light", true);
	ss_text_release(&out);
}

/* Evidence of snapshots gets a line of the three. */
static void test_snapshots(void **state)
{
	const struct ss_render_options options = { .width = 80 };
	struct ss_evidence evidence[] = {
		{ .text = "trace one", .weight_ns = 9 },
		{ .text = "trace two", .weight_ns = 8 },
		{ .text = "trace three", .weight_ns = 7 },
		{ .text = "kept by a step", .snapshot = 1 },
	};
	struct ss_finding finding = warning("Leak", evidence, SS_COUNT(evidence));
	struct ss_text out = { 0 };

	(void)state;
	render(&finding, 1, &options, &out);
	check_shown(&out, "trace two", true);
	check_shown(&out, "trace three", false);
	check_shown(&out, "kept by a step", true);
	ss_text_release(&out);
}

/* Warnings in full, others by title; how savings relate if there are several. */
static void test_findings(void **state)
{
	const struct ss_render_options options = { .width = 80 }, top = { .width = 80, .top = 1 };
	struct ss_finding list[] = { warning("First", NULL, 0), warning("Second", NULL, 0),
				     warning("Third", NULL, 0) };
	struct ss_text out = { 0 };

	(void)state;
	list[2].is_warning = false;
	render(list, 3, &options, &out);
	check_shown(&out, "  1  First", true);
	check_shown(&out, "  2  Second", true);
	check_shown(&out, "Other findings:", true);
	check_shown(&out, "Third", true);
	check_shown(&out, "Each saving assumes", true);
	check_shown(&out, "shows all", false);
	out.length = 0;
	render(list, 3, &top, &out);
	check_shown(&out, "(1 of 3 findings shown; --top 0 shows all)", true);
	check_shown(&out, "Second", false);
	check_shown(&out, "Each saving assumes", false);
	ss_text_release(&out);
}

/* Markdown has the notes, a row per finding, and sections of warnings only. */
static void test_markdown(void **state)
{
	struct ss_evidence evidence[] = { { .text = "it *waits*" } };
	struct ss_finding list[] = { warning("Stall", evidence, 1), warning("Other", NULL, 0) };
	struct ss_finding *findings[] = { &list[0], &list[1] };
	const struct ss_diagnosis diagnosis = {
		.rank_count = 1,
		.step_ns = 200 * MS,
		.fixed_ns = 200 * MS,
		.findings = findings,
		.finding_count = 2,
		.doubts = { .items = { { .kind = SS_DOUBT_CUT, .text = "It is cut." } },
			    .count = 1 },
	};
	const struct ss_render_options options = { 0 };
	struct ss_text out = { 0 };

	(void)state;
	list[1].is_warning = false;
	ss_render_verdict_markdown(&diagnosis, &options, &out);
	check_shown(&out, "\n\nWarning: It is cut.\n", true);
	check_shown(&out, "\n| 1 | Stall | saves 10.0 ms (5.0 %) | ", true);
	check_shown(&out, "\n| 2 | Other (small) | saves 10.0 ms (5.0 %) | ", true);
	check_shown(&out, "\n**1. Stall**\n\n- it \\*waits\\*\n", true);
	check_shown(&out, "**2. Other**", false);
	ss_text_release(&out);
}

/* Views of the findings; without one, of the largest part of the step. */
static void test_commands(void **state)
{
	struct ss_finding list[] = { warning("Stall", NULL, 0), warning("Other", NULL, 0) };
	struct ss_finding *findings[] = { &list[0], &list[1] };
	const struct {
		struct ss_diagnosis diagnosis;
		const char *text;
	} cases[] = {
		{ { .rank_count = 1, .on_device = true, .findings = findings, .finding_count = 2 },
		  "  stepscope dataloader a b\n  stepscope steps a b\n"
		  "  stepscope explain input-stall\n" },
		{ { .rank_count = 1, .on_device = true, .account.compute_ns = 5 },
		  "  stepscope kernels a b\n  stepscope operators a b\n"
		  "  stepscope overview a b\n" },
		{ { .rank_count = 1,
		    .on_device = true,
		    .account = { .compute_ns = 5, .communication_ns = 6 } },
		  "  stepscope communication a b\n  stepscope overview a b\n" },
		{ { .rank_count = 1,
		    .on_device = true,
		    .account = { .compute_ns = 5, .unexplained_ns = 7, .copies_ns = 6 } },
		  "  stepscope gaps a b\n  stepscope breakdown a b\n  stepscope overview a b\n" },
		/* a view of GPUs is of no use without one */
		{ { .rank_count = 1, .account.compute_ns = 5 },
		  "  stepscope operators a b\n  stepscope overview a b\n" },
		{ { .snapshot_count = 1 },
		  "  stepscope snapshot a b holders\n  stepscope snapshot a b segments\n" },
	};
	const struct ss_render_options options = { .shell_paths = "a b" };

	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		struct ss_text out = { 0 };

		ss_render_verdict_commands(&cases[i].diagnosis, &options, &out);
		assert_string_equal(out.data, cases[i].text);
		ss_text_release(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_evidence),  cmocka_unit_test(test_light),
		cmocka_unit_test(test_snapshots), cmocka_unit_test(test_findings),
		cmocka_unit_test(test_markdown),  cmocka_unit_test(test_commands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
