/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clocks.c - view: the clock offset of each rank from the first one, and how certain it
 * is.
 */
#include "ranks/join.h"

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "host", SS_COLUMN_TEXT, "host name", SS_COLUMN_CONTEXT },
	{ "offset_ns", SS_COLUMN_NS, "add it to this rank's times to get those of the first rank",
	  0 },
	{ "error_ns", SS_COLUMN_NS, "uncertainty of the offset, plus or minus (95 %)", 0 },
	{ "drift_ppb", SS_COLUMN_ID,
	  "how much faster the clock of the first rank runs, in parts per billion",
	  SS_COLUMN_EVIDENCE },
	{ "anchors", SS_COLUMN_COUNT, "matched collectives that end together", 0 },
	{ "residual_p50_ns", SS_COLUMN_NS,
	  "median distance of its collective ends from the common ends", 0 },
	{ "residual_p90_ns", SS_COLUMN_NS, "90th percentile of that distance", 0 },
	{ "violations", SS_COLUMN_COUNT,
	  "collectives that a rank seems to leave before the last rank has arrived", 0 },
	{ "component", SS_COLUMN_ID,
	  "ranks with the same number can be compared; empty: with no other rank",
	  SS_COLUMN_CONTEXT },
};

static enum ss_status clocks_run(const struct ss_joined *joined, uint32_t group,
				 struct ss_table *out, struct ss_error *err)
{
	(void)group;
	(void)err;
	for (uint32_t r = 0; r < joined->rank_count; r++) {
		const struct ss_clock *clock = &joined->clocks[r];
		bool known = clock->component != SS_NO_ROW;
		bool compared = known && joined->rank_count > 1;

		out->rank = joined->ranks[r].rank;
		ss_row_begin(out);
		ss_row_text(out, ss_strings_text(&joined->ranks[r].texts, joined->ranks[r].host));
		if (compared) {
			ss_row_int(out, clock->offset_ns);
			ss_row_int(out, clock->error_ns);
			ss_row_int(out, clock->drift_ppb);
		} else {
			ss_row_nulls(out, 3);
		}
		ss_row_int(out, clock->anchors);
		ss_row_int_known(out, clock->anchors ? clock->residual_p50_ns : -1);
		ss_row_int_known(out, clock->anchors ? clock->residual_p90_ns : -1);
		ss_row_int_known(out, compared ? (int64_t)clock->violations : -1);
		ss_row_int_known(out, known ? (int64_t)clock->component : -1);
		ss_row_end(out);
	}
	return SS_OK;
}

const struct ss_view ss_view_clocks = {
	.name = "clocks",
	.summary = "Clock offsets between the ranks, and how certain they are",
	.empty = "No ranks.",
	SS_TABLE_COLUMNS(columns),
	.run_job = clocks_run,
};
