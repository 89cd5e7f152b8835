/* SPDX-License-Identifier: Apache-2.0 */
/*
 * markdown.c - a verdict for a pull request: a table, then what to do.
 */
#include <string.h>

#include "diagnose/findings_table.h"
#include "render/verdict/diagnosis.h"

/* Of snapshots alone: there are no times. */
static void verdict_markdown_memory(const struct ss_diagnosis *diagnosis, uint32_t rows,
				    struct ss_text *out)
{
	ss_text_add_string(out, "\n| | finding | memory | confidence |\n|---:|---|---:|---|\n");
	for (uint32_t i = 0; i < rows; i++) {
		const struct ss_finding *finding = diagnosis->findings[i];

		ss_text_addf(out, "| %u | ", i + 1);
		ss_render_escaped(out, finding->title);
		ss_text_addf(out, "%s | ", finding->is_warning ? "" : " (small)");
		ss_render_verdict_bytes(finding, out);
		ss_text_addf(out, " | %s |\n", ss_confidence_name(finding->confidence));
	}
}

/* One row per finding: saving, ranks and confidence. */
static void verdict_markdown_table(const struct ss_diagnosis *diagnosis, uint32_t rows,
				   struct ss_text *out)
{
	if (!diagnosis->rank_count) {
		verdict_markdown_memory(diagnosis, rows, out);
		return;
	}
	ss_text_add_string(out, "\n| | finding | saving per step | ranks | confidence |\n"
				"|---:|---|---:|---|---|\n");
	for (uint32_t i = 0; i < rows; i++) {
		const struct ss_finding *finding = diagnosis->findings[i];
		char ranks[64];

		ss_finding_ranks(diagnosis, finding, ranks, sizeof(ranks));
		ss_text_addf(out, "| %u | ", i + 1);
		ss_render_escaped(out, finding->title);
		ss_text_addf(out, "%s | ", finding->is_warning ? "" : " (small)");
		ss_render_verdict_cost(diagnosis, finding, out);
		ss_text_addf(out, " | %s | %s |\n", ranks, ss_confidence_name(finding->confidence));
	}
}

/* Evidence, fix and confidence of a finding. */
static void verdict_markdown_finding(const struct ss_finding *finding, uint32_t number,
				     const struct ss_render_options *options, struct ss_text *out)
{
	uint32_t shown = options->verbose ? finding->evidence_count : SS_EVIDENCE_SHOWN;

	ss_text_addf(out, "\n**%u. ", number);
	ss_render_escaped(out, finding->title);
	ss_text_add_string(out, "**\n\n");
	for (uint32_t i = 0; i < finding->evidence_count && i < shown; i++) {
		struct ss_text text = { 0 };

		ss_render_verdict_evidence(&finding->evidence[i], false, &text);
		ss_text_add_string(out, "- ");
		ss_render_escaped(out, text.data ? text.data : "");
		ss_text_add_string(out, "\n");
		ss_text_end(&text, out);
	}
	ss_text_addf(out, "\n```python\n%s\n```\n", finding->fix);
	if (finding->reason) {
		ss_text_addf(out, "\n%s confidence: ", ss_confidence_name(finding->confidence));
		ss_render_escaped(out, finding->reason);
		ss_text_add_string(out, "\n");
	}
}

/* Each line a paragraph of its own. */
static void verdict_markdown_notes(const struct ss_diagnosis *diagnosis, struct ss_text *out)
{
	struct ss_text notes = { 0 };

	ss_render_verdict_stages(diagnosis, &notes);
	ss_render_verdict_notes(diagnosis, &notes);
	ss_render_verdict_outliers(diagnosis, &notes);
	for (const char *line = notes.data; line && *line;) {
		size_t length = strcspn(line, "\n");
		struct ss_text one = { 0 };

		ss_text_add(&one, line + strspn(line, " "), length - strspn(line, " "));
		ss_text_add_string(out, "\n");
		ss_render_escaped(out, one.data ? one.data : "");
		ss_text_add_string(out, "\n");
		ss_text_end(&one, out);
		line += length + 1;
	}
	ss_text_end(&notes, out);
}

static void verdict_markdown_device(const struct ss_diagnosis *diagnosis, struct ss_text *out)
{
	struct ss_text lines = { 0 };

	ss_render_verdict_device(diagnosis, &lines);
	if (lines.length)
		ss_text_addf(out, "\n```\n%s```\n", lines.data);
	ss_text_end(&lines, out);
}

void ss_render_verdict_markdown(const struct ss_diagnosis *diagnosis,
				const struct ss_render_options *options, struct ss_text *out)
{
	uint32_t rows = ss_render_verdict_rows(diagnosis, options);

	ss_text_add_string(out, "### ");
	ss_render_verdict_sentence(diagnosis, out);
	ss_text_add_string(out, "\n");
	ss_render_verdict_gpu(diagnosis, out);
	ss_text_add_string(out, "\n");
	ss_render_verdict_account(diagnosis, 0, out);
	ss_text_add_string(out, "\n");
	ss_render_verdict_job(diagnosis, out);
	if (options->run.is_known)
		ss_text_add_string(out, "\n");
	ss_render_markdown_run(&options->run, out);
	verdict_markdown_notes(diagnosis, out);
	verdict_markdown_device(diagnosis, out);
	if (rows)
		verdict_markdown_table(diagnosis, rows, out);
	for (uint32_t i = 0; i < rows; i++)
		if (diagnosis->findings[i]->is_warning)
			verdict_markdown_finding(diagnosis->findings[i], i + 1, options, out);
	if (diagnosis->step_ns > 0) {
		struct ss_text quality = { 0 };

		ss_render_verdict_quality(diagnosis, options, &quality);
		if (quality.length)
			ss_text_addf(out, "\n%s", quality.data);
		ss_text_end(&quality, out);
	}
}
