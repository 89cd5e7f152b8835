/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_steps.c - table: the steps of jobs, from live numbers and from the traces of runs.
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
	{ "run_id", "VARCHAR", "null", "run whose traces it is from; NULL: live numbers" },
};

/* Of the node of rank 0: steps are synchronous, and each is stored once. */
const struct ss_stored_table ss_stored_table_job_steps = {
	.name = "job_steps",
	.summary =
		"One row per job and step, from live numbers of the node with rank 0; another from "
		"traces or digests of a run with a job",
	.columns = columns,
	.column_count = SS_COUNT(columns),
	.order = "job, step",
	.time = "time",
	.known = "select max(\"time\") filter (run_id is null) as last",
	.from = "live_steps(\"by\" := 'step') s, this_job, known where s.time::timestamp > "
		"coalesce(last, '-infinity') and s.time < (select max(time) from live_steps) and "
		"coalesce((select min(rank) from live_ranks), 0) = 0",
};

/* The same columns of the steps of a run, which the profiler made longer. */
#define NANOSECONDS(figure) figure " // 1000"

static const struct ss_stored_column run_columns[] = {
	{ "job", "VARCHAR", "any_value(this_run.job)", NULL },
	{ "time", "TIMESTAMP",
	  "date_trunc('second', make_timestamp((max(f.start_ns + s.end_ns) // 1000)::bigint))",
	  NULL },
	{ "step", "INTEGER", "number", NULL },
	{ "ranks", "INTEGER", "count(*)", NULL },
	{ "step_us", "INTEGER", NANOSECONDS("median(s.dur_ns)::bigint"), NULL },
	{ "longest_us", "INTEGER", NANOSECONDS("max(s.dur_ns)"), NULL },
	{ "longest_rank", "INTEGER", "arg_max(s.rank, s.dur_ns)", NULL },
	{ "data_us", "INTEGER", NANOSECONDS("median(b.dataloader_ns)::bigint"), NULL },
	{ "longest_data_us", "INTEGER", NANOSECONDS("max(b.dataloader_ns)"), NULL },
	{ "longest_data_rank", "INTEGER", "arg_max(s.rank, b.dataloader_ns)", NULL },
	{ "gc_us", "INTEGER", "null", NULL },
	{ "gpu_us", "INTEGER", "null", NULL },
	{ "recorded", "BOOLEAN", "true", NULL },
	{ "run_id", "VARCHAR", "any_value(this_run.run_id)", NULL },
};

/* Steps have the numbers of the profiler's marks, "ProfilerStep#500", or those in the file. */
const struct ss_stored_table ss_stored_job_steps_of_run = {
	.name = "job_steps",
	.columns = run_columns,
	.column_count = SS_COUNT(run_columns),
	.from = "(select *, coalesce(try_cast(regexp_extract(name, '#([0-9]+)$', 1) as integer), "
		"step) as number from steps where dropped is null) s cross join this_run join "
		"breakdown b on b.rank is not distinct from s.rank and b.step = s.step join "
		"(select rank, min(start_ns) as start_ns from files group by rank) f on f.rank is "
		"not distinct from s.rank group by number order by number",
};
