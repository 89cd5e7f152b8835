/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_steps.c - table: the steps of running jobs, from live numbers.
 */
#include "store/tables.h"

/* Live numbers are in microseconds, and half as many bytes. */
#define US(column) column " // 1000"

static const struct ss_stored_column columns[] = {
	{ "job", "VARCHAR", "this_job.job", "option --job, else what the live numbers say" },
	{ "time", "TIMESTAMP", "s.time::timestamp",
	  "when the last rank ended the step, to the second (UTC)" },
	{ "step", "INTEGER", "s.step", "number of the step" },
	{ "ranks", "INTEGER", "s.ranks", "ranks that the figures are of" },
	{ "step_us", "INTEGER", US("s.step_ns"), "length: median over these ranks" },
	{ "longest_us", "INTEGER", US("s.longest_ns"), "the longest" },
	{ "longest_rank", "INTEGER", "s.longest_rank", "whose it is; ranks that wait are as long" },
	{ "data_us", "INTEGER", US("s.data_ns"), "waiting for data: median; NULL: not recorded" },
	{ "longest_data_us", "INTEGER", US("s.longest_data_ns"), "the longest wait" },
	{ "longest_data_rank", "INTEGER", "s.longest_data_rank", "whose it is" },
	{ "gc_us", "INTEGER", US("s.gc_ns"), "collecting garbage: the longest" },
	{ "gpu_us", "INTEGER", US("s.gpu_ns"), "from step to step on the GPU's clock: median" },
	{ "recorded", "BOOLEAN", "s.recorded > 0", "the profiler was on" },
};

/* Of the node of rank 0: steps are synchronous, and each is stored once. */
const struct ss_stored_table ss_stored_table_job_steps = {
	.name = "job_steps",
	.summary = "One row per job and step, from live numbers of the node with rank 0",
	.columns = columns,
	.column_count = SS_COUNT(columns),
	.order = "job, step",
	.time = "time",
	.known = "select max(\"time\") as last",
	.from = "live_steps(\"by\" := 'step') s, this_job, known where s.time::timestamp > "
		"coalesce(last, '-infinity') and s.time < (select max(time) from live_steps) and "
		"coalesce((select min(rank) from live_ranks), 0) = 0",
};
