/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_minutes.c - table: minutes of each rank of running jobs, from live numbers.
 */
#include "store/tables.h"

#define US(column) column " // 1000"
#define MINUTE "date_trunc('minute', m.time::timestamp)"

static const struct ss_stored_column columns[] = {
	{ "job", "VARCHAR", "this_job.job", "option --job, else what the live numbers say" },
	{ "minute", "TIMESTAMP", MINUTE, "beginning of the minute (UTC)" },
	{ "rank", "INTEGER", "m.rank", "rank; NULL: not recorded" },
	{ "host", "VARCHAR", "h.host", "its host" },
	{ "step", "INTEGER", "m.step", "number of the first step that ended in the minute" },
	{ "steps", "INTEGER", "m.steps", "how many did" },
	{ "step_us", "INTEGER", US("m.step_ns"), "length: median" },
	{ "longest_us", "INTEGER", US("m.longest_ns"), "the longest" },
	{ "data_us", "INTEGER", US("m.data_ns"), "waiting for data: median; NULL: not recorded" },
	{ "longest_data_us", "INTEGER", US("m.longest_data_ns"), "the longest wait" },
	{ "gc_us", "INTEGER", US("m.gc_ns"), "collecting garbage: the longest" },
	{ "gpu_us", "INTEGER", US("m.gpu_ns"), "from step to step on the GPU's clock: median" },
};

/* A minute enters when a minute has passed since: then no rank adds to it. */
const struct ss_stored_table ss_stored_table_rank_minutes = {
	.name = "rank_minutes",
	.summary = "One row per rank and minute, from live numbers",
	.columns = columns,
	.column_count = SS_COUNT(columns),
	.order = "minute, job, rank",
	.time = "minute",
	.known = "select rank, max(\"minute\") as last",
	.from = "live_steps(\"by\" := 'rank') m cross join this_job left join (select rank, "
		"any_value(host) as host from live_ranks group by rank) h on h.rank is not "
		"distinct from m.rank left join known on known.rank is not distinct from m.rank "
		"where " MINUTE " > coalesce(last, '-infinity') and " MINUTE
		" < date_trunc('minute', (select max(time)::timestamp from live_steps)) - "
		"interval 1 minute",
};
