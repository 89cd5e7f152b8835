/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels.c - table: the kernels of each run that take the most time.
 */
#include "api/session.h" /* SS_DIGEST_REST */
#include "store/tables.h"

static const struct ss_stored_column columns[] = {
	{ "run_id", "VARCHAR", "any_value(this_run.run_id)", "run" },
	{ "name", "VARCHAR", "k.name", "name of the kernel" },
	{ "category", "VARCHAR", "min(k.category)", "GEMM, attention, elementwise, ..." },
	{ "count", "DOUBLE", "sum(k.calls) / any_value(rank_steps)", "calls per step and rank" },
	{ "total_ns", "BIGINT", "sum(k.total_ns) / any_value(rank_steps)",
	  "time per step and rank" },
};

/* 100 kernels have more than 99 % of the kernel time of almost every run. */
const struct ss_stored_table ss_stored_table_kernels = {
	.name = "kernels",
	.summary = "The 100 kernels of a run that take the most time",
	.columns = columns,
	.column_count = SS_COUNT(columns),
	.from = "kernels k, this_run where k.name <> '" SS_DIGEST_REST "' group by k.name "
		"order by sum(k.total_ns) desc, k.name limit 100",
};
