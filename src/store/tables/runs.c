/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs.c - table: one row per run.
 */
#include "store/tables.h"

/* without the row of those that a digest sums up */
#define STEPS "from steps where dropped is null and step is not null"

static const struct ss_stored_column columns[] = {
	{ "run_id", "VARCHAR", "run_id", "16 hexadecimal digits, made from the events of the run" },
	{ "job", "VARCHAR", "job", "option --job; NULL: not given" },
	{ "commit", "VARCHAR",
	  "coalesce(this_run.\"commit\", (select min(f.\"commit\") from files f))",
	  "option --commit, else what the traces record" },
	{ "started", "TIMESTAMP", "make_timestamp((select min(start_ns) // 1000 from files))",
	  "time of the first event (UTC); NULL: not recorded" },
	{ "ranks", "INTEGER",
	  "(select if(count(rank) = count(*), count(distinct rank), count(*)) from files where "
	  "problem is null)",
	  "ranks whose traces were read" },
	{ "hosts", "INTEGER", "nullif((select count(distinct host) from files), 0)",
	  "different hosts; NULL: not recorded" },
	{ "device", "VARCHAR", "(select mode(device) from files)",
	  "name of the GPU that most ranks have; NULL: not recorded" },
	{ "steps", "INTEGER", "coalesce((select max(steps) from files), 0)",
	  "recorded steps of a rank (the most)" },
	{ "step_median_ns", "BIGINT", "(select median(dur_ns) " STEPS ")",
	  "median over the steps of all ranks" },
	{ "step_p95_ns", "BIGINT", "(select quantile_cont(dur_ns, 0.95) " STEPS ")",
	  "95th percentile of the same" },
	{ "mfu_percent", "DOUBLE",
	  "(select sum(mfu_percent * dur_ns) / sum(dur_ns) from roofline(\"by\" := 'step') where "
	  "mfu_percent is not null)",
	  "FLOPs of the model, of what the GPUs could do in the steps; NULL: not known" },
	{ "cause", "VARCHAR", "(select rule from findings limit 1)",
	  "rule of the first finding; NULL: nothing was found" },
	{ "lost_ns", "BIGINT", "(select cost_ns from findings limit 1)",
	  "what that finding costs per step and rank; NULL: none, or it costs no time" },
	{ "gain_percent", "DOUBLE", "(select share_percent from account where part = 'warnings')",
	  "what the fixes of all warnings save together, in percent of the step" },
	{ "<part>_ns", "BIGINT", NULL,
	  "part of the account of the mean step; the seven add up to step_mean_ns" },
	{ "labels", "MAP(VARCHAR, VARCHAR)", "labels", "options --label" },
	{ "source", "VARCHAR", "source", "where the traces are: their path, or option --source" },
	{ "step_mean_ns", "BIGINT", "(select sum(time_ns) from account)", "mean step" },
	{ "damaged_files", "INTEGER", "damaged_files",
	  "files that could not be read, or are truncated: figures lack them" },
	{ "added", "TIMESTAMP", "added", "when the run was added (UTC)" },
	{ "hfu_percent", "DOUBLE",
	  "(select sum(hfu_percent * dur_ns) / sum(dur_ns) from roofline(\"by\" := 'step') where "
	  "hfu_percent is not null)",
	  "the same with what backward computes a second time" },
};

const struct ss_stored_table ss_stored_table_runs = {
	.name = "runs",
	.summary = "One row per run: what it is, how long its steps take, what they lose",
	.columns = columns,
	.column_count = SS_COUNT(columns),
	.from = "this_run",
};
