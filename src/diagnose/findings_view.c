/* SPDX-License-Identifier: Apache-2.0 */
/*
 * findings_view.c - view of a snapshot: what is wrong with the memory, why, what to change.
 *
 * The rules that look at snapshots fill it. What is unknown (no events, a lost beginning) is
 * never a finding.
 */
#include <string.h>

#include "base/text.h"
#include "diagnose/snapshot_findings.h"

static const struct ss_column columns[] = {
	{ "finding", SS_COLUMN_TEXT, "name of the rule: stepscope explain RULE", 0 },
	{ "severity", SS_COLUMN_TEXT, "warning, info, or note: nothing to change", 0 },
	SS_COLUMN_DEVICE,
	{ "bytes", SS_COLUMN_BYTES,
	  "the memory it concerns: kept per step, requested, reserved beyond the peak", 0 },
	{ "evidence", SS_COLUMN_TEXT, "what the snapshot shows", SS_COLUMN_WRAP },
	{ "fix", SS_COLUMN_TEXT, "what to change", SS_COLUMN_WRAP },
};

static const char *const levels[] = {
	[SS_RULE_MEMORY_NOTE] = "note",
	[SS_RULE_MEMORY_INFO] = "info",
	[SS_RULE_MEMORY_WARNING] = "warning",
};

static const char *memory_finding_evidence(const struct ss_rule_memory_finding *finding,
					   struct ss_table *out)
{
	const char *text = "";

	for (uint32_t i = 0; i < finding->fact_count; i++) {
		const struct ss_rule_memory_fact *fact = &finding->facts[i];

		text = ss_table_print(out, "%s%s%s%s%s", text, i ? "; " : "", fact->text,
				      fact->line ? ", at " : "", fact->line ? fact->line : "");
	}
	return text;
}

/* What separates two lines of a fix; a comment may continue in the next line. */
static const char *fix_separator(const struct ss_text *text, bool was_comment, const char *line)
{
	char last = text->length ? text->data[text->length - 1] : '\0';

	if (!last)
		return "";
	if (strchr(":;,.", last) ||
	    (was_comment && line[0] == '#' && line[1] == ' ' && line[2] >= 'a' && line[2] <= 'z'))
		return " ";
	return "; ";
}

/* The fix on one line, with single spaces and without comment signs. */
static const char *memory_finding_fix(const struct ss_rule_memory_finding *finding,
				      struct ss_table *out)
{
	struct ss_text text = { 0 };
	const char *line = finding->fix, *kept;
	bool was_comment = false;

	if (!line)
		return NULL;
	while (*line) {
		size_t length = strcspn(line, "\n"), at = strspn(line, "# ");

		ss_text_add_string(&text, fix_separator(&text, was_comment, line));
		for (; at < length; at++)
			if (line[at] != ' ' || line[at - 1] != ' ')
				ss_text_add(&text, &line[at], 1);
		was_comment = line[0] == '#';
		line += length + (line[length] == '\n');
	}
	out->failed = out->failed || ss_text_failed(&text);
	kept = ss_table_copy(out, text.data ? text.data : "");
	ss_text_release(&text);
	return kept;
}

static enum ss_status findings_run(const struct ss_snapshot_subject *subject, struct ss_table *out,
				   struct ss_error *err)
{
	struct ss_rule_memory_findings findings;

	SS_TRY(ss_rule_memory_findings_make(&findings, subject, out->arena, err));
	for (uint32_t i = 0; i < findings.count; i++) {
		const struct ss_rule_memory_finding *finding = &findings.items[i];

		ss_row_begin(out);
		ss_row_text(out, finding->rule->name);
		ss_row_text(out, levels[finding->level]);
		ss_row_text(out, ss_snapshot_device_name(finding->device, out));
		ss_row_int(out, finding->bytes);
		ss_row_text(out, memory_finding_evidence(finding, out));
		ss_row_text(out, memory_finding_fix(finding, out));
		ss_row_end(out);
	}
	ss_snapshot_notes(subject, out);
	return SS_OK;
}

const struct ss_view ss_snapshot_view_findings = {
	.name = "snapshot-findings",
	.summary = "What is wrong with the memory, why, and what to change",
	.empty = "Nothing stands out in the recording.",
	.columns = columns,
	.column_count = SS_COUNT(columns),
	.rankless = true,
	.run_snapshot = findings_run,
};
