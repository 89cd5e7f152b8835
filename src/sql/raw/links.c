/* SPDX-License-Identifier: Apache-2.0 */
/*
 * links.c - table: which slice caused which.
 */
#include "sql/raw.h"

SS_RAW_FILL(fill_from, ss_raw_rows(part, part->trace->slices.link, out))
SS_RAW_CELLS(fill_to, int64_t, row)

static void links_fill_link(const struct ss_raw_part *part, struct ss_raw_out *out)
{
	for (uint32_t i = 0; i < part->count; i++) {
		uint32_t kind = part->trace->slices.kind[ss_raw_row(part, i)];

		ss_raw_text(out, i, kind == SS_KIND_OP ? "backward" : "launch");
	}
}

static void fill_delay(const struct ss_raw_part *part, struct ss_raw_out *out)
{
	const struct ss_slices *slices = &part->trace->slices;
	int64_t *cells = out->cells;

	for (uint32_t i = 0; i < part->count; i++) {
		uint32_t row = ss_raw_row(part, i);

		cells[i] = slices->start_ns[row] - slices->start_ns[slices->link[row]];
	}
}

static uint32_t links_count(const struct ss_trace *trace)
{
	return trace->slices.count;
}

static bool links_overlap(const struct ss_trace *trace, uint32_t row, int64_t from_ns,
			  int64_t to_ns)
{
	int64_t start = trace->slices.start_ns[row];

	return trace->slices.link[row] != SS_NO_ROW && start < to_ns && start >= from_ns;
}

#define COLUMNS(F)                                                                              \
	F(rank, ID, "rank of the file; empty if unknown", ss_raw_rank, NONE)                    \
	F(link, TEXT,                                                                           \
	  "launch: a call and its device work; backward: a forward operator and "               \
	  "its backward operator",                                                              \
	  links_fill_link, NONE)                                                                \
	F(from_slice, ID, "slice that caused the other one", fill_from, NONE)                   \
	F(to_slice, ID, "slice that it caused", fill_to, NONE)                                  \
	F(delay_ns, NS, "time from the start of the one to the start of the other", fill_delay, \
	  NONE)

SS_RAW_TABLE(links, COLUMNS,
	     "Which slice launched which, and backward operators with their forward",
	     .count = links_count, .is_sparse = true, .overlaps = links_overlap,
	     .starts = ss_raw_slice_starts, .after = ss_raw_slice_after);
