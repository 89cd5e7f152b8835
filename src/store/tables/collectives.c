/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collectives.c - table: the collectives of each run, by kind and size of the group.
 */
#include "store/tables.h"

#define PER_RANK_STEP(sum) "sum(" sum ") / any_value(rank_steps)"

static const struct ss_stored_column columns[] = {
	{ "run_id", "VARCHAR", "any_value(this_run.run_id)", "run" },
	{ "kind", "VARCHAR", "c.kind", "all-reduce, all-gather, reduce-scatter, ..." },
	{ "group_size", "INTEGER", "c.group_size", "ranks of the group; NULL: not recorded" },
	{ "count", "DOUBLE", PER_RANK_STEP("c.calls"), "calls per step and rank" },
	{ "bytes", "BIGINT", PER_RANK_STEP("c.bytes"),
	  "message size, summed over the calls of a step and rank; NULL: no size is recorded" },
	{ "total_ns", "BIGINT", PER_RANK_STEP("c.total_ns"),
	  "time in them per step and rank, including waiting for other ranks" },
	{ "exposed_ns", "BIGINT", PER_RANK_STEP("c.exposed_ns"),
	  "part of total_ns while no compute kernel ran" },
	{ "wait_ns", "BIGINT", PER_RANK_STEP("w.wait_ns"),
	  "part of total_ns spent waiting for later ranks; NULL: not known" },
};

const struct ss_stored_table ss_stored_table_collectives = {
	.name = "collectives",
	.summary = "The collectives of a run by kind and group size",
	.columns = columns,
	.column_count = SS_COUNT(columns),
	.from = "(select collective_kind(collective) as kind, \"group\", group_size, sum(calls) as "
		"calls, sum(calls * message_bytes) as bytes, sum(total_ns) as total_ns, "
		"sum(exposed_ns) as exposed_ns from communication group by all) c "
		"left join (select collective as kind, \"group\", sum(wait_ns) as wait_ns from "
		"collectives group by all) w on w.kind = c.kind and w.\"group\" is not distinct "
		"from c.\"group\", this_run group by c.kind, c.group_size order by "
		"sum(c.total_ns) desc, c.kind",
};
