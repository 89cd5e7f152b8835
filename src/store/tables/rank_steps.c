/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_steps.c - table: one row per rank and step.
 */
#include "store/tables.h"

#define PART(part, about)                                        \
	{                                                        \
		part, "BIGINT", "coalesce(b." part ", 0)", about \
	}

static const struct ss_stored_column columns[] = {
	{ "run_id", "VARCHAR", "this_run.run_id", "run" },
	{ "rank", "INTEGER", "b.rank", "rank; NULL: not recorded" },
	{ "host", "VARCHAR", "f.host", "host of the rank; NULL: not recorded" },
	{ "device_index", "INTEGER", "u.device", "GPU of the host; NULL: none" },
	{ "step", "INTEGER", "b.step", "number of the step in the file, from 0" },
	{ "step_ns", "BIGINT", "b.dur_ns", "how long the step took; the parts add up to it" },
	PART("kernel_ns", "a compute kernel ran"),
	PART("memcpy_ns", "a copy ran, but no kernel"),
	PART("memset_ns", "a memset ran, but no kernel or copy"),
	PART("communication_ns", "exposed communication"),
	PART("runtime_ns", "nothing ran; the host was in a call of the runtime"),
	PART("dataloader_ns", "nothing ran; the host waited for input"),
	PART("cpu_ns", "nothing ran; the host was in an operator"),
	PART("other_ns", "the rest"),
	{ "late_ns", "BIGINT", "r.lateness_ns",
	  "how long the first rank waited for it, summed over the collectives of the step; NULL: "
	  "not known" },
};

const struct ss_stored_table ss_stored_table_rank_steps = {
	.name = "rank_steps",
	.summary = "One row per rank and step: where its time went, how late it was",
	.columns = columns,
	.column_count = SS_COUNT(columns),
	.from = "breakdown b cross join this_run "
		"left join ranks(\"by\" := 'step') r on r.rank is not distinct from b.rank and "
		"r.step = b.step "
		"left join (select rank, min(host) as host from files group by rank) f on f.rank "
		"is not distinct from b.rank "
		"left join (select rank, min(device) as device from devices group by rank) u on "
		"u.rank is not distinct from b.rank where b.step is not null order by b.rank, "
		"b.step",
};
