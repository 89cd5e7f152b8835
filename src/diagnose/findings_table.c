/* SPDX-License-Identifier: Apache-2.0 */
/*
 * findings_table.c - one row per finding.
 */
#include "diagnose/findings_table.h"

#include <stdio.h>

static const struct ss_column columns[] = {
	{ "rank", SS_COLUMN_ID, "the rank that causes it; empty where several ranks have it", 0 },
	{ "rule", SS_COLUMN_TEXT, "name of the rule: stepscope explain RULE", 0 },
	{ "level", SS_COLUMN_TEXT, "warning or info", 0 },
	{ "title", SS_COLUMN_TEXT, "what is wrong", 0 },
	{ "ranks", SS_COLUMN_TEXT, "which ranks have it", 0 },
	{ "cost_ns", SS_COLUMN_NS, "saving per mean step when the fixes above are in place", 0 },
	{ "cost_low_ns", SS_COLUMN_NS, "the same if the fix does less than expected", 0 },
	{ "cost_high_ns", SS_COLUMN_NS, "the same if it does more than expected", 0 },
	{ "share_percent", SS_COLUMN_PERCENT, "the saving, in percent of the mean step", 0 },
	{ "bytes", SS_COLUMN_BYTES,
	  "the memory it concerns, if a memory snapshot shows it: kept by each step, requested",
	  0 },
	{ "confidence", SS_COLUMN_TEXT, "low, medium or high", 0 },
	{ "reason", SS_COLUMN_TEXT, "reason for the confidence", 0 },
	{ "evidence", SS_COLUMN_TEXT, "the heaviest piece of evidence", 0 },
	{ "line", SS_COLUMN_TEXT, "line of the user's program, if recorded", 0 },
	{ "fix", SS_COLUMN_TEXT, "what to do", 0 },
};

const struct ss_view ss_findings_view = {
	.name = "diagnose",
	.summary = "What is wrong with the job, what it costs and what to do",
	.empty = "Nothing was found that would make the steps faster.",
	SS_TABLE_COLUMNS(columns),
	.rankless = true,
};

void ss_finding_ranks(const struct ss_diagnosis *diagnosis, const struct ss_finding *finding,
		      char *out, size_t capacity)
{
	uint32_t only = finding->rank_count == 1 ? finding->ranks[0] : SS_NO_ROW;

	out[0] = '\0';
	if (diagnosis->rank_count < 2)
		return;
	if (finding->rank_count == diagnosis->rank_count)
		snprintf(out, capacity, "all ranks");
	else if (only != SS_NO_ROW && diagnosis->ranks[only] >= 0)
		snprintf(out, capacity, "rank %lld", (long long)diagnosis->ranks[only]);
	else if (finding->rank_count)
		snprintf(out, capacity, "%u of %u ranks", finding->rank_count,
			 diagnosis->rank_count);
}

/* The line that a snapshot shows, where the memory is allocated; else of the heaviest evidence. */
static const char *finding_source_line(const struct ss_finding *finding)
{
	for (uint32_t i = 0; i < finding->evidence_count; i++)
		if (finding->evidence[i].snapshot && finding->evidence[i].line)
			return finding->evidence[i].line;
	return finding->evidence_count ? finding->evidence[0].line : NULL;
}

static void findings_add_row(const struct ss_diagnosis *diagnosis, const struct ss_finding *finding,
			     struct ss_table *out)
{
	const struct ss_evidence *first = finding->evidence_count ? finding->evidence : NULL;
	char ranks[64];

	out->rank = finding->rank == SS_NO_ROW ? -1 : diagnosis->ranks[finding->rank];
	ss_finding_ranks(diagnosis, finding, ranks, sizeof(ranks));
	ss_row_begin(out);
	ss_row_int_known(out, out->rank);
	ss_row_text(out, finding->rule->name);
	ss_row_text(out, finding->is_warning ? "warning" : "info");
	ss_row_text(out, finding->title);
	ss_row_text(out, ranks);
	if (!ss_finding_has_cost(finding)) {
		ss_row_nulls(out, 4);
	} else {
		ss_row_int(out, finding->cost_ns);
		ss_row_int(out, finding->low_ns);
		ss_row_int(out, finding->high_ns);
		ss_row_share(out, (double)finding->cost_ns, (double)diagnosis->step_ns);
	}
	ss_row_int_known(out, finding->bytes);
	ss_row_text(out, ss_confidence_name(finding->confidence));
	ss_row_text(out, finding->reason);
	ss_row_text(out, first ? first->text : NULL);
	ss_row_text(out, finding_source_line(finding));
	ss_row_text(out, finding->fix);
	ss_row_end(out);
}

bool ss_diagnosis_table(const struct ss_diagnosis *diagnosis, struct ss_arena *arena,
			struct ss_table *out)
{
	ss_table_init(out, &ss_findings_view, arena);
	for (uint32_t i = 0; i < diagnosis->finding_count; i++)
		findings_add_row(diagnosis, diagnosis->findings[i], out);
	return !out->failed;
}
