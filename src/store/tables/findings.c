/* SPDX-License-Identifier: Apache-2.0 */
/*
 * findings.c - table: the findings of each run, the most expensive first.
 */
#include "store/tables.h"

/* a source line as in stacks: "train.py(55): log_loss" */
#define PLACE "'^(.*)\\(([0-9]+)\\)(: .*)?$'"

static const struct ss_stored_column columns[] = {
	{ "run_id", "VARCHAR", "this_run.run_id", "run" },
	{ "position", "INTEGER", "f.position", "order of the verdict, from 1" },
	{ "rule", "VARCHAR", "f.rule", "name of the rule: stepscope explain RULE" },
	{ "title", "VARCHAR", "f.title", "what is wrong" },
	{ "lost_ns", "BIGINT", "f.cost_ns",
	  "saving per step and rank when the fixes above are in place; NULL: costs no time" },
	{ "share_percent", "DOUBLE", "f.share_percent", "the saving, in percent of the mean step" },
	{ "file", "VARCHAR", "nullif(regexp_extract(f.line, " PLACE ", 1), '')",
	  "file of the user's program; NULL: not recorded" },
	{ "line", "INTEGER", "try_cast(regexp_extract(f.line, " PLACE ", 2) as integer)",
	  "its line" },
	{ "ranks", "VARCHAR", "f.ranks", "which ranks have it" },
	{ "level", "VARCHAR", "f.level", "warning or info" },
	{ "rank", "INTEGER", "f.rank",
	  "the rank that causes it; NULL where several ranks have it" },
	{ "confidence", "VARCHAR", "f.confidence", "low, medium or high" },
	{ "evidence", "VARCHAR", "f.evidence", "the heaviest piece of evidence" },
};

const struct ss_stored_table ss_stored_table_findings = {
	.name = "findings",
	.summary = "One row per finding of a run, in the order of the verdict",
	.columns = columns,
	.column_count = SS_COUNT(columns),
	.from = "(select *, row_number() over () as position from findings) f, this_run "
		"order by f.position",
};
